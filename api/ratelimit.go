package api

import (
	"maps"
	"sync"
	"time"

	"payonce/domain"
)

// Rate is how often something may be done: Burst times at once, and PerSecond times a second in the long run. The zero
// Rate is no limit.
//
// Each process counts for itself. Behind a load balancer, n processes let through up to n times as much; a limit that is
// exact over all of them would cost every request a round trip to something they share.
type Rate struct {
	PerSecond float64
	Burst     int
}

const (
	// maxBuckets bounds the memory of a limiter. Callers for whom there is no room share one bucket.
	maxBuckets = 100_000
	// sweepEvery is how often buckets that are full again are dropped.
	sweepEvery = 10 * time.Second
)

// limiter keeps a token bucket for each caller. A bucket is one instant, the moment at which it will be full again: every
// token that is taken moves it further away, and time brings it closer (the generic cell rate algorithm). A bucket that
// is full is the same as none, so callers that have gone leave nothing behind. A nil limiter lets everything pass.
type limiter[K comparable] struct {
	interval time.Duration // in which one token comes
	depth    time.Duration // in which an empty bucket fills up
	now      func() time.Time

	mu     sync.Mutex
	fullAt map[K]time.Time
	swept  time.Time
}

func newLimiter[K comparable](r Rate, now func() time.Time) *limiter[K] {
	if r.PerSecond <= 0 {
		return nil
	}
	interval := time.Duration(float64(time.Second) / r.PerSecond)
	return &limiter[K]{interval: interval, depth: interval * time.Duration(max(r.Burst, 1)), now: now, fullAt: map[K]time.Time{}}
}

// take takes a token from the caller's bucket. When there is none, nothing changes, and wait is how long it takes until
// there is one.
func (l *limiter[K]) take(caller K) (wait time.Duration) {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	caller, next, wait := l.look(caller)
	if wait <= 0 {
		l.fullAt[caller] = next
	}
	return max(wait, 0)
}

// wait is how long it takes until there is a token. It takes none.
func (l *limiter[K]) wait(caller K) time.Duration {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _, wait := l.look(caller)
	return max(wait, 0)
}

// charge takes a token even if there is none: what was under way already has to be paid for later. The debt is at most
// one bucket.
func (l *limiter[K]) charge(caller K) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	caller, next, wait := l.look(caller)
	if wait <= l.depth {
		l.fullAt[caller] = next
	}
}

// look finds the caller's bucket, when it would be full again with one token less, and how long it takes until there is
// that token.
func (l *limiter[K]) look(caller K) (bucket K, next time.Time, wait time.Duration) {
	now := l.now()
	if now.Sub(l.swept) >= sweepEvery {
		l.swept = now
		maps.DeleteFunc(l.fullAt, func(_ K, fullAt time.Time) bool { return !fullAt.After(now) })
	}
	if _, known := l.fullAt[caller]; !known && len(l.fullAt) >= maxBuckets {
		var everybody K
		caller = everybody
	}
	next = now
	if fullAt := l.fullAt[caller]; fullAt.After(now) {
		next = fullAt
	}
	next = next.Add(l.interval)
	return caller, next, next.Sub(now) - l.depth
}

func rateLimited(wait time.Duration, detail string) error {
	return domain.ELater(domain.CodeRateLimited, wait, nil, detail)
}
