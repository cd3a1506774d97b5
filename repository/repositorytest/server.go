package repositorytest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"payonce/migrations"
	"payonce/repository"
	"payonce/repository/localpg"
)

// server is the one that all tests of this process use.
type server struct {
	address func(database string) string
	admin   *sql.DB // to any database of it, for making others
	local   *localpg.Server
	clones  atomic.Int64
}

// run is what Main prepares and the first test that needs a database starts.
var run struct {
	prepared bool
	start    sync.Once
	server   *server
	err      error
}

// Main runs the tests of a package and afterwards gives back what they used: databases on a given server are dropped, and
// a private server is stopped, and its data deleted, by the last package that used it.
func Main(m *testing.M) {
	run.prepared = true
	code := m.Run()
	if run.server != nil {
		if err := run.server.close(code == 0); err != nil {
			fmt.Fprintln(os.Stderr, "repositorytest:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// URL makes a database for this test and returns its address.
func URL(t testing.TB) string {
	t.Helper()
	require.True(t, run.prepared, "add to this package: func TestMain(m *testing.M) { repositorytest.Main(m) }")
	run.start.Do(func() { run.server, run.err = start() })
	require.NoError(t, run.err)
	s := run.server
	name := fmt.Sprintf("%s%d_%d", clonePrefix, os.Getpid(), s.clones.Add(1))
	_, err := s.admin.ExecContext(t.Context(), `CREATE DATABASE `+name+` TEMPLATE `+template())
	require.NoError(t, err)
	return s.address(name)
}

const clonePrefix = "payonce_test_"

func template() string { return "payonce_template_" + migrations.Hash()[:16] }

func start() (*server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	s := &server{}
	if given := os.Getenv("DATABASE_URL"); given != "" {
		s.address = func(database string) string { return withDatabase(given, database) }
	} else {
		localpg.UnsetEnv()
		folder, err := folder()
		if err != nil {
			return nil, err
		}
		if s.local, err = localpg.Start(ctx, localpg.Options{Dir: folder}); err != nil {
			return nil, err
		}
		s.address = s.local.URL
	}
	connector, err := pq.NewConnector(s.address("postgres"))
	if err != nil {
		return nil, errors.New("DATABASE_URL cannot be read as a PostgreSQL address")
	}
	s.admin = sql.OpenDB(connector)
	s.admin.SetMaxOpenConns(4) // copies of one template mostly wait for each other anyway
	return s, s.ensureTemplate(ctx)
}

// withDatabase is the address of another database of the same server. The later of two equal settings counts.
func withDatabase(address, database string) string {
	if u, err := url.Parse(address); err == nil && u.Scheme != "" {
		u.Path = "/" + database
		return u.String()
	}
	return address + " dbname=" + database
}

// folder lies beside the module's go.mod, so that all packages find the same one.
func folder() (string, error) {
	at, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("folder of the tests: %w", err)
	}
	for dir := at; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, ".data", "postgres-test"), nil
		}
	}
	return "", fmt.Errorf("%s is in no Go module", at)
}

// ensureTemplate migrates the template unless another process has. One does it at a time; the mark that it is complete
// comes last, so one that was killed half-way is made anew.
func (s *server) ensureTemplate(ctx context.Context) error {
	conn, err := s.admin.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer conn.Close()   //nolint:errcheck // ends the session and with it the lock
	const lock = 7201151 // any number that nobody else of this server's users takes
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, lock); err != nil {
		return fmt.Errorf("lock the template: %w", err)
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, lock) //nolint:errcheck // the session may go back to the pool
	var complete bool
	err = conn.QueryRowContext(ctx, `SELECT datistemplate FROM pg_database WHERE datname = $1`, template()).Scan(&complete)
	if complete || err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	for _, statement := range []string{`DROP DATABASE IF EXISTS ` + template(), `CREATE DATABASE ` + template()} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return mayCreate(err)
		}
	}
	if _, _, err := repository.MigrateUp(ctx, s.address(template())); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, `ALTER DATABASE `+template()+` WITH IS_TEMPLATE true ALLOW_CONNECTIONS false`); err != nil {
		return fmt.Errorf("finish the template: %w", err)
	}
	return nil
}

// mayCreate says what to do about the one mistake that people make.
func mayCreate(err error) error {
	if e := pq.As(err); e != nil && e.Code == "42501" {
		return errors.New("the role of DATABASE_URL may not create databases, which the tests need: ALTER ROLE ... CREATEDB, or unset DATABASE_URL")
	}
	return fmt.Errorf("make the template: %w", err)
}

func (s *server) close(passed bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if s.local == nil {
		defer s.admin.Close() //nolint:errcheck // the process ends
		for n := range s.clones.Load() {
			name := fmt.Sprintf("%s%d_%d", clonePrefix, os.Getpid(), n+1)
			if _, err := s.admin.ExecContext(ctx, `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`); err != nil {
				return fmt.Errorf("drop %s: %w", name, err)
			}
		}
		return nil
	}
	if err := s.admin.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	if err := s.local.Stop(ctx); err != nil {
		return err
	}
	if !passed {
		return nil // what a failed test left can be looked at
	}
	dir, err := folder()
	if err != nil {
		return err
	}
	if err := localpg.Reset(dir); !errors.Is(err, localpg.ErrInUse) { // then another package still tests
		return err
	}
	return nil
}
