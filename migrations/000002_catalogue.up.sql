-- What is sold, for how much, and how many there are.

CREATE TABLE products (
    merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
    product_id  text COLLATE "C" NOT NULL CHECK (product_id ~ '^prd_[0-9a-z]+$'),
    sku         text COLLATE "C" NOT NULL CHECK (sku <> ''),
    name        text NOT NULL CHECK (name <> ''),
    description text NOT NULL,
    image_url   text NOT NULL,
    active      boolean NOT NULL,
    metadata    jsonb NOT NULL CHECK (jsonb_typeof(metadata) = 'object'),
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    PRIMARY KEY (merchant_id, product_id),
    CONSTRAINT products_sku_once UNIQUE (merchant_id, sku)
);

CREATE INDEX products_newest ON products (merchant_id, created_at DESC, product_id DESC);

-- Amounts are minor units of the currency, at most the eight digits that Stripe takes.
CREATE TABLE prices (
    merchant_id text COLLATE "C" NOT NULL,
    product_id  text COLLATE "C" NOT NULL,
    currency    text COLLATE "C" NOT NULL CHECK (currency IN ('EUR', 'USD', 'GBP', 'CHF', 'JPY', 'KWD')),
    unit_amount bigint NOT NULL CHECK (unit_amount BETWEEN 0 AND 99999999),
    PRIMARY KEY (merchant_id, product_id, currency),
    FOREIGN KEY (merchant_id, product_id) REFERENCES products ON DELETE CASCADE,
    CHECK (currency <> 'KWD' OR unit_amount % 10 = 0)
);

-- on_hand is what is in the warehouse, reserved what unpaid orders hold of it. The CHECK is the last word on the last
-- unit: no code path can sell what is not there.
CREATE TABLE stock (
    merchant_id text COLLATE "C" NOT NULL,
    product_id  text COLLATE "C" NOT NULL,
    on_hand     bigint NOT NULL CHECK (on_hand BETWEEN 0 AND 1000000000),
    reserved    bigint NOT NULL,
    PRIMARY KEY (merchant_id, product_id),
    FOREIGN KEY (merchant_id, product_id) REFERENCES products ON DELETE CASCADE,
    CONSTRAINT stock_never_oversold CHECK (reserved BETWEEN 0 AND on_hand)
) WITH (fillfactor = 80); -- both columns change with every order; the free space keeps those updates in the page

-- Why the stock is what it is: on_hand is the sum of on_hand_delta, reserved the sum of reserved_delta.
CREATE TABLE stock_moves (
    merchant_id    text COLLATE "C" NOT NULL,
    stock_move_id  bigint GENERATED ALWAYS AS IDENTITY,
    product_id     text COLLATE "C" NOT NULL,
    kind           text NOT NULL CHECK (kind IN ('set', 'reserve', 'release', 'sell')),
    order_id       text COLLATE "C",
    on_hand_delta  bigint NOT NULL,
    reserved_delta bigint NOT NULL,
    moved_at       timestamptz NOT NULL,
    PRIMARY KEY (merchant_id, stock_move_id),
    FOREIGN KEY (merchant_id, product_id) REFERENCES stock,
    -- An order reserves, releases and sells each product once. Whatever runs twice, its second move does not fit here.
    CONSTRAINT stock_moves_once_per_order UNIQUE (merchant_id, order_id, product_id, kind),
    CHECK ((kind = 'set') = (order_id IS NULL)),
    CHECK (CASE kind
               WHEN 'set' THEN reserved_delta = 0
               WHEN 'reserve' THEN on_hand_delta = 0 AND reserved_delta > 0
               WHEN 'release' THEN on_hand_delta = 0 AND reserved_delta < 0
               WHEN 'sell' THEN on_hand_delta < 0 AND reserved_delta = on_hand_delta
           END)
);
