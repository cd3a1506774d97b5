package repository_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/migrations"
	"payonce/repository"
	"payonce/repository/repositorytest"
)

// schema lists everything that migrations make.
const schema = `SELECT count(*) FROM (
	SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname NOT LIKE 'schema_migrations%'
	UNION ALL SELECT oid FROM pg_proc WHERE pronamespace = 'public'::regnamespace
	UNION ALL SELECT oid FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conname NOT LIKE 'schema_migrations%') x`

func TestMigrations_UpDownUp(t *testing.T) {
	t.Parallel()
	db := repositorytest.New(t)
	full := db.Count(t, schema)
	require.Greater(t, full, 50)
	require.NoError(t, repository.MigrateDown(t.Context(), db.URL, int(migrations.Latest())))
	require.Zero(t, db.Count(t, schema), "what goes up comes down, completely")
	from, to, err := repository.MigrateUp(t.Context(), db.URL)
	require.NoError(t, err)
	require.Zero(t, from)
	require.Equal(t, migrations.Latest(), to)
	require.Equal(t, full, db.Count(t, schema))
	from, to, err = repository.MigrateUp(t.Context(), db.URL)
	require.NoError(t, err, "a second run changes nothing")
	require.Equal(t, from, to)
}

func TestMigrations_EachStepDownAndUp(t *testing.T) {
	t.Parallel()
	db := repositorytest.New(t)
	for version := migrations.Latest(); version > 0; version-- {
		require.NoError(t, repository.MigrateDown(t.Context(), db.URL, 1))
		now, dirty, err := repository.MigrationStatus(t.Context(), db.URL)
		require.NoError(t, err)
		require.False(t, dirty)
		require.Equal(t, version-1, now)
	}
	require.ErrorContains(t, repository.MigrateDown(t.Context(), db.URL, 1), "no migration to undo")
}

func TestMigrations_OneThatWasBrokenOff_IsForAPersonToMend(t *testing.T) {
	t.Parallel()
	db := repositorytest.New(t)
	db.Exec(t, `UPDATE schema_migrations SET version = 3, dirty = true`)
	_, _, err := repository.MigrateUp(t.Context(), db.URL)
	require.ErrorContains(t, err, "migration 3 was broken off")
	version, dirty, err := repository.MigrationStatus(t.Context(), db.URL)
	require.NoError(t, err)
	require.True(t, dirty)
	require.Equal(t, uint(3), version)
	require.Error(t, db.Store.Ready(t.Context(), 3), "and no server starts on it")
}

func TestMigrations_ASchemaOfTheFuture_IsLeftAlone(t *testing.T) {
	t.Parallel()
	db := repositorytest.New(t)
	db.Exec(t, `UPDATE schema_migrations SET version = 999`)
	_, _, err := repository.MigrateUp(t.Context(), db.URL)
	require.ErrorContains(t, err, "newer")
}

func TestMigrations_AddressThatLeadsNowhere_TellsNoPassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"postgres://u:hunter2@127.0.0.1:1/x?sslmode=disable", "postgres://u:hunter2@%zz"} {
		_, _, err := repository.MigrateUp(t.Context(), url)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "hunter2")
	}
}
