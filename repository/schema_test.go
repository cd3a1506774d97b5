package repository_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/repository"
	"payonce/repository/repositorytest"
)

// The tests of this file go around the code, with plain SQL, and try to break the money. The database alone must refuse.

// shop is a database with one merchant, one product with ten units, one order over two of them and one open charge.
func shop(t *testing.T, options ...func(*repository.Options)) *repositorytest.DB {
	t.Helper()
	db := repositorytest.New(t, options...)
	for _, statement := range []string{
		`INSERT INTO merchants VALUES ('mrc_a', 'A', now()), ('mrc_b', 'B', now())`,
		`INSERT INTO products VALUES ('mrc_a', 'prd_1', 'mug', 'Mug', '', '', true, '{}', now(), now())`,
		`INSERT INTO prices VALUES ('mrc_a', 'prd_1', 'EUR', 1999)`,
		`INSERT INTO stock VALUES ('mrc_a', 'prd_1', 10, 2)`,
		`WITH o AS (` + insertOrder + `) INSERT INTO order_items VALUES ('mrc_a', 'ord_1', 1, 'prd_1', 'mug', 'Mug', 1999, 2, 3998)`,
		`INSERT INTO stock_moves (merchant_id, product_id, kind, order_id, on_hand_delta, reserved_delta, moved_at)
			VALUES ('mrc_a', 'prd_1', 'reserve', 'ord_1', 0, 2, now())`,
		insertCharge("chg_1", 3998, "EUR"),
	} {
		db.Exec(t, statement)
	}
	return db
}

const insertOrder = `INSERT INTO orders (merchant_id, order_id, status, currency, subtotal, discount, shipping, tax, total, amount_paid,
	amount_refunded, customer_email, customer_name, metadata, expires_at, created_at, updated_at)
	VALUES ('mrc_a', 'ord_1', 'pending_payment', 'EUR', 3998, 0, 0, 0, 3998, 0, 0, 'a@example.com', '', '{}', now() + interval '1 hour', now(), now())`

func insertCharge(id string, amount int, currency string) string {
	return `INSERT INTO charges (merchant_id, charge_id, order_id, amount, currency, status, capture_method, amount_captured, amount_refunded,
		payment_method, return_url, provider, metadata, key_operation, key_hash, version, look_at, created_at, updated_at)
		VALUES ('mrc_a', '` + id + `', 'ord_1', ` + strconv.Itoa(amount) + `, '` + currency + `', 'created', 'automatic', 0, 0, 'pm_card_visa', '', 'stripe', '{}',
		'charges.create', sha256('k'), 1, now(), now(), now())`
}

const succeed = `UPDATE charges SET status = 'succeeded', amount_captured = amount, provider_reference = 'pi_1', resolved_by = 'response',
	look_at = NULL, version = version + 1 WHERE charge_id = 'chg_1'`

func TestSchema_GuardsTheMoney(t *testing.T) {
	t.Parallel()
	db := shop(t)
	for _, row := range []struct{ rule, constraint, statement string }{
		{"a second open charge of an order", "charges_one_open_or_paid_per_order", insertCharge("chg_2", 3998, "EUR")},
		{"success without money", "charges_succeeded_means_captured", `UPDATE charges SET status = 'succeeded', provider_reference = 'pi_1', resolved_by = 'response', look_at = NULL, version = 2`},
		{"success without proof", "charges_decided_means_proof", `UPDATE charges SET status = 'succeeded', amount_captured = amount, provider_reference = 'pi_1', look_at = NULL, version = 2`},
		{"success without the provider's object", "charges_money_means_reference", `UPDATE charges SET status = 'succeeded', amount_captured = amount, resolved_by = 'response', look_at = NULL, version = 2`},
		{"more captured than asked", "charges_captured_within_amount", `UPDATE charges SET status = 'succeeded', amount_captured = amount + 1, provider_reference = 'pi_1', resolved_by = 'response', look_at = NULL, version = 2`},
		{"failure without a reason", "charges_failed_means_reason", `UPDATE charges SET status = 'failed', resolved_by = 'response', look_at = NULL, version = 2`},
		{"an open charge that nobody looks at", "charges_open_is_looked_at", `UPDATE charges SET look_at = NULL`},
		{"a write that is based on an old version", "charges_version", `UPDATE charges SET status = 'unknown', version = 1`},
		{"an order paid with more than it costs", "orders_paid_at_most_in_full", `UPDATE orders SET status = 'paid', amount_paid = total + 1, paid_at = now()`},
		{"an order paid with nothing", "orders_paid_means_paid", `UPDATE orders SET status = 'paid'`},
		{"a charge asked for more than it holds", "charges_asked_within_amount", `UPDATE charges SET asked_operation = 'charges.capture', asked_key_hash = sha256('k'), asked_amount = amount + 1`},
		{"a charge asked by nobody", "charges_asked_whole_or_nothing", `UPDATE charges SET asked_operation = 'charges.cancel', asked_amount = 0`},
		{"an order paid without money", "orders_paid_means_paid", `UPDATE orders SET status = 'paid'`},
		{"money on an order that waits for payment", "orders_unpaid_means_unpaid", `UPDATE orders SET amount_paid = total, paid_at = now()`},
		{"more refunded than paid", "orders_refund_within_payment", `UPDATE orders SET amount_refunded = 1`},
		{"a total that changes", "orders_frozen", `UPDATE orders SET subtotal = 1, total = 1`},
		{"a line that changes", "order_items_frozen", `UPDATE order_items SET quantity = 1, amount = 1999`},
		{"an order that skips a state", "orders_legal_moves", `UPDATE orders SET status = 'fulfilled', amount_paid = total, paid_at = now()`},
		{"an order that expires under an open charge", "orders_wait_for_charge", `UPDATE orders SET status = 'expired'`},
		{"more reserved than on hand", "stock_never_oversold", `UPDATE stock SET reserved = 11`},
		{"stock beyond all reason", "stock_on_hand_check", `UPDATE stock SET on_hand = 1000000001`},
		{"the same reservation twice", "stock_moves_once_per_order", `INSERT INTO stock_moves (merchant_id, product_id, kind, order_id, on_hand_delta, reserved_delta, moved_at) VALUES ('mrc_a', 'prd_1', 'reserve', 'ord_1', 0, 2, now())`},
		{"dinars that the provider cannot take", "prices_check", `INSERT INTO prices VALUES ('mrc_a', 'prd_1', 'KWD', 1001)`},
		{"a line of another merchant's product", "order_items_merchant_id_order_id_fkey", `INSERT INTO order_items VALUES ('mrc_b', 'ord_1', 1, 'prd_1', 'mug', 'Mug', 1, 1, 1)`},
		{"an answer without a finished key", "idempotency_keys_finished_means_answer", insertKey("charge_recorded", "200")},
		{"a stored 202", "idempotency_keys_never_store_accepted", insertKey("finished", "202")},
		{"a stored 500", "idempotency_keys_response_status_check", insertKey("finished", "500")},
	} {
		t.Run(row.rule, func(t *testing.T) {
			db.Refused(t, row.constraint, row.statement)
		})
	}
	t.Run("a total that is not the sum of its lines", func(t *testing.T) {
		db.Refused(t, "orders_sum_of_lines", `INSERT INTO orders (merchant_id, order_id, status, currency, subtotal, discount, shipping, tax, total, amount_paid,
			amount_refunded, customer_email, customer_name, metadata, expires_at, created_at, updated_at)
			VALUES ('mrc_a', 'ord_2', 'pending_payment', 'EUR', 1, 0, 0, 0, 1, 0, 0, 'a@example.com', '', '{}', now(), now(), now())`)
	})
	t.Run("what is decided stays decided", func(t *testing.T) {
		db.Exec(t, succeed)
		db.Refused(t, "charges_legal_moves", `UPDATE charges SET status = 'canceled', amount_captured = 0, version = version + 1`)
		db.Refused(t, "charges_provider_reference_frozen", `UPDATE charges SET provider_reference = 'pi_2', version = version + 1`)
		db.Refused(t, "charges_one_open_or_paid_per_order", insertCharge("chg_2", 3998, "EUR"))
		db.Refused(t, "charges_refunded_within_captured", `UPDATE charges SET amount_refunded = amount + 1, version = version + 1`)
	})
}

func TestSchema_AChargeAsksForExactlyTheOrdersTotal(t *testing.T) {
	t.Parallel()
	db := shop(t)
	db.Exec(t, `UPDATE charges SET status = 'canceled', resolved_by = 'response', look_at = NULL, version = 2`)
	db.Refused(t, "charges_ask_for_the_order_total", insertCharge("chg_2", 3997, "EUR"))
	db.Refused(t, "charges_ask_for_the_order_total", insertCharge("chg_2", 3998, "USD"))
	db.Exec(t, insertCharge("chg_2", 3998, "EUR"))
}

func insertKey(point, status string) string {
	return `INSERT INTO idempotency_keys VALUES ('mrc_a', 'x', sha256('y'), 'v1:` + zeros + `', '` + point + `', 'req_1', NULL, 'o', 1, now(), ` + status +
		`, NULL, '', now(), CASE WHEN '` + point + `' = 'finished' THEN now() END, now())`
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

func TestSchema_LegalMovesAreThoseOfTheDomain(t *testing.T) {
	t.Parallel()
	db := repositorytest.New(t)
	for _, from := range domain.ChargeStatuses() {
		for _, to := range domain.ChargeStatuses() {
			n := db.Count(t, `SELECT count(*) FROM legal_moves WHERE noun = 'charge' AND from_status = $1 AND to_status = $2`, string(from), string(to))
			require.Equal(t, from.CanBecome(to), n == 1, "%s to %s", from, to)
		}
	}
}

func TestSchema_CurrenciesAreThoseOfTheDomain(t *testing.T) {
	t.Parallel()
	db := repositorytest.New(t)
	db.Exec(t, `INSERT INTO merchants VALUES ('mrc_a', 'A', now())`)
	for i, rule := range domain.Currencies() {
		db.Exec(t, `INSERT INTO carts VALUES ('mrc_a', 'cart_' || $1::int, $2, '{}', now(), now())`, i, string(rule.Code))
	}
	db.Refused(t, "carts_currency_check", `INSERT INTO carts VALUES ('mrc_a', 'cart_x', 'XXX', '{}', now(), now())`)
}
