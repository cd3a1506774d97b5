package edge

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Limiter keeps calls below a rate that the provider allows. One that all replicas share keeps its state where they all
// can reach it; [Bucket] keeps it in this process.
type Limiter interface {
	// Take takes one token and says how long to wait before it may be used. When that would be longer than patience, it
	// takes none and says how long to wait before asking again. It must return by itself, soon, and at the latest when the
	// context is over. An error means that it could not find out; the call is then not sent, since nobody knows whether
	// the provider could bear it.
	Take(ctx context.Context, class Class, patience time.Duration) (wait time.Duration, err error)
}

// Bucket is a Limiter for one process: two token buckets, one for work, one kept for reads and fences. Those take from the
// other one when it is quicker; work never does. So work cannot use up what reads need, and together they keep the rate.
type Bucket struct {
	mu         sync.Mutex
	work, kept meter
}

// NewBucket makes a full bucket of rate tokens a second, of which share are kept for reads and fences: a fraction greater
// than 0 and less than 1. As many tokens as come in a quarter of a second may be taken at once.
func NewBucket(rate, share float64) (*Bucket, error) {
	if !(rate > 0) || !(share > 0 && share < 1) {
		return nil, fmt.Errorf("bucket: %v tokens a second, %v of them kept: must be more than 0, and between 0 and 1", rate, share)
	}
	return &Bucket{work: newMeter(rate * (1 - share)), kept: newMeter(rate * share)}, nil
}

// burst is how many seconds' tokens a full meter holds.
const burst = 0.25

// Take implements [Limiter].
func (b *Bucket) Take(_ context.Context, class Class, patience time.Duration) (time.Duration, error) {
	now := time.Now() //nolint:forbidigo // a duration of this process, which is no business time
	b.mu.Lock()
	defer b.mu.Unlock()
	from := &b.work
	if class != Work && b.kept.wait(now) <= b.work.wait(now) {
		from = &b.kept
	}
	wait := from.wait(now)
	if wait <= patience {
		from.take(now)
	}
	return wait, nil
}

// meter is a token bucket that stores no number of tokens but the time at which it will be full again. A token that is
// taken moves it by one interval; so the state is one value, and nothing has to fill the bucket.
type meter struct {
	interval time.Duration // between two tokens
	depth    time.Duration // how far ahead of now full may be and a token still be there
	full     time.Time
}

func newMeter(rate float64) meter {
	interval := time.Duration(float64(time.Second) / rate)
	return meter{interval: interval, depth: max(0, time.Duration(burst*float64(time.Second))-interval)}
}

// wait is how long the next token is away.
func (m *meter) wait(now time.Time) time.Duration { return max(0, m.full.Add(-m.depth).Sub(now)) }

// take takes the next token, in advance if it is not there yet.
func (m *meter) take(now time.Time) {
	if m.full.Before(now) {
		m.full = now
	}
	m.full = m.full.Add(m.interval)
}
