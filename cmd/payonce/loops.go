package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"payonce/payment"
)

// batch is how much one round of a loop takes on. It bounds how long a transaction holds its locks.
const batch = 50

// runLoops runs everything that must happen without anybody asking, until ctx ends, and returns when the round at work
// has come to its end. Any number of processes may run them over one database.
func runLoops(ctx context.Context, c config, service *payment.Service) {
	var all sync.WaitGroup
	all.Go(func() { every(ctx, c.Interval, "recover charges", service.Log, service.Recover) })
	all.Go(func() { every(ctx, c.Interval, "expire orders", service.Log, service.ExpireOrders) })
	all.Go(func() { every(ctx, c.Interval, "purge keys", service.Log, service.PurgeKeys) })
	all.Wait()
}

// every runs a round, and then another at once as long as the rounds are full, and otherwise after a pause. A round that
// fails is logged and tried again after the pause: the next one may meet a healthier database.
func every(ctx context.Context, pause time.Duration, name string, log *slog.Logger, round func(context.Context, int) (int, error)) {
	for ctx.Err() == nil {
		done, err := round(ctx, batch)
		switch {
		case err != nil && ctx.Err() == nil:
			log.ErrorContext(ctx, "round failed", "loop", name, "error", err)
		case done > 0:
			log.InfoContext(ctx, "round", "loop", name, "done", done)
		}
		if err == nil && done == batch {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}
