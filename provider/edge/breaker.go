package edge

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"payonce/provider"
)

// BreakerOptions say when the circuit opens and for how long.
type BreakerOptions struct {
	Failures int           // that many in a row open it; so does a bad half of the last calls, when there are enough of them
	OpenFor  time.Duration // then a read tries the provider out
}

// What half of the calls being bad is measured over. A busy shop notices so that every other call fails, which a row of
// failures never would.
const (
	breakerWindow  = 10 * time.Second
	breakerBuckets = 10
	breakerVolume  = 20 // calls; of fewer, half is chance
)

// breaker is the circuit. It adds to the library's what a caller who is refused wants to know: until when.
type breaker struct {
	circuit *gobreaker.TwoStepCircuitBreaker[struct{}]
	openFor time.Duration
	until   atomic.Pointer[time.Time]
	opened  atomic.Uint64
}

func newBreaker(o BreakerOptions) *breaker {
	b := &breaker{openFor: o.OpenFor}
	b.circuit = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		MaxRequests:  1, // one read tries the provider out, and one good answer is enough
		Interval:     breakerWindow,
		BucketPeriod: breakerWindow / breakerBuckets,
		Timeout:      o.OpenFor,
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return c.ConsecutiveFailures >= uint32(o.Failures) || c.Requests >= breakerVolume && 2*c.TotalFailures >= c.Requests //nolint:gosec // a small setting
		},
		IsExcluded: func(err error) bool { return errors.Is(err, errNoVerdict) },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				until := time.Now().Add(o.OpenFor) //nolint:forbidigo // a duration of this process, which is no business time
				b.until.Store(&until)
				b.opened.Add(1)
			}
		},
	})
	return b
}

// open reports whether the circuit is open, and for how long still.
func (b *breaker) open() (wait time.Duration, open bool) {
	if b.circuit.State() != gobreaker.StateOpen {
		return 0, false
	}
	return max(time.Until(*b.until.Load()), time.Millisecond), true //nolint:forbidigo // a duration of this process
}

func (b *breaker) halfOpen() bool { return b.circuit.State() == gobreaker.StateHalfOpen }

// begin lets a call through, or not. What it says about the provider must be reported: nil for good, errFailed or
// errNoVerdict.
func (b *breaker) begin() (report func(error), ok bool) {
	report, err := b.circuit.Allow()
	return report, err == nil
}

var (
	errNoVerdict = errors.New("says nothing about the provider")
	errFailed    = errors.New("the provider did not answer")
)

// verdictOn is what a call says about the provider. Whatever was answered as a whole, even with an object that we cannot
// understand, is an answer: a strange intent must not close the shop. A caller who went away says nothing.
func verdictOn(result provider.Result, caller error) error {
	brokeOff := (interface{ Timeout() bool })(nil)
	switch {
	case result.Outcome == provider.NotSent && result.HTTPStatus == 0:
		return errNoVerdict
	case result.Outcome != provider.Unknown:
		return nil
	case result.Replayed: // a failure of long ago, repeated by a provider that is well
		return nil
	case errors.Is(caller, context.Canceled):
		return errNoVerdict
	case result.HTTPStatus == 0, result.HTTPStatus >= 500,
		errors.As(result.Err, &brokeOff) && brokeOff.Timeout(), errors.Is(result.Err, io.ErrUnexpectedEOF):
		return errFailed
	}
	return nil
}
