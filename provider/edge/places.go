package edge

import (
	"context"
	"errors"
	"time"
)

// places bounds how many calls are at work at once. Work takes two places: one of its own, of which there are fewer, and
// one of all. So it can never have them all, and reads and fences are not kept waiting by it alone.
type places struct{ all, work chan struct{} }

func newPlaces(total, reserved int) *places {
	return &places{all: make(chan struct{}, total), work: make(chan struct{}, total-reserved)}
}

// enter takes a place, waiting for one at most this long, and returns how to leave it. Callers are let in in the order
// they came, within their class.
func (p *places) enter(ctx context.Context, class Class, wait time.Duration) (leave func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, wait, errors.New("no free place: too many calls are at work"))
	defer cancel()
	if class != Work {
		if err := take(ctx, p.all); err != nil {
			return nil, err
		}
		return func() { <-p.all }, nil
	}
	if err := take(ctx, p.work); err != nil {
		return nil, err
	}
	if err := take(ctx, p.all); err != nil {
		<-p.work
		return nil, err
	}
	return func() { <-p.all; <-p.work }, nil
}

// take takes a place, if only there is one; a context that is over takes none.
func take(ctx context.Context, from chan struct{}) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case from <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
