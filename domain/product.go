package domain

import (
	"encoding/json"
	"time"
)

// Price is what one unit costs in one currency, in minor units.
type Price struct {
	Currency   Currency `json:"currency" db:"currency"`
	UnitAmount int64    `json:"unit_amount" db:"unit_amount"`
}

// Product is something a merchant sells.
type Product struct {
	ID          string            `json:"id"`
	MerchantID  string            `json:"-"`
	SKU         string            `json:"sku"`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	ImageURL    string            `json:"image_url"`
	Prices      []Price           `json:"prices"`
	Active      bool              `json:"active"`
	Available   int64             `json:"available"` // units that can be sold now: on hand minus reserved
	Metadata    map[string]string `json:"metadata"`
	CreatedAt   time.Time         `json:"created_at"`
	UpdatedAt   time.Time         `json:"updated_at"`
}

// MarshalJSON adds the object name that every object of the API carries.
func (p Product) MarshalJSON() ([]byte, error) {
	type plain Product
	return json.Marshal(struct {
		ID     string `json:"id"`
		Object string `json:"object"`
		plain
	}{p.ID, "product", plain(p)})
}

// PriceIn finds the price in a currency; false when the product is not sold in it.
func (p Product) PriceIn(c Currency) (int64, bool) {
	for _, price := range p.Prices {
		if price.Currency == c {
			return price.UnitAmount, true
		}
	}
	return 0, false
}

// Stock is how many units of a product there are. OnHand counts what is in the warehouse, Reserved what unpaid orders
// hold of it; 0 <= Reserved <= OnHand always.
type Stock struct {
	ProductID string `json:"product_id" db:"product_id"`
	OnHand    int64  `json:"on_hand" db:"on_hand"`
	Reserved  int64  `json:"reserved" db:"reserved"`
}

// Available is what can still be promised to a buyer.
func (s Stock) Available() int64 { return s.OnHand - s.Reserved }

// MarshalJSON adds the units that can be sold.
func (s Stock) MarshalJSON() ([]byte, error) {
	type plain Stock
	return json.Marshal(struct {
		plain
		Available int64 `json:"available"`
	}{plain(s), s.Available()})
}
