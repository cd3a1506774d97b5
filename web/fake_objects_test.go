package web_test

import "time"

type fakePrice struct {
	Currency   string `json:"currency"`
	UnitAmount int64  `json:"unit_amount"`
}

type fakeProduct struct {
	ID          string      `json:"id"`
	SKU         string      `json:"sku"`
	Name        string      `json:"name"`
	Description string      `json:"description"`
	ImageURL    string      `json:"image_url"`
	Prices      []fakePrice `json:"prices"`
	Active      bool        `json:"active"`
	Available   int64       `json:"available"`
}

func (p *fakeProduct) price(currency string) int64 {
	for _, one := range p.Prices {
		if one.Currency == currency {
			return one.UnitAmount
		}
	}
	return -1
}

type fakeItem struct {
	ProductID  string `json:"product_id"`
	SKU        string `json:"sku"`
	Name       string `json:"name"`
	UnitAmount int64  `json:"unit_amount"`
	Quantity   int64  `json:"quantity"`
	Amount     int64  `json:"amount"`
	Available  int64  `json:"available"`
}

type fakeCart struct {
	ID       string     `json:"id"`
	Currency string     `json:"currency"`
	Items    []fakeItem `json:"items"`
	Total    int64      `json:"total"`
	OrderID  *string    `json:"order_id"`
}

type fakeOrder struct {
	ID             string            `json:"id"`
	Status         string            `json:"status"`
	Currency       string            `json:"currency"`
	Total          int64             `json:"total"`
	AmountPaid     int64             `json:"amount_paid"`
	AmountRefunded int64             `json:"amount_refunded"`
	Items          []fakeItem        `json:"items"`
	Customer       map[string]string `json:"customer"`
	ChargeID       *string           `json:"charge_id"`
	ExpiresAt      time.Time         `json:"expires_at"`
	CreatedAt      time.Time         `json:"created_at"`
}

type fakeCharge struct {
	ID                string            `json:"id"`
	OrderID           string            `json:"order_id"`
	Amount            int64             `json:"amount"`
	Status            string            `json:"status"`
	PaymentMethod     string            `json:"payment_method"`
	Provider          string            `json:"provider"`
	ProviderReference *string           `json:"provider_reference"`
	Failure           map[string]string `json:"failure"`
	NextAction        map[string]string `json:"next_action"`
	ResolvedBy        *string           `json:"resolved_by"`
	CreatedAt         time.Time         `json:"created_at"`
	UpdatedAt         time.Time         `json:"updated_at"`
	key               string            // that asked for it
}

func stockedAPI() *fakeAPI {
	f := newFakeAPI()
	f.products = []*fakeProduct{
		{ID: "prd_mug", SKU: "mug", Name: "Mug", Description: "Holds what wakes you.", ImageURL: "/static/products/mug.svg", Active: true, Available: 40,
			Prices: []fakePrice{{"EUR", 1999}, {"USD", 2199}, {"GBP", 1799}, {"CHF", 1990}, {"JPY", 3200}, {"KWD", 6700}}},
		{ID: "prd_poster", SKU: "poster", Name: "Poster", Description: "Hills under a sun.", ImageURL: "https://elsewhere.example/poster.png", Active: true, Available: 2,
			Prices: []fakePrice{{"EUR", 3500}, {"USD", 3800}}},
		{ID: "prd_cap", SKU: "cap", Name: "Cap", Description: "Keeps <b>rain</b> off.", Active: true, Available: 0, Prices: []fakePrice{{"EUR", 2400}}},
		{ID: "prd_old", SKU: "old", Name: "Withdrawn thing", Active: false, Available: 9, Prices: []fakePrice{{"EUR", 100}}},
	}
	return f
}
