package repositorytest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { Main(m) }

func TestSweep_DropsWhatKilledRunsLeftAndNothingOfLivingOnes(t *testing.T) {
	t.Parallel()
	mine := New(t)
	const dead = clonePrefix + "killedlongago_1"
	_, err := run.server.admin.ExecContext(t.Context(), `CREATE DATABASE `+dead)
	require.NoError(t, err)
	require.NoError(t, run.server.sweep(t.Context()))
	var left string
	require.NoError(t, run.server.admin.QueryRowContext(t.Context(),
		`SELECT coalesce(string_agg(datname, ' '), '') FROM pg_database WHERE datname LIKE 'payonce_test%'`).Scan(&left))
	require.NotContains(t, left, dead)
	require.True(t, strings.Contains(left, run.server.clone(1)), left)
	require.Zero(t, mine.Count(t, `SELECT count(*) FROM merchants`), "the database of this test is still there")
}
