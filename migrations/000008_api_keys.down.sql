ALTER TABLE api_keys
    DROP CONSTRAINT api_keys_one_secret_one_key,
    DROP COLUMN name;
CREATE INDEX api_keys_by_secret ON api_keys (secret_hash);
