-- The life of a finished key: its answer is kept until expires_at, then dropped; a tombstone stays until forget_at, so
-- that a late retry is recognised instead of run a second time; then the row goes.
--
-- One plain table, not partitions by time: a unique key would have to contain the time, and the same idempotency key
-- could then exist once per partition. The purge works in small batches instead, and the two partial indexes let it
-- find what is due without passing over what is not.

ALTER TABLE idempotency_keys
    ADD COLUMN forget_at timestamptz, -- set when the answer is dropped; the tombstone is kept until then
    ALTER COLUMN fingerprint DROP NOT NULL,
    DROP CONSTRAINT idempotency_keys_finished_means_answer,
    ADD CONSTRAINT idempotency_keys_finished_means_answer
        CHECK ((recovery_point = 'finished') = (finished_at IS NOT NULL)
           AND (recovery_point = 'finished') = (response_status IS NOT NULL)
           AND (recovery_point = 'finished' AND forget_at IS NULL) = (response_body IS NOT NULL)),
    -- A tombstone is the hash and the pointer to what the key made. What was asked and answered is gone.
    ADD CONSTRAINT idempotency_keys_tombstone
        CHECK ((forget_at IS NULL) = (fingerprint IS NOT NULL)
           AND (forget_at IS NULL OR recovery_point = 'finished' AND response_location IS NULL));

DROP INDEX idempotency_keys_by_expiry;
-- forget_at changes once in the life of a row, long after its answer was stored: the two updates of an ordinary
-- operation touch no column of any index, so they stay in their page (HOT).
CREATE INDEX idempotency_keys_to_expire ON idempotency_keys (expires_at) WHERE forget_at IS NULL;
CREATE INDEX idempotency_keys_to_forget ON idempotency_keys (forget_at) WHERE forget_at IS NOT NULL;

-- The purge leaves dead rows at a steady, small rate. Vacuum comes while they are few, so that their space is used again
-- instead of growing the table. The fill factor leaves room for the answers of two orders that are placed at once: with a
-- tenth of the page, every tenth answer moved to another page.
ALTER TABLE idempotency_keys
    SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, fillfactor = 70);

-- A stored answer never changes, whatever the code above does: it can only be dropped, and only as a whole. A row is
-- deleted only as a tombstone whose time has come to be forgotten.
CREATE FUNCTION idempotency_keys_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'a key of % is still needed', OLD.operation
            USING ERRCODE = 'check_violation', CONSTRAINT = 'idempotency_keys_kept';
    END IF;
    IF OLD.forget_at IS NOT NULL OR NEW.forget_at IS NULL
        OR (NEW.recovery_point, NEW.resource_id, NEW.request_id, NEW.response_status, NEW.finished_at, NEW.expires_at)
           IS DISTINCT FROM (OLD.recovery_point, OLD.resource_id, OLD.request_id, OLD.response_status, OLD.finished_at, OLD.expires_at) THEN
        RAISE EXCEPTION 'the answer of a finished key of % is for good', OLD.operation
            USING ERRCODE = 'check_violation', CONSTRAINT = 'idempotency_keys_answered_for_good';
    END IF;
    RETURN NEW;
END $$;

-- The conditions keep the guard out of the way of the updates that lead to the answer.
CREATE TRIGGER idempotency_keys_answered_for_good BEFORE UPDATE ON idempotency_keys
    FOR EACH ROW WHEN (OLD.recovery_point = 'finished') EXECUTE FUNCTION idempotency_keys_guard();
CREATE TRIGGER idempotency_keys_kept BEFORE DELETE ON idempotency_keys
    FOR EACH ROW WHEN (OLD.forget_at IS NULL) EXECUTE FUNCTION idempotency_keys_guard();
