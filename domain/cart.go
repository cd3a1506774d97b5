package domain

import (
	"encoding/json"
	"time"
)

// MaxLines is how many different products a cart or an order may hold, MaxQuantity how many units of each.
const (
	MaxLines          = 100
	MaxQuantity int64 = 10_000
)

// Cart is a basket in the making. Its prices are live; an order freezes them.
type Cart struct {
	ID         string            `json:"id"`
	MerchantID string            `json:"-"`
	Currency   Currency          `json:"currency"`
	Items      []CartItem        `json:"items"`
	Total      int64             `json:"total"`
	OrderID    *string           `json:"order_id"` // set once the cart was ordered; then it no longer changes
	Metadata   map[string]string `json:"metadata"`
	CreatedAt  time.Time         `json:"created_at"`
	UpdatedAt  time.Time         `json:"updated_at"`
}

// CartItem is one product in a cart, at today's price.
type CartItem struct {
	ProductID  string `json:"product_id" db:"product_id"`
	SKU        string `json:"sku" db:"sku"`
	Name       string `json:"name" db:"name"`
	UnitAmount int64  `json:"unit_amount" db:"unit_amount"`
	Quantity   int64  `json:"quantity" db:"quantity"`
	Amount     int64  `json:"amount" db:"-"`
	Available  int64  `json:"available" db:"available"`
}

// Priced fills in the amounts and the total. ok is false when a sum does not fit in an int64, which the limits on
// price, quantity and lines already rule out.
func (c Cart) Priced() (priced Cart, ok bool) {
	c.Items = append([]CartItem{}, c.Items...)
	c.Total = 0
	for i := range c.Items {
		item := &c.Items[i]
		if item.Amount, ok = Multiply(item.UnitAmount, item.Quantity); !ok {
			return c, false
		}
		if c.Total, ok = Add(c.Total, item.Amount); !ok {
			return c, false
		}
	}
	return c, true
}

// MarshalJSON adds the object name that every object of the API carries.
func (c Cart) MarshalJSON() ([]byte, error) {
	type plain Cart
	return json.Marshal(struct {
		ID     string `json:"id"`
		Object string `json:"object"`
		plain
	}{c.ID, "cart", plain(c)})
}
