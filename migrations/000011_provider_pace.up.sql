-- How fast the provider may be called, by all processes together. A row is a token bucket that stores no number of tokens
-- but the time at which it will be full again, by this database's clock: a token that is taken moves that time by one
-- interval. One share is for calls that begin or move money; look-ups and fences have one of their own, so that a rush of
-- buyers cannot keep us from finding out what happened to their money.
CREATE TABLE provider_pace (
    provider text COLLATE "C" NOT NULL,
    share    text NOT NULL CHECK (share IN ('work', 'kept')),
    full_at  timestamptz NOT NULL,
    PRIMARY KEY (provider, share)
) WITH (fillfactor = 10); -- one row, written all the time: room for its versions in one page

GRANT SELECT, INSERT, UPDATE ON provider_pace TO payonce_app;
