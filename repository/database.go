package repository

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// EnsureDatabase makes a database unless it exists. url leads to any other database of the same server. CREATE DATABASE
// cannot run in a transaction; its name makes it safe to repeat.
func EnsureDatabase(ctx context.Context, url, name string) error {
	connector, err := pq.NewConnector(url)
	if err != nil {
		return errors.New("the server's address cannot be read")
	}
	db := sql.OpenDB(connector)
	defer db.Close() //nolint:errcheck // one statement was run
	_, err = db.ExecContext(ctx, `CREATE DATABASE `+pq.QuoteIdentifier(name))
	if err != nil && pq.As(err, pqerror.DuplicateDatabase, pqerror.UniqueViolation) == nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return nil
}
