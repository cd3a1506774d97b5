//go:build unix

package localpg

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

const (
	bootLimit    = 2 * time.Minute        // for a start that recovers after a crash
	orphanLimit  = 10 * time.Second       // for backends that outlived a killed server to notice
	orphanPause  = 100 * time.Millisecond // between two starts that meet such backends
	orphanNotice = "pre-existing shared memory block"
)

// errOrphans says that backends of a killed server still hold its memory. Starting anyway would ruin the data, and
// PostgreSQL refuses; the backends leave as soon as they look at their client.
var errOrphans = errors.New("processes of a killed server are still there")

// URL is the address of a database over the socket, for lib/pq and for PostgreSQL's own tools.
func (s *Server) URL(dbname string) string { return address(s.folder.run, dbname) }

// PSQL is the line that opens a database for a person.
func (s *Server) PSQL(dbname string) string { return psqlLine(s.URL(dbname)) }

// adopt reports whether a server already serves the folder. It waits for one that is starting up or shutting down, and
// ends one that lives but does not answer.
func (s *Server) adopt(ctx context.Context) (bool, error) {
	patience, tick := time.NewTimer(s.options.patience), time.NewTicker(poll)
	defer patience.Stop()
	defer tick.Stop()
	for {
		durable, err := s.ping(ctx)
		starting := pq.As(err, pqerror.CannotConnectNow) != nil
		switch {
		case err == nil && s.options.Durable && !durable:
			return false, fmt.Errorf("server in %s runs for tests and syncs nothing to disk: use another folder", s.folder.dir)
		case err == nil, pq.As(err, pqerror.TooManyConnections) != nil: // too many is busy, and alive
			return true, nil
		case pq.As(err) != nil && !starting:
			return false, fmt.Errorf("server in %s: %w", s.folder.dir, err)
		}
		pid := s.folder.postmaster()
		if pid == 0 {
			return false, nil
		}
		if starting {
			patience.Reset(s.options.patience)
		}
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("wait for the server in %s: %w", s.folder.dir, ctx.Err())
		case <-patience.C:
			s.log.WarnContext(ctx, "PostgreSQL lives but does not answer; starting it again", "pid", pid, "answer", err)
			return false, s.folder.end(ctx, pid, s.options.patience)
		case <-tick.C:
		}
	}
}

// asSuperuser describes the connection in full and not by a URL, because lib/pq completes a URL from PG* variables.
func (s *Server) asSuperuser() (*sql.DB, error) {
	connector, err := pq.NewConnectorConfig(pq.Config{
		Host: s.folder.run, Port: port, User: superuser, Database: superuser,
		SSLMode: pq.SSLModeDisable, ConnectTimeout: s.options.patience,
	})
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// ping asks a server whether it syncs to disk. A server that answers but does not let us in gives a *pq.Error.
func (s *Server) ping(ctx context.Context) (durable bool, err error) {
	db, err := s.asSuperuser()
	if err != nil {
		return false, err
	}
	defer db.Close() //nolint:errcheck // one question was asked
	ctx, cancel := context.WithTimeout(ctx, s.options.patience)
	defer cancel()
	err = db.QueryRowContext(ctx, `SELECT current_setting('fsync')::boolean`).Scan(&durable)
	return durable, err
}

// equip gives the role of older data what a newer release needs of it. The gate is held, so nobody else does the same.
func (s *Server) equip(ctx context.Context) error {
	db, err := s.asSuperuser()
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // one statement was run
	ctx, cancel := context.WithTimeout(ctx, s.options.patience)
	defer cancel()
	_, err = db.ExecContext(ctx, `DO $$
		BEGIN
			IF NOT (SELECT rolcreaterole FROM pg_roles WHERE rolname = '`+Role+`') THEN
				ALTER ROLE `+Role+` CREATEROLE;
			END IF;
		END $$`)
	if err != nil && pq.As(err, pqerror.TooManyConnections) == nil { // its other users have found it fit
		return fmt.Errorf("rights of role %s: %w", Role, err)
	}
	return nil
}

// start makes the cluster if there is none, and runs a server on it.
func (s *Server) start(ctx context.Context) error {
	if err := s.folder.removeStale(); err != nil {
		return err
	}
	dataMajor, err := s.folder.major()
	if err != nil {
		return err
	}
	found, err := s.findPrograms(ctx, dataMajor)
	if err != nil {
		return err
	}
	if dataMajor == 0 {
		s.log.DebugContext(ctx, "making a new database cluster", "programs", found.dir, "data", s.folder.data)
		if err := s.initialise(ctx, found); err != nil {
			return fmt.Errorf("new database cluster: %w", err)
		}
	}
	if err := s.folder.account.give(s.folder.run); err != nil {
		return fmt.Errorf("socket folder: %w", err)
	}
	orphans := time.NewTimer(orphanLimit)
	defer orphans.Stop()
	for {
		err := s.launch(ctx, found)
		if !errors.Is(err, errOrphans) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-orphans.C:
			return err
		case <-time.After(orphanPause):
		}
	}
}

// initialise makes a cluster beside its place and moves it there when it is complete, so that a killed initdb leaves
// nothing that looks like data.
func (s *Server) initialise(ctx context.Context, found programs) error {
	side := s.folder.halfMade()
	if err := os.RemoveAll(side); err != nil {
		return err
	}
	if err := s.folder.account.give(side); err != nil {
		return err
	}
	initdb := s.command(ctx, filepath.Join(found.dir, "initdb"), "-D", side, "-U", superuser, "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, tail(out))
	}
	single := s.command(ctx, filepath.Join(found.dir, "postgres"), "--single", "-D", side, "-c", "fsync=off", "-c", "exit_on_error=on", superuser)
	single.Stdin = strings.NewReader("CREATE ROLE " + Role + " LOGIN CREATEDB CREATEROLE\n")
	if out, err := single.CombinedOutput(); err != nil {
		return fmt.Errorf("create role %s: %w: %s", Role, err, tail(out))
	}
	return os.Rename(side, s.folder.data)
}

// launch runs postgres itself and not pg_ctl, which looks only ten times a second, and which would leave the server to
// whatever process 1 is. As its parent this process waits for it: a dead server that nobody waits for lingers as a zombie
// whose id still looks alive.
func (s *Server) launch(ctx context.Context, found programs) error {
	log, err := s.folder.newLog()
	if err != nil {
		return fmt.Errorf("server's log: %w", err)
	}
	cmd := s.command(context.WithoutCancel(ctx), filepath.Join(found.dir, "postgres"), s.arguments()...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = log, log, 0
	err = cmd.Start()
	log.Close() //nolint:errcheck // the child has its own
	if err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	if err := s.untilReady(ctx, cmd, exited); err != nil {
		text, _ := os.ReadFile(s.folder.path("postgres.log")) //nolint:errcheck // it only adds detail
		if bytes.Contains(text, []byte(orphanNotice)) {
			return fmt.Errorf("start postgres: %w: %s", errOrphans, tail(text))
		}
		return fmt.Errorf("start postgres: %w: %s", err, tail(text))
	}
	s.log.DebugContext(ctx, "PostgreSQL runs", "pid", cmd.Process.Pid, "version", found.major, "durable", s.options.Durable)
	return nil
}

func (s *Server) untilReady(ctx context.Context, cmd *exec.Cmd, exited <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, bootLimit)
	defer cancel()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		if _, err := s.ping(ctx); err == nil {
			return nil
		}
		select {
		case <-exited: //nolint:errcheck // the process's state says more
			return fmt.Errorf("it ended at once (%s)", cmd.ProcessState)
		case <-ctx.Done():
			_ = cmd.Process.Signal(syscall.SIGQUIT) //nolint:errcheck // gone already is as good
			<-exited                                //nolint:errcheck // it is told to end
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// arguments are all settings. They are not in a file, so that a new release changes them for old data too.
func (s *Server) arguments() []string {
	settings := []string{
		"listen_addresses=",
		"port=" + strconv.Itoa(port),
		`unix_socket_directories="` + strings.ReplaceAll(s.folder.run, `"`, `""`) + `"`,
		"timezone=UTC",
		"log_timezone=UTC",
	}
	if !s.options.Durable {
		settings = append(settings,
			"fsync=off", "synchronous_commit=off", "full_page_writes=off",
			// Packages run their tests in parallel, and each test has pools of its own.
			"max_connections="+strconv.Itoa(max(300, 50*runtime.NumCPU())),
			// Databases of single tests are too young to need it, and its workers get in the way of copying them.
			"autovacuum=off",
			// A test of a deadlock should not wait a second for it to be noticed.
			"deadlock_timeout=100ms",
		)
	}
	arguments := []string{"-D", s.folder.data}
	for _, setting := range settings {
		arguments = append(arguments, "-c", setting)
	}
	return arguments
}

// newLog starts a log and keeps the one before, in which the reason of a crash would be.
func (f folder) newLog() (*os.File, error) {
	current := f.path("postgres.log")
	if err := os.Rename(current, current+".1"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(current, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

// tail is the end of a program's output on one line, short enough for an error.
func tail(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-6):], " | ")
}
