package stripe

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	stripego "github.com/stripe/stripe-go/v79"

	"payonce/provider"
)

// This file decides what each answer proves. The default is [provider.Unknown]; every other outcome is a row below.
// docs/provider-outcomes.md explains the rows; a test keeps the two together.

// accepted is what an answer with status 200 and a well-formed intent means, by the call and the intent's state. A state
// that the call cannot lead to is not in the table. A good answer to a list, or to a look-up of a dispute, always succeeds.
var accepted = map[kind]map[provider.IntentStatus]provider.Outcome{
	create: {provider.IntentUnconfirmed: provider.Succeeded},
	confirm: {
		provider.IntentSucceeded:      provider.Succeeded,
		provider.IntentAuthorized:     provider.Succeeded,
		provider.IntentRequiresAction: provider.Pending,
		provider.IntentProcessing:     provider.Pending,
	},
	capture: {provider.IntentSucceeded: provider.Succeeded},
	cancel:  {provider.IntentCanceled: provider.Succeeded},
	lookup: {
		provider.IntentUnconfirmed:    provider.Succeeded,
		provider.IntentRequiresAction: provider.Succeeded,
		provider.IntentProcessing:     provider.Succeeded,
		provider.IntentAuthorized:     provider.Succeeded,
		provider.IntentSucceeded:      provider.Succeeded,
		provider.IntentFailed:         provider.Succeeded,
		provider.IntentCanceled:       provider.Succeeded,
	},
}

// acceptedRefund is the same for calls about a refund. One that is created as failed has been tried and refused: no money
// went back, and another try needs another key.
var acceptedRefund = map[kind]map[provider.RefundStatus]provider.Outcome{
	refund: {
		provider.RefundPending:   provider.Pending,
		provider.RefundSucceeded: provider.Succeeded,
		provider.RefundFailed:    provider.Declined,
	},
	lookup: {
		provider.RefundPending:   provider.Succeeded,
		provider.RefundSucceeded: provider.Succeeded,
		provider.RefundFailed:    provider.Succeeded,
		provider.RefundCanceled:  provider.Succeeded,
	},
}

// refusal is one row about answers that carry Stripe's error object. Empty fields match anything.
type refusal struct {
	status  int
	kinds   []stripego.ErrorType
	code    stripego.ErrorCode
	on      kind                  // the call
	shows   provider.IntentStatus // the state of the intent that the error shows
	showing bool                  // the error shows an intent, in whatever state
	outcome provider.Outcome
	again   bool // nothing was executed, and the same call with the same key may fare better
	because string
}

var (
	invalidRequest = []stripego.ErrorType{stripego.ErrorTypeInvalidRequest}
	// Stripe's errors about keys are invalid requests today and had types of their own before.
	keyProblem = []stripego.ErrorType{stripego.ErrorTypeInvalidRequest, "authentication_error", "permission_error"}
)

// refusals is read from the top; the first row that matches decides. What matches none is unknown.
var refusals = []refusal{
	{status: 400, kinds: []stripego.ErrorType{stripego.ErrorTypeIdempotency}, outcome: provider.Unknown,
		because: "the key was used before with other parameters, and what that call came to is not known"},
	{status: 400, kinds: invalidRequest, code: stripego.ErrorCodePaymentIntentUnexpectedState, showing: true, outcome: provider.Rejected,
		because: "the intent has moved on, and shows where to"},
	{status: 400, kinds: invalidRequest, code: stripego.ErrorCodePaymentIntentUnexpectedState, outcome: provider.Unknown,
		because: "the intent has moved on, perhaps by an earlier call, and does not show where to"},
	{status: 400, kinds: invalidRequest, code: stripego.ErrorCodeChargeExpiredForCapture, on: capture, outcome: provider.Rejected,
		because: "the bank has let the held money go"},
	{status: 400, kinds: invalidRequest, code: stripego.ErrorCodeChargeAlreadyRefunded, on: refund, outcome: provider.Rejected,
		because: "everything has been given back, perhaps by an earlier call"},
	{status: 400, kinds: invalidRequest, code: stripego.ErrorCodeChargeDisputed, on: refund, outcome: provider.Rejected,
		because: "the buyer's bank has asked for the money"},
	{status: 400, kinds: invalidRequest, code: stripego.ErrorCodeBalanceInsufficient, on: refund, outcome: provider.Rejected,
		because: "the balance does not cover it"},
	{status: 400, kinds: invalidRequest, outcome: provider.Rejected, because: "the parameters were refused before execution"},
	{status: 401, kinds: keyProblem, outcome: provider.Rejected, because: "the API key is not accepted"},
	{status: 402, kinds: []stripego.ErrorType{stripego.ErrorTypeCard}, on: confirm, shows: provider.IntentFailed, outcome: provider.Declined,
		because: "the attempt was made and refused"},
	{status: 402, kinds: []stripego.ErrorType{stripego.ErrorTypeCard}, on: confirm, showing: true, outcome: provider.Unknown,
		because: "the card was refused, but the intent shows another state"},
	{status: 402, kinds: []stripego.ErrorType{stripego.ErrorTypeCard}, on: confirm, outcome: provider.Declined,
		because: "the attempt was made and refused"},
	{status: 403, kinds: keyProblem, outcome: provider.Rejected, because: "the API key may not do this"},
	{status: 404, kinds: invalidRequest, outcome: provider.Rejected, because: "the key's account and mode have no such object"},
	{status: 409, outcome: provider.Unknown, again: true, because: "an earlier request with this key is still being executed"},
	{status: 429, code: stripego.ErrorCodeRateLimit, outcome: provider.NotSent, again: true, because: "shed by the rate limiter before execution"},
	{status: 429, code: stripego.ErrorCodeLockTimeout, outcome: provider.NotSent, again: true,
		because: "another request holds the object, and this one was given up before execution"},
	{status: 500, outcome: provider.Unknown, because: "it may have been executed, and the key would only repeat this answer"},
	{status: 502, outcome: provider.Unknown, because: "the edge does not know whether execution began"},
	{status: 503, outcome: provider.Unknown, because: "the edge does not know whether execution began"},
	{status: 504, outcome: provider.Unknown, because: "the edge does not know whether execution began"},
}

func (r refusal) matches(c call, status int, e *stripego.Error, intent *provider.Intent) bool {
	return r.status == status &&
		(r.kinds == nil || slices.Contains(r.kinds, e.Type)) &&
		(r.code == "" || r.code == e.Code) &&
		(r.on == "" || r.on == c.kind) &&
		(r.shows == "" || intent != nil && r.shows == intent.Status) &&
		(!r.showing || intent != nil)
}

// judge turns what a call left behind into its result.
func (s *Stripe) judge(c call, err error, w *wire, accept func(*provider.Result) error) provider.Result {
	result := provider.Result{
		Outcome:    provider.Unknown,
		RequestID:  w.requestID(),
		HTTPStatus: w.status,
		Replayed:   w.header.Get("Idempotent-Replayed") == "true",
		RetryAfter: w.retryAfter(),
	}
	var refused *stripego.Error
	switch {
	case err == nil && w.status != http.StatusOK: // a redirect, or a 202 of something in between that keeps requests for later
		result.Err = errors.New("only 200 says that the call was executed")
	case err == nil:
		result.Err = accept(&result)
	case errors.As(err, &refused):
		s.judgeRefusal(&result, c, refused, w)
	case w.unsent():
		result.Outcome, result.Repeatable, result.Err = provider.NotSent, true, fmt.Errorf("no connection: %w", w.safeCause(err))
	case w.status != 0:
		result.Repeatable, result.Err = c.kind.reads(), fmt.Errorf("unreadable answer: %w", w.safeCause(err))
	default:
		result.Repeatable, result.Err = c.kind.reads(), fmt.Errorf("no answer: %w", w.safeCause(err))
	}
	switch w.header.Get("Stripe-Should-Retry") {
	case "false":
		result.Repeatable = false
	case "true": // but what may have moved money is not repeated because Stripe would: a look-up tells more
		if w.connections.Load() == 1 && w.status == http.StatusTooManyRequests {
			result.Repeatable = true
		}
	}
	if result.Err != nil {
		result.Err = fmt.Errorf("stripe %s%s: %w", c.kind, describe(result), result.Err)
	}
	return result
}

// judgeRefusal judges an answer with Stripe's error object.
func (s *Stripe) judgeRefusal(result *provider.Result, c call, e *stripego.Error, w *wire) {
	if e.PaymentIntent != nil {
		intent, err := s.intent(e.PaymentIntent, c.reference)
		if err != nil {
			result.Err = err
			return
		}
		result.Intent = intent
	}
	result.Err = fmt.Errorf("%s: not in the table of refusals", codes(e))
	row := slices.IndexFunc(refusals, func(r refusal) bool { return r.matches(c, w.status, e, result.Intent) })
	if row < 0 {
		return
	}
	result.Outcome = refusals[row].outcome
	result.Repeatable = refusals[row].again || c.kind.reads() && w.status >= http.StatusInternalServerError
	result.Err = fmt.Errorf("%s: %s", codes(e), refusals[row].because)
	switch result.Outcome {
	case provider.Declined:
		result.Failure, result.Err = failure(e), nil // not an error: the call did its work, and the bank said no
	case provider.Rejected, provider.NotSent:
		if w.connections.Load() > 1 { // what this answer says of the second arrival, it does not say of the first
			result.Outcome, result.Repeatable = provider.Unknown, false
			result.Err = fmt.Errorf("%w; but an earlier connection may have carried the request", result.Err)
			return
		}
		if result.Outcome == provider.Rejected {
			result.Failure = failure(e)
		}
	default: // unknown stays unknown
	}
}

// codes is what may be told of Stripe's error: its codes and the parameter's name, never its message.
func codes(e *stripego.Error) string {
	var parts []string
	for _, part := range []string{string(e.Type), string(e.Code), e.Param} {
		if part != "" {
			parts = append(parts, token(part))
		}
	}
	if parts == nil {
		return "error without codes"
	}
	return strings.Join(parts, ", ")
}

// describe says which answer an error is about.
func describe(r provider.Result) string {
	var text string
	if r.HTTPStatus != 0 {
		text += fmt.Sprintf(", status %d", r.HTTPStatus)
	}
	if r.RequestID != "" {
		text += ", request " + r.RequestID
	}
	return text
}
