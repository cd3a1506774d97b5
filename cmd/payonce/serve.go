package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"payonce/payment"
)

func (a *app) serve() *cobra.Command {
	return &cobra.Command{
		Use:     "serve",
		Short:   "Serve the API, and the web shop when PAYONCE_SHOP_KEY is set",
		Long:    "Serve the API, and the web shop when PAYONCE_SHOP_KEY is set. It keeps no state: run as many as you like.\n\n" + settingsHelp(),
		Example: "  payonce migrate up && payonce serve",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withService(cmd.Context(), func(ctx context.Context, c config, service *payment.Service) error {
				listener, err := listen(c.Addr, "PAYONCE_ADDR")
				if err != nil {
					return err
				}
				counted := newMetrics(service)
				service.Resumed = counted.resume
				return withAdmin(ctx, c, counted, service.Log, func() error {
					service.Log.InfoContext(ctx, "serving", "address", listener.Addr().String())
					//nolint:contextcheck // each request brings its own
					return newSite(c, service, counted.observe).serveUntil(ctx, listener, c.DrainDelay)
				})
			})
		},
	}
}

// withService runs a command that needs the use cases: settings, a database with the right schema, a provider.
func (a *app) withService(ctx context.Context, command func(context.Context, config, *payment.Service) error) error {
	c, log, err := a.load(needDatabase, needProvider)
	if err != nil {
		return err
	}
	store, err := openStore(ctx, c)
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // the process ends
	service, err := newService(c, store, log)
	if err != nil {
		return err
	}
	return command(ctx, c, service)
}

// listen opens an address, or says which setting moves it elsewhere.
func listen(address, variable string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address) //nolint:noctx // opening a loopback socket does not wait
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; set %s to another address, for example %s=127.0.0.1:0 for any free port", address, err, variable, variable)
	}
	return listener, nil
}

// stopping is how a server ends.
type stopping struct {
	announce func()                               // says that it is about to; may be nil
	delay    time.Duration                        // how long it then goes on accepting, so that load balancers notice
	after    func(time.Duration) <-chan time.Time // nil means time.After
	limit    time.Duration                        // how long requests that are running get to finish after that
	running  func() int64                         // how many there are; may be nil
}

// serveUntil serves until ctx ends, and then stops in order: what is running may finish. A charge that does not make it
// loses nothing: its key is resumed by the next request that brings it, or settled by recovery.
func serveUntil(ctx context.Context, server *http.Server, listener net.Listener, stop stopping, log *slog.Logger) error {
	server.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	running := stop.running
	if running == nil {
		running = func() int64 { return 0 }
	}
	log.InfoContext(ctx, "stopping", "address", listener.Addr().String(), "running", running())
	if stop.announce != nil {
		stop.announce()
		if stop.after == nil {
			stop.after = time.After
		}
		<-stop.after(stop.delay)
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stop.limit)
	defer cancel()
	if err := server.Shutdown(end); err != nil {
		return errors.Join(fmt.Errorf("requests cut off after %s: %d; each may be sent again with its key: %w", stop.limit, running(), err), server.Close())
	}
	return nil
}
