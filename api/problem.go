package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"payonce/domain"
	"payonce/payment"
	"payonce/repository"
)

const problemJSON = "application/problem+json"

// problems is the only table from a refusal's code to its status and title (RFC 9457). A test checks that every code of
// the domain has a row.
var problems = map[domain.Code]struct {
	status int
	title  string
}{
	domain.CodeMalformedJSON:          {http.StatusBadRequest, "The body is not the JSON that is expected"},
	domain.CodeKeyMissing:             {http.StatusBadRequest, "The Idempotency-Key header is missing"},
	domain.CodeKeyInvalid:             {http.StatusBadRequest, "The Idempotency-Key header is not a valid key"},
	domain.CodeInvalidParameter:       {http.StatusBadRequest, "A query parameter is not allowed or not valid"},
	domain.CodeUnauthenticated:        {http.StatusUnauthorized, "A valid API key is needed"},
	domain.CodeForbidden:              {http.StatusForbidden, "The API key may not do this"},
	domain.CodeCardDeclined:           {http.StatusPaymentRequired, "The payment was refused"},
	domain.CodeNotFound:               {http.StatusNotFound, "There is no such thing"},
	domain.CodeMethodNotAllowed:       {http.StatusMethodNotAllowed, "The method is not allowed here"},
	domain.CodeNotAcceptable:          {http.StatusNotAcceptable, "The answer would be JSON, which the request does not accept"},
	domain.CodeKeyInProgress:          {http.StatusConflict, "A request with this idempotency key is still running"},
	domain.CodeKeyExpired:             {http.StatusConflict, "The answer under this idempotency key is no longer kept"},
	domain.CodeOutOfStock:             {http.StatusConflict, "There is not enough in stock"},
	domain.CodeOrderNotPayable:        {http.StatusConflict, "The order cannot be paid"},
	domain.CodeChargeInProgress:       {http.StatusConflict, "Another charge of this order is not decided yet"},
	domain.CodeOrderAlreadyPaid:       {http.StatusConflict, "The order is already paid"},
	domain.CodeCartAlreadyOrdered:     {http.StatusConflict, "The cart has already become an order"},
	domain.CodeChargeAbandoned:        {http.StatusConflict, "The charge was given up before it took any money"},
	domain.CodeChargeNotCapturable:    {http.StatusConflict, "The charge cannot be captured"},
	domain.CodeTotalChanged:           {http.StatusConflict, "The total is not the expected one"},
	domain.CodeVersionConflict:        {http.StatusConflict, "The object has moved on"},
	domain.CodeBodyTooLarge:           {http.StatusRequestEntityTooLarge, "The body is too large"},
	domain.CodeUnsupportedMediaType:   {http.StatusUnsupportedMediaType, "The body must be plain application/json"},
	domain.CodeHeadersTooLarge:        {http.StatusRequestHeaderFieldsTooLarge, "The headers are too large"},
	domain.CodeValidationFailed:       {http.StatusUnprocessableEntity, "The request is well-formed but not allowed"},
	domain.CodeKeyReused:              {http.StatusUnprocessableEntity, "The idempotency key was used for something else"},
	domain.CodeCardDataNotAccepted:    {http.StatusUnprocessableEntity, "Card data must never be sent here"},
	domain.CodeRateLimited:            {http.StatusTooManyRequests, "Too many requests"},
	domain.CodeInternal:               {http.StatusInternalServerError, "Something went wrong on our side"},
	domain.CodeProviderUnavailable:    {http.StatusServiceUnavailable, "The payment provider cannot be reached"},
	domain.CodeTemporarilyUnavailable: {http.StatusServiceUnavailable, "The service cannot answer right now"},
}

// Present renders a result as the answer that is told, stored and replayed. It is pure, so the first request, a request
// that resumes it and recovery all produce the same bytes.
func Present(p payment.Presentation) domain.Answer {
	if p.Err != nil {
		status, body := renderProblem(p.Err, p.Instance, p.RequestID)
		return domain.Answer{Status: status, Location: p.Location, Body: body}
	}
	return domain.Answer{Status: p.Status, Location: p.Location, Body: encode(p.Object)}
}

// renderProblem writes a refusal as problem+json. Whatever is not a refusal of the domain becomes a fixed text: its own
// words may hold SQL, addresses or worse.
func renderProblem(err error, instance, requestID string) (status int, body []byte) {
	refusal := &domain.Error{Code: domain.CodeInternal, Detail: "the request could not be completed; it is safe to send it again with the same key"}
	errors.As(err, &refusal)
	row, ok := problems[refusal.Code]
	if !ok {
		row = problems[domain.CodeInternal]
	}
	members := map[string]any{}
	maps.Copy(members, refusal.Fields)
	members["type"] = "/problems/" + string(refusal.Code)
	members["title"] = row.title
	members["status"] = row.status
	members["detail"] = refusal.Detail
	members["instance"] = instance
	members["request_id"] = requestID
	return row.status, encode(members)
}

// encode is encoding/json without the escapes meant for HTML. Everything encoded here is ours and always encodable.
func encode(v any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic("api: answer cannot be encoded: " + err.Error())
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}

// statusCallerGone is what the log and the metrics show for a request whose caller did not wait for the answer. It is never
// sent; nginx has made the number a custom.
const statusCallerGone = 499

// fail is echo's error handler and the only place that writes an error. It does nothing when the answer has begun.
func (a *API) fail(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	ctx, requestID := c.Request().Context(), requestIDOf(c)
	err = classify(err)
	code := domain.CodeOf(err)
	// When the caller has gone, nothing is wrong here, and it must not look like an outage to whoever watches.
	gone := errors.Is(err, context.Canceled) && errors.Is(ctx.Err(), context.Canceled)
	if gone {
		defer func() { c.Response().Status = statusCallerGone }() // after the answer, which a caller who is only half gone may read
	} else {
		c.Set(problemKey, code)
	}
	switch {
	case gone:
		a.log.DebugContext(ctx, "caller has gone", "request_id", requestID, "route", c.Path())
	case code == domain.CodeInternal:
		a.log.ErrorContext(ctx, "request failed", "request_id", requestID, "route", c.Path(), "error", err)
	case code == domain.CodeTemporarilyUnavailable, code == domain.CodeProviderUnavailable:
		a.log.WarnContext(ctx, "request cannot be served", "request_id", requestID, "route", c.Path(), "error", err)
	}
	header := c.Response().Header()
	var refusal *domain.Error
	if errors.As(err, &refusal) && refusal.RetryAfter > 0 {
		header.Set("Retry-After", seconds(refusal.RetryAfter))
	}
	if refusal != nil && !refusal.KeyExpiresAt.IsZero() {
		header.Set(expiresHeader, refusal.KeyExpiresAt.UTC().Format(http.TimeFormat))
	}
	if code == domain.CodeUnauthenticated {
		header.Set("WWW-Authenticate", `Bearer realm="payonce"`)
	}
	status, body := renderProblem(err, instanceOf(c.Request()), requestID)
	if err := c.Blob(status, problemJSON, body); err != nil {
		a.log.DebugContext(ctx, "caller has gone", "request_id", requestID, "error", err)
	}
}

// classify turns the errors that are not refusals yet into refusals where the caller can do something about them.
func classify(err error) error {
	var fromEcho *echo.HTTPError
	var refusal *domain.Error
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &refusal):
		return err
	case errors.As(err, &tooLarge):
		return domain.E(domain.CodeBodyTooLarge, nil, "a body may have at most %d bytes", tooLarge.Limit)
	case errors.As(err, &fromEcho) && fromEcho.Code == http.StatusMethodNotAllowed:
		return domain.E(domain.CodeMethodNotAllowed, nil, "this path does not know the method; the Allow header lists those it knows")
	case errors.As(err, &fromEcho) && fromEcho.Code == http.StatusNotFound:
		return domain.E(domain.CodeNotFound, nil, "no such path")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), repository.Unavailable(err):
		return domain.ELater(domain.CodeTemporarilyUnavailable, retryAfter, err, "the service cannot answer right now; send the request again with the same key")
	}
	return err
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
