-- Carts, and the orders they become.

CREATE TABLE carts (
    merchant_id text COLLATE "C" NOT NULL REFERENCES merchants,
    cart_id     text COLLATE "C" NOT NULL CHECK (cart_id ~ '^cart_[0-9a-z]+$'),
    currency    text COLLATE "C" NOT NULL CHECK (currency IN ('EUR', 'USD', 'GBP', 'CHF', 'JPY', 'KWD')),
    metadata    jsonb NOT NULL CHECK (jsonb_typeof(metadata) = 'object'),
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    PRIMARY KEY (merchant_id, cart_id)
);

CREATE TABLE cart_items (
    merchant_id text COLLATE "C" NOT NULL,
    cart_id     text COLLATE "C" NOT NULL,
    product_id  text COLLATE "C" NOT NULL,
    quantity    bigint NOT NULL CHECK (quantity BETWEEN 1 AND 10000),
    added_at    timestamptz NOT NULL,
    PRIMARY KEY (merchant_id, cart_id, product_id),
    FOREIGN KEY (merchant_id, cart_id) REFERENCES carts,
    FOREIGN KEY (merchant_id, product_id) REFERENCES products
);

-- Which moves of a status are legal, as data: the triggers below and in the next migration read it, and so can a query
-- that audits the history.
CREATE TABLE legal_moves (
    noun        text NOT NULL CHECK (noun IN ('order', 'charge')),
    from_status text NOT NULL,
    to_status   text NOT NULL,
    PRIMARY KEY (noun, from_status, to_status)
);

INSERT INTO legal_moves VALUES
    ('order', 'pending_payment', 'paid'),
    ('order', 'pending_payment', 'canceled'),
    ('order', 'pending_payment', 'expired'),
    ('order', 'paid', 'fulfilled'),
    ('order', 'paid', 'canceled'),
    ('order', 'paid', 'refunded'),
    ('order', 'fulfilled', 'refunded');

CREATE TABLE orders (
    merchant_id      text COLLATE "C" NOT NULL REFERENCES merchants,
    order_id         text COLLATE "C" NOT NULL CHECK (order_id ~ '^ord_[0-9a-z]+$'),
    status           text NOT NULL
                     CHECK (status IN ('pending_payment', 'paid', 'fulfilled', 'canceled', 'expired', 'refunded')),
    currency         text COLLATE "C" NOT NULL CHECK (currency IN ('EUR', 'USD', 'GBP', 'CHF', 'JPY', 'KWD')),
    subtotal         bigint NOT NULL CHECK (subtotal >= 0),
    discount         bigint NOT NULL CHECK (discount >= 0),
    shipping         bigint NOT NULL CHECK (shipping >= 0),
    tax              bigint NOT NULL CHECK (tax >= 0),
    total            bigint NOT NULL CHECK (total BETWEEN 1 AND 99999999),
    amount_paid      bigint NOT NULL,
    amount_refunded  bigint NOT NULL,
    customer_email   text NOT NULL CHECK (customer_email <> ''),
    customer_name    text NOT NULL,
    shipping_address jsonb,
    shipping_method  text,
    cart_id          text COLLATE "C",
    charge_id        text COLLATE "C", -- the open or paid charge, or the latest refused one
    metadata         jsonb NOT NULL CHECK (jsonb_typeof(metadata) = 'object'),
    expires_at       timestamptz NOT NULL,
    paid_at          timestamptz,
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    PRIMARY KEY (merchant_id, order_id),
    FOREIGN KEY (merchant_id, cart_id) REFERENCES carts,
    CONSTRAINT orders_cart_ordered_once UNIQUE (merchant_id, cart_id),
    -- What a charge refers to: it can only ask for exactly this total in exactly this currency.
    CONSTRAINT orders_total UNIQUE (merchant_id, order_id, total, currency),
    CONSTRAINT orders_total_adds_up CHECK (total = subtotal - discount + shipping + tax),
    CONSTRAINT orders_paid_in_full_or_not_at_all CHECK (amount_paid IN (0, total)),
    CONSTRAINT orders_paid_means_paid CHECK (status NOT IN ('paid', 'fulfilled', 'refunded') OR amount_paid = total),
    CONSTRAINT orders_unpaid_means_unpaid CHECK (status NOT IN ('pending_payment', 'expired') OR amount_paid = 0),
    CONSTRAINT orders_paid_at CHECK ((paid_at IS NULL) = (amount_paid = 0)),
    CONSTRAINT orders_refund_within_payment CHECK (amount_refunded BETWEEN 0 AND amount_paid)
);

CREATE INDEX orders_newest ON orders (merchant_id, created_at DESC, order_id DESC);

-- Found by the loop that gives back the stock of orders nobody paid; a paid order leaves this index.
CREATE INDEX orders_to_expire ON orders (expires_at) WHERE status = 'pending_payment';

CREATE TABLE order_items (
    merchant_id text COLLATE "C" NOT NULL,
    order_id    text COLLATE "C" NOT NULL,
    line        smallint NOT NULL CHECK (line BETWEEN 1 AND 100),
    product_id  text COLLATE "C" NOT NULL,
    sku         text NOT NULL,
    name        text NOT NULL,
    unit_amount bigint NOT NULL CHECK (unit_amount BETWEEN 0 AND 99999999),
    quantity    bigint NOT NULL CHECK (quantity BETWEEN 1 AND 10000),
    amount      bigint NOT NULL,
    PRIMARY KEY (merchant_id, order_id, line),
    FOREIGN KEY (merchant_id, order_id) REFERENCES orders,
    FOREIGN KEY (merchant_id, product_id) REFERENCES products,
    CONSTRAINT order_items_product_once UNIQUE (merchant_id, order_id, product_id),
    CONSTRAINT order_items_amount CHECK (amount = unit_amount * quantity)
);

-- A status moves only along legal_moves.
CREATE FUNCTION orders_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.status <> OLD.status AND NOT EXISTS (
        SELECT FROM legal_moves m
        WHERE m.noun = 'order' AND m.from_status = OLD.status AND m.to_status = NEW.status
    ) THEN
        RAISE EXCEPTION 'order % cannot move from % to %', OLD.order_id, OLD.status, NEW.status
            USING ERRCODE = 'check_violation', CONSTRAINT = 'orders_legal_moves';
    END IF;
    IF (NEW.currency, NEW.subtotal, NEW.discount, NEW.shipping, NEW.tax, NEW.total, NEW.created_at)
        IS DISTINCT FROM (OLD.currency, OLD.subtotal, OLD.discount, OLD.shipping, OLD.tax, OLD.total, OLD.created_at) THEN
        RAISE EXCEPTION 'the amounts of order % are frozen', OLD.order_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'orders_frozen';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER orders_guard BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION orders_guard();

CREATE FUNCTION order_items_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the lines of order % are frozen', OLD.order_id
        USING ERRCODE = 'check_violation', CONSTRAINT = 'order_items_frozen';
END $$;

CREATE TRIGGER order_items_frozen BEFORE UPDATE OR DELETE ON order_items
    FOR EACH ROW EXECUTE FUNCTION order_items_frozen();

-- An order is worth exactly its lines. Checked at commit, when order and lines are both there.
CREATE FUNCTION orders_sum_of_lines() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    lines bigint;
BEGIN
    SELECT coalesce(sum(amount), -1) INTO lines
    FROM order_items
    WHERE merchant_id = NEW.merchant_id AND order_id = NEW.order_id;
    IF lines <> NEW.subtotal THEN
        RAISE EXCEPTION 'the lines of order % add up to %, not to its subtotal %', NEW.order_id, lines, NEW.subtotal
            USING ERRCODE = 'check_violation', CONSTRAINT = 'orders_sum_of_lines';
    END IF;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER orders_sum_of_lines AFTER INSERT ON orders
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION orders_sum_of_lines();

ALTER TABLE stock_moves ADD FOREIGN KEY (merchant_id, order_id) REFERENCES orders;
