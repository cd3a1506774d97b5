package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"payonce/migrations"
	"payonce/payment"
	"payonce/repository"
	"payonce/simulator"
)

func (a *app) worker() *cobra.Command {
	return &cobra.Command{
		Use:   "worker",
		Short: "Run the loops that recover charges and expire orders",
		Long:  "Run the loops that recover charges and expire orders. Run as many as you like over one database.\n\n" + settingsHelp(),
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withService(cmd.Context(), func(ctx context.Context, c config, service *payment.Service) error {
				counted := newMetrics(service)
				service.Resumed = counted.resume
				return withAdmin(ctx, c, counted, service.Log, func() error {
					service.Log.InfoContext(ctx, "working")
					runLoops(ctx, c, service)
					return nil
				})
			})
		},
	}
}

func (a *app) migrate() *cobra.Command {
	return &cobra.Command{
		Use:       "migrate up|down|status",
		Short:     "Bring the database's schema up, one step down, or say where it is",
		Example:   "  DATABASE_URL=postgres://... payonce migrate up",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"up", "down", "status"},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := a.load(needDatabase)
			if err != nil {
				return err
			}
			ctx, url := cmd.Context(), string(c.DatabaseURL)
			switch args[0] {
			case "up":
				from, to, err := repository.MigrateUp(ctx, url)
				if err != nil {
					return err
				}
				fmt.Fprintf(a.out, "schema: version %d, was %d\n", to, from)
				return nil
			case "down":
				if err := repository.MigrateDown(ctx, url, 1); err != nil {
					return err
				}
			}
			version, dirty, err := repository.MigrationStatus(ctx, url)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "schema: version %d (dirty: %t); this program needs %d\n", version, dirty, migrations.Latest())
			return nil
		},
	}
}

func (a *app) simulator() *cobra.Command {
	var data string
	var seed uint64
	cmd := &cobra.Command{
		Use:     "simulator",
		Short:   "Run the Stripe simulator alone",
		Long:    "Run the Stripe simulator alone. It speaks Stripe's protocol to any client that takes a base URL.",
		Example: "  payonce simulator --data simulator.jsonl\n  curl -u sk_test_any: http://127.0.0.1:12110/v1/payment_intents",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, log, err := a.load()
			if err != nil {
				return err
			}
			listener, err := listenSimulator(c)
			if err != nil {
				return err
			}
			sim, err := simulator.New(simulator.Options{Seed: seed, Data: data, Now: time.Now, Log: log, WebhooksAnywhere: c.SimPublic})
			if err != nil {
				return err
			}
			defer sim.Close() //nolint:errcheck // the process ends
			fmt.Fprintf(a.out, "simulator: http://%s/_sim\n", listener.Addr())
			return serveUntil(cmd.Context(), newServer(c, simulatorHandler(c, sim)), listener, stopping{limit: time.Second}, log)
		},
	}
	cmd.Flags().StringVar(&data, "data", "", "file that keeps its memory; without it, it forgets everything when it stops")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of ids and faults")
	return cmd
}

// listenSimulator opens the simulator's address. Only a process that listens there asks whether it may: in a container the
// address is set for all of them.
func listenSimulator(c config) (net.Listener, error) {
	if host, _, err := net.SplitHostPort(c.SimAddr); err == nil && !loopback(host) && !c.SimPublic {
		return nil, fmt.Errorf("%w: PAYONCE_SIM_ADDR: is reached by other machines, and the simulator obeys everybody; set PAYONCE_SIM_PUBLIC=true if a network of yours keeps them away", errUsage)
	}
	return listen(c.SimAddr, "PAYONCE_SIM_ADDR")
}

// simulatorHandler keeps the simulator's controls to its own name, like the admin listener: see newAdmin.
func simulatorHandler(c config, sim *simulator.Simulator) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/v1/") && !c.SimPublic && !loopback(hostOf(r)) {
			http.Error(w, "the simulator is served under its own name only", http.StatusMisdirectedRequest)
			return
		}
		sim.Handler().ServeHTTP(w, r)
	})
}

func (a *app) health() *cobra.Command {
	var ofSimulator, ofAdmin bool
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Exit with 0 when the service at PAYONCE_ADDR is ready",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := a.load()
			if err != nil {
				return err
			}
			address := "http://" + c.Addr + "/readyz"
			switch {
			case ofSimulator:
				address = "http://" + c.SimAddr + "/_sim"
			case ofAdmin:
				address = "http://" + cmp.Or(c.AdminAddr, defaultAdmin) + "/healthz"
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), 5*time.Second)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
			if err != nil {
				return err
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				return fmt.Errorf("not ready: %w", err)
			}
			defer answer.Body.Close() //nolint:errcheck // only the status was wanted
			if answer.StatusCode != http.StatusOK {
				return fmt.Errorf("not ready: status %s", strconv.Itoa(answer.StatusCode))
			}
			fmt.Fprintln(a.out, "ready")
			return nil
		},
	}
	cmd.Flags().BoolVar(&ofSimulator, "simulator", false, "ask the simulator at PAYONCE_SIM_ADDR instead")
	cmd.Flags().BoolVar(&ofAdmin, "admin", false, "ask the worker, or any other command, at PAYONCE_ADMIN_ADDR instead")
	cmd.MarkFlagsMutuallyExclusive("simulator", "admin")
	return cmd
}

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the program and of its schema",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(a.out, "payonce %s, schema %d\n", programVersion(), migrations.Latest())
			return nil
		},
	}
}

func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version + " " + info.GoVersion
}
