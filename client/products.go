package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// Product is something the merchant sells.
type Product struct {
	ID          string            `json:"id"`
	Object      string            `json:"object"`
	SKU         string            `json:"sku"`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	ImageURL    string            `json:"image_url"`
	Prices      []Price           `json:"prices"` // at most one per currency
	Active      bool              `json:"active"`
	Available   int64             `json:"available"` // units that can be sold now
	Metadata    map[string]string `json:"metadata"`
	CreatedAt   time.Time         `json:"created_at"`
	UpdatedAt   time.Time         `json:"updated_at"`

	Answer Answer `json:"-"`
}

func (p Product) complete() bool { return p.Object == "product" && p.ID != "" }

// Price is what one unit costs, in minor units of an ISO 4217 currency.
type Price struct {
	Currency   string `json:"currency"`
	UnitAmount int64  `json:"unit_amount"`
}

// ProductParams describe a new product. SKU, Name and Prices are needed.
type ProductParams struct {
	SKU         string            `json:"sku"`
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	ImageURL    string            `json:"image_url,omitempty"`
	Prices      []Price           `json:"prices"`
	Active      *bool             `json:"active,omitempty"` // nil: true
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// ProductUpdate names what changes about a product; what is nil stays. Prices and Metadata are replaced as a whole.
type ProductUpdate struct {
	SKU         *string           `json:"sku,omitempty"`
	Name        *string           `json:"name,omitempty"`
	Description *string           `json:"description,omitempty"`
	ImageURL    *string           `json:"image_url,omitempty"`
	Prices      []Price           `json:"prices,omitzero"`
	Active      *bool             `json:"active,omitempty"`
	Metadata    map[string]string `json:"metadata,omitzero"`
}

// Stock is how many units of a product there are: OnHand in the warehouse, Reserved of them by unpaid orders.
type Stock struct {
	ProductID string `json:"product_id"`
	OnHand    int64  `json:"on_hand"`
	Reserved  int64  `json:"reserved"`
	Available int64  `json:"available"` // OnHand - Reserved

	Answer Answer `json:"-"`
}

func (s Stock) complete() bool { return s.ProductID != "" }

// CreateProduct adds a product to the catalogue.
func (c *Client) CreateProduct(ctx context.Context, intent Intent, params ProductParams) (Product, error) {
	p, answer, err := do[Product](ctx, c, call{name: "create product", method: http.MethodPost, path: []string{"products"}, intent: intent, command: params})
	p.Answer = answer
	return p, err
}

// GetProduct reads a product.
func (c *Client) GetProduct(ctx context.Context, id string) (Product, error) {
	p, answer, err := do[Product](ctx, c, call{name: "get product", method: http.MethodGet, path: []string{"products", id}})
	p.Answer = answer
	return p, err
}

// ListProducts walks over all products, newest first.
func (c *Client) ListProducts(ctx context.Context) iter.Seq2[Product, error] {
	return pages(ctx, c, call{name: "list products", path: []string{"products"}}, func(p Product) string { return p.ID })
}

// UpdateProduct changes a product. Orders that were placed keep the prices they were placed with.
func (c *Client) UpdateProduct(ctx context.Context, id string, update ProductUpdate) (Product, error) {
	p, answer, err := do[Product](ctx, c, call{name: "update product", method: http.MethodPatch, path: []string{"products", id}, command: update})
	p.Answer = answer
	return p, err
}

// GetStock reads how many units of a product there are.
func (c *Client) GetStock(ctx context.Context, productID string) (Stock, error) {
	s, answer, err := do[Stock](ctx, c, call{name: "get stock", method: http.MethodGet, path: []string{"products", productID, "stock"}})
	s.Answer = answer
	return s, err
}

// SetStock sets how many units of a product are in the warehouse, from 0 to 1,000,000,000. It sets and does not add, so
// it needs no key.
func (c *Client) SetStock(ctx context.Context, productID string, onHand int64) (Stock, error) {
	command := map[string]int64{"on_hand": onHand}
	s, answer, err := do[Stock](ctx, c, call{name: "set stock", method: http.MethodPut, path: []string{"products", productID, "stock"}, command: command})
	s.Answer = answer
	return s, err
}
