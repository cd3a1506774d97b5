package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"time"

	"payonce/api"
	"payonce/migrations"
	"payonce/payment"
	"payonce/provider/stripe"
	"payonce/repository"
	"payonce/web"
)

// openStore opens the database and makes sure that its schema is the one this program was built for. Servers never
// migrate by themselves: two versions of the program must be able to run side by side while somebody decides.
func openStore(ctx context.Context, c config) (*repository.Store, error) {
	store, err := repository.Open(repository.Options{URL: string(c.DatabaseURL)})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := store.Ready(ctx, migrations.Latest()); err != nil {
		_ = store.Close() //nolint:errcheck // nothing was done with it
		return nil, fmt.Errorf("the database is not ready: %w (is it up? has payonce migrate up been run?)", err)
	}
	return store, nil
}

// newService wires the use cases to the database and to Stripe, or to whatever speaks its protocol at STRIPE_API_BASE.
func newService(c config, store *repository.Store, log *slog.Logger) (*payment.Service, error) {
	adapter, err := stripe.New(stripe.Options{SecretKey: string(c.StripeKey), BaseURL: c.StripeBase, Timeout: c.ProviderTimeout, Log: log})
	if err != nil {
		return nil, fmt.Errorf("stripe: %w", err)
	}
	return &payment.Service{
		Store: store, Provider: adapter, Present: api.Present, NewID: payment.NewID, Log: log,
		Lease: c.Lease, Retention: c.retention(), KeyHorizon: c.KeyHorizon, OrderTTL: c.OrderTTL, Grace: c.Grace,
	}, nil
}

// newHandler is everything the public address serves: the API, and the web shop when a merchant's key for it is set.
func newHandler(c config, service *payment.Service) http.Handler {
	var interfaces http.Handler = api.New(api.Options{Payments: service, SchemaVersion: migrations.Latest()})
	if c.ShopKey == "" {
		return interfaces
	}
	shop := web.New(web.Options{
		API: direct{interfaces}, BaseURL: "http://" + c.Addr, SecretKey: string(c.ShopKey),
		NewKey: func() string { return payment.NewID("key") }, Now: time.Now, Log: service.Log,
		TestCards: strings.HasPrefix(string(c.StripeKey), "sk_test_"),
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isAPI(path.Clean(r.URL.Path)) { // what only looks like another path gets the API's 404, not a redirect to a page
			interfaces.ServeHTTP(w, r)
			return
		}
		shop.ServeHTTP(w, r)
	})
}

// isAPI tells the API's paths from the shop's.
func isAPI(p string) bool {
	return strings.HasPrefix(p, "/v1/") || strings.HasPrefix(p, "/problems/") || p == "/v1" || p == "/healthz" || p == "/readyz"
}

// newServer has a limit for everything a caller could otherwise hold for ever: without them, one half-sent header keeps a
// connection, and headers of almost a megabyte are accepted. A charge may use its whole lease before it answers.
func newServer(c config, handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      c.Lease + 15*time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    64 << 10, // the API refuses 16 KiB with a problem that says so; this is for what even that need not see
	}
}
