package edge

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"payonce/provider"
)

// RetryOptions say how patiently calls are repeated. Every field is required.
type RetryOptions struct {
	Tries  int            // sendings of one call at most, the first one included
	Budget time.Duration  // nothing is sent again later than this after the first sending; one that is at work is not cut off
	Base   time.Duration  // the first pause is between 0 and this, the next one between 0 and twice this, and so on
	Cap    time.Duration  // and never longer than this, unless the provider asks for more
	Rand   func() float64 // from 0 to less than 1, for many goroutines at once
}

// Retrier repeats calls. One retrier for all calls of a process keeps its repetitions, in the long run, to a tenth of its
// calls: when everything fails, repeating it only helps it to fail.
type Retrier struct {
	o                        RetryOptions
	mu                       sync.Mutex
	saved                    int // tenths of repetitions that may be made
	calls, repeats, withheld atomic.Uint64
}

// Every call saves a tenth of a repetition. Ten whole ones can be saved up: enough for a short hiccup.
const (
	repetition  = 10
	savedAtMost = 10 * repetition
)

// NewRetrier makes a retrier, or says what is wrong with the options.
func NewRetrier(o RetryOptions) (*Retrier, error) {
	if o.Tries < 1 || o.Budget <= 0 || o.Base <= 0 || o.Cap < o.Base || o.Rand == nil {
		return nil, errors.New("retry: tries, budget, base, a cap of at least base and rand are all required")
	}
	return &Retrier{o: o, saved: savedAtMost}, nil
}

// Do makes a call, and makes it again while its result is [provider.Result.Repeatable] and nothing else speaks against
// it: the number of tries, the budget, the caller's context, or the share of repetitions. Send must send the same key and
// the same parameters every time. The result is that of the last sending.
//
// A call that may have changed something, and came to [provider.Unknown], is not repeated. There is one exception: when
// the provider says that an earlier request with the same key is still at work. If that one never gets to tell its outcome,
// the result stays Unknown, whatever the last sending itself came to: refused or not sent, it says nothing about the
// request before it.
func (r *Retrier) Do(ctx context.Context, class Class, send func(context.Context) provider.Result) provider.Result {
	r.calls.Add(1)
	r.save()
	began := time.Now() //nolint:forbidigo // a duration of this process, which is no business time
	inDoubt := false
	for try := 1; ; try++ {
		result := send(ctx)
		if inDoubt && (result.Outcome == provider.NotSent || result.Outcome == provider.Rejected) {
			result.Err = fmt.Errorf("an earlier request with the key was at work, and the last sending came to %s: %w", result.Outcome, result.Err)
			result.Outcome, result.Failure = provider.Unknown, nil
		}
		inDoubt = inDoubt || result.Outcome == provider.Unknown && class != Read
		if !result.Repeatable || try >= r.o.Tries {
			return result
		}
		pause := r.pause(try, result.RetryAfter)
		if ends := time.Now().Add(pause); ends.Sub(began) > r.o.Budget || tooLate(ctx, ends) { //nolint:forbidigo // as above
			return result
		}
		if !r.spend() {
			return result
		}
		if sleep(ctx, pause) != nil {
			return result
		}
		r.repeats.Add(1)
	}
}

// pause is how long to wait after the n-th sending: a random part of a bound that doubles, so that callers who failed
// together do not come back together, and never less than the provider asks for.
func (r *Retrier) pause(n int, asked time.Duration) time.Duration {
	bound := r.o.Base
	for range n - 1 {
		bound = min(2*bound, r.o.Cap)
	}
	return max(0, asked) + time.Duration(r.o.Rand()*float64(bound))
}

func tooLate(ctx context.Context, ends time.Time) bool {
	deadline, bounded := ctx.Deadline()
	return bounded && !ends.Before(deadline)
}

func (r *Retrier) save() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.saved = min(r.saved+1, savedAtMost)
}

func (r *Retrier) spend() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.saved < repetition {
		r.withheld.Add(1)
		return false
	}
	r.saved -= repetition
	return true
}

// RetryStats is what a retrier has done since it was made.
type RetryStats struct {
	Calls    uint64
	Repeats  uint64
	Withheld uint64 // repetitions that were due but would have made too many
}

// Stats is for metrics.
func (r *Retrier) Stats() RetryStats {
	return RetryStats{Calls: r.calls.Load(), Repeats: r.repeats.Load(), Withheld: r.withheld.Load()}
}
