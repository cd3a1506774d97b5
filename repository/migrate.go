package repository

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database/postgres"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/lib/pq"

	"payonce/migrations"
)

// Migrations run over a connection of their own, apart from the pool: they take a session lock, which a pooled or proxied
// connection may not keep, and they may take longer than any statement of the product is allowed to.

// MigrateUp brings the schema to the version of this program and returns the versions before and after. Several processes
// may do it at once; one of them migrates while the others wait.
func MigrateUp(ctx context.Context, url string) (from, to uint, err error) {
	err = migrateWith(ctx, url, func(m *migrate.Migrate) error {
		if from, err = clean(m); err != nil {
			return err
		}
		if from > migrations.Latest() {
			return fmt.Errorf("the database has schema version %d, newer than the %d of this program; use a newer payonce", from, migrations.Latest())
		}
		if err := m.Up(); err != nil && !errors.Is(err, migrate.ErrNoChange) {
			return explain(m, err)
		}
		to, err = clean(m)
		return err
	})
	return from, to, err
}

// MigrateDown undoes the last steps migrations.
func MigrateDown(ctx context.Context, url string, steps int) error {
	return migrateWith(ctx, url, func(m *migrate.Migrate) error {
		version, err := clean(m)
		if err != nil {
			return err
		}
		if version == 0 {
			return errors.New("there is no migration to undo")
		}
		return explain(m, m.Steps(-steps))
	})
}

// MigrationStatus tells the schema's version, 0 for an empty database, and whether a migration was broken off.
func MigrationStatus(ctx context.Context, url string) (version uint, dirty bool, err error) {
	err = migrateWith(ctx, url, func(m *migrate.Migrate) error {
		version, dirty, err = m.Version()
		if errors.Is(err, migrate.ErrNilVersion) {
			return nil
		}
		return err
	})
	return version, dirty, err
}

func migrateWith(ctx context.Context, url string, run func(*migrate.Migrate) error) (err error) {
	connector, err := pq.NewConnector(url)
	if err != nil {
		return errors.New("DATABASE_URL cannot be read as a PostgreSQL address") // the cause may quote the password
	}
	db := sql.OpenDB(connector)
	defer db.Close() //nolint:errcheck // usually closed with the migrator already
	if err := db.PingContext(ctx); err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	target, err := postgres.WithInstance(db, &postgres.Config{})
	if err != nil {
		return fmt.Errorf("prepare migrations: %w", err)
	}
	files, err := iofs.New(migrations.FS, ".")
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	m, err := migrate.NewWithInstance("embedded", files, "postgres", target)
	if err != nil {
		return fmt.Errorf("prepare migrations: %w", err)
	}
	defer func() {
		ofFiles, ofTarget := m.Close()
		err = errors.Join(err, ofFiles, ofTarget)
	}()
	stop := context.AfterFunc(ctx, func() { m.GracefulStop <- true }) // after the migration at work, not in it
	defer stop()
	return run(m)
}

// clean reads the version and refuses a schema on which a migration was broken off. Nothing is repaired by itself: only a
// person can see how far it got.
func clean(m *migrate.Migrate) (uint, error) {
	version, dirty, err := m.Version()
	switch {
	case errors.Is(err, migrate.ErrNilVersion):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("read schema version: %w", err)
	case dirty:
		return version, brokenOff(version)
	}
	return version, nil
}

func brokenOff(version uint) error {
	return fmt.Errorf("migration %d was broken off: compare the schema with its file, mend it by hand, then UPDATE schema_migrations SET version = <the version it has now>, dirty = false", version)
}

// explain adds to a failed migration what is to be done about it.
func explain(m *migrate.Migrate, err error) error {
	if err == nil {
		return nil
	}
	if version, dirty, look := m.Version(); look == nil && dirty {
		return errors.Join(fmt.Errorf("migrate: %w", err), brokenOff(version))
	}
	return fmt.Errorf("migrate: %w", err)
}
