package domain

import (
	"errors"
	"fmt"
	"time"
)

// Code names a kind of refusal. The set is closed, and each code is the last part of a problem's "type" on the wire
// (RFC 9457), so a code is part of the public contract.
type Code string

// The codes. How each one maps to an HTTP status is decided in one table of package api.
const (
	CodeMalformedJSON          Code = "malformed-json"
	CodeKeyMissing             Code = "idempotency-key-missing"
	CodeKeyInvalid             Code = "idempotency-key-invalid"
	CodeInvalidParameter       Code = "invalid-parameter"
	CodeUnauthenticated        Code = "unauthenticated"
	CodeForbidden              Code = "forbidden"
	CodeCardDeclined           Code = "card-declined"
	CodeNotFound               Code = "not-found"
	CodeMethodNotAllowed       Code = "method-not-allowed"
	CodeNotAcceptable          Code = "not-acceptable"
	CodeKeyInProgress          Code = "idempotency-key-in-progress"
	CodeKeyExpired             Code = "idempotency-key-expired"
	CodeKeyReused              Code = "idempotency-key-reused"
	CodeOutOfStock             Code = "out-of-stock"
	CodeOrderNotPayable        Code = "order-not-payable"
	CodeChargeInProgress       Code = "charge-in-progress"
	CodeOrderAlreadyPaid       Code = "order-already-paid"
	CodeCartAlreadyOrdered     Code = "cart-already-ordered"
	CodeChargeAbandoned        Code = "charge-abandoned"
	CodeChargeNotCapturable    Code = "charge-not-capturable"
	CodeTotalChanged           Code = "total-changed"
	CodeVersionConflict        Code = "version-conflict"
	CodeBodyTooLarge           Code = "body-too-large"
	CodeUnsupportedMediaType   Code = "unsupported-media-type"
	CodeHeadersTooLarge        Code = "headers-too-large"
	CodeValidationFailed       Code = "validation-failed"
	CodeCardDataNotAccepted    Code = "card-data-not-accepted"
	CodeRateLimited            Code = "rate-limited"
	CodeInternal               Code = "internal"
	CodeProviderUnavailable    Code = "provider-unavailable"
	CodeTemporarilyUnavailable Code = "unavailable"
)

// Final reports whether a refusal with this code, decided after an idempotency key was claimed, is an answer for good:
// it is stored under the key and replayed. Everything else leaves the key free or resumable, because the caller may
// send the same key again and get further.
func (c Code) Final() bool {
	switch c {
	case CodeCardDeclined, CodeOutOfStock, CodeOrderNotPayable, CodeChargeInProgress, CodeOrderAlreadyPaid,
		CodeCartAlreadyOrdered, CodeChargeAbandoned, CodeChargeNotCapturable, CodeTotalChanged, CodeVersionConflict:
		return true
	default:
		return false
	}
}

// Fields are the extra members of a refusal that programs read, for example charge_id.
type Fields map[string]any

// FieldError is one entry of the "errors" list of a refused body: where (a JSON pointer, RFC 6901) and which rule.
type FieldError struct {
	Pointer string `json:"pointer"`
	Detail  string `json:"detail"`
}

// Error is a refusal that may be shown to the caller. Its Detail must hold no secret, no SQL and no provider text. An
// error that is not an *Error is internal, and its text is never shown.
type Error struct {
	Code       Code
	Detail     string
	Fields     Fields
	RetryAfter time.Duration // 0: no advice
	// KeyExpiresAt is until when the answer under the idempotency key is kept; zero when the refusal is not about a key.
	KeyExpiresAt time.Time
	cause        error
}

// E makes a refusal. It returns error, not *Error, so that a nil pointer can never pose as a failure.
func E(code Code, fields Fields, format string, args ...any) error {
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...), Fields: fields}
}

// ELater makes a refusal that tells the caller when to come back with the same request and the same key. The cause is
// for logs only and may be nil.
func ELater(code Code, after time.Duration, cause error, detail string) error {
	return &Error{Code: code, Detail: detail, RetryAfter: after, cause: cause}
}

// EKey makes a refusal that comes from the state of an idempotency key, whose answer is kept until expires.
func EKey(code Code, fields Fields, expires time.Time, after time.Duration, cause error, detail string) error {
	return &Error{Code: code, Detail: detail, Fields: fields, RetryAfter: after, KeyExpiresAt: expires, cause: cause}
}

// Error implements the error interface.
func (e *Error) Error() string {
	if e.cause != nil {
		return string(e.Code) + ": " + e.Detail + ": " + e.cause.Error()
	}
	return string(e.Code) + ": " + e.Detail
}

// Unwrap returns the cause kept for logs.
func (e *Error) Unwrap() error { return e.cause }

// CodeOf is the code of a refusal, CodeInternal for any other error, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}
