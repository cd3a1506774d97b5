package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// patience is how long an ordinary call may take, chargePatience one that talks to the bank. When it runs out
	// nothing is lost: the same key is sent again.
	patience       = 15 * time.Second
	chargePatience = 45 * time.Second
	maxAnswer      = 4 << 20 // bytes; a list of 100 products has some 100 kB
)

// client calls the API. It repeats nothing by itself: whether to try again, and with which key, is for the buyer's page
// to decide and to show.
type client struct {
	http      http.Client
	base      string
	secretKey string
}

func newClient(transport http.RoundTripper, base, secretKey string) *client {
	return &client{
		http: http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // the key must not follow a redirect
		}},
		base: strings.TrimRight(base, "/"), secretKey: secretKey,
	}
}

// request is one call. A keyed operation carries the idempotency key; into receives the object of a 2xx answer.
type request struct {
	method, path string
	key          string
	wait         int // seconds the API may wait for a twin with the same key
	patience     time.Duration
	body, into   any
}

// answer is what the API said.
type answer struct {
	status     int
	requestID  string
	replayed   bool
	original   string // request id of the first answer, when this one repeats it
	retryAfter time.Duration
	problem    *problem // set when the status is 400 or above
}

func (a answer) ok() bool { return a.status >= 200 && a.status < 300 }

// is reports whether the answer is the problem with this name.
func (a answer) is(slug string) bool { return a.problem != nil && a.problem.slug() == slug }

// temporary reports whether the answer decides nothing, so that the same request may be sent again.
func (a answer) temporary() bool { return a.status >= 500 || a.status == http.StatusTooManyRequests }

// problem is a refusal (RFC 9457) with the extra members that the shop has a use for. Title and detail are not among
// them: they are written for developers, and buyers get our own words.
type problem struct {
	Type      string       `json:"type"`
	Errors    []fieldError `json:"errors"`
	OrderID   string       `json:"order_id"`
	ProductID string       `json:"product_id"`
	Available int64        `json:"available"`
	Resource  string       `json:"resource"`
	ChargeID  string       `json:"charge_id"`
	Charge    charge       `json:"charge"`
}

type fieldError struct {
	Pointer string `json:"pointer"`
	Detail  string `json:"detail"`
}

func (p *problem) slug() string { return strings.TrimPrefix(p.Type, "/problems/") }

// errNoAnswer says that the API could not be asked or did not answer in a way that can be understood. Whatever was asked
// for may have happened all the same.
var errNoAnswer = errors.New("no answer from the API")

// call sends a request. The error is errNoAnswer when nobody knows what became of it.
func (c *client) call(ctx context.Context, r request) (answer, error) {
	if r.patience == 0 {
		r.patience = patience
	}
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	sent, err := c.build(ctx, r)
	if err != nil {
		return answer{}, err
	}
	got, err := c.http.Do(sent)
	if err != nil {
		return answer{}, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	defer got.Body.Close() //nolint:errcheck // nothing more is wanted of it
	a := answer{
		status: got.StatusCode, requestID: got.Header.Get("Request-Id"),
		replayed: got.Header.Get("Idempotent-Replayed") == "true", original: got.Header.Get("Original-Request"),
		retryAfter: secondsOf(got.Header.Get("Retry-After")),
	}
	body, err := io.ReadAll(io.LimitReader(got.Body, maxAnswer))
	if err != nil {
		return a, fmt.Errorf("%w: body: %w", errNoAnswer, err)
	}
	if a.status >= http.StatusBadRequest {
		a.problem = &problem{}
		_ = json.Unmarshal(body, a.problem) //nolint:errcheck // a gateway's refusal may be no JSON; its status says enough
		return a, nil
	}
	if a.ok() && r.into != nil {
		if err := json.Unmarshal(body, r.into); err != nil {
			return a, fmt.Errorf("%w: body: %w", errNoAnswer, err)
		}
	}
	return a, nil
}

func (c *client) build(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		encoded, err := json.Marshal(r.body)
		if err != nil {
			return nil, fmt.Errorf("body of %s: %w", r.path, err)
		}
		body = bytes.NewReader(encoded)
	}
	sent, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, body)
	if err != nil {
		return nil, fmt.Errorf("request %s: %w", r.path, err)
	}
	sent.Header.Set("Authorization", "Bearer "+c.secretKey)
	sent.Header.Set("Accept", "application/json")
	if r.body != nil {
		sent.Header.Set("Content-Type", "application/json")
	}
	if r.key != "" {
		sent.Header.Set("Idempotency-Key", r.key)
	}
	if r.wait > 0 {
		sent.Header.Set("Prefer", "wait="+strconv.Itoa(r.wait))
	}
	return sent, nil
}

// refusal is an answer of the API that the page did not expect.
type refusal struct {
	path   string
	answer answer
}

// Error implements error.
func (r refusal) Error() string {
	return fmt.Sprintf("%s answered %d %s (request %s)", r.path, r.answer.status, r.answer.problem.slug(), r.answer.requestID)
}

// get reads an object. Any answer but 2xx is a refusal.
func (c *client) get(ctx context.Context, path string, into any) (answer, error) {
	return c.must(ctx, request{method: http.MethodGet, path: path, into: into})
}

// must is call for requests that have no expected refusal.
func (c *client) must(ctx context.Context, r request) (answer, error) {
	a, err := c.call(ctx, r)
	if err != nil {
		return a, err
	}
	if !a.ok() {
		if a.problem == nil {
			a.problem = &problem{} // a redirect
		}
		return a, refusal{path: r.path, answer: a}
	}
	return a, nil
}

// refusedAs reports whether err is the API's problem with this name.
func refusedAs(err error, slug string) bool {
	var r refusal
	return errors.As(err, &r) && r.answer.is(slug)
}

// secondsOf reads Retry-After in its form of seconds, at most a minute. The form with a date is of no use between
// machines whose clocks differ.
func secondsOf(header string) time.Duration {
	n, err := strconv.Atoi(header)
	if err != nil || n < 0 {
		return 0
	}
	return min(time.Duration(n)*time.Second, time.Minute)
}
