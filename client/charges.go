package client

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// ChargeStatus is what is proved about a charge.
type ChargeStatus string

// The states of a charge. A service that is newer than this package may know more; those count as not decided.
const (
	ChargeCreated        ChargeStatus = "created"         // nothing was sent to the provider that could move money
	ChargeUnknown        ChargeStatus = "unknown"         // sent, outcome not proved
	ChargeRequiresAction ChargeStatus = "requires_action" // the buyer must go to NextAction.URL
	ChargeProcessing     ChargeStatus = "processing"      // the bank is working
	ChargeAuthorized     ChargeStatus = "authorized"      // money held, to be captured
	ChargeSucceeded      ChargeStatus = "succeeded"       // the only state in which the money is there
	ChargeFailed         ChargeStatus = "failed"          // proved refusal
	ChargeCanceled       ChargeStatus = "canceled"        // fenced: can never take money
)

// The capture methods.
const (
	CaptureAutomatic = "automatic" // the money is taken at once
	CaptureManual    = "manual"    // it is held until it is captured
)

// Charge is one try to collect the money of one order. Amounts are minor units of Currency.
type Charge struct {
	ID                string            `json:"id"`
	Object            string            `json:"object"`
	OrderID           string            `json:"order_id"`
	Amount            int64             `json:"amount"`
	Currency          string            `json:"currency"`
	Status            ChargeStatus      `json:"status"`
	CaptureMethod     string            `json:"capture_method"`
	AmountCaptured    int64             `json:"amount_captured"`
	AmountRefunded    int64             `json:"amount_refunded"`
	PaymentMethod     string            `json:"payment_method"`
	Provider          string            `json:"provider"`
	ProviderReference string            `json:"provider_reference"`
	Failure           *ChargeFailure    `json:"failure"`
	NextAction        *NextAction       `json:"next_action"`
	ResolvedBy        string            `json:"resolved_by"` // response, webhook, reconciliation or operator; empty while open
	Metadata          map[string]string `json:"metadata"`
	CreatedAt         time.Time         `json:"created_at"`
	UpdatedAt         time.Time         `json:"updated_at"`

	Answer Answer `json:"-"`
}

func (c Charge) complete() bool { return c.Object == "charge" && c.ID != "" && c.Status != "" }

// Decided reports whether it is proved what became of the charge, or that the buyer has to act. It is not whether the
// money is there: that is [ChargeSucceeded] alone. Goods go out on that, and on nothing else.
func (c Charge) Decided() bool {
	switch c.Status {
	case ChargeSucceeded, ChargeAuthorized, ChargeRequiresAction, ChargeFailed, ChargeCanceled:
		return c.Answer.Status != http.StatusAccepted
	default: // also a state that nobody here knows: it proves nothing
		return false
	}
}

// ChargeFailure is why a charge failed. Message is safe to show to the buyer.
type ChargeFailure struct {
	Code        string `json:"code"`
	DeclineCode string `json:"decline_code"`
	Message     string `json:"message"`
}

// NextAction is what the buyer must do, for example authenticate at URL.
type NextAction struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// ChargeParams say how an order is to be paid. There is no amount: the order has one.
type ChargeParams struct {
	PaymentMethod string `json:"payment_method"`           // the provider's token, never a card number
	CaptureMethod string `json:"capture_method,omitempty"` // empty: automatic
	ReturnURL     string `json:"return_url,omitempty"`     // where the buyer comes back to after authenticating
}

// ChargeFilter narrows a list of charges; the zero value lists all.
type ChargeFilter struct {
	OrderID string
	Status  ChargeStatus
}

func chargeCall(intent Intent, orderID string, params ChargeParams) call {
	return call{name: "create charge", method: http.MethodPost, path: []string{"orders", orderID, "charges"}, intent: intent, command: params}
}

// CreateCharge charges an order. A charge that is returned may still be open, so look at [Charge.Decided] first. A card
// that is declined is a [*Problem] with the charge in it, and final: paying with another card is a new intent.
func (c *Client) CreateCharge(ctx context.Context, intent Intent, orderID string, params ChargeParams) (Charge, error) {
	charge, answer, err := do[Charge](ctx, c, chargeCall(intent, orderID, params))
	charge.Answer = answer
	return charge, err
}

// AwaitCharge is [Client.CreateCharge] that does not come back while the charge is open. It asks again with the same key,
// which is also what makes the service go on with it. Whether the charge exists already makes no difference, so it serves
// a program that charges for the first time, one that got an [*UnknownError], and one that starts again after a crash.
//
// When the context ends first, the error is an UnknownError. Give it a deadline: a bank may be dark for hours.
func (c *Client) AwaitCharge(ctx context.Context, intent Intent, orderID string, params ChargeParams) (Charge, error) {
	return c.await(ctx, chargeCall(intent, orderID, params))
}

// AwaitChargeID waits for a charge of which only the id is known, such as the ChargeID of a charge-in-progress problem. It
// only looks, and the service may fence a charge that nobody claims with its key: whoever has the intent uses
// [Client.AwaitCharge].
func (c *Client) AwaitChargeID(ctx context.Context, id string) (Charge, error) {
	return c.await(ctx, getChargeCall(id))
}

// await makes the same call until the charge is decided.
func (c *Client) await(ctx context.Context, what call) (Charge, error) {
	r, err := c.prepare(ctx, what)
	if err != nil {
		return Charge{}, err
	}
	for n := 1; ; n++ {
		charge, answer, err := ask[Charge](ctx, c, r)
		charge.Answer = answer
		if err != nil || charge.Decided() {
			return charge, err
		}
		r.open, r.resource = true, charge.ID
		if err := c.options.Sleep(ctx, c.pause(n, answer.RetryAfter)); err != nil {
			return Charge{}, r.ended(answer, nil, fmt.Errorf("charge is %s: %w", charge.Status, err))
		}
	}
}

// CaptureParams say how much of what is held is to be taken.
type CaptureParams struct {
	Amount *int64 `json:"amount,omitempty"` // minor units; nil for all
}

// CaptureCharge takes money that is held. A charge that comes back with [Charge.Answer].Status 202 was accepted and is not
// proved yet: call again with the same intent, or look with [Client.GetCharge]. It is carried through either way.
func (c *Client) CaptureCharge(ctx context.Context, intent Intent, id string, params CaptureParams) (Charge, error) {
	charge, answer, err := do[Charge](ctx, c, call{name: "capture charge", method: http.MethodPost, path: []string{"charges", id, "capture"}, intent: intent, command: params})
	charge.Answer = answer
	return charge, err
}

// CancelParams say why, for people.
type CancelParams struct {
	Reason string `json:"reason,omitempty"`
}

// CancelCharge makes sure that a charge never takes money. One that has taken it is a [*Problem], order-already-paid. For
// an answer that is not proved yet see [Client.CaptureCharge].
func (c *Client) CancelCharge(ctx context.Context, intent Intent, id string, params CancelParams) (Charge, error) {
	charge, answer, err := do[Charge](ctx, c, call{name: "cancel charge", method: http.MethodPost, path: []string{"charges", id, "cancel"}, intent: intent, command: params})
	charge.Answer = answer
	return charge, err
}

func getChargeCall(id string) call {
	return call{name: "get charge", method: http.MethodGet, path: []string{"charges", id}}
}

// GetCharge reads a charge as it is now.
func (c *Client) GetCharge(ctx context.Context, id string) (Charge, error) {
	charge, answer, err := do[Charge](ctx, c, getChargeCall(id))
	charge.Answer = answer
	return charge, err
}

// ListCharges walks over the charges that match, newest first.
func (c *Client) ListCharges(ctx context.Context, filter ChargeFilter) iter.Seq2[Charge, error] {
	query := url.Values{}
	set(query, "order_id", filter.OrderID)
	set(query, "status", string(filter.Status))
	return pages(ctx, c, call{name: "list charges", path: []string{"charges"}, query: query}, func(c Charge) string { return c.ID })
}
