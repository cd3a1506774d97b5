package repository

import (
	"context"
	"database/sql"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"payonce/domain"
)

// What only tests do: run a statement of their own in the product's transactions, and on its connections without one.

// CountForTest reads one number.
func (tx *Tx) CountForTest(ctx context.Context, query string) (n int, err error) {
	err = tx.q.GetContext(ctx, &n, query)
	return n, err
}

// ExecForTest runs a statement.
func (tx *Tx) ExecForTest(ctx context.Context, query string, args ...any) error {
	_, err := tx.q.ExecContext(ctx, query, args...)
	return err
}

// CountOnPoolForTest reads one number outside any transaction.
func (s *Store) CountOnPoolForTest(ctx context.Context, query string) (n int, err error) {
	err = s.db.GetContext(ctx, &n, query)
	return n, err
}

// bare reads on the pool itself, in no transaction.
type bare struct{ *sqlx.DB }

func (b bare) together(_ context.Context, read func(Reader) error) error { return read(Reader{b}) }

// OpenBareForTest is Open without the wall: the connections act as the owner, and nothing sets a scope.
func OpenBareForTest(url string) (*Store, error) {
	s, err := Open(Options{URL: url})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	config, err := pq.NewConfig(url)
	if err != nil {
		return nil, err
	}
	config.Runtime = sessionSettings
	connector, err := pq.NewConnectorConfig(config)
	if err != nil {
		return nil, err
	}
	connector.Dialer(newGuardedDialer(10e9))
	s.db = sqlx.NewDb(sql.OpenDB(connector), "postgres")
	s.db.SetMaxIdleConns(16)
	s.Reader = Reader{bare{s.db}}
	return s, nil
}

// CallerForTest authenticates, on a store without the wall as it was done before there was one.
func CallerForTest(ctx context.Context, s *Store, secret string) (caller domain.Caller, err error) {
	if _, isBare := s.q.(bare); !isBare {
		return s.CallerBySecret(ctx, secret)
	}
	row := struct {
		MerchantID string      `db:"merchant_id"`
		APIKeyID   string      `db:"api_key_id"`
		Role       domain.Role `db:"role"`
	}{}
	err = s.db.GetContext(ctx, &row, `
		SELECT merchant_id, api_key_id, role
		FROM api_keys
		WHERE secret_hash = $1 AND revoked_at IS NULL`, domain.HashSecret(secret))
	return domain.Caller(row), err
}

// OnMigrationConnForTest runs a function over the connection that migrations use.
func OnMigrationConnForTest(ctx context.Context, url string, run func(*sql.Conn) error) error {
	return onMigrationConn(ctx, url, run)
}
