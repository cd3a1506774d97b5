package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	maxAnswer = 4 << 20 // bytes; a page of 100 orders has some 100 kB

	firstPause   = 200 * time.Millisecond
	longestPause = 10 * time.Second
	longestWait  = 10 * time.Second // the most that the contract lets a caller ask for
)

// call is one thing to ask of the service.
type call struct {
	name    string // for errors; no id and no address is in it
	method  string
	path    []string // segments after /v1
	query   url.Values
	intent  Intent // of a POST; every POST is keyed
	command any
}

// request is a call made ready. It is encoded once, so each attempt sends the same key with the same bytes.
type request struct {
	call
	url  string
	body []byte

	attempts int
	open     bool   // something was sent that may have had an effect, or may still have one
	resource string // id of the object in question, once the service has named it
}

func (r *request) keyed() bool { return r.method == http.MethodPost }

// prepare refuses what can be seen to be wrong before anything is sent.
func (c *Client) prepare(ctx context.Context, what call) (*request, error) {
	r := &request{call: what, url: c.base + "/v1"}
	if r.keyed() && r.intent.IsZero() {
		return nil, fmt.Errorf("%s: intent is the zero value: make one with NewIntent, once", r.name)
	}
	for _, segment := range r.path {
		if segment == "" || segment == "." || segment == ".." {
			return nil, fmt.Errorf("%s: %q is no id", r.name, segment)
		}
		r.url += "/" + url.PathEscape(segment)
	}
	if len(r.query) > 0 {
		r.url += "?" + r.query.Encode()
	}
	if r.command != nil {
		var err error
		if r.body, err = json.Marshal(r.command); err != nil {
			return nil, fmt.Errorf("%s: body: %w", r.name, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: nothing was sent: %w", r.name, err)
	}
	return r, nil
}

// object is what an answer can hold. One that is not complete is something else: an empty object, another kind, the page
// of a proxy. Nothing is proved by it.
type object interface{ complete() bool }

// do makes one call.
func do[T object](ctx context.Context, c *Client, what call) (T, Answer, error) {
	r, err := c.prepare(ctx, what)
	if err != nil {
		var none T
		return none, Answer{}, err
	}
	return ask[T](ctx, c, r)
}

// ask sends a request until the service has said what became of it.
func ask[T object](ctx context.Context, c *Client, r *request) (T, Answer, error) {
	var object T
	answer, err := c.run(ctx, r, func(body []byte) error {
		var got T // a new one for each attempt: nothing of an answer that broke off may show through
		if err := json.Unmarshal(body, &got); err != nil {
			return err
		}
		if !got.complete() {
			return errors.New("it is not the object that was asked for")
		}
		object = got
		return nil
	})
	return object, answer, err
}

// failure is an attempt without a success, and what follows from it.
type failure struct {
	err   error
	again bool // the same may be sent again
	trace bool // it may have had an effect, or may still have one
}

func (c *Client) run(ctx context.Context, r *request, read func(body []byte) error) (Answer, error) {
	end := c.options.Now().Add(c.options.TotalTime)
	for n := 1; ; n++ {
		r.attempts++
		answer, failed := c.attempt(ctx, r, min(end.Sub(c.options.Now()), c.options.AttemptTimeout), read)
		if failed == nil {
			return answer, nil
		}
		var p *Problem
		if errors.As(failed.err, &p) {
			if r.keyed() && p.Final() {
				return answer, p
			}
			r.resource = cmp.Or(p.Resource, r.resource)
		}
		r.open = r.open || failed.trace && r.method != http.MethodGet
		pause := c.pause(n, answer.RetryAfter)
		if !failed.again || n == c.options.Attempts || c.options.Now().Add(pause).After(end) {
			return answer, r.ended(answer, failed.err, failed.err)
		}
		if err := c.options.Sleep(ctx, pause); err != nil {
			return answer, r.ended(answer, failed.err, err)
		}
	}
}

// ended is the error of a call that got no success: last is what the last attempt met, cause is what made it the last. A
// refusal says what became of the request that it answers and of no other: after one that may have had an effect, the
// call as a whole is open.
func (r *request) ended(answer Answer, last, cause error) error {
	var p *Problem
	errors.As(last, &p)
	switch {
	case r.open:
		return &UnknownError{Intent: r.intent, Attempts: r.attempts, Resource: r.resource, LastProblem: p, Answer: answer, call: r.name, cause: cause}
	case errors.As(cause, &p):
		return p
	default:
		return fmt.Errorf("%s: %w", r.name, cause)
	}
}

// attempt sends the request once and reads the whole answer.
func (c *Client) attempt(ctx context.Context, r *request, timeout time.Duration, read func(body []byte) error) (Answer, *failure) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	sent, err := c.build(ctx, r)
	if err != nil {
		return Answer{}, &failure{err: err}
	}
	lost := func(err error) *failure { return &failure{err: withoutAddress(err), again: true, trace: true} }
	response, err := c.http.Do(sent)
	if err != nil {
		return Answer{}, lost(err)
	}
	defer response.Body.Close() //nolint:errcheck // nothing more is wanted of it
	answer := readAnswer(response, c.options.Now())
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return answer, lost(fmt.Errorf("answer broke off: %w", err))
	case len(body) > maxAnswer:
		return answer, lost(fmt.Errorf("answer has more than %d bytes", maxAnswer))
	case answer.Status >= http.StatusMultipleChoices:
		return answer, refused(readProblem(r.name, answer, body))
	case answer.Status > http.StatusAccepted:
		return answer, lost(fmt.Errorf("answer has the status %d, which the contract does not know", answer.Status))
	}
	if err := read(body); err != nil {
		return answer, lost(fmt.Errorf("answer with status %d cannot be understood: %w", answer.Status, err))
	}
	return answer, nil
}

// refused says what follows from a refusal, as the contract has it.
func refused(p *Problem) *failure {
	switch {
	case p.Status == http.StatusTooManyRequests:
		return &failure{err: p, again: true} // turned away at the door
	case p.Status >= http.StatusInternalServerError, p.Type == TypeKeyInProgress:
		return &failure{err: p, again: true, trace: true}
	default: // without a type, somebody else refused, who cannot know what the service has done
		return &failure{err: p, trace: p.Type == ""}
	}
}

func (c *Client) build(ctx context.Context, r *request) (*http.Request, error) {
	sent, err := http.NewRequestWithContext(ctx, r.method, r.url, bytes.NewReader(r.body))
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	sent.Header.Set("Authorization", c.authorization())
	sent.Header.Set("Accept", "application/json")
	if r.body != nil {
		sent.Header.Set("Content-Type", "application/json")
	}
	if r.keyed() {
		sent.Header.Set("Idempotency-Key", r.intent.header())
		// Whoever meets a twin of the request at work waits for its answer there rather than coming back for it.
		wait := min(c.options.AttemptTimeout/2, longestWait)
		sent.Header.Set("Prefer", "wait="+strconv.Itoa(int(wait/time.Second)))
	}
	return sent, nil
}

// pause is how long to wait after n attempts, n >= 1. The service's own word is the least; a little is added, so that all who
// were told the same do not come back in the same instant. Without a word the limit doubles each time, and the pause is
// anything below it (full jitter).
func (c *Client) pause(n int, advised time.Duration) time.Duration {
	limit := firstPause
	if advised == 0 {
		limit = min(firstPause<<min(n-1, 10), longestPause)
	}
	return advised + time.Duration(c.options.Random()*float64(limit))
}
