package provider

import "time"

// Result is what one call came to.
type Result struct {
	Outcome Outcome
	// Intent is the provider's object as this answer showed it. It may be set on refusals too: a refused call often
	// tells the object's true state. Nil when the answer did not show one.
	Intent *Intent
	// Refund and Dispute are the objects of the calls about them, nil when the answer did not show one.
	Refund  *Refund
	Dispute *Dispute
	// Failure says why, for Declined and Rejected.
	Failure *Failure

	RequestID  string        // the provider's id of this request, for support and evidence; may be empty
	HTTPStatus int           // 0 when no status line was read
	Replayed   bool          // the provider answered from its memory of the key: the object is how things were at its first use
	RetryAfter time.Duration // the provider's wish, 0 when it had none
	// Repeatable: sending the same call once more, with the same key and parameters, is safe and may come to more. This
	// call executed nothing, or can execute nothing, and what stood in its way passes. It is false for every call that may
	// have moved money: what became of that is found out by a look-up.
	Repeatable bool
	Err        error // the cause, already free of secrets; for logs, never for callers
}

// Outcome is the closed set of things a provider call can come to.
type Outcome string

// The outcomes. Which answer leads to which is decided by the adapter, row by row, and tested.
const (
	// Succeeded: the call was executed and the money's state is decided (or, for create, cancel and look-up, the
	// call simply did what it says). The object is set.
	Succeeded Outcome = "succeeded"
	// Pending: the call was executed; the buyer or the bank still has to act. The object is set.
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

// Failure is a refusal in the provider's codes. There is no message: the codes decide what a buyer reads.
type Failure struct {
	Code        string `json:"code"`
	DeclineCode string `json:"decline_code,omitempty"`
}
