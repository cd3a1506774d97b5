package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// OrderStatus is where an order stands.
type OrderStatus string

// The states of an order. A service that is newer than this package may know more.
const (
	OrderPendingPayment OrderStatus = "pending_payment" // placed, stock reserved, not paid
	OrderPaid           OrderStatus = "paid"
	OrderFulfilled      OrderStatus = "fulfilled"
	OrderCanceled       OrderStatus = "canceled"
	OrderExpired        OrderStatus = "expired" // nobody paid in time; the stock went back
	OrderRefunded       OrderStatus = "refunded"
)

// Order is what a buyer owes, with the prices of the moment in which it was placed. Amounts are minor units of Currency.
type Order struct {
	ID              string            `json:"id"`
	Object          string            `json:"object"`
	Status          OrderStatus       `json:"status"`
	Currency        string            `json:"currency"`
	Subtotal        int64             `json:"subtotal"`
	Discount        int64             `json:"discount"`
	Shipping        int64             `json:"shipping"`
	Tax             int64             `json:"tax"`
	Total           int64             `json:"total"` // Subtotal - Discount + Shipping + Tax
	AmountPaid      int64             `json:"amount_paid"`
	AmountRefunded  int64             `json:"amount_refunded"`
	Items           []OrderItem       `json:"items"`
	Customer        Customer          `json:"customer"`
	ShippingAddress *Address          `json:"shipping_address"`
	ShippingMethod  string            `json:"shipping_method"`
	CartID          string            `json:"cart_id"`
	ChargeID        string            `json:"charge_id"` // the open or paid charge, or the latest refused one
	Metadata        map[string]string `json:"metadata"`
	ExpiresAt       time.Time         `json:"expires_at"` // when an unpaid order gives its stock back
	CreatedAt       time.Time         `json:"created_at"`
	UpdatedAt       time.Time         `json:"updated_at"`

	Answer Answer `json:"-"`
}

func (o Order) complete() bool { return o.Object == "order" && o.ID != "" && o.Status != "" }

// OrderItem is one line of an order, frozen.
type OrderItem struct {
	ProductID  string `json:"product_id"`
	SKU        string `json:"sku"`
	Name       string `json:"name"`
	UnitAmount int64  `json:"unit_amount"`
	Quantity   int64  `json:"quantity"`
	Amount     int64  `json:"amount"`
}

// Customer is who buys.
type Customer struct {
	Email string `json:"email"`
	Name  string `json:"name,omitempty"`
}

// Address is where goods go. Country is an ISO 3166-1 alpha-2 code.
type Address struct {
	Name       string `json:"name,omitempty"`
	Line1      string `json:"line1"`
	Line2      string `json:"line2,omitempty"`
	City       string `json:"city"`
	State      string `json:"state,omitempty"`
	PostalCode string `json:"postal_code"`
	Country    string `json:"country"`
}

// OrderParams describe a new order: either Items with a Currency, or the cart that CartID names. Customer.Email is needed.
type OrderParams struct {
	CartID          string            `json:"cart_id,omitempty"`
	Items           []OrderLine       `json:"items,omitempty"`
	Currency        string            `json:"currency,omitempty"`
	Customer        Customer          `json:"customer"`
	ShippingAddress *Address          `json:"shipping_address,omitempty"`
	ShippingMethod  string            `json:"shipping_method,omitempty"`
	Metadata        map[string]string `json:"metadata,omitempty"`
	// ExpectedTotal is the sum that the buyer has seen, in minor units. If the order comes to another one, it is refused
	// as total-changed instead of being placed at a price that nobody agreed to.
	ExpectedTotal *int64 `json:"expected_total,omitempty"`
}

// OrderLine is a product and how many units of it, from 1 to 10,000.
type OrderLine struct {
	ProductID string `json:"product_id"`
	Quantity  int64  `json:"quantity"`
}

// OrderFilter narrows a list of orders; the zero value lists all.
type OrderFilter struct {
	Status        OrderStatus
	CustomerEmail string
	CreatedAfter  time.Time
	CreatedBefore time.Time
}

// CreateOrder places an order: stock is reserved and prices are frozen.
func (c *Client) CreateOrder(ctx context.Context, intent Intent, params OrderParams) (Order, error) {
	o, answer, err := do[Order](ctx, c, call{name: "create order", method: http.MethodPost, path: []string{"orders"}, intent: intent, command: params})
	o.Answer = answer
	return o, err
}

// GetOrder reads an order.
func (c *Client) GetOrder(ctx context.Context, id string) (Order, error) {
	o, answer, err := do[Order](ctx, c, call{name: "get order", method: http.MethodGet, path: []string{"orders", id}})
	o.Answer = answer
	return o, err
}

// ListOrders walks over the orders that match, newest first.
func (c *Client) ListOrders(ctx context.Context, filter OrderFilter) iter.Seq2[Order, error] {
	query := url.Values{}
	set(query, "status", string(filter.Status))
	set(query, "customer_email", filter.CustomerEmail)
	set(query, "created_after", instant(filter.CreatedAfter))
	set(query, "created_before", instant(filter.CreatedBefore))
	return pages(ctx, c, call{name: "list orders", path: []string{"orders"}, query: query}, func(o Order) string { return o.ID })
}

// SetShippingAddress sets where an order goes, until it is fulfilled.
func (c *Client) SetShippingAddress(ctx context.Context, orderID string, to Address) (Order, error) {
	o, answer, err := do[Order](ctx, c, call{name: "set shipping address", method: http.MethodPut, path: []string{"orders", orderID, "shipping_address"}, command: to})
	o.Answer = answer
	return o, err
}

// instant is a time as the query has it; "" for none.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
