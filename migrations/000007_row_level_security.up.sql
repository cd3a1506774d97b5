-- The second wall between merchants: whatever a statement asks for, it reaches only the rows of the merchant that its
-- transaction was begun for.
--
-- Policies do not bind superusers, and bind an owner only when forced to, so the product acts as a role that is neither.
-- The role may do what the product does and no more: nothing is deleted but what is meant to go, and no history is
-- rewritten. FORCE makes the policies count for the owner as well, for whoever connects without taking the role.
--
-- payonce migrate makes the role before it comes here, because roles belong to the whole server. Whoever applies this
-- file by other means runs first: CREATE ROLE payonce_app NOLOGIN; GRANT payonce_app TO the user of the service.

DO $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO payonce_app', current_schema());
    -- Every state of a charge is written down by this function alone: it acts as its owner, and the product may not write
    -- the table. Temporary tables come last, so that none can stand in for a real one.
    EXECUTE format('ALTER FUNCTION charges_remember() SECURITY DEFINER SET search_path = %I, pg_temp', current_schema());
END $$;

GRANT SELECT ON schema_migrations, legal_moves TO payonce_app;
GRANT SELECT, INSERT ON merchants, stock_moves, order_items TO payonce_app;
GRANT SELECT, INSERT, UPDATE ON products, stock, carts, orders, charges, provider_calls TO payonce_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON cart_items, idempotency_keys TO payonce_app;
GRANT SELECT, INSERT, DELETE ON prices TO payonce_app;
GRANT SELECT, INSERT ON api_keys TO payonce_app;
GRANT UPDATE (revoked_at) ON api_keys TO payonce_app; -- a key never changes hands, and never gains a right
GRANT SELECT ON charge_history TO payonce_app;

-- A setting that was never made is null, and one that ended with its transaction is empty: both match no merchant. '*' is
-- the scope of work that is done for all of them.
DO $$
DECLARE
    guarded text;
BEGIN
    FOREACH guarded IN ARRAY ARRAY['merchants', 'api_keys', 'products', 'prices', 'stock', 'stock_moves', 'carts', 'cart_items',
        'orders', 'order_items', 'charges', 'charge_history', 'provider_calls', 'idempotency_keys'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', guarded);
        EXECUTE format($policy$CREATE POLICY merchants_own ON %I
            USING (current_setting('payonce.merchant', true) IN (merchant_id, '*'))
            WITH CHECK (current_setting('payonce.merchant', true) IN (merchant_id, '*'))$policy$, guarded);
    END LOOP;
END $$;
