package edge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"payonce/provider"
)

// Options are an edge's limits. Every field is required, but for Limiter.
type Options struct {
	Places   int           // calls at work at once
	Reserved int           // of Places, those that only reads and fences can have; less than Places
	Wait     time.Duration // for a place, and then for a token: as long each, at most
	Attempt  time.Duration // one call's time, once it is sent
	Limiter  Limiter       // nil for no limit
	Breaker  BreakerOptions
}

// Edge is a provider with limits. Make one with [New]; there must be one for each provider account in a process.
type Edge struct {
	next    provider.Provider
	places  *places
	limiter Limiter
	breaker *breaker
	wait    time.Duration
	attempt time.Duration
	counts  counts
}

var _ provider.Provider = (*Edge)(nil)

// New puts an edge in front of a provider, or says what is wrong with the options.
func New(next provider.Provider, o Options) (*Edge, error) {
	switch {
	case o.Reserved < 1 || o.Places <= o.Reserved:
		return nil, fmt.Errorf("edge: %d places with %d reserved leave none for one of the two kinds of calls", o.Places, o.Reserved)
	case o.Wait <= 0 || o.Attempt <= 0:
		return nil, errors.New("edge: the wait and the time of an attempt must be positive")
	case o.Breaker.Failures < 1 || o.Breaker.OpenFor <= 0:
		return nil, errors.New("edge: the circuit must open after a failure or more, for a positive time")
	}
	return &Edge{
		next: next, places: newPlaces(o.Places, o.Reserved), limiter: o.Limiter, breaker: newBreaker(o.Breaker), wait: o.Wait, attempt: o.Attempt,
	}, nil
}

// Refusing reports whether every call is refused at this time, because the provider has been silent, and for how long.
func (e *Edge) Refusing() (wait time.Duration, refusing bool) { return e.breaker.open() }

// Class says what a call is to the edge.
type Class int

// The classes. Reads and fences have a share of their own; only reads may try out a provider that has been silent.
const (
	Work  Class = iota // begins or moves money
	Fence              // keeps money from moving
	Read               // changes nothing
)

// do makes one call within the limits.
func (e *Edge) do(ctx context.Context, class Class, send func(context.Context) provider.Result) provider.Result {
	result := e.admitted(ctx, class, send)
	e.counts.outcome(result.Outcome)
	return result
}

// admitted makes one call, or says why not. The circuit comes first since it costs nothing, the place before the token: no
// more callers can then wait at the limiter, which may be a database, than there are places.
func (e *Edge) admitted(ctx context.Context, class Class, send func(context.Context) provider.Result) provider.Result {
	if wait, open := e.breaker.open(); open {
		return e.refused(refusedOpen, wait, errors.New("the circuit is open"))
	}
	leave, err := e.places.enter(ctx, class, e.wait)
	if err != nil {
		return e.refused(refusedBusy, e.wait, err)
	}
	defer leave()
	if refusal := e.take(ctx, class); refusal != nil {
		return *refusal
	}
	if class != Read && e.breaker.halfOpen() {
		e.probe(ctx)
		if e.breaker.halfOpen() {
			return e.refused(refusedOpen, e.wait, errors.New("the circuit is half open, and the provider was not found well"))
		}
	}
	result, tried := e.through(ctx, send)
	if !tried {
		wait, _ := e.breaker.open()
		return e.refused(refusedOpen, max(wait, e.wait), errors.New("the circuit is not closed"))
	}
	return result
}

// probe tries out a provider that has been silent by a read of the edge's own. No call that matters is for trying out, and
// to wait until somebody happens to look something up could mean to wait for ever.
func (e *Edge) probe(ctx context.Context) {
	e.through(ctx, func(ctx context.Context) provider.Result {
		_, result := e.next.ListIntents(ctx, provider.Query{Limit: 1})
		return result
	})
}

// take takes a token and waits until it may be used. It returns nil when the call may go on.
func (e *Edge) take(ctx context.Context, class Class) *provider.Result {
	if e.limiter == nil {
		return nil
	}
	wait, err := e.limiter.Take(ctx, class, e.wait)
	if err == nil && wait <= e.wait {
		err = sleep(ctx, wait)
	} else if err == nil {
		refusal := e.refused(refusedLimited, wait, errors.New("the rate limit is reached"))
		return &refusal
	}
	if err != nil {
		refusal := e.refused(refusedLimited, e.wait, fmt.Errorf("rate limit: %w", err))
		return &refusal
	}
	return nil
}

// through sends one call through the circuit, which may have opened meanwhile. Then it is not tried.
func (e *Edge) through(ctx context.Context, send func(context.Context) provider.Result) (result provider.Result, tried bool) {
	report, ok := e.breaker.begin()
	if !ok {
		return provider.Result{}, false
	}
	judged := false
	defer func() {
		if !judged { // a panic: the call's place at the circuit must not stay taken
			report(errNoVerdict)
		}
	}()
	attempt, cancel := context.WithTimeout(ctx, e.attempt)
	defer cancel()
	result = send(attempt)
	judged = true
	report(verdictOn(result, ctx.Err()))
	return result, true
}

// refused is the result of a call that was not sent.
func (e *Edge) refused(why refusal, retryAfter time.Duration, err error) provider.Result {
	e.counts.refused[why].Add(1)
	return provider.Result{Outcome: provider.NotSent, RetryAfter: retryAfter, Err: fmt.Errorf("edge: not sent: %w", err)}
}

// sleep waits for d, or until the context is over.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
