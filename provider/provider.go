package provider

import (
	"context"
	"time"

	"payonce/domain"
)

// Provider is one payment provider account. Every method may be called by many goroutines at once. No method retries:
// a repeated call is a decision of the caller, who has written the key and the parameters down first.
//
// A key passed to a method names that one effect at the provider for ever; it is never invented inside an adapter.
type Provider interface {
	// Name is stored with each charge, for example "stripe".
	Name() string

	// CreateIntent makes an unconfirmed payment intent. No money can move by it.
	CreateIntent(ctx context.Context, key string, p IntentParams) Result

	// ConfirmIntent asks the provider to take (or hold) the money of an existing intent.
	ConfirmIntent(ctx context.Context, key, reference string, p ConfirmParams) Result

	// CancelIntent fences an intent: once it has succeeded, no confirm of any age can take money.
	CancelIntent(ctx context.Context, key, reference string) Result

	// Intent reads the provider's present state of an intent. It changes nothing.
	Intent(ctx context.Context, reference string) Result
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

// Result is what one call came to.
type Result struct {
	Outcome Outcome
	// Intent is the provider's object as this answer showed it. It may be set on refusals too: a refused call often
	// tells the object's true state. Nil when the answer did not show one.
	Intent *Intent
	// Failure says why, for Declined and Rejected.
	Failure *Failure

	RequestID  string        // the provider's id of this request, for support and evidence; may be empty
	HTTPStatus int           // 0 when no status line was read
	Replayed   bool          // the provider answered from its memory of the key: Intent is how things were at its first use
	RetryAfter time.Duration // the provider's wish, 0 when it had none
	Err        error         // the cause, already free of secrets; for logs, never for callers
}

// Outcome is the closed set of things a provider call can come to.
type Outcome string

// The outcomes. Which answer leads to which is decided by the adapter, row by row, and tested.
const (
	// Succeeded: the call was executed and the money's state is decided (or, for create, cancel and look-up, the
	// call simply did what it says). Intent is set.
	Succeeded Outcome = "succeeded"
	// Pending: the call was executed; the buyer or the bank still has to act. Intent is set.
	Pending Outcome = "pending"
	// Declined: the attempt was executed and refused by the bank. No money moved.
	Declined Outcome = "declined"
	// Rejected: the provider refused this call and executed nothing of it. An earlier one with the same key may have been
	// executed.
	Rejected Outcome = "rejected"
	// NotSent: this call was provably never executed: no connection was made, or the provider shed it before executing
	// it. As with Rejected, that says nothing of an earlier call.
	NotSent Outcome = "not_sent"
	// Unknown: anything else. It may or may not have been executed, and only evidence may say which.
	Unknown Outcome = "unknown"
)

// IntentStatus is the state of a provider's intent, in the provider-neutral words of this port.
type IntentStatus string

// The states of an intent. An adapter that meets a state it does not know must answer Unknown.
const (
	IntentUnconfirmed    IntentStatus = "unconfirmed"     // no attempt has been executed since the last failure, if any
	IntentRequiresAction IntentStatus = "requires_action" // the buyer must authenticate
	IntentProcessing     IntentStatus = "processing"      // the bank is working
	IntentAuthorized     IntentStatus = "authorized"      // held, not captured
	IntentSucceeded      IntentStatus = "succeeded"
	IntentFailed         IntentStatus = "failed"   // the latest attempt was executed and refused; LastFailure says why
	IntentCanceled       IntentStatus = "canceled" // fenced for ever
)

// Intent is the part of a provider's payment intent that we look at.
type Intent struct {
	Reference      string // the provider's id
	Status         IntentStatus
	Amount         domain.Money
	AmountReceived int64 // minor units actually taken
	Metadata       map[string]string
	LatestAttempt  string // the provider's id of the latest executed attempt; empty when there was none
	LastFailure    *Failure
	NextActionURL  string // where the buyer authenticates, when Status is requires_action; empty when no page can do it
}

// Failure is a refusal in the provider's codes. Message is never shown to buyers; the codes decide what they read.
type Failure struct {
	Code        string `json:"code"`
	DeclineCode string `json:"decline_code,omitempty"`
}
