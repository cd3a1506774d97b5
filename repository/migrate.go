package repository

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database/postgres"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"payonce/migrations"
)

// Migrations run over one connection of their own, apart from the pool: they hold a session lock, which a pooled or
// proxied connection may not keep, and they may take longer than any statement of the product is allowed to.
//
// The lock is ours and is taken before the version is read. golang-migrate has a lock too, but reads the version outside
// it, and it marks the schema dirty for as long as a migration runs: a second process would see a healthy migration of
// the first as one that was broken off, and advise a person to mend it. Its lock also waits without regard to the context.

// migrationLock is the key of the session lock, any number that nothing else in the database takes.
const migrationLock = 7201150

// ErrMigrating says that another process migrates the database at this moment, so its version cannot be told.
var ErrMigrating = errors.New("another process is migrating the database")

// MigrateUp brings the schema to the version of this program and returns the versions before and after. Several processes
// may do it at once; one of them migrates while the others wait. When ctx ends, the migration at work is finished, the
// rest is not begun, and the error is that of ctx.
func MigrateUp(ctx context.Context, url string) (from, to uint, err error) {
	err = onMigrationConn(ctx, url, func(conn *sql.Conn) error {
		if from, err = lockSchema(ctx, conn); err != nil {
			return err
		}
		if from > migrations.Latest() {
			return fmt.Errorf("the database has schema version %d, newer than the %d of this program; use a newer payonce", from, migrations.Latest())
		}
		if err := makeRole(ctx, conn); err != nil {
			return err
		}
		to, err = runMigrations(ctx, conn, from, migrations.Latest())
		return err
	})
	return from, to, err
}

// MigrateDown undoes the last steps migrations, of which there must be that many. When ctx ends, it stops as MigrateUp
// does.
func MigrateDown(ctx context.Context, url string, steps int) error {
	return onMigrationConn(ctx, url, func(conn *sql.Conn) error {
		from, err := lockSchema(ctx, conn)
		switch {
		case err != nil:
			return err
		case from == 0:
			return errors.New("there is no migration to undo")
		case steps < 1 || uint(steps) > from:
			return fmt.Errorf("%d migrations cannot be undone; between 1 and %d can", steps, from)
		}
		_, err = runMigrations(ctx, conn, from, from-uint(steps))
		return err
	})
}

// MigrationStatus tells the schema's version, 0 for an empty database, and whether a migration was broken off. It changes
// nothing. While a migration is at work it returns ErrMigrating, because the schema looks broken off meanwhile.
func MigrationStatus(ctx context.Context, url string) (version uint, dirty bool, err error) {
	err = onMigrationConn(ctx, url, func(conn *sql.Conn) error {
		var quiet bool
		if err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock_shared($1)`, migrationLock).Scan(&quiet); err != nil {
			return fmt.Errorf("look for migrations at work: %w", err)
		}
		if !quiet {
			return ErrMigrating
		}
		version, dirty, err = schemaVersion(ctx, conn)
		return err
	})
	return version, dirty, err
}

// onMigrationConn runs a function over the connection and gives back the session's locks. The end of the connection does
// that too, but a moment later, and whoever asks in that moment would still find the database locked.
func onMigrationConn(ctx context.Context, url string, run func(*sql.Conn) error) error {
	config, err := pq.NewConfig(url)
	if err != nil {
		return errors.New("DATABASE_URL cannot be read as a PostgreSQL address") // the cause may quote the password
	}
	if config.Runtime == nil {
		config.Runtime = map[string]string{}
	}
	config.Runtime[scopeSetting] = everyMerchant // policies bind the owner as well: without it, a migration of data would find none
	connector, err := pq.NewConnectorConfig(config)
	if err != nil {
		return errors.New("DATABASE_URL cannot be used to connect to PostgreSQL")
	}
	db := sql.OpenDB(connector)
	defer db.Close() //nolint:errcheck // nothing is left to be done with it
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer conn.Close() //nolint:errcheck // nothing is left to be done with it
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_, _ = conn.ExecContext(last, `SELECT pg_advisory_unlock_all()`) //nolint:errcheck // a broken session holds no lock
	}()
	return run(conn)
}

// lockSchema waits until no other process migrates, and then reads the version. Nothing is repaired by itself: only a
// person can see how far a migration got that was broken off.
func lockSchema(ctx context.Context, conn *sql.Conn) (uint, error) {
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, migrationLock); err != nil {
		return 0, fmt.Errorf("wait for other migrations: %w", err)
	}
	version, dirty, err := schemaVersion(ctx, conn)
	if err == nil && dirty {
		err = brokenOff(version)
	}
	return version, err
}

func schemaVersion(ctx context.Context, conn *sql.Conn) (version uint, dirty bool, err error) {
	err = conn.QueryRowContext(ctx, `SELECT version, dirty FROM schema_migrations`).Scan(&version, &dirty)
	if errors.Is(err, sql.ErrNoRows) || pq.As(err, pqerror.UndefinedTable) != nil {
		return 0, false, nil //nolint:nilerr // an empty database is at version 0
	}
	if err != nil {
		return 0, false, fmt.Errorf("read schema version: %w", err)
	}
	return version, dirty, nil
}

// runMigrations goes from one version to another, with the schema locked, and returns the version it came to. It goes one
// step at a time and looks at ctx in between: golang-migrate's own way to stop has a data race.
func runMigrations(ctx context.Context, conn *sql.Conn, from, to uint) (uint, error) {
	if from == to {
		return to, nil
	}
	target, err := postgres.WithConnection(ctx, conn, &postgres.Config{})
	if err != nil {
		return from, fmt.Errorf("prepare migrations: %w", err)
	}
	files, err := iofs.New(migrations.FS, ".")
	if err != nil {
		return from, fmt.Errorf("read migrations: %w", err)
	}
	defer files.Close() //nolint:errcheck // they are embedded
	m, err := migrate.NewWithInstance("embedded", files, "postgres", target)
	if err != nil {
		return from, fmt.Errorf("prepare migrations: %w", err)
	}
	step, at := 1, from
	if to < from {
		step = -1
	}
	for ; at != to; at = uint(int(at) + step) {
		if err := ctx.Err(); err != nil {
			return at, fmt.Errorf("stopped at schema version %d on the way to %d: %w", at, to, err)
		}
		if err := m.Steps(step); err != nil {
			err = fmt.Errorf("migrate from version %d: %w", at, err)
			if version, dirty, look := m.Version(); look == nil && dirty {
				err = errors.Join(err, brokenOff(version))
			}
			return at, err
		}
	}
	return at, nil
}

// brokenOff tells what only a person can do. Each file is one transaction, so it ran whole or not at all; which of the
// two the mark does not say.
func brokenOff(version uint) error {
	return fmt.Errorf("migration %d was broken off: compare the schema with its file, mend it by hand, then UPDATE schema_migrations SET version = <the version it has now>, dirty = false", version)
}
