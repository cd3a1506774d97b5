package repository

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"payonce/domain"
)

// one turns the result of a single-row SELECT into a refusal when there was no row.
func one(err error, noun, id string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return domain.E(domain.CodeNotFound, nil, "no such %s", noun)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", noun, id, err)
	}
	return nil
}

// violated reports whether err is the refusal of the named constraint or unique index.
func violated(err error, constraint string) bool {
	e := pq.As(err, pqerror.UniqueViolation, pqerror.CheckViolation)
	return e != nil && e.Constraint == constraint
}

// exactly checks a compare-and-set: the statement must have changed n rows. Fewer means that somebody else was faster,
// and the caller's picture of the row is old.
func exactly(n int64, result sql.Result, err error, what string) error {
	rows, err := changed(result, err, what)
	if err != nil {
		return err
	}
	if rows != int(n) {
		return fmt.Errorf("%s: %d rows changed instead of %d: %w", what, rows, n, ErrStale)
	}
	return nil
}

// changed is how many rows a statement changed.
func changed(result sql.Result, err error, what string) (int, error) {
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	rows, err := result.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return int(rows), nil
}

// ErrStale says that a compare-and-set found the row changed. Nothing was written.
var ErrStale = errors.New("the row has changed meanwhile")

// Unavailable reports whether an error means that the database cannot serve right now: it is not reachable, is shutting
// down or starting, is out of connections, memory or disk, gave up waiting, or its answer was lost; or that all our
// connections to it are taken. The same request may be sent again.
func Unavailable(err error) bool {
	var network net.Error
	if errors.Is(err, ErrBusy) || errors.Is(err, ErrCommitUnknown) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.As(err, &network) {
		return true
	}
	e := pq.As(err)
	if e == nil {
		return false
	}
	switch e.Code[:2] {
	case "08", "40", "53", "55", "57", "58": // connection, conflict, resources, locks, operator, system
		return true
	}
	return false
}
