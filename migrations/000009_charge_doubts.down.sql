ALTER TABLE provider_calls DROP COLUMN doubted;
ALTER TABLE idempotency_keys DROP COLUMN wanted_at;
