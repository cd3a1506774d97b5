package repository

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"payonce/domain"
)

// Cart reads a cart at today's prices.
func (r Reader) Cart(ctx context.Context, merchant, id string) (cart domain.Cart, err error) {
	err = r.q.together(ctx, func(r Reader) error {
		cart, err = r.cart(ctx, merchant, id, "")
		return err
	})
	return cart, err
}

// CartForUpdate is Cart with the row locked until the transaction ends.
func (tx *Tx) CartForUpdate(ctx context.Context, merchant, id string) (domain.Cart, error) {
	return tx.cart(ctx, merchant, id, "FOR UPDATE OF t")
}

func (r Reader) cart(ctx context.Context, merchant, id, locking string) (domain.Cart, error) {
	var row struct {
		CartID    string                        `db:"cart_id"`
		Currency  domain.Currency               `db:"currency"`
		Metadata  jsonColumn[map[string]string] `db:"metadata"`
		CreatedAt time.Time                     `db:"created_at"`
		UpdatedAt time.Time                     `db:"updated_at"`
	}
	err := r.q.GetContext(ctx, &row, `
		SELECT t.cart_id, t.currency, t.metadata, t.created_at, t.updated_at
		FROM carts t
		WHERE t.merchant_id = $1 AND t.cart_id = $2 `+locking, merchant, id)
	if err := one(err, "cart", id); err != nil {
		return domain.Cart{}, err
	}
	cart := domain.Cart{ID: row.CartID, MerchantID: merchant, Currency: row.Currency, Metadata: row.Metadata.V,
		CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(), Items: []domain.CartItem{}}
	// A statement of its own, after the lock: a sub-select in the one that waited for the lock would still look at the
	// orders as they were before the wait, and miss the one that the cart has just become.
	var order string
	err = r.q.GetContext(ctx, &order, `
		SELECT order_id
		FROM orders
		WHERE merchant_id = $1 AND cart_id = $2`, merchant, id)
	switch {
	case err == nil:
		cart.OrderID = &order
	case !errors.Is(err, sql.ErrNoRows):
		return domain.Cart{}, fmt.Errorf("order of cart %s: %w", id, err)
	}
	// A product that has lost its price in this currency, or was withdrawn, stays visible at 0 with nothing available,
	// so that the buyer sees why the cart cannot be ordered.
	err = r.q.SelectContext(ctx, &cart.Items, `
		SELECT i.product_id, p.sku, p.name, i.quantity, coalesce(r.unit_amount, 0) AS unit_amount,
			CASE WHEN p.active AND r.unit_amount IS NOT NULL THEN s.on_hand - s.reserved ELSE 0 END AS available
		FROM cart_items i
		JOIN products p USING (merchant_id, product_id)
		JOIN stock s USING (merchant_id, product_id)
		LEFT JOIN prices r ON r.merchant_id = i.merchant_id AND r.product_id = i.product_id AND r.currency = $3
		WHERE i.merchant_id = $1 AND i.cart_id = $2
		ORDER BY i.added_at, i.product_id`, merchant, id, cart.Currency)
	if err != nil {
		return domain.Cart{}, fmt.Errorf("items of cart %s: %w", id, err)
	}
	cart, ok := cart.Priced()
	if !ok {
		return domain.Cart{}, fmt.Errorf("cart %s: total does not fit in an int64", id)
	}
	return cart, nil
}

// InsertCart writes a new, empty cart.
func (tx *Tx) InsertCart(ctx context.Context, c domain.Cart) error {
	metadata, err := asJSON(c.Metadata)
	if err != nil {
		return err
	}
	_, err = tx.q.ExecContext(ctx, `
		INSERT INTO carts (merchant_id, cart_id, currency, metadata, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6)`, c.MerchantID, c.ID, c.Currency, metadata, c.CreatedAt, c.UpdatedAt)
	if err != nil {
		return fmt.Errorf("insert cart %s: %w", c.ID, err)
	}
	return nil
}

// PutCartItem sets the quantity of a product in a cart.
func (tx *Tx) PutCartItem(ctx context.Context, merchant, cart, product string, quantity int64) error {
	_, err := tx.q.ExecContext(ctx, `
		INSERT INTO cart_items (merchant_id, cart_id, product_id, quantity, added_at)
		VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (merchant_id, cart_id, product_id) DO UPDATE SET quantity = excluded.quantity`,
		merchant, cart, product, quantity, tx.Now)
	if err != nil {
		return fmt.Errorf("put item in cart %s: %w", cart, err)
	}
	return tx.touchCart(ctx, merchant, cart)
}

// DeleteCartItem takes a product out of a cart. A product that is not in it is no error: the result is the same.
func (tx *Tx) DeleteCartItem(ctx context.Context, merchant, cart, product string) error {
	_, err := tx.q.ExecContext(ctx, `
		DELETE FROM cart_items
		WHERE merchant_id = $1 AND cart_id = $2 AND product_id = $3`, merchant, cart, product)
	if err != nil {
		return fmt.Errorf("delete item of cart %s: %w", cart, err)
	}
	return tx.touchCart(ctx, merchant, cart)
}

func (tx *Tx) touchCart(ctx context.Context, merchant, cart string) error {
	result, err := tx.q.ExecContext(ctx, `
		UPDATE carts
		SET updated_at = $3
		WHERE merchant_id = $1 AND cart_id = $2`, merchant, cart, tx.Now)
	return exactly(1, result, err, "touch cart "+cart)
}
