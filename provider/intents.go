package provider

import (
	"context"
	"time"

	"payonce/domain"
)

// Intents are the calls that take money. An intent is one sum to be taken: it can be paid once at most, whatever is sent
// about it, in whatever order and under whatever keys.
type Intents interface {
	// CreateIntent makes an unconfirmed payment intent. No money can move by it, so an unknown outcome costs nothing: the
	// same key again finds the intent, and one that nobody knows of stays as it is for ever.
	CreateIntent(ctx context.Context, key string, p IntentParams) Result

	// ConfirmIntent asks the provider to take (or hold) the money of an existing intent. After an unknown outcome, look;
	// then send the same key again or fence. A new key is for a new attempt, after a proved refusal.
	ConfirmIntent(ctx context.Context, key, reference string, p ConfirmParams) Result

	// CaptureIntent takes money that is held: amount minor units, or all of it when amount is 0. What is not taken is let go
	// for good. An intent is captured once at most, so an unknown outcome is settled by a look-up: succeeded tells how much
	// was received, and authorized that nothing was taken yet. The capture may still be on its way then, and the same call
	// again is safe under the same key, or under a new one: only one can win. With another amount it is not the same call,
	// and the late one may win: whoever changes the amount must read AmountReceived afterwards.
	CaptureIntent(ctx context.Context, key, reference string, amount int64) Result

	// CancelIntent fences an intent: once it has succeeded, no confirm of any age can take money, and money that was held is
	// let go. It may be repeated at will, with a new key each time: a refusal is remembered under its key, and the intent's
	// state may have changed since.
	CancelIntent(ctx context.Context, key, reference string) Result

	// Intent reads the provider's present state of an intent. It changes nothing.
	Intent(ctx context.Context, reference string) Result

	// ListIntents reads one page of intents. It changes nothing.
	ListIntents(ctx context.Context, q Query) (Page[Intent], Result)
}

// IntentParams is everything that is sent to create an intent. It is stored as JSON before it is sent, because a
// provider only recognises a repeated key when every parameter is the same.
type IntentParams struct {
	Amount        domain.Money         `json:"amount"`
	CaptureMethod domain.CaptureMethod `json:"capture_method"`
	Description   string               `json:"description,omitempty"`
	Metadata      map[string]string    `json:"metadata"` // charge_id, order_id, merchant_id: our names on their object
}

// ConfirmParams is everything that is sent to confirm an intent, stored like [IntentParams].
type ConfirmParams struct {
	PaymentMethod string `json:"payment_method"`
	ReturnURL     string `json:"return_url,omitempty"` // where the buyer comes back to after authenticating
}

// IntentStatus is the state of a provider's intent, in the provider-neutral words of this port.
type IntentStatus string

// The states of an intent. A call about one intent that meets a state the adapter does not know is Unknown; in a list,
// which must show what is there, such an intent has an empty state.
const (
	IntentUnconfirmed    IntentStatus = "unconfirmed"     // no attempt has been executed since the last failure, if any
	IntentRequiresAction IntentStatus = "requires_action" // the buyer must authenticate
	IntentProcessing     IntentStatus = "processing"      // the bank is working
	IntentAuthorized     IntentStatus = "authorized"      // held, not captured
	IntentSucceeded      IntentStatus = "succeeded"
	IntentFailed         IntentStatus = "failed"   // the latest attempt was executed and refused; LastFailure says why
	IntentCanceled       IntentStatus = "canceled" // fenced for ever
)

// Intent is the part of a provider's payment intent that we look at. Amounts are in minor units of Amount's currency.
type Intent struct {
	Reference        string // the provider's id
	Status           IntentStatus
	Amount           domain.Money
	AmountCapturable int64 // held and not yet taken
	AmountReceived   int64 // actually taken
	Metadata         map[string]string
	LatestAttempt    string // the provider's id of the latest executed attempt; empty when there was none
	LastFailure      *Failure
	NextActionURL    string    // where the buyer authenticates, when Status is requires_action; empty when no page can do it
	CaptureBefore    time.Time // when the bank lets the held money go; zero when not held, or when the answer did not tell
	CanceledReason   string    // the provider's word, when Status is canceled; "automatic" when held money was let go by time
	Created          time.Time // by the provider's clock, to the second
}
