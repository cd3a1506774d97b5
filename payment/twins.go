package payment

import (
	"context"
	"errors"
	"sync"
	"time"

	"payonce/domain"
	"payonce/repository"
)

// Twins are requests with the same key that run at the same time: a double click, a proxy that repeats, a client that
// was too impatient. The database makes sure that only one of them has an effect. What is kept here only makes sure that
// the others cost nothing while they wait: of the twins in one process one works or asks the database, and the rest wait
// for it in memory, without a connection. Nothing depends on it; two processes never share it.
type twins struct {
	mu      sync.Mutex
	running map[twinName]*twin
}

type twinName struct {
	merchant  string
	operation domain.Operation
	hash      string
}

// twin is the one request of this process that works on a key.
type twin struct {
	fingerprint domain.Fingerprint
	done        chan struct{} // closed when it is through
	answer      *Reply        // its final answer, set before done is closed; nil when there is none

	mu      sync.Mutex
	made    string    // id of the object, once there is one
	expires time.Time // zero until the key is claimed
}

// tells lets the waiting twins know what the key stands for.
func (t *twin) tells(resource string, expires time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made, t.expires = resource, expires
}

// stillRunning is the refusal of a request that will not wait any longer.
func (t *twin) stillRunning(cause error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return inProgress(t.made, t.expires, cause)
}

// reused is the refusal of a request that wants something else.
func (t *twin) reused() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return keyReused(t.expires)
}

func nameOf(ref domain.KeyRef) twinName {
	return twinName{ref.MerchantID, ref.Operation, string(ref.Hash)}
}

// enter makes the request the one that works on its key, or returns the one that does.
func (t *twins) enter(claim repository.Claim) (one *twin, mine bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := nameOf(claim.KeyRef)
	if one, busy := t.running[name]; busy {
		return one, false
	}
	if t.running == nil {
		t.running = map[twinName]*twin{}
	}
	one = &twin{fingerprint: claim.Fingerprint, done: make(chan struct{})}
	t.running[name] = one
	return one, true
}

// leave lets the next one in.
func (t *twins) leave(claim repository.Claim, one *twin) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.running, nameOf(claim.KeyRef))
	close(one.done)
}

// oneAtATime runs work when no other request of this process works on the same key. A request whose twin comes to a final
// answer gets that answer as a replay; when the twin comes to none, the next one works. Nobody waits longer than its
// caller wants: work gets what is left of the wait.
func (s *Service) oneAtATime(ctx context.Context, wait time.Duration, claim repository.Claim, work func(patience, *twin) (Reply, error)) (Reply, error) {
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for {
		one, mine := s.twins.enter(claim)
		if mine {
			return s.asTheOne(claim, one, func() (Reply, error) { return work(deadline.C, one) })
		}
		if one.fingerprint != claim.Fingerprint {
			return Reply{}, one.reused()
		}
		select {
		case <-one.done:
			if one.answer != nil {
				again := *one.answer
				again.Replayed = true
				return again, nil
			}
		case <-deadline.C:
			return Reply{}, one.stillRunning(errRunning)
		case <-ctx.Done():
			return Reply{}, ctx.Err()
		}
	}
}

// asTheOne works, and lets the next one in whatever happens: a panic must not leave the others waiting.
func (s *Service) asTheOne(claim repository.Claim, one *twin, work func() (Reply, error)) (reply Reply, err error) {
	defer s.twins.leave(claim, one)
	reply, err = work()
	if err == nil && reply.RetryAfter == 0 {
		one.answer = &reply
	}
	return reply, err
}

// patience ends when the caller does not want to wait any longer.
type patience <-chan time.Time

// whenFree tries again while a request of another process holds the key. It holds no connection in between.
func whenFree(ctx context.Context, until patience, one *twin, try func() error) error {
	for pause := firstPause; ; pause = longer(pause) {
		err := try()
		if !errors.Is(err, repository.ErrKeyHeld) {
			return err
		}
		if err := rest(ctx, pause, until, one, err); err != nil {
			return err
		}
	}
}

// The pauses between two looks at a key that somebody else works on. They grow, so that a long wait asks seldom.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 200 * time.Millisecond
)

func longer(pause time.Duration) time.Duration { return min(2*pause, lastPause) }

// rest waits for the next look, or says why there is none.
func rest(ctx context.Context, pause time.Duration, until patience, one *twin, cause error) error {
	next := time.NewTimer(pause)
	defer next.Stop()
	select {
	case <-next.C:
		return nil
	case <-until:
		return one.stillRunning(cause)
	case <-ctx.Done():
		return ctx.Err()
	}
}
