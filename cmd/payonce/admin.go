package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// newAdmin is what operators see: metrics, profiles, and whether the process runs. It asks nobody who they are, so it has
// an address of its own that is not open to the network.
func newAdmin(c config, m *metrics) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"status":"ok"}`)) //nolint:errcheck // whoever asked has gone
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cache-Control", "no-store")
		header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		header.Set("Referrer-Policy", "no-referrer")
		if !c.AdminPublic && !loopback(hostOf(r)) {
			// A page in a browser on this machine can reach a loopback address, and read what it says if its own name leads
			// there. That name is then in Host.
			http.Error(w, "this address is served under its own name only", http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func hostOf(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.Host); err == nil {
		return host
	}
	return r.Host
}

// listenAdmin opens the address of the admin listener. The usual one may be taken by another process of ours on the same
// machine, which is no reason not to take payments; one that was asked for is.
func listenAdmin(ctx context.Context, c config, log *slog.Logger) (net.Listener, error) {
	if c.AdminAddr != "" {
		return listen(c.AdminAddr, "PAYONCE_ADMIN_ADDR")
	}
	listener, err := listen(defaultAdmin, "PAYONCE_ADMIN_ADDR")
	if !errors.Is(err, syscall.EADDRINUSE) {
		return listener, err
	}
	if listener, err = listen("127.0.0.1:0", "PAYONCE_ADMIN_ADDR"); err == nil {
		log.WarnContext(ctx, "the usual address of the metrics is taken; set PAYONCE_ADMIN_ADDR to choose another", "taken", defaultAdmin, "instead", listener.Addr().String())
	}
	return listener, err
}

// withAdmin runs a command with the admin listener beside it, from before it starts until after it has ended: a process
// that drains is worth watching.
func withAdmin(ctx context.Context, c config, m *metrics, log *slog.Logger, command func() error) error {
	listener, err := listenAdmin(ctx, c, log)
	if err != nil {
		return err
	}
	log.InfoContext(ctx, "metrics", "address", listener.Addr().String())
	until, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() {
		if err := serveUntil(until, newServer(c, newAdmin(c, m)), listener, stopping{limit: time.Second}, log); err != nil {
			log.ErrorContext(ctx, "admin listener", "error", err)
		}
	})
	defer running.Wait()
	defer stop()
	return command()
}
