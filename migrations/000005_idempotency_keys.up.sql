-- What is remembered under an idempotency key. The row is claimed, and finished, in the same transactions as the effect
-- it stands for: either both are there or neither is.

CREATE TABLE idempotency_keys (
    merchant_id     text COLLATE "C" NOT NULL REFERENCES merchants,
    operation       text COLLATE "C" NOT NULL CHECK (operation <> ''),
    -- SHA-256 of the key. Keys are callers' text and may hold personal data; the hash finds the row just as well. By
    -- hand: WHERE key_hash = sha256('the key').
    key_hash        bytea NOT NULL CHECK (octet_length(key_hash) = 32),
    fingerprint     text COLLATE "C" NOT NULL CHECK (fingerprint ~ '^v[0-9]+:[0-9a-f]{64}$'),
    recovery_point  text NOT NULL CHECK (recovery_point IN ('claimed', 'charge_recorded', 'intent_recorded', 'finished')),
    request_id      text COLLATE "C" NOT NULL, -- of the request that claimed the key; replays show it
    resource_id     text COLLATE "C",
    owner           text NOT NULL,             -- who may advance it ...
    generation      bigint NOT NULL CHECK (generation >= 1), -- ... in which generation: every later write compares this
    lease_until     timestamptz NOT NULL,      -- ... until when, by this database's clock
    response_status   integer CHECK (response_status BETWEEN 200 AND 499), -- a 5xx is never a final answer
    response_location text,
    -- bytea, not jsonb: a replay must equal the first answer byte for byte, and jsonb reorders and rewrites.
    response_body   bytea,
    created_at      timestamptz NOT NULL,
    finished_at     timestamptz,
    expires_at      timestamptz NOT NULL,      -- the answer is kept until then
    PRIMARY KEY (merchant_id, operation, key_hash),
    CONSTRAINT idempotency_keys_finished_means_answer
        CHECK ((recovery_point = 'finished') = (finished_at IS NOT NULL)
           AND (recovery_point = 'finished') = (response_status IS NOT NULL AND response_body IS NOT NULL)),
    -- 202 says "not decided yet"; it is told but never stored.
    CONSTRAINT idempotency_keys_never_store_accepted CHECK (response_status <> 202)
) WITH (fillfactor = 90); -- claim and answer update the same row in one transaction; the free space keeps it in its page

-- For the purge. There is no index on recovery_point: it changes with every answer, and an index on it would make every
-- one of those updates move the row.
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);
