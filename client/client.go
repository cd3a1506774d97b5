package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options say how patient a client is, and what it works with. The zero value is good for production.
type Options struct {
	// Transport carries the requests; nil is [http.DefaultTransport].
	Transport http.RoundTripper
	// Attempts is how often one call may send its request, at least 1; 0 is 8.
	Attempts int
	// AttemptTimeout is how long one request may take until its answer is read; 0 is 30 s. It should be longer than the
	// service needs for a payment, or the answers of slow banks are asked for twice. That is safe, but a waste.
	AttemptTimeout time.Duration
	// TotalTime is how long one call may take with all its attempts and pauses; 0 is 2 min. Waiting for the outcome of a
	// charge is many calls, and bounded by its context alone.
	TotalTime time.Duration

	// Now, Sleep and Random are the clock, the pause and the jitter, a number in [0, 1). nil is the real thing.
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error // returns the context's error if that ends first
	Random func() float64
}

// Client calls one service with one API key. It may be used by many goroutines at once.
type Client struct {
	base    string
	http    http.Client
	options Options
	// authorization is a function and not a text: fmt passes over Format where a Client is an unexported field of
	// something that is printed, and prints an address here.
	authorization func() string
}

// New makes a client for the service at an http or https URL, which may have a path. The error never holds the API key.
func New(baseURL, apiKey string, o Options) (*Client, error) {
	base, err := url.Parse(baseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, errors.New("base URL must be an absolute http or https URL")
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("base URL must have neither user nor query nor fragment")
	}
	if apiKey == "" || strings.ContainsFunc(apiKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("API key must be printable ASCII without spaces")
	}
	if o.Attempts < 0 || o.AttemptTimeout < 0 || o.TotalTime < 0 {
		return nil, errors.New("attempts and times must not be negative")
	}
	return &Client{
		base:          strings.TrimRight(base.String(), "/"),
		options:       o.withDefaults(),
		authorization: func() string { return "Bearer " + apiKey },
		http: http.Client{Transport: o.Transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // the API key must not follow a redirect, and no POST may become a GET
		}},
	}, nil
}

// Format implements [fmt.Formatter]. It shows the service's address whatever the verb, and never the API key.
func (c *Client) Format(s fmt.State, _ rune) { fmt.Fprintf(s, "client of %s", c.base) }

func (o Options) withDefaults() Options {
	if o.Attempts == 0 {
		o.Attempts = 8
	}
	if o.AttemptTimeout == 0 {
		o.AttemptTimeout = 30 * time.Second
	}
	if o.TotalTime == 0 {
		o.TotalTime = 2 * time.Minute
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // what stands in for a clock that was not given
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Random == nil {
		o.Random = rand.Float64 //nolint:forbidigo // what stands in for jitter that was not given
	}
	return o
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
