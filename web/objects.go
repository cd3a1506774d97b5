package web

import "time"

// The API's objects, as far as the shop shows them. Amounts are minor units.

type list[T any] struct {
	Data    []T  `json:"data"`
	HasMore bool `json:"has_more"`
}

type product struct {
	ID          string  `json:"id"`
	SKU         string  `json:"sku"`
	Name        string  `json:"name"`
	Description string  `json:"description"`
	ImageURL    string  `json:"image_url"`
	Prices      []price `json:"prices"`
	Active      bool    `json:"active"`
	Available   int64   `json:"available"`
}

type price struct {
	Currency   string `json:"currency"`
	UnitAmount int64  `json:"unit_amount"`
}

func (p product) priceIn(currency string) (int64, bool) {
	for _, one := range p.Prices {
		if one.Currency == currency {
			return one.UnitAmount, true
		}
	}
	return 0, false
}

type cart struct {
	ID       string     `json:"id"`
	Currency string     `json:"currency"`
	Items    []cartItem `json:"items"`
	Total    int64      `json:"total"`
	OrderID  *string    `json:"order_id"`
}

type cartItem struct {
	ProductID  string `json:"product_id"`
	SKU        string `json:"sku"`
	Name       string `json:"name"`
	UnitAmount int64  `json:"unit_amount"`
	Quantity   int64  `json:"quantity"`
	Amount     int64  `json:"amount"`
	Available  int64  `json:"available"`
}

// open reports whether the cart exists and can still change.
func (c cart) open() bool { return c.ID != "" && c.OrderID == nil }

// quantity is how many units of a product are in the open cart. What was ordered is no longer in it.
func (c cart) quantity(product string) int64 {
	if !c.open() {
		return 0
	}
	for _, item := range c.Items {
		if item.ProductID == product {
			return item.Quantity
		}
	}
	return 0
}

// units counts everything in the cart.
func (c cart) units() (n int64) {
	for _, item := range c.Items {
		n += item.Quantity
	}
	return n
}

type order struct {
	ID             string     `json:"id"`
	Status         string     `json:"status"`
	Currency       string     `json:"currency"`
	Subtotal       int64      `json:"subtotal"`
	Discount       int64      `json:"discount"`
	Shipping       int64      `json:"shipping"`
	Tax            int64      `json:"tax"`
	Total          int64      `json:"total"`
	AmountPaid     int64      `json:"amount_paid"`
	AmountRefunded int64      `json:"amount_refunded"`
	Items          []cartItem `json:"items"`
	Customer       customer   `json:"customer"`
	ChargeID       *string    `json:"charge_id"`
	ExpiresAt      time.Time  `json:"expires_at"`
	CreatedAt      time.Time  `json:"created_at"`
}

type charge struct {
	ID                string         `json:"id"`
	Amount            int64          `json:"amount"`
	Status            string         `json:"status"`
	PaymentMethod     string         `json:"payment_method"`
	Provider          string         `json:"provider"`
	ProviderReference *string        `json:"provider_reference"`
	Failure           *chargeFailure `json:"failure"`
	NextAction        *nextAction    `json:"next_action"`
	ResolvedBy        *string        `json:"resolved_by"`
	CreatedAt         time.Time      `json:"created_at"`
	UpdatedAt         time.Time      `json:"updated_at"`
}

type chargeFailure struct {
	Message string `json:"message"` // the contract says: safe to show
}

type nextAction struct {
	URL string `json:"url"`
}

// timelineEntry is one thing that happened to an order; what each member means depends on the type. The reason of a refusal
// is not among them: the page is seen by whoever holds the card.
type timelineEntry struct {
	At                time.Time  `json:"at"`
	Type              string     `json:"type"` // order, request, charge, provider_call
	Status            string     `json:"status"`
	ChargeID          string     `json:"charge_id"`
	ResolvedBy        string     `json:"resolved_by"`
	Operation         string     `json:"operation"`
	RequestID         string     `json:"request_id"`
	HTTPStatus        int        `json:"http_status"`
	Call              string     `json:"call"`
	Attempt           int        `json:"attempt"`
	ProviderKey       string     `json:"provider_key"`
	ProviderRequestID string     `json:"provider_request_id"`
	Found             string     `json:"found"`
	EndedAt           *time.Time `json:"ended_at"`
}

type customer struct {
	Email string `json:"email"`
	Name  string `json:"name,omitempty"`
}

type address struct {
	Name       string `json:"name,omitempty"`
	Line1      string `json:"line1"`
	Line2      string `json:"line2,omitempty"`
	City       string `json:"city"`
	State      string `json:"state,omitempty"`
	PostalCode string `json:"postal_code"`
	Country    string `json:"country"`
}

// orderCommand and chargeCommand are the bodies of the two operations that a purchase consists of.
type orderCommand struct {
	CartID          string   `json:"cart_id"`
	Currency        string   `json:"currency"`
	Customer        customer `json:"customer"`
	ShippingAddress *address `json:"shipping_address,omitempty"`
	ExpectedTotal   int64    `json:"expected_total"`
}

type chargeCommand struct {
	PaymentMethod string `json:"payment_method"`
	ReturnURL     string `json:"return_url"`
}
