package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"payonce/provider"
	"payonce/provider/edge"
	"payonce/provider/stripe"
	"payonce/repository"
)

// What one process may ask of the provider at a time. A charge makes two calls, one after the other; a slow provider can
// then hold at most so many charges, and none of them holds a database connection meanwhile.
const (
	providerPlaces   = 64
	providerReserved = 16              // for look-ups and fences
	providerWait     = 2 * time.Second // for a place, and for a token
	keptShare        = 0.25            // of the rate, for look-ups and fences
	// paceDepth is for how long tokens add up that nobody takes. After a quiet time they come at once and the rate is
	// exceeded by as much for a second: with the usual rate of 80 it stays at Stripe's 100.
	paceDepth = 250 * time.Millisecond
)

// newProvider is the provider behind everything that keeps its slowness and our haste from doing harm.
func newProvider(c config, store *repository.Store, log *slog.Logger) (guardedProvider, error) {
	adapter, err := stripe.New(stripe.Options{SecretKey: string(c.StripeKey), BaseURL: c.StripeBase, Timeout: c.ProviderTimeout, Log: log})
	if err != nil {
		return guardedProvider{}, fmt.Errorf("stripe: %w", err)
	}
	limited, err := edge.New(adapter, edge.Options{
		Places: providerPlaces, Reserved: providerReserved, Wait: providerWait, Attempt: c.ProviderTimeout,
		Limiter: sharedPace{store, adapter.Name(), c.ProviderRate},
		Breaker: edge.BreakerOptions{Failures: 10, OpenFor: 5 * time.Second},
	})
	if err != nil {
		return guardedProvider{}, fmt.Errorf("provider: %w", err)
	}
	retrier, err := edge.NewRetrier(edge.RetryOptions{
		Tries: 3, Budget: c.ProviderTimeout, Base: 200 * time.Millisecond, Cap: 2 * time.Second, Rand: rand.Float64,
	})
	if err != nil {
		return guardedProvider{}, fmt.Errorf("provider: %w", err)
	}
	return guardedProvider{edge.NewRetrying(limited, retrier), limited, retrier}, nil
}

// guardedProvider is a provider whose guards can be asked how they do.
type guardedProvider struct {
	provider.Provider
	edge    *edge.Edge
	retrier *edge.Retrier
}

// sharedPace keeps a rate over all processes that work on one database.
type sharedPace struct {
	store    *repository.Store
	provider string
	rate     float64 // calls a second
}

// Take implements edge.Limiter. Look-ups and fences have a share of their own and may use the other one when it is free;
// what begins or moves money only ever has that.
func (p sharedPace) Take(ctx context.Context, class edge.Class, patience time.Duration) (wait time.Duration, err error) {
	var taken bool
	if class != edge.Work {
		if wait, taken, err = p.take(ctx, "kept", p.rate*keptShare, 0); err != nil || taken {
			return wait, err
		}
	}
	wait, _, err = p.take(ctx, "work", p.rate*(1-keptShare), patience)
	return wait, err
}

func (p sharedPace) take(ctx context.Context, share string, rate float64, patience time.Duration) (wait time.Duration, taken bool, err error) {
	pace := repository.Pace{Provider: p.provider, Share: share, Interval: time.Duration(float64(time.Second) / rate), Depth: paceDepth}
	err = p.store.InTx(ctx, func(tx *repository.Tx) error {
		wait, taken, err = tx.TakeToken(ctx, pace, patience)
		return err
	})
	return wait, taken, err
}
