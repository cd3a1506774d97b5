package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Types of problems that callers tell apart, for [IsProblem]. The service explains each of its types at /problems/{type}.
const (
	TypeCardDeclined       = "card-declined"
	TypeCartAlreadyOrdered = "cart-already-ordered"
	TypeChargeAbandoned    = "charge-abandoned"
	TypeChargeInProgress   = "charge-in-progress"
	TypeForbidden          = "forbidden"
	TypeKeyExpired         = "idempotency-key-expired"
	TypeKeyInProgress      = "idempotency-key-in-progress"
	TypeKeyReused          = "idempotency-key-reused"
	TypeNotFound           = "not-found"
	TypeOrderAlreadyPaid   = "order-already-paid"
	TypeOrderNotPayable    = "order-not-payable"
	TypeOutOfStock         = "out-of-stock"
	TypeRateLimited        = "rate-limited"
	TypeTotalChanged       = "total-changed"
	TypeUnauthenticated    = "unauthenticated"
	TypeValidationFailed   = "validation-failed"
)

// Problem is a refusal by the service (RFC 9457). Title and Detail are written for developers; what a buyer may read is
// Failure.Message.
type Problem struct {
	Type      string       `json:"type"`       // the last part: "out-of-stock"; empty when something else than the service answered
	Title     string       `json:"title"`      // what Type means, the same each time
	Status    int          `json:"-"`          // HTTP status
	Detail    string       `json:"detail"`     // what was wrong this time
	Instance  string       `json:"instance"`   // path that was asked
	RequestID string       `json:"request_id"` // of the request that was refused first, if this is a replay
	Errors    []FieldError `json:"errors"`     // everything that is wrong with a body

	// What some types say besides; zero where the service said nothing.
	Parameter   string         `json:"parameter"`    // invalid-parameter
	ProductID   string         `json:"product_id"`   // out-of-stock
	Available   int64          `json:"available"`    // out-of-stock: units that could be had
	OrderID     string         `json:"order_id"`     // card-declined, cart-already-ordered
	OrderStatus OrderStatus    `json:"order_status"` // order-not-payable, order-already-paid
	ChargeID    string         `json:"charge_id"`    // charge-in-progress, order-already-paid, charge-abandoned
	Charge      *Charge        `json:"charge"`       // card-declined
	Failure     *ChargeFailure `json:"failure"`      // card-declined
	Total       int64          `json:"total"`        // total-changed: what the order comes to, in minor units
	Resource    string         `json:"resource"`     // idempotency-key-in-progress, idempotency-key-expired: what the key made

	// Members are all members as they came, for those that have no field here.
	Members map[string]json.RawMessage `json:"-"`
	Answer  Answer                     `json:"-"`

	call string
}

// FieldError says what is wrong with one member of a body.
type FieldError struct {
	Pointer string `json:"pointer"` // JSON pointer (RFC 6901); empty for the body as a whole
	Detail  string `json:"detail"`
}

// Error implements error. It holds nothing of the request but the name of the call.
func (p *Problem) Error() string {
	what := p.Type
	if what == "" {
		what = "without a problem of the service"
	}
	text := fmt.Sprintf("%s: %d %s", p.call, p.Status, what)
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	if p.Answer.RequestID != "" {
		text += " (request " + p.Answer.RequestID + ")"
	}
	return text
}

// Final reports whether the refusal of a keyed call is the last word on its intent: it was decided by what is kept under
// the key, so the same request gets it again for ever, and a new try is a new intent. A refusal that is not final was made
// before the key was looked at. It left no trace, and it says nothing about what an earlier run of the program may have
// done with the same key.
func (p *Problem) Final() bool {
	switch p.Status {
	case http.StatusPaymentRequired:
		return p.Type != ""
	case http.StatusConflict:
		return p.Type != "" && p.Type != TypeKeyInProgress
	default:
		return p.Type == TypeKeyReused
	}
}

// IsProblem reports whether err is a refusal of this type.
func IsProblem(err error, problemType string) bool {
	var p *Problem
	return errors.As(err, &p) && p.Type == problemType
}

const problemPath = "/problems/"

// readProblem reads the body of a refusal. Whatever is not a problem of the service's kind was said by something in
// between, and has no Type. A member of an unexpected kind is passed over: it must not turn a refusal into a riddle.
func readProblem(call string, answer Answer, body []byte) *Problem {
	var p Problem
	var otherKind *json.UnmarshalTypeError
	err := json.Unmarshal(body, &p)
	slug, ours := strings.CutPrefix(p.Type, problemPath)
	if err != nil && !errors.As(err, &otherKind) || !ours || json.Unmarshal(body, &p.Members) != nil {
		p, slug = Problem{Title: http.StatusText(answer.Status)}, ""
	}
	p.Type, p.Status, p.Answer, p.call = slug, answer.Status, answer, call
	return &p
}

// UnknownError says that a call which may change something ended without an answer that decides it. The effect may be
// there, may still come, or may never have been. It is no failure: whoever treats it as one and starts anew may pay twice.
// Give Intent to the same call again, now or in a day, and it finds out.
type UnknownError struct {
	Intent      Intent   // zero for calls without a key; those set something, and can be repeated as they are
	Attempts    int      // requests that were sent by this call
	Resource    string   // id of the object in question, once the service has named it
	LastProblem *Problem // the last answer, if it was a refusal. It is not the outcome, so errors.As does not find it.
	Answer      Answer   // metadata of the last answer; zero when the last attempt got none

	call  string
	cause error
}

// Error implements error. It does not show the key, which may hold whatever the caller has put in.
func (e *UnknownError) Error() string {
	advice := "send the same again"
	if !e.Intent.IsZero() {
		advice = "ask again with the same key"
	}
	return fmt.Sprintf("%s: outcome is open after %d attempts, %s: %v", e.call, e.Attempts, advice, e.cause)
}

// Unwrap gives what ended the call when that was no refusal, such as [context.Canceled] or an error of the network.
func (e *UnknownError) Unwrap() error {
	var p *Problem
	if errors.As(e.cause, &p) {
		return nil
	}
	return e.cause
}

// withoutAddress takes the URL out of an error of net/http: its query may hold a customer's address.
func withoutAddress(err error) error {
	var addressed *url.Error
	if errors.As(err, &addressed) {
		return addressed.Err
	}
	return err
}
