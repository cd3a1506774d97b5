-- What an earlier sending of a call came to. A call that is sent again keeps its row, which tells of the last sending; the
-- ones before are evidence too.
CREATE TABLE provider_sendings (
    merchant_id  text COLLATE "C" NOT NULL,
    charge_id    text COLLATE "C" NOT NULL,
    kind         text NOT NULL,
    attempt      integer NOT NULL,
    n            integer NOT NULL CHECK (n >= 1),
    sent_at      timestamptz NOT NULL,
    answered_at  timestamptz,
    outcome      text, -- null when the answer was lost with the process that waited for it
    http_status  integer,
    request_id   text,
    found        text,
    failure_code text,
    PRIMARY KEY (merchant_id, charge_id, kind, attempt, n),
    FOREIGN KEY (merchant_id, charge_id) REFERENCES charges
);

GRANT SELECT, INSERT ON provider_sendings TO payonce_app;
ALTER TABLE provider_sendings ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY merchants_own ON provider_sendings
    USING (current_setting('payonce.merchant', true) IN (merchant_id, '*'))
    WITH CHECK (current_setting('payonce.merchant', true) IN (merchant_id, '*'));
