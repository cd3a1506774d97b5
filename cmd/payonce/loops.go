package main

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"payonce/payment"
	"payonce/repository"
)

// loop is something that must happen without anybody asking.
type loop struct {
	name  string
	batch int           // how much one round takes on; it bounds how long a transaction holds its locks
	rest  time.Duration // after a full round, before the next; it leaves the database to whoever is waiting for an answer
	round func(ctx context.Context, batch int) (done int, err error)
}

func loops(service *payment.Service) []loop {
	return []loop{
		{"recover charges", 50, 0, service.Recover},
		{"expire orders", 50, 0, service.ExpireOrders},
		{"purge keys", 500, 100 * time.Millisecond, service.PurgeKeys},
	}
}

// runLoops runs all of them until ctx ends, and returns when the rounds at work have come to their end. Any number of
// processes may run them over one database.
func runLoops(ctx context.Context, c config, service *payment.Service) {
	ctx = repository.AsSystem(ctx)
	var all sync.WaitGroup
	for _, l := range loops(service) {
		all.Go(func() { l.run(ctx, c.Interval, service.Log) })
	}
	all.Wait()
}

// run does a round, and the next one soon when it was full and otherwise after a pause. A round that fails is logged and
// tried again after the pause: the next one may meet a healthier database, and waits for its turn there.
func (l loop) run(ctx context.Context, pause time.Duration, log *slog.Logger) {
	for ctx.Err() == nil {
		done, err := l.survive(repository.Patient(ctx))
		switch {
		case err != nil && ctx.Err() == nil:
			log.ErrorContext(ctx, "round failed", "loop", l.name, "error", err)
		case done > 0:
			log.InfoContext(ctx, "round", "loop", l.name, "done", done)
		}
		next := pause
		if err == nil && done == l.batch {
			next = l.rest
		}
		select {
		case <-ctx.Done():
		case <-time.After(next):
		}
	}
}

// survive runs a round and turns a panic into an error: what one charge makes go wrong must not end the recovery of all
// the others. A key that was being worked on is resumed when its lease has ended.
func (l loop) survive(ctx context.Context) (done int, err error) {
	defer func() {
		if p := recover(); p != nil {
			done, err = 0, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return l.round(ctx, l.batch)
}
