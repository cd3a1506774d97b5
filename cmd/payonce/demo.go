package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"payonce/migrations"
	"payonce/repository"
	"payonce/repository/localpg"
	"payonce/simulator"
)

func (a *app) demo() *cobra.Command {
	var reset bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run everything in one process: PostgreSQL, Stripe simulator, API, worker, web shop",
		Long: "Run everything in one process: PostgreSQL, Stripe simulator, API, worker and web shop. What you buy survives a restart,\n" +
			"also one by kill -9. Stop it with Ctrl-C.\n\n" + settingsHelp(),
		Example: "  payonce demo\n  payonce demo --reset\n  PAYONCE_ADDR=127.0.0.1:9090 payonce demo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, log, err := a.load()
			if err != nil {
				return err
			}
			d := &demo{app: a, config: c, log: log, folder: dataFolder()}
			if reset {
				return d.reset()
			}
			return d.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&reset, "reset", false, "delete the demo's data and stop")
	return cmd
}

// dataFolder keeps the demo's data beside the project's go.mod, wherever in the project it is started from, and in the
// present folder when there is no project.
func dataFolder() string {
	at, err := os.Getwd()
	if err != nil {
		return ".data"
	}
	for dir := at; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, ".data")
		}
		if dir == filepath.Dir(dir) {
			return filepath.Join(at, ".data")
		}
	}
}

// demo is one run of the demo. Its steps start in the order of dependence, and stop in the reverse order.
type demo struct {
	*app
	config config
	log    *slog.Logger
	folder string

	shop, sim, admin net.Listener
	stops            []func(context.Context) error
}

func (d *demo) reset() error {
	if d.config.DatabaseURL != "" {
		return fmt.Errorf("%w: --reset deletes the demo's own database; with DATABASE_URL set, drop that database yourself", errUsage)
	}
	if err := localpg.Reset(filepath.Join(d.folder, "postgres")); err != nil {
		return err
	}
	if err := os.Remove(d.simulatorData()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("delete the simulator's memory: %w", err)
	}
	fmt.Fprintln(d.out, "The demo's data is deleted.")
	return nil
}

func (d *demo) simulatorData() string { return filepath.Join(d.folder, "simulator.jsonl") }

func (d *demo) run(ctx context.Context) (err error) {
	started := time.Now()
	defer func() { err = errors.Join(err, d.stop(ctx)) }()
	// Ports first: a demo that cannot listen should say so before it starts a database.
	if d.shop, err = listen(d.config.Addr, "PAYONCE_ADDR"); err != nil {
		return err
	}
	d.config.Addr = d.shop.Addr().String()
	if d.admin, err = listenAdmin(ctx, d.config, d.log); err != nil {
		return err
	}
	simulated := d.config.StripeKey == ""
	if simulated {
		if d.sim, err = listenSimulator(d.config); err != nil {
			return err
		}
		d.config.SimAddr = d.sim.Addr().String()
		d.config.StripeKey, d.config.StripeBase = "sk_test_simulator", "http://"+d.config.SimAddr
		if d.getenv("PAYONCE_PROVIDER_RATE") == "" {
			d.config.ProviderRate = fastestProvider // it is our own, and has no limit that could be exceeded
		}
	}
	if d.config.ShopKey == "" {
		d.config.ShopKey = demoAlpha
	}
	psql, err := d.startDatabase(ctx)
	if err != nil {
		return err
	}
	store, err := openStore(ctx, d.config)
	if err != nil {
		return err
	}
	d.onStop(func(context.Context) error { return store.Close() })
	if _, err := seedDemo(ctx, d.config, store, d.log); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if simulated {
		if err := d.startSimulator(ctx, cancel); err != nil {
			return err
		}
	}
	if err := d.startService(ctx, cancel, store); err != nil {
		return err
	}
	d.goServe(ctx, cancel, func(until context.Context) error { return watchDatabase(until, store) })
	d.greet(simulated, psql, time.Since(started))
	<-ctx.Done()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// startDatabase makes DATABASE_URL lead to a migrated database: the given one, or a private server's.
func (d *demo) startDatabase(ctx context.Context) (psql string, err error) {
	psql = `PGOPTIONS='-c payonce.merchant=*' psql "$DATABASE_URL"` // policies hide rows from the owner, too
	if d.config.DatabaseURL == "" {
		d.progress("starting PostgreSQL")
		localpg.UnsetEnv() // some PG* variables win over an address that is given
		server, err := localpg.Start(ctx, localpg.Options{Dir: filepath.Join(d.folder, "postgres"), Durable: true, Log: d.log, Getenv: d.getenv})
		if err != nil {
			return "", err
		}
		d.onStop(server.Stop)
		if err := repository.EnsureDatabase(ctx, server.URL("postgres"), "payonce"); err != nil {
			return "", err
		}
		d.config.DatabaseURL, psql = secret(server.URL("payonce")), server.PSQL("payonce")
	}
	d.progress("migrating")
	_, _, err = repository.MigrateUp(ctx, string(d.config.DatabaseURL))
	return psql, err
}

func (d *demo) startSimulator(ctx context.Context, cancel context.CancelCauseFunc) error {
	if err := os.MkdirAll(d.folder, 0o755); err != nil { //nolint:gosec // the account that runs PostgreSQL must be able to enter
		return fmt.Errorf("folder of the simulator's memory: %w", err)
	}
	// A new memory starts with a new seed: with the old one it would give out the ids that the database already knows.
	sim, err := simulator.New(simulator.Options{Seed: rand.Uint64(), Data: d.simulatorData(), Now: time.Now, Log: d.log, WebhooksAnywhere: d.config.SimPublic}) //nolint:gosec // ids of a simulator are no secrets
	if err != nil {
		return fmt.Errorf("simulator: %w", err)
	}
	d.onStop(func(context.Context) error { return sim.Close() })
	d.goServe(ctx, cancel, func(until context.Context) error {
		return serveUntil(until, newServer(d.config, simulatorHandler(d.config, sim)), d.sim, stopping{limit: time.Second}, d.log)
	})
	return nil
}

func (d *demo) startService(ctx context.Context, cancel context.CancelCauseFunc, store *repository.Store) error {
	service, err := newService(d.config, store, d.log)
	if err != nil {
		return err
	}
	counted := newMetrics(service)
	service.Resumed = counted.resume
	d.goServe(ctx, cancel, func(until context.Context) error {
		return serveUntil(until, newServer(d.config, newAdmin(d.config, counted)), d.admin, stopping{limit: time.Second}, d.log)
	})
	d.goServe(ctx, cancel, func(until context.Context) error {
		runLoops(until, d.config, service)
		return nil
	})
	d.goServe(ctx, cancel, func(until context.Context) error {
		//nolint:contextcheck // each request brings its own
		return newSite(d.config, service, counted.observe).serveUntil(until, d.shop, 0) // no load balancer watches a demo
	})
	return nil
}

// watchDatabase ends when the database has not answered for a while. The demo has nobody who would start PostgreSQL again,
// and a page that says "try again" for ever helps nobody.
func watchDatabase(ctx context.Context, store *repository.Store) error {
	const patience = 5
	for missed := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(2 * time.Second):
		}
		look, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := store.Ready(look, migrations.Latest())
		cancel()
		if missed++; err == nil {
			missed = 0
		}
		if missed == patience && ctx.Err() == nil {
			return fmt.Errorf("PostgreSQL no longer answers: %w; start the demo again, nothing is lost", err)
		}
	}
}

// goServe runs a part until it is stopped in its turn; a part that ends by itself ends the demo.
func (d *demo) goServe(ctx context.Context, cancel context.CancelCauseFunc, part func(until context.Context) error) {
	until, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() {
		if err := part(until); err != nil {
			cancel(err)
		}
	})
	d.onStop(func(context.Context) error {
		stop()
		running.Wait()
		return nil
	})
}

func (d *demo) onStop(stop func(context.Context) error) { d.stops = append(d.stops, stop) }

func (d *demo) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.config.DrainTimeout+10*time.Second)
	defer cancel()
	var failures []error
	for i := len(d.stops) - 1; i >= 0; i-- {
		failures = append(failures, d.stops[i](ctx))
	}
	for _, listener := range []net.Listener{d.shop, d.sim, d.admin} {
		if listener != nil {
			_ = listener.Close() //nolint:errcheck // usually closed by its server already
		}
	}
	return errors.Join(failures...)
}

func (d *demo) getenv(name string) string {
	for _, line := range d.environ {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return value
		}
	}
	return ""
}

func (d *demo) progress(step string) { fmt.Fprintf(d.err, "payonce: %s\n", step) }

// greet tells a newcomer what there is and what to type first.
func (d *demo) greet(simulated bool, psql string, took time.Duration) {
	provider := "Stripe itself, with your STRIPE_SECRET_KEY"
	if simulated {
		provider = "http://" + d.config.SimAddr + "/_sim (a simulator; no money, no network)"
	}
	fmt.Fprintf(d.out, `
Payonce is ready after %.1f s.

  Shop        http://%s/
  API         http://%s/v1
  Provider    %s
  Database    %s
  Metrics     http://%s/metrics

  Keys        %s (merchant alpha)   %s (merchant beta)   %s (alpha, read only)

Try the API. Send the same line twice: the second time you get the same cart again, not a second one.

  curl -i http://%s/v1/carts -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' -H 'Idempotency-Key: my-first-cart' -d '{"currency":"EUR"}'

Stop with Ctrl-C. Everything is kept; "payonce demo --reset" starts over.
`, took.Seconds(), d.config.Addr, d.config.Addr, provider, psql, d.admin.Addr(), demoAlpha, demoBeta, demoReader, d.config.Addr, demoAlpha)
}
