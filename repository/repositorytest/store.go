package repositorytest

import (
	"database/sql"
	"testing"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"payonce/repository"
)

// DB is a database of one test: the store as the product uses it, and raw access for what only a test may do, such as
// letting a lease end or trying to break a constraint.
type DB struct {
	Store *repository.Store
	URL   string
	raw   *sql.DB
}

// New makes a migrated, empty database for this test.
func New(t testing.TB, options ...func(*repository.Options)) *DB {
	t.Helper()
	o := repository.Options{URL: URL(t)}
	for _, option := range options {
		option(&o)
	}
	store, err := repository.Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	config, err := pq.NewConfig(o.URL)
	require.NoError(t, err)
	if config.Runtime == nil {
		config.Runtime = map[string]string{}
	}
	config.Runtime["payonce.merchant"] = "*" // a test sees every row, also when its role is bound by the policies
	connector, err := pq.NewConnectorConfig(config)
	require.NoError(t, err)
	raw := sql.OpenDB(connector)
	raw.SetMaxIdleConns(0) // a test that waits must not hold a session
	t.Cleanup(func() { require.NoError(t, raw.Close()) })
	return &DB{Store: store, URL: o.URL, raw: raw}
}

// Exec runs a statement that must succeed.
func (db *DB) Exec(t testing.TB, query string, args ...any) {
	t.Helper()
	_, err := db.raw.ExecContext(t.Context(), query, args...)
	require.NoError(t, err)
}

// Refused runs a statement that must be refused by the named constraint.
func (db *DB) Refused(t testing.TB, constraint, query string, args ...any) {
	t.Helper()
	_, err := db.raw.ExecContext(t.Context(), query, args...)
	refusal := pq.As(err)
	require.NotNil(t, refusal, "%s let this pass: %s (%v)", constraint, query, err)
	require.Equal(t, constraint, refusal.Constraint, refusal.Message)
}

// Count reads one number.
func (db *DB) Count(t testing.TB, query string, args ...any) int {
	t.Helper()
	var n int
	db.Scan(t, &n, query, args...)
	return n
}

// Scan reads one value into a pointer.
func (db *DB) Scan(t testing.TB, value any, query string, args ...any) {
	t.Helper()
	require.NoError(t, db.raw.QueryRowContext(t.Context(), query, args...).Scan(value))
}
