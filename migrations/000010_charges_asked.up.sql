-- What may be asked of a charge after it was made: to capture the money that is held, or to cancel. The request is kept on
-- the charge until it is through, so that recovery carries it through when the caller does not come back.

ALTER TABLE charges
    ADD COLUMN asked_operation text COLLATE "C" CHECK (asked_operation IN ('charges.capture', 'charges.cancel')),
    ADD COLUMN asked_key_hash  bytea CHECK (octet_length(asked_key_hash) = 32), -- with asked_operation: the key that asked
    ADD COLUMN asked_amount    bigint,
    ADD CONSTRAINT charges_asked_whole_or_nothing
        CHECK ((asked_operation IS NULL) = (asked_key_hash IS NULL) AND (asked_operation IS NULL) = (asked_amount IS NULL)),
    ADD CONSTRAINT charges_asked_within_amount
        CHECK (asked_amount BETWEEN CASE asked_operation WHEN 'charges.capture' THEN 1 ELSE 0 END AND amount),
    DROP CONSTRAINT charges_open_is_looked_at,
    ADD CONSTRAINT charges_open_is_looked_at
        CHECK ((status IN ('succeeded', 'failed', 'canceled') AND asked_operation IS NULL) = (look_at IS NULL));

-- Everything that was ever asked of a charge, under which key: for the timeline.
CREATE TABLE charge_requests (
    merchant_id text COLLATE "C" NOT NULL,
    charge_id   text COLLATE "C" NOT NULL,
    operation   text COLLATE "C" NOT NULL CHECK (operation IN ('charges.capture', 'charges.cancel')),
    key_hash    bytea NOT NULL CHECK (octet_length(key_hash) = 32),
    amount      bigint NOT NULL, -- to capture; 0 for a cancel
    reason      text NOT NULL,   -- of a cancel, for people
    asked_at    timestamptz NOT NULL,
    PRIMARY KEY (merchant_id, charge_id, operation, key_hash),
    FOREIGN KEY (merchant_id, charge_id) REFERENCES charges
);

-- A part of what is held may be captured; the rest is released. The order is then paid with that part.
ALTER TABLE orders
    DROP CONSTRAINT orders_paid_in_full_or_not_at_all,
    DROP CONSTRAINT orders_paid_means_paid,
    ADD CONSTRAINT orders_paid_at_most_in_full CHECK (amount_paid BETWEEN 0 AND total),
    ADD CONSTRAINT orders_paid_means_paid CHECK (status NOT IN ('paid', 'fulfilled', 'refunded') OR amount_paid > 0);

ALTER TABLE idempotency_keys
    DROP CONSTRAINT idempotency_keys_recovery_point_check,
    ADD CONSTRAINT idempotency_keys_recovery_point_check
        CHECK (recovery_point IN ('claimed', 'charge_recorded', 'intent_recorded', 'accepted', 'finished'));

ALTER TABLE provider_calls
    DROP CONSTRAINT provider_calls_kind_check,
    ADD CONSTRAINT provider_calls_kind_check CHECK (kind IN ('create', 'confirm', 'capture', 'cancel', 'lookup'));

-- For the timeline: which request placed the order. It never changes, so it costs no index.
ALTER TABLE orders ADD COLUMN key_hash bytea CHECK (octet_length(key_hash) = 32);

-- Every state an order was in, written by the database itself, as for charges.
CREATE TABLE order_history (
    merchant_id text COLLATE "C" NOT NULL,
    order_id    text COLLATE "C" NOT NULL,
    n           integer NOT NULL CHECK (n >= 1),
    status      text NOT NULL,
    at          timestamptz NOT NULL,
    PRIMARY KEY (merchant_id, order_id, n),
    FOREIGN KEY (merchant_id, order_id) REFERENCES orders
);

CREATE FUNCTION orders_remember() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.status = OLD.status THEN
        RETURN NULL;
    END IF;
    INSERT INTO order_history (merchant_id, order_id, n, status, at)
    SELECT NEW.merchant_id, NEW.order_id, count(*) + 1, NEW.status, NEW.updated_at
    FROM order_history h
    WHERE h.merchant_id = NEW.merchant_id AND h.order_id = NEW.order_id;
    RETURN NULL;
END $$;

CREATE TRIGGER orders_remember AFTER INSERT OR UPDATE OF status ON orders FOR EACH ROW EXECUTE FUNCTION orders_remember();

-- Orders that were there before begin their history with what they are now.
INSERT INTO order_history (merchant_id, order_id, n, status, at)
SELECT merchant_id, order_id, 1, status, updated_at FROM orders;

DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION orders_remember() SET search_path = %I, pg_temp', current_schema());
END $$;
GRANT SELECT ON order_history TO payonce_app;
GRANT SELECT, INSERT ON charge_requests TO payonce_app;

DO $$
DECLARE
    guarded text;
BEGIN
    FOREACH guarded IN ARRAY ARRAY['order_history', 'charge_requests'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', guarded);
        EXECUTE format($policy$CREATE POLICY merchants_own ON %I
            USING (current_setting('payonce.merchant', true) IN (merchant_id, '*'))
            WITH CHECK (current_setting('payonce.merchant', true) IN (merchant_id, '*'))$policy$, guarded);
    END LOOP;
END $$;
