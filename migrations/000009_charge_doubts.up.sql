-- What recovery must know before it gives a charge up.

-- Somebody with the key was here last: its first request, or one that went on with it. Recovery itself does not count.
ALTER TABLE idempotency_keys ADD COLUMN wanted_at timestamptz NOT NULL DEFAULT clock_timestamp();

-- A call that is sent again, although its last sending may have been executed, stays in doubt: what a later sending comes
-- to proves nothing about the earlier one.
ALTER TABLE provider_calls ADD COLUMN doubted boolean NOT NULL DEFAULT false;
