package simulator

import (
	"fmt"
	"net/http"
	"strings"
)

// The error types of API v1.
const (
	typeAPI            = "api_error"
	typeCard           = "card_error"
	typeIdempotency    = "idempotency_error"
	typeInvalidRequest = "invalid_request_error"
)

// The error codes that more than one place uses.
const (
	codeResourceMissing   = "resource_missing"
	codeUnexpectedState   = "payment_intent_unexpected_state"
	codeInvalidInteger    = "parameter_invalid_integer"
	codeAmountTooLarge    = "amount_too_large"
	codeCardDeclined      = "card_declined"
	codeAuthenticationReq = "authentication_required"
	codeProcessingError   = "processing_error"
)

// apiError is the error member of an answer, and the last_payment_error of a payment intent. It is deliberately not a Go
// error: it is a thing to show, and a nil one must never turn into a non-nil error by being put into an interface.
type apiError struct {
	status int // the HTTP status it is answered with; unused in last_payment_error
	// parameters: it refuses what a parameter names. Nothing is changed then, and the answer is not stored under the
	// idempotency key, so that the same key can be used with better parameters.
	parameters bool

	Charge        string         `json:"charge,omitempty"`
	Code          string         `json:"code,omitempty"`
	DeclineCode   string         `json:"decline_code,omitempty"`
	DocURL        string         `json:"doc_url,omitempty"`
	Message       string         `json:"message"`
	Param         string         `json:"param,omitempty"`
	PaymentIntent *paymentIntent `json:"payment_intent,omitempty"`
	PaymentMethod *paymentMethod `json:"payment_method,omitempty"`
	Type          string         `json:"type"`
}

func (e *apiError) withDocURL() *apiError {
	if e.Code != "" {
		e.DocURL = "https://docs.stripe.com/error-codes/" + strings.ReplaceAll(e.Code, "_", "-")
	}
	return e
}

// invalid refuses a parameter. code may be empty: several of Stripe's refusals have none.
func invalid(param, code, format string, args ...any) *apiError {
	e := &apiError{
		status: http.StatusBadRequest, Type: typeInvalidRequest, Code: code, Param: param,
		Message: fmt.Sprintf(format, args...),
	}
	return e.withDocURL()
}

// inPath turns the answer to an unknown id among the parameters into the one to an unknown id in the path.
func (e *apiError) inPath() *apiError {
	if e.Code == codeResourceMissing {
		e.status = http.StatusNotFound
	}
	return e
}

// missingInPath answers an unknown id in the path of a request; missingInBody one among its parameters. Only the
// status differs.
func missingInPath(param, what, id string) *apiError {
	return missingInBody(param, what, id).inPath()
}

func missingInBody(param, what, id string) *apiError {
	return invalid(param, codeResourceMissing, "No such %s: '%s'.", what, id).ofParameters()
}

// ofParameters marks a refusal as one of the parameters: see apiError.
func (e *apiError) ofParameters() *apiError {
	e.parameters = true
	return e
}

// unexpectedState refuses an operation that the intent's state does not allow, and shows the intent, so that one
// refused call also tells the truth.
func unexpectedState(i paymentIntent, format string, args ...any) *apiError {
	e := invalid("", codeUnexpectedState, format, args...)
	e.PaymentIntent = &i
	return e
}

// internalError is an answer of the simulator's own, when it could not keep a change.
func internalError(message string) *apiError {
	return &apiError{status: http.StatusInternalServerError, Type: typeAPI, Message: message}
}
