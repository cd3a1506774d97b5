-- Who sells here, and which keys speak for them.
--
-- Every table of a merchant's data leads its primary key with merchant_id, every foreign key is composite, and no
-- unique constraint leaves merchant_id out. A row of one merchant therefore cannot point at a row of another, whatever
-- the code above does, and the schema can later be distributed by merchant without a rewrite.

CREATE TABLE merchants (
    merchant_id text COLLATE "C" PRIMARY KEY CHECK (merchant_id ~ '^mrc_[0-9a-z]+$'),
    name        text NOT NULL CHECK (name <> ''),
    created_at  timestamptz NOT NULL
);

-- A secret is shown once, when it is made; what is kept is its SHA-256. The secrets have at least 128 random bits, so a
-- fast hash is enough, and the look-up by hash takes the same time for a wrong key as for a right one.
CREATE TABLE api_keys (
    merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
    api_key_id  text COLLATE "C" NOT NULL CHECK (api_key_id ~ '^key_[0-9a-z]+$'),
    secret_hash bytea NOT NULL CHECK (octet_length(secret_hash) = 32),
    role        text NOT NULL CHECK (role IN ('read', 'write', 'operator')),
    created_at  timestamptz NOT NULL,
    revoked_at  timestamptz,
    PRIMARY KEY (merchant_id, api_key_id)
);

-- The one look-up that cannot know the merchant yet: it finds out who is calling.
CREATE INDEX api_keys_by_secret ON api_keys (secret_hash);
