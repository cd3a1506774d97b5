// Command payonce is the whole of Payonce in one binary: the demo, the service, its worker, the database migrations and
// the Stripe simulator. Each subcommand has a file of its own; this one only finds the right one.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes. A command that was stopped by a signal after a clean shutdown exits with 0.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// errUsage marks an error that the caller mends by calling differently.
var errUsage = errors.New("usage")

func main() {
	os.Exit(run(os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// app is what every command works with.
type app struct {
	environ []string
	out     io.Writer // results
	err     io.Writer // logs and progress
}

func run(args, environ []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the first signal asks to stop in order; a second one ends the process at once
	a := &app{environ: environ, out: stdout, err: stderr}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errUsage):
		fmt.Fprintf(stderr, "payonce: %s\n", strings.TrimPrefix(err.Error(), errUsage.Error()+": "))
		return exitUsage
	default:
		fmt.Fprintf(stderr, "payonce: %s\n", err)
		return exitFailed
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "payonce",
		Short:         "An order and checkout service in which a buyer who presses pay once pays once",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return fmt.Errorf("%w: %w; see payonce --help", errUsage, err)
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(a.demo(), a.serve(), a.worker(), a.migrate(), a.seed(), a.keys(), a.simulator(), a.health(), a.version())
	usageErrors(root)
	return root
}

// usageErrors marks wrong arguments of a command, and of those below it, as mistakes of the caller.
func usageErrors(cmd *cobra.Command) {
	args := cmd.Args
	cmd.Args = func(cmd *cobra.Command, given []string) error {
		if err := args(cmd, given); err != nil {
			return fmt.Errorf("%w: %w; see %s --help", errUsage, err, cmd.CommandPath())
		}
		return nil
	}
	for _, below := range cmd.Commands() {
		usageErrors(below)
	}
}

// load reads the settings a command needs.
func (a *app) load(needs ...need) (config, *slog.Logger, error) {
	c, err := loadConfig(a.environ, needs...)
	if err != nil {
		return c, nil, fmt.Errorf("%w: the settings have mistakes:\n  %s", errUsage, strings.ReplaceAll(err.Error(), "\n", "\n  "))
	}
	options := &slog.HandlerOptions{Level: c.LogLevel}
	var handler slog.Handler = slog.NewTextHandler(a.err, options)
	if c.LogJSON {
		handler = slog.NewJSONHandler(a.err, options)
	}
	return c, slog.New(handler), nil
}
