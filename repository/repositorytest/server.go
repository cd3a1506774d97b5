package repositorytest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

// keep is the variable that leaves databases and private server as they are when the tests end, for a person to look at.
const keep = "PAYONCE_TEST_KEEP"

func kept() bool { return os.Getenv(keep) == "1" }

// server is the one that all tests of this process use.
type server struct {
	address func(database string) string
	admin   *sql.DB // to the database postgres, for making others
	local   *localpg.Server
	run     string // of this process alone, in the names of its databases and of its sessions
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
// a private server is stopped, and its data deleted, by the last package that used it. With PAYONCE_TEST_KEEP=1 all of it
// stays until the next run without it.
func Main(m *testing.M) {
	run.prepared = true
	code := m.Run()
	if run.server != nil && !kept() {
		if err := run.server.close(); err != nil {
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
	name := s.clone(s.clones.Add(1))
	if _, err := s.admin.ExecContext(t.Context(), `CREATE DATABASE `+name+` TEMPLATE `+template()); err != nil {
		require.NoError(t, mayCreate(err))
	}
	t.Cleanup(func() {
		switch {
		case !t.Failed():
		case !kept():
			t.Logf("run this test again with %s=1 to look into its database afterwards", keep)
		case s.local != nil:
			t.Log("this test's database: " + s.local.PSQL(name))
		default:
			t.Logf("this test's database: %s on the server of DATABASE_URL", name)
		}
	})
	return s.address(name)
}

// clone names the n-th database of this process. Process ids would not do: in containers they are the same at every run.
func (s *server) clone(n int64) string { return s.run + "_" + strconv.FormatInt(n, 10) }

const clonePrefix = "payonce_test_"

func template() string { return "payonce_template_" + migrations.Hash()[:16] }

func start() (*server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	s := &server{run: clonePrefix + strconv.FormatUint(rand.Uint64(), 36)} //nolint:gosec // unlike the others; not secret
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
	config, err := pq.NewConfig(s.address("postgres"))
	if err != nil {
		return nil, errors.New("DATABASE_URL cannot be read as a PostgreSQL address") // the cause may quote the password
	}
	config.ApplicationName = s.run
	connector, err := pq.NewConnectorConfig(config)
	if err != nil {
		return nil, errors.New("DATABASE_URL cannot be used to connect to PostgreSQL")
	}
	s.admin = sql.OpenDB(connector)
	s.admin.SetMaxOpenConns(4) // copies of one template mostly wait for each other anyway
	if err := s.ensureTemplate(ctx); err != nil {
		return nil, err
	}
	if kept() {
		return s, nil // the packages that end first are part of what is kept
	}
	return s, s.sweep(ctx)
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
	for _, statement := range []string{`DROP DATABASE IF EXISTS ` + template() + ` WITH (FORCE)`, `CREATE DATABASE ` + template()} {
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
	return fmt.Errorf("make a database: %w", err)
}

// sweep drops what killed runs left. A run lives as long as a session bears its name.
func (s *server) sweep(ctx context.Context) error {
	var left []string
	err := s.admin.QueryRowContext(ctx, `SELECT coalesce(array_agg(d.datname), '{}') FROM pg_database d
		WHERE d.datname LIKE $1
			AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.application_name = regexp_replace(d.datname, '_[0-9]+$', ''))`,
		strings.ReplaceAll(clonePrefix, "_", `\_`)+"%").Scan((*pq.StringArray)(&left))
	if err != nil {
		return fmt.Errorf("look for databases of killed tests: %w", err)
	}
	for _, name := range left {
		if err := s.drop(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// drop deletes a database that no test uses any more; another process may be faster.
func (s *server) drop(ctx context.Context, name string) error {
	if _, err := s.admin.ExecContext(ctx, `DROP DATABASE IF EXISTS `+pq.QuoteIdentifier(name)+` WITH (FORCE)`); err != nil {
		return fmt.Errorf("drop %s: %w", name, err)
	}
	return nil
}

func (s *server) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if s.local == nil {
		defer s.admin.Close() //nolint:errcheck // the process ends
		for n := range s.clones.Load() {
			if err := s.drop(ctx, s.clone(n+1)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := errors.Join(s.admin.Close(), s.local.Stop(ctx)); err != nil {
		return err
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
