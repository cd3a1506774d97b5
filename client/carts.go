package client

import (
	"context"
	"net/http"
	"time"
)

// Cart is a basket in the making. Its prices are live; an order freezes them.
type Cart struct {
	ID        string            `json:"id"`
	Object    string            `json:"object"`
	Currency  string            `json:"currency"`
	Items     []CartItem        `json:"items"`
	Total     int64             `json:"total"`    // minor units
	OrderID   string            `json:"order_id"` // set once the cart was ordered; then it no longer changes
	Metadata  map[string]string `json:"metadata"`
	CreatedAt time.Time         `json:"created_at"`
	UpdatedAt time.Time         `json:"updated_at"`

	Answer Answer `json:"-"`
}

func (c Cart) complete() bool { return c.Object == "cart" && c.ID != "" }

// CartItem is one product in a cart, at today's price in minor units.
type CartItem struct {
	ProductID  string `json:"product_id"`
	SKU        string `json:"sku"`
	Name       string `json:"name"`
	UnitAmount int64  `json:"unit_amount"`
	Quantity   int64  `json:"quantity"`
	Amount     int64  `json:"amount"`
	Available  int64  `json:"available"` // units that can be sold now
}

// CartParams describe a new cart. Currency is an ISO 4217 code.
type CartParams struct {
	Currency string            `json:"currency"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// CreateCart starts an empty cart.
func (c *Client) CreateCart(ctx context.Context, intent Intent, params CartParams) (Cart, error) {
	cart, answer, err := do[Cart](ctx, c, call{name: "create cart", method: http.MethodPost, path: []string{"carts"}, intent: intent, command: params})
	cart.Answer = answer
	return cart, err
}

// GetCart reads a cart.
func (c *Client) GetCart(ctx context.Context, id string) (Cart, error) {
	cart, answer, err := do[Cart](ctx, c, call{name: "get cart", method: http.MethodGet, path: []string{"carts", id}})
	cart.Answer = answer
	return cart, err
}

// SetCartItem sets how many units of a product are in a cart, from 1 to 10,000. It sets and does not add, so it needs no
// key.
func (c *Client) SetCartItem(ctx context.Context, cartID, productID string, quantity int64) (Cart, error) {
	command := map[string]int64{"quantity": quantity}
	cart, answer, err := do[Cart](ctx, c, call{name: "set cart item", method: http.MethodPut, path: []string{"carts", cartID, "items", productID}, command: command})
	cart.Answer = answer
	return cart, err
}

// RemoveCartItem takes a product out of a cart.
func (c *Client) RemoveCartItem(ctx context.Context, cartID, productID string) (Cart, error) {
	cart, answer, err := do[Cart](ctx, c, call{name: "remove cart item", method: http.MethodDelete, path: []string{"carts", cartID, "items", productID}})
	cart.Answer = answer
	return cart, err
}
