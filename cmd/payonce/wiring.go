package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"payonce/api"
	"payonce/migrations"
	"payonce/payment"
	"payonce/repository"
	"payonce/web"
)

// openStore opens the database and makes sure that its schema is the one this program was built for. Servers never
// migrate by themselves: two versions of the program must be able to run side by side while somebody decides.
func openStore(ctx context.Context, c config) (*repository.Store, error) {
	store, err := repository.Open(repository.Options{URL: string(c.DatabaseURL), MaxConns: c.DatabaseConns, MaxWait: c.DatabaseWait, MaxWaiting: c.DatabaseQueue})
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
	provider, err := newProvider(c, store, log)
	if err != nil {
		return nil, err
	}
	return &payment.Service{
		Store: store, Provider: provider, Present: api.Present, NewID: payment.NewID, Log: log,
		Refusing: provider.edge.Refusing,
		Lease:    c.Lease, Retention: c.retention(), KeyHorizon: c.KeyHorizon, OrderTTL: c.OrderTTL, Grace: c.Grace,
	}, nil
}

// site is everything the public address serves: the API, and the web shop when a merchant's key for it is set.
type site struct {
	config   config
	api      *api.API
	handler  http.Handler
	log      *slog.Logger
	running  atomic.Int64 // requests
	draining atomic.Bool
}

func newSite(c config, service *payment.Service, observer func(api.Observation)) *site {
	s := &site{config: c, log: service.Log}
	proxies := api.Proxies(c.TrustedProxies)
	s.api = api.New(api.Options{
		Payments: service, SchemaVersion: migrations.Latest(), Proxies: proxies, KeyRate: c.keyRate(), FailureRate: c.failureRate(),
		Draining: s.draining.Load, Observer: observer,
	})
	s.handler = api.StrictTransport(proxies, s.counted(withShop(c, s.api, service.Log)))
	return s
}

// counted keeps count of the requests that are running, and asks callers to come back over another connection, and so to
// another process, once this one is about to stop.
func (s *site) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.running.Add(1)
		defer s.running.Add(-1)
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// serveUntil serves until ctx ends. A handler runs to its end whether or not its caller waits for it, so waiting for the
// connections waits for every charge that has begun.
func (s *site) serveUntil(ctx context.Context, listener net.Listener, delay time.Duration) error {
	return s.serve(ctx, listener, stopping{delay: delay, limit: s.config.DrainTimeout})
}

func (s *site) serve(ctx context.Context, listener net.Listener, stop stopping) error {
	stop.announce, stop.running = func() { s.draining.Store(true) }, s.running.Load
	server := newServer(s.config, s.handler)
	return serveUntil(ctx, server, s.api.Guard(server, listener, s.config.MaxConnections), stop, s.log)
}

func withShop(c config, interfaces http.Handler, log *slog.Logger) http.Handler {
	if c.ShopKey == "" {
		return interfaces
	}
	shop := web.New(web.Options{
		API: direct{interfaces}, BaseURL: "http://" + c.Addr, SecretKey: string(c.ShopKey),
		NewKey: func() string { return payment.NewID("key") }, Now: time.Now, Log: log,
		TestCards: strings.HasPrefix(string(c.StripeKey), "sk_test_"),
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isAPI(path.Clean(r.URL.EscapedPath())) { // what only looks like another path gets the API's 404, not a redirect to a page
			interfaces.ServeHTTP(w, r)
			return
		}
		shop.ServeHTTP(w, r)
	})
}

// isAPI tells the API's paths from the shop's.
func isAPI(p string) bool {
	switch top, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/"); top {
	case "v1", "problems", "healthz", "readyz", "openapi.yaml", "docs":
		return true
	}
	return false
}

// newServer has a limit for everything a caller could otherwise hold for ever: without them, one half-sent header keeps a
// connection, and headers of almost a megabyte are accepted. A charge may use its whole lease before it answers.
//
// HTTP/2 is spoken over TLS only, by whatever ends TLS in front of this; in cleartext it would be one more parser that
// anybody can reach.
func newServer(c config, handler http.Handler) *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:           handler,
		Protocols:         &protocols,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      c.Lease + 15*time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    64 << 10, // the API refuses 16 KiB with a problem that says so; this is for what even that need not see
	}
}
