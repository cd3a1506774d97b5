-- API keys for people who look after them: a name to know a key by, and the certainty that one secret is one key.

-- The default serves the version of the program before this one, which makes keys without a name.
ALTER TABLE api_keys
    ADD COLUMN name text NOT NULL DEFAULT '' CHECK (length(name) <= 100);

-- The only unique constraint that leaves merchant_id out: the secret is what tells the merchant. Two random secrets are
-- never the same, so it stands in nobody's way and says nothing about other merchants.
DROP INDEX api_keys_by_secret;
ALTER TABLE api_keys ADD CONSTRAINT api_keys_one_secret_one_key UNIQUE (secret_hash);
