-- The older schema knows no tombstones, and without them a late retry would run a second time. So this goes back only
-- while there are none.
DO $$
BEGIN
    IF EXISTS (SELECT FROM idempotency_keys WHERE forget_at IS NOT NULL) THEN
        RAISE EXCEPTION 'there are tombstones of idempotency keys, which the older schema cannot hold';
    END IF;
END $$;

DROP TRIGGER idempotency_keys_kept ON idempotency_keys;
DROP TRIGGER idempotency_keys_answered_for_good ON idempotency_keys;
DROP FUNCTION idempotency_keys_guard;
DROP INDEX idempotency_keys_to_forget;
DROP INDEX idempotency_keys_to_expire;
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);

ALTER TABLE idempotency_keys
    RESET (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold),
    SET (fillfactor = 90),
    DROP CONSTRAINT idempotency_keys_tombstone,
    DROP CONSTRAINT idempotency_keys_finished_means_answer,
    DROP COLUMN forget_at,
    ALTER COLUMN fingerprint SET NOT NULL,
    ADD CONSTRAINT idempotency_keys_finished_means_answer
        CHECK ((recovery_point = 'finished') = (finished_at IS NOT NULL)
           AND (recovery_point = 'finished') = (response_status IS NOT NULL AND response_body IS NOT NULL));
