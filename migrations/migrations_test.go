package migrations_test

import (
	"fmt"
	"io/fs"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/migrations"
)

func TestFiles_AreNumberedPairsWithoutGaps(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(migrations.FS, "*")
	require.NoError(t, err)
	require.Len(t, files, int(2*migrations.Latest()))
	for n := uint(1); n <= migrations.Latest(); n++ {
		for _, direction := range []string{"up", "down"} {
			matching, err := fs.Glob(migrations.FS, fmt.Sprintf("%06d_*.%s.sql", n, direction))
			require.NoError(t, err)
			require.Len(t, matching, 1, "two branches must not both add number %d", n)
		}
	}
}

func TestFiles_SayWhatTheyGuarantee(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(migrations.FS, "*.up.sql")
	require.NoError(t, err)
	for _, file := range files {
		text, err := migrations.FS.ReadFile(file)
		require.NoError(t, err)
		require.Regexp(t, regexp.MustCompile(`^-- `), string(text), "%s begins without a word about what it is for", file)
	}
}

func TestHash_NamesTheSchema(t *testing.T) {
	t.Parallel()
	require.Len(t, migrations.Hash(), 64)
	require.Equal(t, migrations.Hash(), migrations.Hash())
}
