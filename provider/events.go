package provider

import (
	"context"
	"errors"
	"time"
)

// Events are the provider's news, pushed to us and kept for us to read. An event is a hint: it comes late, twice, out of
// order or never, and shows how things were. What it is about is read again before any money decision.
type Events interface {
	// VerifyEvent reads an event that somebody sent us, once it is proved to be the provider's: body is signed, byte for
	// byte, with one of the secrets, between 5 minutes before now and 1 minute after. It sends nothing.
	//
	// Its errors are ErrEventSignature, ErrEventTimestamp and ErrEventUnreadable; any other one is about the secrets. It
	// judges neither the mode nor the account nor the version of an event: those are told, for the caller to compare.
	VerifyEvent(body []byte, signature string, secrets []string, now time.Time) (Event, error)

	// ListEvents reads one page of the events that the provider keeps, 30 days of them. It changes nothing. An event that is
	// not there proves nothing: it may be written later.
	ListEvents(ctx context.Context, q Query) (Page[Event], Result)
}

// Why an event is not accepted.
var (
	// ErrEventSignature: nothing proves that the provider wrote this.
	ErrEventSignature = errors.New("the event is not signed by the provider")
	// ErrEventTimestamp: the provider wrote this, but not now. It is a recording played back, or a clock is wrong.
	ErrEventTimestamp = errors.New("the event was signed too long ago, or in the future")
	// ErrEventUnreadable: the provider wrote this now, and it is not an event that we can read.
	ErrEventUnreadable = errors.New("the event cannot be read")
)

// Event is the part of a provider's event that we look at.
type Event struct {
	Reference string    // the provider's id of the event, the same with every delivery
	Type      string    // the provider's word, for example "payment_intent.succeeded"
	Created   time.Time // to the second, and no order of events
	Live      bool      // not a test
	Account   string    // the account it is about when it is not the receiver's own
	Version   string    // of the provider's interface, which decides how the event's own object is written

	Object          EventObject
	ObjectReference string
	Intent          string            // the reference of the intent that the object is, or belongs to; empty when it does not say
	Metadata        map[string]string // of the object: our names on it

	// Key is the idempotency key of the call that caused the event, empty when no call of ours did. One of our keys proves
	// that its call was executed.
	Key       string
	RequestID string
}

// EventObject says what an event is about.
type EventObject string

// The objects of events.
const (
	EventAboutIntent  EventObject = "intent"
	EventAboutAttempt EventObject = "attempt" // one execution of an intent; refunds change it too
	EventAboutRefund  EventObject = "refund"
	EventAboutDispute EventObject = "dispute"
	EventAboutPayout  EventObject = "payout"
	EventAboutOther   EventObject = "other"
)
