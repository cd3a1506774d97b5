-- Charges: the intention to collect an order's total, what is proved about it, and every call made for it.

INSERT INTO legal_moves
SELECT 'charge', f.status, t.status
FROM (VALUES ('created', 1), ('unknown', 2), ('requires_action', 3), ('processing', 4), ('authorized', 5)) f (status, rank)
JOIN (VALUES ('unknown', 2), ('requires_action', 3), ('processing', 4), ('authorized', 5),
             ('succeeded', 6), ('failed', 6), ('canceled', 6)) t (status, rank) ON t.rank > f.rank;

CREATE TABLE charges (
    merchant_id        text COLLATE "C" NOT NULL,
    charge_id          text COLLATE "C" NOT NULL CHECK (charge_id ~ '^chg_[0-9a-z]+$'),
    order_id           text COLLATE "C" NOT NULL,
    amount             bigint NOT NULL CHECK (amount > 0),
    currency           text COLLATE "C" NOT NULL,
    status             text NOT NULL CHECK (status IN ('created', 'unknown', 'requires_action', 'processing',
                                                       'authorized', 'succeeded', 'failed', 'canceled')),
    capture_method     text NOT NULL CHECK (capture_method IN ('automatic', 'manual')),
    amount_captured    bigint NOT NULL,
    amount_refunded    bigint NOT NULL,
    payment_method     text NOT NULL CHECK (payment_method <> ''), -- the provider's token; never card data
    return_url         text NOT NULL,
    provider           text NOT NULL,
    provider_reference text COLLATE "C",
    failure_code       text,
    decline_code       text,
    next_action_url    text,
    resolved_by        text CHECK (resolved_by IN ('response', 'webhook', 'reconciliation', 'operator')),
    metadata           jsonb NOT NULL CHECK (jsonb_typeof(metadata) = 'object'),
    key_operation      text COLLATE "C" NOT NULL, -- with key_hash: the idempotency key that asked for this charge
    key_hash           bytea NOT NULL CHECK (octet_length(key_hash) = 32),
    version            bigint NOT NULL,
    look_at            timestamptz, -- when recovery should look at an open charge next; null when nothing is open
    created_at         timestamptz NOT NULL,
    updated_at         timestamptz NOT NULL,
    PRIMARY KEY (merchant_id, charge_id),
    -- A charge asks for its order's total in its order's currency, or it cannot exist.
    CONSTRAINT charges_ask_for_the_order_total
        FOREIGN KEY (merchant_id, order_id, amount, currency) REFERENCES orders (merchant_id, order_id, total, currency),
    -- One intent belongs to one charge.
    CONSTRAINT charges_provider_reference_once UNIQUE (merchant_id, provider, provider_reference),
    CONSTRAINT charges_captured_within_amount CHECK (amount_captured BETWEEN 0 AND amount),
    CONSTRAINT charges_refunded_within_captured CHECK (amount_refunded BETWEEN 0 AND amount_captured),
    CONSTRAINT charges_succeeded_means_captured CHECK ((status = 'succeeded') = (amount_captured > 0)),
    CONSTRAINT charges_failed_means_reason CHECK ((status = 'failed') = (failure_code IS NOT NULL)),
    CONSTRAINT charges_decided_means_proof
        CHECK ((status IN ('authorized', 'succeeded', 'failed', 'canceled')) = (resolved_by IS NOT NULL)),
    CONSTRAINT charges_money_means_reference
        CHECK (status NOT IN ('requires_action', 'processing', 'authorized', 'succeeded') OR provider_reference IS NOT NULL),
    CONSTRAINT charges_action_means_url CHECK (next_action_url IS NULL OR status = 'requires_action'),
    CONSTRAINT charges_open_is_looked_at
        CHECK ((status IN ('succeeded', 'failed', 'canceled')) = (look_at IS NULL))
);

-- The heart of "pays once": while a charge of an order is open, or once one has succeeded, there cannot be another,
-- whichever key, tab, process or replica asks for it.
CREATE UNIQUE INDEX charges_one_open_or_paid_per_order ON charges (merchant_id, order_id)
    WHERE status NOT IN ('failed', 'canceled');

CREATE INDEX charges_newest ON charges (merchant_id, created_at DESC, charge_id DESC);
CREATE INDEX charges_by_order ON charges (merchant_id, order_id);

-- What recovery reads. Settled charges are not in it, so a million of them cost nothing.
CREATE INDEX charges_open ON charges (look_at) WHERE look_at IS NOT NULL;

-- Every state a charge was in, written by the database itself, so no code path can forget it.
CREATE TABLE charge_history (
    merchant_id text COLLATE "C" NOT NULL,
    charge_id   text COLLATE "C" NOT NULL,
    version     bigint NOT NULL,
    status      text NOT NULL,
    resolved_by text,
    at          timestamptz NOT NULL,
    PRIMARY KEY (merchant_id, charge_id, version),
    FOREIGN KEY (merchant_id, charge_id) REFERENCES charges
);

CREATE FUNCTION charges_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.status <> OLD.status AND NOT EXISTS (
        SELECT FROM legal_moves m
        WHERE m.noun = 'charge' AND m.from_status = OLD.status AND m.to_status = NEW.status
    ) THEN
        RAISE EXCEPTION 'charge % cannot move from % to %', OLD.charge_id, OLD.status, NEW.status
            USING ERRCODE = 'check_violation', CONSTRAINT = 'charges_legal_moves';
    END IF;
    IF OLD.provider_reference IS NOT NULL AND NEW.provider_reference IS DISTINCT FROM OLD.provider_reference THEN
        RAISE EXCEPTION 'the provider reference of charge % never changes', OLD.charge_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'charges_provider_reference_frozen';
    END IF;
    IF NEW.version <> OLD.version + 1 THEN
        RAISE EXCEPTION 'charge % is at version %, the write is based on another', OLD.charge_id, OLD.version
            USING ERRCODE = 'check_violation', CONSTRAINT = 'charges_version';
    END IF;
    RETURN NEW;
END $$;

-- Setting nothing but look_at is no change of the charge: it is how recovery puts one off.
CREATE TRIGGER charges_guard
    BEFORE UPDATE OF status, amount_captured, amount_refunded, provider_reference, resolved_by, version ON charges
    FOR EACH ROW EXECUTE FUNCTION charges_guard();

CREATE FUNCTION charges_remember() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO charge_history (merchant_id, charge_id, version, status, resolved_by, at)
    VALUES (NEW.merchant_id, NEW.charge_id, NEW.version, NEW.status, NEW.resolved_by, NEW.updated_at);
    RETURN NULL;
END $$;

CREATE TRIGGER charges_remember AFTER INSERT OR UPDATE OF status, version ON charges FOR EACH ROW EXECUTE FUNCTION charges_remember();

-- An order with an undecided charge does not end: its money may be on the way.
CREATE FUNCTION orders_wait_for_charge() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.status IN ('expired', 'canceled') AND EXISTS (
        SELECT FROM charges c
        WHERE c.merchant_id = NEW.merchant_id AND c.order_id = NEW.order_id
            AND c.status NOT IN ('succeeded', 'failed', 'canceled')
    ) THEN
        RAISE EXCEPTION 'order % has an undecided charge', NEW.order_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'orders_wait_for_charge';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER orders_wait_for_charge BEFORE UPDATE OF status ON orders
    FOR EACH ROW EXECUTE FUNCTION orders_wait_for_charge();

-- Every call to the provider, written before it is sent. A row whose sent_at is null was provably never sent; a row
-- with sent_at and no outcome may have been executed and must be proved. The parameters are kept exactly, because the
-- provider recognises a repeated key only with the same parameters. Look-ups are here too: they are the evidence.
CREATE TABLE provider_calls (
    merchant_id  text COLLATE "C" NOT NULL,
    charge_id    text COLLATE "C" NOT NULL,
    kind         text NOT NULL CHECK (kind IN ('create', 'confirm', 'cancel', 'lookup')),
    attempt      integer NOT NULL CHECK (attempt >= 1),
    provider_key text COLLATE "C", -- null for look-ups, which change nothing
    params       bytea NOT NULL,
    sent_at      timestamptz,
    horizon_at   timestamptz, -- after this the provider may have forgotten the key, so it is never sent again
    answered_at  timestamptz,
    outcome      text CHECK (outcome IN ('succeeded', 'pending', 'declined', 'rejected', 'not_sent', 'unknown')),
    http_status  integer,
    request_id   text, -- the provider's
    found        text, -- the state of the provider's object as this answer showed it
    failure_code text,
    decline_code text,
    written_at   timestamptz NOT NULL,
    PRIMARY KEY (merchant_id, charge_id, kind, attempt),
    FOREIGN KEY (merchant_id, charge_id) REFERENCES charges,
    CONSTRAINT provider_calls_key_once UNIQUE (merchant_id, provider_key),
    CHECK ((kind = 'lookup') = (provider_key IS NULL)),
    CHECK ((outcome IS NULL) = (answered_at IS NULL)),
    CHECK (answered_at IS NULL OR sent_at IS NOT NULL),
    CHECK (sent_at IS NULL OR provider_key IS NULL OR horizon_at IS NOT NULL)
);
