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

// drain is how long requests that are running get to finish when the process is told to stop. A charge that does not
// make it loses nothing: its key is resumed by the next request, or by recovery.
const drain = 20 * time.Second

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
				service.Log.InfoContext(ctx, "serving", "address", listener.Addr().String())
				return serveUntil(ctx, newServer(c, newHandler(c, service)), listener, drain, service.Log)
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

// serveUntil serves until ctx ends, then gives running requests the time of drain to finish.
func serveUntil(ctx context.Context, server *http.Server, listener net.Listener, drain time.Duration, log *slog.Logger) error {
	server.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	log.InfoContext(ctx, "stopping", "address", listener.Addr().String())
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := server.Shutdown(end); err != nil {
		return errors.Join(fmt.Errorf("requests were still running after %s: %w", drain, err), server.Close())
	}
	return nil
}
