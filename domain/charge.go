package domain

import (
	"encoding/json"
	"fmt"
	"time"
)

// ChargeStatus is what is proved about a charge.
type ChargeStatus string

// The states of a charge.
const (
	ChargeCreated        ChargeStatus = "created"         // nothing was sent that could move money
	ChargeUnknown        ChargeStatus = "unknown"         // sent, outcome not proved
	ChargeRequiresAction ChargeStatus = "requires_action" // the buyer must authenticate
	ChargeProcessing     ChargeStatus = "processing"      // the bank is working
	ChargeAuthorized     ChargeStatus = "authorized"      // money held, to be captured
	ChargeSucceeded      ChargeStatus = "succeeded"
	ChargeFailed         ChargeStatus = "failed"   // proved refusal
	ChargeCanceled       ChargeStatus = "canceled" // fenced: can never take money
)

// ChargeStatuses lists every state, in the order in which a charge can pass through them.
func ChargeStatuses() []ChargeStatus {
	return []ChargeStatus{ChargeCreated, ChargeUnknown, ChargeRequiresAction, ChargeProcessing, ChargeAuthorized,
		ChargeSucceeded, ChargeFailed, ChargeCanceled}
}

// Final reports whether nothing can change the state any more.
func (s ChargeStatus) Final() bool {
	return s == ChargeSucceeded || s == ChargeFailed || s == ChargeCanceled
}

// CanBecome reports whether a charge in state s may move to state to. A charge moves only forward, so news that comes
// late or twice can never undo what is proved. The database holds the same rule in charge_moves.
func (s ChargeStatus) CanBecome(to ChargeStatus) bool {
	rank := map[ChargeStatus]int{ChargeCreated: 1, ChargeUnknown: 2, ChargeRequiresAction: 3, ChargeProcessing: 4,
		ChargeAuthorized: 5, ChargeSucceeded: 6, ChargeFailed: 6, ChargeCanceled: 6}
	return rank[s] != 0 && rank[to] > rank[s]
}

// CaptureMethod says when the money is taken after the buyer's bank has agreed.
type CaptureMethod string

// The capture methods.
const (
	CaptureAutomatic CaptureMethod = "automatic" // at once
	CaptureManual    CaptureMethod = "manual"    // held until captured
)

// ResolvedBy says which source proved a charge's state.
type ResolvedBy string

// The sources.
const (
	ByResponse       ResolvedBy = "response"       // the answer to our own call
	ByWebhook        ResolvedBy = "webhook"        // the provider's event
	ByReconciliation ResolvedBy = "reconciliation" // a look-up or a fence made later
	ByOperator       ResolvedBy = "operator"       // a person, with evidence
)

// Charge is one intention to collect the money of one order. Amounts are minor units of Currency.
type Charge struct {
	ID                string            `json:"id"`
	MerchantID        string            `json:"-"`
	OrderID           string            `json:"order_id"`
	Amount            int64             `json:"amount"`
	Currency          Currency          `json:"currency"`
	Status            ChargeStatus      `json:"status"`
	CaptureMethod     CaptureMethod     `json:"capture_method"`
	AmountCaptured    int64             `json:"amount_captured"`
	AmountRefunded    int64             `json:"amount_refunded"`
	PaymentMethod     string            `json:"payment_method"`
	ReturnURL         string            `json:"-"`
	Provider          string            `json:"provider"`
	ProviderReference *string           `json:"provider_reference"`
	Failure           *ChargeFailure    `json:"failure"`
	NextAction        *NextAction       `json:"next_action"`
	ResolvedBy        *ResolvedBy       `json:"resolved_by"`
	Metadata          map[string]string `json:"metadata"`
	Version           int64             `json:"-"` // rises with every change; writes compare it
	Key               KeyRef            `json:"-"` // the idempotency key that asked for this charge
	Asked             *Asked            `json:"-"` // what was asked of it since, and is not through yet
	CreatedAt         time.Time         `json:"created_at"`
	UpdatedAt         time.Time         `json:"updated_at"`
}

// Asked is what was asked of a charge after it was made, and accepted: to capture it or to cancel it. It stays on the
// charge until it is through, so that it is carried through also when its caller does not come back. A charge is asked
// one thing at a time.
type Asked struct {
	Key    KeyRef // the idempotency key that asked; its operation says what for
	Amount int64  // to capture, in minor units; 0 for a cancel
}

// Capturable says why the charge cannot be captured, or nil.
func (c Charge) Capturable() error {
	if c.Status != ChargeAuthorized {
		return E(CodeChargeNotCapturable, Fields{"charge_id": c.ID, "charge_status": c.Status}, "a charge that is %s cannot be captured", c.Status)
	}
	return c.Unasked()
}

// Unasked refuses while something that was asked of the charge is not through.
func (c Charge) Unasked() error {
	if c.Asked == nil {
		return nil
	}
	return E(CodeChargeInProgress, Fields{"charge_id": c.ID}, "the charge is just being captured or cancelled")
}

// ChargeFailure is why a charge failed. Message is safe to show to the buyer.
type ChargeFailure struct {
	Code        string `json:"code"`
	DeclineCode string `json:"decline_code,omitempty"`
	Message     string `json:"message"`
}

// NextAction is what the buyer must do, for example authenticate at URL.
type NextAction struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// Money is the charge's amount with its currency.
func (c Charge) Money() Money { return Money{Amount: c.Amount, Currency: c.Currency} }

// Move returns the charge in a new state, or an error for a move that is not legal. By is recorded when the new state
// settles the charge; the details (amounts, failure, next action) are the caller's to set on the result.
func (c Charge) Move(to ChargeStatus, by ResolvedBy, at time.Time) (Charge, error) {
	if !c.Status.CanBecome(to) {
		return c, fmt.Errorf("charge %s cannot move from %s to %s", c.ID, c.Status, to)
	}
	c.Status, c.UpdatedAt = to, at
	c.NextAction, c.ResolvedBy = nil, nil
	if to.Final() || to == ChargeAuthorized {
		c.ResolvedBy = &by
	}
	return c, nil
}

// Shown is the state that others are told. A charge that is still created, but whose intent is known, is just being
// confirmed: the call is written down and may have been sent, so nobody may read "nothing was sent" from it.
func (c Charge) Shown() ChargeStatus {
	if c.Status == ChargeCreated && c.ProviderReference != nil {
		return ChargeUnknown
	}
	return c.Status
}

// Undecided reports whether the charge's outcome, or that of what was asked of it, is not proved yet and does not wait for
// anybody but the provider.
func (c Charge) Undecided() bool {
	return c.Status == ChargeCreated || c.Status == ChargeUnknown || c.Status == ChargeProcessing || c.Asked != nil
}

// MarshalJSON adds the object name that every object of the API carries.
func (c Charge) MarshalJSON() ([]byte, error) {
	type plain Charge
	c.Status = c.Shown()
	return json.Marshal(struct {
		ID     string `json:"id"`
		Object string `json:"object"`
		plain
	}{c.ID, "charge", plain(c)})
}

// BuyerMessage turns a refusal's codes into words that are safe to show. A bank's reason such as lost_card, stolen_card
// or fraudulent is never told to whoever holds the card.
func BuyerMessage(code, declineCode string) string {
	switch {
	case declineCode == "insufficient_funds":
		return "The card has insufficient funds."
	case code == "expired_card":
		return "The card has expired."
	case code == "incorrect_cvc":
		return "The card's security code is incorrect."
	case code == "authentication_required" || code == "payment_intent_authentication_failure":
		return "The bank could not confirm that it is you. Please try again."
	case code == "processing_error" || declineCode == "try_again_later" || declineCode == "issuer_not_available":
		return "The bank could not process the card just now. Please try again later or use another card."
	default:
		return "The card was declined. Please use another card."
	}
}
