package repository

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// ErrBusy says that every connection stayed taken for as long as the caller was ready to wait, or that too many others
// were waiting already. Nothing was asked of the database.
var ErrBusy = errors.New("no database connection became free in time")

// gate lets as many callers at the database as there are connections and keeps the others waiting, but only so many and
// only so long. Without it a database that has become slow collects every request of the service: each of them waits
// out its whole budget, and those that came first have given up when their turn comes.
//
// The gate stands where a connection is taken, not where a request comes in: a charge that waits for the provider, and a
// request that waits for its twin, hold no connection and so no place. Those who wait are served in the order in which
// they came, for that is how a channel serves its senders.
type gate struct {
	places chan struct{} // one for each connection
	queue  chan struct{} // one for each caller that may wait and is not patient
	wait   time.Duration // longest wait of a caller who is not patient; 0: as long as its context allows

	waiting atomic.Int64
	refused atomic.Int64
}

func newGate(places, queue int, wait time.Duration) *gate {
	return &gate{places: make(chan struct{}, places), queue: make(chan struct{}, queue), wait: wait}
}

// enter takes a place, or returns ErrBusy. leave must be called exactly once.
func (g *gate) enter(ctx context.Context) (leave func(), err error) {
	leave = func() { <-g.places }
	select {
	case g.places <- struct{}{}:
		return leave, nil
	default:
	}
	var over <-chan time.Time // never, for the patient
	if g.wait > 0 && !patient(ctx) {
		select {
		case g.queue <- struct{}{}:
			defer func() { <-g.queue }()
		default:
			g.refused.Add(1)
			return nil, fmt.Errorf("%w: %d others are waiting", ErrBusy, cap(g.queue))
		}
		timer := time.NewTimer(g.wait)
		defer timer.Stop()
		over = timer.C
	}
	g.waiting.Add(1)
	defer g.waiting.Add(-1)
	select {
	case g.places <- struct{}{}:
		return leave, nil
	case <-over:
		g.refused.Add(1)
		return nil, fmt.Errorf("%w: waited %s", ErrBusy, g.wait)
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a database connection: %w", ctx.Err())
	}
}

type patience struct{}

// Patient marks work that is not turned away at a full pool, but waits as long as ctx allows: what has been promised or
// done already, and must be written down. A caller who is turned away before that loses nothing.
func Patient(ctx context.Context) context.Context { return context.WithValue(ctx, patience{}, true) }

func patient(ctx context.Context) bool { return ctx.Value(patience{}) != nil }

// PoolStats is what the connections of a store are doing.
type PoolStats struct {
	Places  int   // how many callers may be at the database at once
	InUse   int   // how many are
	Waiting int   // how many wait for a place
	Refused int64 // how many were turned away since the start (ErrBusy)
}

// Stats tells what the connections are doing right now.
func (s *Store) Stats() PoolStats {
	return PoolStats{Places: cap(s.gate.places), InUse: len(s.gate.places), Waiting: int(s.gate.waiting.Load()), Refused: s.gate.refused.Load()}
}
