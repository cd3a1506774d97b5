package repository

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/lib/pq"

	"payonce/domain"
)

const orderColumns = `t.order_id, t.merchant_id, t.status, t.currency, t.subtotal, t.discount, t.shipping, t.tax, t.total,
	t.amount_paid, t.amount_refunded, t.customer_email, t.customer_name, t.shipping_address, t.shipping_method, t.cart_id,
	t.charge_id, t.metadata, t.expires_at, t.created_at, t.updated_at`

// OrderFilter narrows a list of orders; zero values do not narrow.
type OrderFilter struct {
	Status        domain.OrderStatus
	CustomerEmail string
	CreatedAfter  time.Time // exclusive
	CreatedBefore time.Time // exclusive
}

// Order reads one order with its lines.
func (r Reader) Order(ctx context.Context, merchant, id string) (order domain.Order, err error) {
	err = r.q.together(ctx, func(r Reader) error {
		order, err = r.order(ctx, merchant, id, "")
		return err
	})
	return order, err
}

// OrderForUpdate is Order with the row locked until the transaction ends.
func (tx *Tx) OrderForUpdate(ctx context.Context, merchant, id string) (domain.Order, error) {
	return tx.order(ctx, merchant, id, "FOR UPDATE OF t")
}

func (r Reader) order(ctx context.Context, merchant, id, locking string) (domain.Order, error) {
	var row orderRow
	err := r.q.GetContext(ctx, &row, `
		SELECT `+orderColumns+`
		FROM orders t
		WHERE t.merchant_id = $1 AND t.order_id = $2 `+locking, merchant, id)
	if err := one(err, "order", id); err != nil {
		return domain.Order{}, err
	}
	orders, err := r.withItems(ctx, merchant, []orderRow{row})
	if err != nil {
		return domain.Order{}, err
	}
	return orders[0], nil
}

// ListOrders reads a page of orders, newest first.
func (r Reader) ListOrders(ctx context.Context, merchant string, f OrderFilter, page Page) (orders []domain.Order, more bool, err error) {
	list := listing{columns: orderColumns, from: "orders t", id: "order_id", merchant: merchant, page: page}
	if f.Status != "" {
		list.filter("t.status = ?", f.Status)
	}
	if f.CustomerEmail != "" {
		list.filter("lower(t.customer_email) = lower(?)", f.CustomerEmail)
	}
	if !f.CreatedAfter.IsZero() {
		list.filter("t.created_at > ?", f.CreatedAfter)
	}
	if !f.CreatedBefore.IsZero() {
		list.filter("t.created_at < ?", f.CreatedBefore)
	}
	err = r.q.together(ctx, func(r Reader) error {
		var rows []orderRow
		if err := list.read(ctx, r.q, &rows); err != nil {
			return err
		}
		rows, more = cut(rows, page.Limit)
		orders, err = r.withItems(ctx, merchant, rows)
		return err
	})
	return orders, more, err
}

// withItems reads the lines of all the orders in one statement.
func (r Reader) withItems(ctx context.Context, merchant string, rows []orderRow) ([]domain.Order, error) {
	orders := make([]domain.Order, len(rows))
	ids, at := make([]string, len(rows)), make(map[string]int, len(rows))
	for i, row := range rows {
		orders[i] = row.order()
		ids[i], at[row.OrderID] = row.OrderID, i
	}
	var items []struct {
		OrderID string `db:"order_id"`
		domain.OrderItem
	}
	err := r.q.SelectContext(ctx, &items, `
		SELECT order_id, product_id, sku, name, unit_amount, quantity, amount
		FROM order_items
		WHERE merchant_id = $1 AND order_id = ANY ($2)
		ORDER BY order_id, line`, merchant, pq.Array(ids))
	if err != nil {
		return nil, fmt.Errorf("order items: %w", err)
	}
	for _, item := range items {
		o := &orders[at[item.OrderID]]
		o.Items = append(o.Items, item.OrderItem)
	}
	return orders, nil
}

// InsertOrder writes a new order with its lines, and the hash of the idempotency key that asked for it.
func (tx *Tx) InsertOrder(ctx context.Context, o domain.Order, keyHash []byte) error {
	metadata, err := asJSON(o.Metadata)
	if err != nil {
		return err
	}
	var address *string
	if o.ShippingAddress != nil {
		text, err := asJSON(o.ShippingAddress)
		if err != nil {
			return err
		}
		address = &text
	}
	_, err = tx.q.ExecContext(ctx, `
		INSERT INTO orders (merchant_id, order_id, status, currency, subtotal, discount, shipping, tax, total, amount_paid,
			amount_refunded, customer_email, customer_name, shipping_address, shipping_method, cart_id, metadata,
			expires_at, created_at, updated_at, key_hash)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 0, $10, $11, $12, $13, $14, $15, $16, $17, $17, $18)`,
		o.MerchantID, o.ID, o.Status, o.Currency, o.Subtotal, o.Discount, o.Shipping, o.Tax, o.Total,
		o.Customer.Email, o.Customer.Name, address, o.ShippingMethod, o.CartID, metadata, o.ExpiresAt, o.CreatedAt, keyHash)
	if err != nil {
		return fmt.Errorf("insert order %s: %w", o.ID, err)
	}
	return tx.insertItems(ctx, o)
}

func (tx *Tx) insertItems(ctx context.Context, o domain.Order) error {
	n := len(o.Items)
	products, skus, names := make([]string, n), make([]string, n), make([]string, n)
	units, quantities, amounts := make([]int64, n), make([]int64, n), make([]int64, n)
	for i, item := range o.Items {
		products[i], skus[i], names[i] = item.ProductID, item.SKU, item.Name
		units[i], quantities[i], amounts[i] = item.UnitAmount, item.Quantity, item.Amount
	}
	_, err := tx.q.ExecContext(ctx, `
		INSERT INTO order_items (merchant_id, order_id, line, product_id, sku, name, unit_amount, quantity, amount)
		SELECT $1, $2, l.line, l.product_id, l.sku, l.name, l.unit_amount, l.quantity, l.amount
		FROM unnest($3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[]) WITH ORDINALITY
			AS l (product_id, sku, name, unit_amount, quantity, amount, line)`,
		o.MerchantID, o.ID, pq.Array(products), pq.Array(skus), pq.Array(names), pq.Array(units), pq.Array(quantities), pq.Array(amounts))
	if err != nil {
		return fmt.Errorf("insert items of order %s: %w", o.ID, err)
	}
	return nil
}

// UpdateOrder writes what may change of an order. The row is locked by the caller; from is the status it was read with,
// so a caller that forgot the lock changes nothing.
func (tx *Tx) UpdateOrder(ctx context.Context, o domain.Order, from domain.OrderStatus) error {
	var address *string
	if o.ShippingAddress != nil {
		text, err := asJSON(o.ShippingAddress)
		if err != nil {
			return err
		}
		address = &text
	}
	result, err := tx.q.ExecContext(ctx, `
		UPDATE orders
		SET status = $4, amount_paid = $5::bigint, amount_refunded = $6, charge_id = $7, shipping_address = $8, updated_at = $9,
			paid_at = CASE WHEN $5::bigint > 0 THEN coalesce(paid_at, $9) END
		WHERE merchant_id = $1 AND order_id = $2 AND status = $3`,
		o.MerchantID, o.ID, from, o.Status, o.AmountPaid, o.AmountRefunded, o.ChargeID, address, o.UpdatedAt)
	return exactly(1, result, err, "update order "+o.ID)
}

// ClaimExpiredOrders locks up to limit unpaid orders whose time is over and which have no charge that is open or paid.
// Orders that another process has locked are left to it.
func (tx *Tx) ClaimExpiredOrders(ctx context.Context, limit int) ([]domain.Order, error) {
	var rows []orderRow
	err := tx.q.SelectContext(ctx, &rows, `
		SELECT `+orderColumns+`
		FROM orders t
		WHERE t.status = 'pending_payment' AND t.expires_at <= $1
			AND NOT EXISTS (SELECT FROM charges c
				WHERE c.merchant_id = t.merchant_id AND c.order_id = t.order_id AND c.status NOT IN ('failed', 'canceled'))
		ORDER BY t.expires_at
		LIMIT $2
		FOR UPDATE OF t SKIP LOCKED`, tx.Now, limit)
	if err != nil {
		return nil, fmt.Errorf("expired orders: %w", err)
	}
	orders := make([]domain.Order, 0, len(rows))
	for _, row := range rows { // the batch may span merchants, and lines are read per merchant
		one, err := tx.withItems(ctx, row.MerchantID, []orderRow{row})
		if err != nil {
			return nil, err
		}
		orders = append(orders, one...)
	}
	return orders, nil
}

type orderRow struct {
	OrderID         string                        `db:"order_id"`
	MerchantID      string                        `db:"merchant_id"`
	Status          domain.OrderStatus            `db:"status"`
	Currency        domain.Currency               `db:"currency"`
	Subtotal        int64                         `db:"subtotal"`
	Discount        int64                         `db:"discount"`
	Shipping        int64                         `db:"shipping"`
	Tax             int64                         `db:"tax"`
	Total           int64                         `db:"total"`
	AmountPaid      int64                         `db:"amount_paid"`
	AmountRefunded  int64                         `db:"amount_refunded"`
	CustomerEmail   string                        `db:"customer_email"`
	CustomerName    string                        `db:"customer_name"`
	ShippingAddress jsonColumn[*domain.Address]   `db:"shipping_address"`
	ShippingMethod  sql.NullString                `db:"shipping_method"`
	CartID          sql.NullString                `db:"cart_id"`
	ChargeID        sql.NullString                `db:"charge_id"`
	Metadata        jsonColumn[map[string]string] `db:"metadata"`
	ExpiresAt       time.Time                     `db:"expires_at"`
	CreatedAt       time.Time                     `db:"created_at"`
	UpdatedAt       time.Time                     `db:"updated_at"`
}

func (r orderRow) order() domain.Order {
	return domain.Order{
		ID: r.OrderID, MerchantID: r.MerchantID, Status: r.Status, Currency: r.Currency,
		Subtotal: r.Subtotal, Discount: r.Discount, Shipping: r.Shipping, Tax: r.Tax, Total: r.Total,
		AmountPaid: r.AmountPaid, AmountRefunded: r.AmountRefunded, Items: []domain.OrderItem{},
		Customer:        domain.Customer{Email: r.CustomerEmail, Name: r.CustomerName},
		ShippingAddress: r.ShippingAddress.V, ShippingMethod: orNil(r.ShippingMethod), CartID: orNil(r.CartID),
		ChargeID: orNil(r.ChargeID), Metadata: r.Metadata.V,
		ExpiresAt: r.ExpiresAt.UTC(), CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
}

func orNil(s sql.NullString) *string {
	if !s.Valid {
		return nil
	}
	return &s.String
}
