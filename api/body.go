package api

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	sj "payonce/api/strictjson"
	"payonce/domain"
	"payonce/payment"
)

// read reads the request's body and builds a command from it. A card number anywhere in it is refused before anything
// else is said about the body.
func read[T any](c echo.Context, build func(*sj.Object) T) (T, error) {
	var none T
	raw, err := sj.ReadRequest(c.Response(), c.Request(), maxBody)
	if errors.Is(err, sj.ErrMediaType) {
		return none, domain.E(domain.CodeUnsupportedMediaType, nil, "%s", sj.ErrMediaType)
	}
	if reason := brokenOff(err); reason != "" {
		return none, domain.E(domain.CodeMalformedJSON, domain.Fields{"errors": []domain.FieldError{{Detail: reason}}}, "%s", reason)
	}
	if err != nil {
		return none, err
	}
	body, err := sj.Read(raw)
	if err == nil && body.HasCardNumber() || err != nil && sj.LooksLikeCard(string(raw)) {
		return none, domain.E(domain.CodeCardDataNotAccepted, nil, "the body holds what looks like a card number; send the provider's token instead")
	}
	if err != nil {
		return none, bodyRefused(err)
	}
	command := build(body)
	if err := body.Err(); err != nil {
		return none, bodyRefused(err)
	}
	return command, nil
}

// brokenOff says why a body could not be read to its end, when that is because of how it was sent. One that is too large
// is something else.
func brokenOff(err error) string {
	var tooLarge *http.MaxBytesError
	var network net.Error
	switch {
	case err == nil, errors.As(err, &tooLarge), errors.Is(err, context.Canceled):
		return ""
	case errors.As(err, &network) && network.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return "the body did not arrive in time"
	default:
		return "the body ends early, or is not framed as its headers say"
	}
}

func bodyRefused(err error) error {
	var found *sj.Error
	if !errors.As(err, &found) {
		return err
	}
	list := make([]domain.FieldError, len(found.Problems))
	for i, p := range found.Problems {
		list[i] = domain.FieldError{Pointer: p.Pointer, Detail: p.Detail}
	}
	code := domain.CodeValidationFailed
	if found.Malformed {
		code = domain.CodeMalformedJSON
	}
	return domain.E(code, domain.Fields{"errors": list}, "%s", found)
}

// keyed reads a request whose operation is kept under an idempotency key: the header first, then the body.
func keyed[T any](c echo.Context, build func(*sj.Object) T) (payment.Request, T, error) {
	var none T
	key, err := idempotencyKey(c.Request().Header.Values(keyHeader))
	if err != nil {
		return payment.Request{}, none, err
	}
	if hint := keyHint(string(key)); hint != "" {
		c.Response().Header().Set(hintHeader, hint)
	}
	command, err := read(c, build)
	return payment.Request{
		MerchantID: callerOf(c).MerchantID, Key: key, RequestID: requestIDOf(c), Wait: preferredWait(c.Request().Header.Values("Prefer")),
	}, command, err
}

// withoutBody lets a request that has none stand for the empty object. It is for operations all of whose members may be
// left out.
func withoutBody(c echo.Context) {
	r := c.Request()
	if r.ContentLength == 0 && len(r.TransferEncoding) == 0 && r.Header.Get("Content-Type") == "" {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader("{}")), int64(len("{}"))
		r.Header.Set("Content-Type", echo.MIMEApplicationJSON)
	}
}

// idempotencyKey reads the header, which must be there exactly once.
func idempotencyKey(values []string) (domain.Key, error) {
	switch len(values) {
	case 0:
		return "", domain.E(domain.CodeKeyMissing, nil, "send an Idempotency-Key header: a name for this intent, made once and kept over every retry")
	case 1:
		key, err := domain.ParseKey(values[0])
		if err != nil {
			return "", domain.E(domain.CodeKeyInvalid, nil, "the Idempotency-Key %s", err)
		}
		return key, nil
	default:
		return "", domain.E(domain.CodeKeyInvalid, nil, "the Idempotency-Key header is given %d times", len(values))
	}
}

// defaultWait is how long a request waits for its twin, maxWait how long it may ask to.
const (
	defaultWait = time.Second
	maxWait     = 10 * time.Second
)

var waitPattern = regexp.MustCompile(`^wait\s*=\s*"?([0-9]{1,9})"?$`)

// preferredWait reads wait=N from Prefer (RFC 7240). A preference that is not understood is passed over, as the RFC wants.
func preferredWait(values []string) time.Duration {
	for preference := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, _, _ := strings.Cut(preference, ";")
		found := waitPattern.FindStringSubmatch(strings.ToLower(strings.TrimSpace(name)))
		if found == nil {
			continue
		}
		n, err := strconv.Atoi(found[1])
		if err == nil {
			return min(time.Duration(n)*time.Second, maxWait)
		}
	}
	return defaultWait
}
