-- The role stays: it belongs to the whole server, and other databases may use it.
DO $$
DECLARE
    guarded text;
BEGIN
    FOREACH guarded IN ARRAY ARRAY['merchants', 'api_keys', 'products', 'prices', 'stock', 'stock_moves', 'carts', 'cart_items',
        'orders', 'order_items', 'charges', 'charge_history', 'provider_calls', 'idempotency_keys'] LOOP
        EXECUTE format('DROP POLICY merchants_own ON %I', guarded);
        EXECUTE format('ALTER TABLE %I DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY', guarded);
    END LOOP;
    EXECUTE format('REVOKE ALL ON SCHEMA %I FROM payonce_app', current_schema());
END $$;

-- All that was granted, also on single columns.
REVOKE ALL ON schema_migrations, legal_moves, merchants, api_keys, products, prices, stock, stock_moves, carts, cart_items,
    orders, order_items, charges, charge_history, provider_calls, idempotency_keys FROM payonce_app;
ALTER FUNCTION charges_remember() SECURITY INVOKER RESET search_path;
