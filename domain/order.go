package domain

import (
	"encoding/json"
	"time"
)

// OrderStatus is where an order stands.
type OrderStatus string

// The states of an order. Partial refunds do not change the state; they show in AmountRefunded.
const (
	OrderPendingPayment OrderStatus = "pending_payment" // placed, stock reserved, not paid
	OrderPaid           OrderStatus = "paid"
	OrderFulfilled      OrderStatus = "fulfilled"
	OrderCanceled       OrderStatus = "canceled"
	OrderExpired        OrderStatus = "expired" // nobody paid in time; the stock went back
	OrderRefunded       OrderStatus = "refunded"
)

// OrderStatuses lists every state.
func OrderStatuses() []OrderStatus {
	return []OrderStatus{OrderPendingPayment, OrderPaid, OrderFulfilled, OrderCanceled, OrderExpired, OrderRefunded}
}

// Order is what a buyer owes. Prices and names are copies made when it was placed; a later change of the catalogue
// does not touch it. Amounts are minor units of Currency; Total = Subtotal - Discount + Shipping + Tax.
type Order struct {
	ID              string            `json:"id"`
	MerchantID      string            `json:"-"`
	Status          OrderStatus       `json:"status"`
	Currency        Currency          `json:"currency"`
	Subtotal        int64             `json:"subtotal"`
	Discount        int64             `json:"discount"`
	Shipping        int64             `json:"shipping"`
	Tax             int64             `json:"tax"`
	Total           int64             `json:"total"`
	AmountPaid      int64             `json:"amount_paid"`
	AmountRefunded  int64             `json:"amount_refunded"`
	Items           []OrderItem       `json:"items"`
	Customer        Customer          `json:"customer"`
	ShippingAddress *Address          `json:"shipping_address"`
	ShippingMethod  *string           `json:"shipping_method"`
	CartID          *string           `json:"cart_id"`
	ChargeID        *string           `json:"charge_id"` // the open or paid charge, or the latest refused one
	Metadata        map[string]string `json:"metadata"`
	ExpiresAt       time.Time         `json:"expires_at"`
	CreatedAt       time.Time         `json:"created_at"`
	UpdatedAt       time.Time         `json:"updated_at"`
}

// OrderItem is one line of an order, frozen.
type OrderItem struct {
	ProductID  string `json:"product_id" db:"product_id"`
	SKU        string `json:"sku" db:"sku"`
	Name       string `json:"name" db:"name"`
	UnitAmount int64  `json:"unit_amount" db:"unit_amount"`
	Quantity   int64  `json:"quantity" db:"quantity"`
	Amount     int64  `json:"amount" db:"amount"`
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

// Sum fills in the line amounts, the subtotal and the total from unit amounts and quantities. ok is false when a sum
// does not fit in an int64.
func (o Order) Sum() (summed Order, ok bool) {
	o.Items = append([]OrderItem{}, o.Items...)
	o.Subtotal = 0
	for i := range o.Items {
		item := &o.Items[i]
		if item.Amount, ok = Multiply(item.UnitAmount, item.Quantity); !ok {
			return o, false
		}
		if o.Subtotal, ok = Add(o.Subtotal, item.Amount); !ok {
			return o, false
		}
	}
	o.Total = o.Subtotal
	for _, extra := range []int64{o.Shipping, o.Tax} {
		if o.Total, ok = Add(o.Total, extra); !ok {
			return o, false
		}
	}
	o.Total -= o.Discount
	return o, o.Total >= 0
}

// Payable says why no charge can be started at this time, or nil.
func (o Order) Payable(at time.Time) error {
	switch {
	case o.Status == OrderPaid || o.Status == OrderFulfilled || o.Status == OrderRefunded:
		fields := Fields{"order_status": o.Status}
		if o.ChargeID != nil {
			fields["charge_id"] = *o.ChargeID
		}
		return E(CodeOrderAlreadyPaid, fields, "the order is already paid")
	case o.Status != OrderPendingPayment:
		return E(CodeOrderNotPayable, Fields{"order_status": o.Status}, "the order is %s", o.Status)
	case !at.Before(o.ExpiresAt):
		return E(CodeOrderNotPayable, Fields{"order_status": OrderExpired}, "the order expired at %s", o.ExpiresAt.UTC().Format(time.RFC3339))
	}
	return nil
}

// Pay marks the order paid by a charge. Only an order that waits for payment can be paid.
func (o Order) Pay(chargeID string, amount int64, at time.Time) (Order, error) {
	if o.Status != OrderPendingPayment {
		return o, E(CodeOrderNotPayable, Fields{"order_status": o.Status}, "the order is %s", o.Status)
	}
	o.Status, o.AmountPaid, o.ChargeID, o.UpdatedAt = OrderPaid, amount, &chargeID, at
	return o, nil
}

// MarshalJSON adds the object name that every object of the API carries.
func (o Order) MarshalJSON() ([]byte, error) {
	type plain Order
	return json.Marshal(struct {
		ID     string `json:"id"`
		Object string `json:"object"`
		plain
	}{o.ID, "order", plain(o)})
}
