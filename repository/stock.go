package repository

import (
	"context"
	"fmt"

	"github.com/lib/pq"

	"payonce/domain"
)

// Stock reads how many units of a product there are.
func (r Reader) Stock(ctx context.Context, merchant, product string) (domain.Stock, error) {
	var stock domain.Stock
	err := r.q.GetContext(ctx, &stock, `
		SELECT product_id, on_hand, reserved
		FROM stock
		WHERE merchant_id = $1 AND product_id = $2`, merchant, product)
	return stock, one(err, "product", product)
}

// LockStock locks the stock of the products in the order of their ids, which is the same for every basket, so that two
// baskets with the same products can never wait for each other in a circle.
func (tx *Tx) LockStock(ctx context.Context, merchant string, products []string) (map[string]domain.Stock, error) {
	var rows []domain.Stock
	err := tx.q.SelectContext(ctx, &rows, `
		SELECT product_id, on_hand, reserved
		FROM stock
		WHERE merchant_id = $1 AND product_id = ANY ($2)
		ORDER BY product_id
		FOR UPDATE`, merchant, pq.Array(products))
	if err != nil {
		return nil, fmt.Errorf("lock stock: %w", err)
	}
	found := make(map[string]domain.Stock, len(rows))
	for _, row := range rows {
		found[row.ProductID] = row
	}
	return found, nil
}

// SetStock sets what is on hand of a product. It must not fall below what unpaid orders hold.
func (tx *Tx) SetStock(ctx context.Context, merchant, product string, onHand int64) (domain.Stock, error) {
	locked, err := tx.LockStock(ctx, merchant, []string{product})
	if err != nil {
		return domain.Stock{}, err
	}
	stock, ok := locked[product]
	if !ok {
		return domain.Stock{}, domain.E(domain.CodeNotFound, nil, "no such product")
	}
	if onHand < stock.Reserved {
		return domain.Stock{}, domain.E(domain.CodeValidationFailed, domain.Fields{"errors": []domain.FieldError{{
			Pointer: "/on_hand", Detail: fmt.Sprintf("must be at least %d, which unpaid orders hold", stock.Reserved)}}},
			"on_hand is below what unpaid orders hold")
	}
	delta := onHand - stock.OnHand
	stock.OnHand = onHand
	result, err := tx.q.ExecContext(ctx, `
		UPDATE stock
		SET on_hand = $3
		WHERE merchant_id = $1 AND product_id = $2`, merchant, product, onHand)
	if err := exactly(1, result, err, "set stock of "+product); err != nil {
		return domain.Stock{}, err
	}
	if delta == 0 {
		return stock, nil
	}
	_, err = tx.q.ExecContext(ctx, `
		INSERT INTO stock_moves (merchant_id, product_id, kind, order_id, on_hand_delta, reserved_delta, moved_at)
		VALUES ($1, $2, 'set', NULL, $3, 0, $4)`, merchant, product, delta, tx.Now)
	if err != nil {
		return domain.Stock{}, fmt.Errorf("insert stock move of %s: %w", product, err)
	}
	return stock, nil
}

// ReserveStock holds the units of an order. The caller has locked the stock and seen that there is enough.
func (tx *Tx) ReserveStock(ctx context.Context, o domain.Order) error {
	return tx.moveStock(ctx, o, "reserve", 0, 1)
}

// ReleaseStock gives back the units of an order that will not be paid.
func (tx *Tx) ReleaseStock(ctx context.Context, o domain.Order) error {
	return tx.moveStock(ctx, o, "release", 0, -1)
}

// SellStock takes the reserved units of a paid order out of the stock.
func (tx *Tx) SellStock(ctx context.Context, o domain.Order) error {
	return tx.moveStock(ctx, o, "sell", -1, -1)
}

// moveStock changes the stock of an order's lines and writes down why. The unique constraint on the moves makes a second
// run of the same move fail instead of counting twice.
func (tx *Tx) moveStock(ctx context.Context, o domain.Order, kind string, onHand, reserved int64) error {
	products, quantities := make([]string, len(o.Items)), make([]int64, len(o.Items))
	for i, item := range o.Items {
		products[i], quantities[i] = item.ProductID, item.Quantity
	}
	if _, err := tx.LockStock(ctx, o.MerchantID, products); err != nil {
		return err
	}
	result, err := tx.q.ExecContext(ctx, `
		UPDATE stock s
		SET on_hand = s.on_hand + $4 * l.quantity, reserved = s.reserved + $5 * l.quantity
		FROM unnest($2::text[], $3::bigint[]) AS l (product_id, quantity)
		WHERE s.merchant_id = $1 AND s.product_id = l.product_id`,
		o.MerchantID, pq.Array(products), pq.Array(quantities), onHand, reserved)
	if err := exactly(int64(len(o.Items)), result, err, kind+" stock of "+o.ID); err != nil {
		return err
	}
	_, err = tx.q.ExecContext(ctx, `
		INSERT INTO stock_moves (merchant_id, product_id, kind, order_id, on_hand_delta, reserved_delta, moved_at)
		SELECT $1, l.product_id, $6, $7, $4 * l.quantity, $5 * l.quantity, $8
		FROM unnest($2::text[], $3::bigint[]) AS l (product_id, quantity)`,
		o.MerchantID, pq.Array(products), pq.Array(quantities), onHand, reserved, kind, o.ID, tx.Now)
	if err != nil {
		return fmt.Errorf("insert stock moves of %s: %w", o.ID, err)
	}
	return nil
}
