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
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	changed, err := result.RowsAffected()
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if changed != n {
		return fmt.Errorf("%s: %d rows changed instead of %d: %w", what, changed, n, ErrStale)
	}
	return nil
}

// ErrStale says that a compare-and-set found the row changed. Nothing was written.
var ErrStale = errors.New("the row has changed meanwhile")

// lockTimedOut reports whether a statement gave up waiting for a row that another transaction holds (lock_timeout,
// SQLSTATE 55P03). Nothing was written.
func lockTimedOut(err error) bool { return pq.As(err, pqerror.LockNotAvailable) != nil }

// Unavailable reports whether an error means that the database cannot serve right now: it is not reachable, is shutting
// down or starting, is out of connections, memory or disk, gave up waiting, or its answer was lost. The same request may
// be sent again.
func Unavailable(err error) bool {
	var network net.Error
	if errors.Is(err, ErrCommitUnknown) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.As(err, &network) {
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
