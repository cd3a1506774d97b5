package repository_test

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"payonce/migrations"
	"payonce/repository"
	"payonce/repository/localpg"
	"payonce/repository/repositorytest"
)

// schema lists everything that migrations make.
const schema = `SELECT count(*) FROM (
	SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname NOT LIKE 'schema_migrations%'
	UNION ALL SELECT oid FROM pg_proc WHERE pronamespace = 'public'::regnamespace
	UNION ALL SELECT oid FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conname NOT LIKE 'schema_migrations%'
	UNION ALL SELECT oid FROM pg_policy) x`

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

// empty is a database on which no migration ever ran.
func empty(t *testing.T) *repositorytest.DB {
	t.Helper()
	db := repositorytest.New(t)
	require.NoError(t, repository.MigrateDown(t.Context(), db.URL, int(migrations.Latest())))
	db.Exec(t, `DROP TABLE schema_migrations`)
	return db
}

func TestMigrations_AskingForTheVersion_ChangesNothing(t *testing.T) {
	t.Parallel()
	db := empty(t)
	version, dirty, err := repository.MigrationStatus(t.Context(), db.URL)
	require.NoError(t, err)
	require.Zero(t, version)
	require.False(t, dirty)
	require.Zero(t, db.Count(t, `SELECT count(*) FROM pg_class WHERE relname = 'schema_migrations'`))
}

func TestMigrations_SeveralAtOnce_OneMigratesAndTheOthersFindItDone(t *testing.T) {
	t.Parallel()
	db := empty(t)
	froms := make([]uint, 8)
	var all sync.WaitGroup
	for i := range froms {
		all.Go(func() {
			from, to, err := repository.MigrateUp(t.Context(), db.URL)
			if err != nil || to != migrations.Latest() {
				t.Errorf("a migrator ended at version %d: %v", to, err)
			}
			froms[i] = from
		})
	}
	all.Wait()
	worked := 0
	for _, from := range froms {
		if from != migrations.Latest() {
			require.Zero(t, from, "the version before is read when nobody else migrates")
			worked++
		}
	}
	require.Equal(t, 1, worked)
}

func TestMigrations_StoppedInTheMiddle_FinishTheOneAtWorkAndLeaveTheRest(t *testing.T) {
	t.Parallel()
	db := empty(t)
	// Somebody else makes a table of the second migration and does not commit: that migration waits for the name.
	name := open(t, db.URL)
	tx, err := name.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), `CREATE TABLE products ()`)
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, _, err := repository.MigrateUp(ctx, db.URL)
		ended <- err
	}()
	require.Eventually(t, func() bool {
		return db.Count(t, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 1
	}, 10*time.Second, 5*time.Millisecond)

	_, _, err = repository.MigrationStatus(t.Context(), db.URL)
	require.ErrorIs(t, err, repository.ErrMigrating, "a migration at work must not look like one that was broken off")
	impatient, done := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer done()
	_, _, err = repository.MigrateUp(impatient, db.URL)
	require.Error(t, err, "a migrator that waits for another one can be told to stop")
	require.Error(t, impatient.Err())

	cancel()
	require.NoError(t, tx.Rollback())
	require.ErrorIs(t, <-ended, context.Canceled)
	version, dirty, err := repository.MigrationStatus(t.Context(), db.URL)
	require.NoError(t, err)
	require.False(t, dirty)
	require.Equal(t, uint(2), version)
	from, _, err := repository.MigrateUp(t.Context(), db.URL)
	require.NoError(t, err, "the next run goes on from there")
	require.Equal(t, uint(2), from)
}

func TestMigrations_MoreStepsThanThereAre_UndoNothing(t *testing.T) {
	t.Parallel()
	db := repositorytest.New(t)
	for _, steps := range []int{-1, 0, int(migrations.Latest()) + 1} {
		require.ErrorContains(t, repository.MigrateDown(t.Context(), db.URL, steps), "cannot be undone")
	}
	version, _, err := repository.MigrationStatus(t.Context(), db.URL)
	require.NoError(t, err)
	require.Equal(t, migrations.Latest(), version)
}

func open(t *testing.T, url string) *sql.DB {
	t.Helper()
	connector, err := pq.NewConnector(url)
	require.NoError(t, err)
	db := sql.OpenDB(connector)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
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

func TestMigrations_OneThatIsRefused_SaysWhyAndWhatToDo(t *testing.T) {
	t.Parallel()
	db := empty(t)
	db.Exec(t, `CREATE TABLE products ()`) // stands in the way of the second migration
	from, to, err := repository.MigrateUp(t.Context(), db.URL)
	require.ErrorContains(t, err, `relation "products" already exists`)
	require.ErrorContains(t, err, "migration 2 was broken off")
	require.Equal(t, []uint{0, 1}, []uint{from, to})

	db.Exec(t, `DROP TABLE products`) // what the error says: mend, then record the truth
	db.Exec(t, `UPDATE schema_migrations SET version = 1, dirty = false`)
	_, to, err = repository.MigrateUp(t.Context(), db.URL)
	require.NoError(t, err)
	require.Equal(t, migrations.Latest(), to)
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

func TestMigrations_SeveralDatabasesOfANewServer_AllGetTheOneRole(t *testing.T) {
	t.Parallel()
	server, err := localpg.Start(t.Context(), localpg.Options{Dir: openFolder(t)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop(context.WithoutCancel(t.Context()))) })
	var all sync.WaitGroup
	for _, name := range []string{"one", "two", "three", "four", "five"} {
		require.NoError(t, repository.EnsureDatabase(t.Context(), server.URL("postgres"), name))
	}
	for _, name := range []string{"one", "two", "three", "four", "five"} {
		all.Go(func() {
			_, _, err := repository.MigrateUp(t.Context(), server.URL(name))
			if err != nil {
				t.Errorf("database %s: %v", name, err)
			}
		})
	}
	all.Wait()
	store, err := repository.Open(repository.Options{URL: server.URL("five")})
	require.NoError(t, err)
	defer store.Close()
	require.NoError(t, store.Ready(t.Context(), migrations.Latest()))
}

// openFolder is a folder that the account which runs PostgreSQL can enter.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "payonce")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return filepath.Join(dir, "postgres")
}

func TestMigrations_ByAUserWhoMayNotMakeRoles_SayWhatASuperuserMustDo(t *testing.T) {
	t.Parallel()
	db := empty(t)
	weak := "weak_" + strconv.FormatUint(rand.Uint64(), 36)
	db.Exec(t, `CREATE ROLE `+weak)
	db.Exec(t, `GRANT `+weak+` TO CURRENT_USER`)
	sweeper := open(t, db.URL)
	t.Cleanup(func() {
		_, err := sweeper.ExecContext(context.WithoutCancel(t.Context()), `DROP ROLE `+weak)
		require.NoError(t, err)
	})
	_, _, err := repository.MigrateUp(t.Context(), db.URL+"&role="+weak)
	require.ErrorContains(t, err, "GRANT payonce_app TO "+weak)
	version, dirty, err := repository.MigrationStatus(t.Context(), db.URL)
	require.NoError(t, err)
	require.Zero(t, version)
	require.False(t, dirty, "nothing was begun, so there is nothing to mend")
}

func TestMigrations_UndoingTheWall_LeavesNothingBehindButTheRole(t *testing.T) {
	t.Parallel()
	db := repositorytest.New(t)
	require.NoError(t, repository.MigrateDown(t.Context(), db.URL, int(migrations.Latest())-6))
	require.Zero(t, db.Count(t, `SELECT count(*) FROM pg_policies`))
	require.Zero(t, db.Count(t, `SELECT count(*) FROM pg_class WHERE relrowsecurity OR relforcerowsecurity`))
	require.Zero(t, db.Count(t, `SELECT count(*) FROM information_schema.role_column_grants WHERE grantee = 'payonce_app' AND table_schema = 'public'`))
	require.Zero(t, db.Count(t, `SELECT count(*) FROM information_schema.role_table_grants WHERE grantee = 'payonce_app' AND table_schema = 'public'`))
	require.Zero(t, db.Count(t, `SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND (prosecdef OR proconfig IS NOT NULL)`))
	require.Equal(t, 1, db.Count(t, `SELECT count(*) FROM pg_roles WHERE rolname = 'payonce_app'`))
	require.Error(t, db.Store.Ready(t.Context(), 6))
}

func TestMigrations_OfData_ReachTheRowsOfEveryMerchant(t *testing.T) {
	t.Parallel()
	db := twoMerchants(t)
	require.NoError(t, repository.OnMigrationConnForTest(t.Context(), db.URL, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(t.Context(), `UPDATE carts SET currency = 'USD'`)
		return err
	}))
	require.Equal(t, 2, db.Count(t, `SELECT count(*) FROM carts WHERE currency = 'USD'`))
}
