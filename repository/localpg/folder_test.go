//go:build unix

package localpg

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPathTooLongOrStrangeForASocket_SocketMovesAndDataStay(t *testing.T) {
	t.Parallel()
	for name, part := range map[string]string{
		"long": strings.Repeat("a-long-name/", 9), "comma": "one,two", // clients take a comma for a second host
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Dir: filepath.Join(openDir(t), part, "postgres")}
			s := start(t, o)
			t.Cleanup(func() { require.NoError(t, os.RemoveAll(filepath.Dir(s.folder.run))) })
			require.Equal(t, lastingFolder(), filepath.Dir(filepath.Dir(s.folder.run)))
			require.DirExists(t, filepath.Join(o.Dir, "data"))
			require.Equal(t, "1", query(t, s, `SELECT 1`))
		})
	}
}

func TestPathThatNeedsQuotes_Works(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Dir: filepath.Join(openDir(t), `it's "my" shop \ 100%&?`)})
	require.Equal(t, "1", query(t, s, `SELECT 1`))
	require.Contains(t, s.PSQL("payonce"), `psql 'postgres:///payonce?host=`)
}

func TestClosedFolderAbove_RootUsesALastingPlaceAndFindsItAgain(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root runs the server as somebody else")
	}
	closed := t.TempDir()
	require.NoError(t, os.Chmod(closed, 0o700))
	o := Options{Dir: filepath.Join(closed, "postgres"), Durable: true}
	s := start(t, o)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(s.folder.dir)) })
	require.Equal(t, lastingFolder(), filepath.Dir(s.folder.dir))
	run(t, s, `CREATE DATABASE shop`)
	stop(t, s)

	require.NoError(t, os.Chmod(closed, 0o755)) // the data have a place now and do not vanish when the reason does
	again := start(t, o)
	require.Equal(t, "shop", query(t, again, `SELECT datname FROM pg_database WHERE datname = 'shop'`))
	stop(t, again)
	require.NoError(t, Reset(o.Dir))
	require.NoDirExists(t, s.folder.data)
}

func TestFolderOfSomebodyElse_IsRefused(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	dir := openDir(t)
	require.NoError(t, os.Chown(dir, 12345, 12345))
	require.ErrorContains(t, ownFolder(dir), "belongs to another account")
	link := filepath.Join(openDir(t), "link")
	require.NoError(t, os.Symlink("/", link))
	require.ErrorContains(t, ownFolder(link), "belongs to another account")
}

func TestAccount_CanEnterOnlyWhatItMayPass(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root switches accounts")
	}
	who := account{uid: 12345, gid: 23456, switches: true}
	for name, row := range map[string]struct {
		uid, gid int
		mode     os.FileMode
		enters   bool
	}{
		"own":                        {12345, 0, 0o700, true},
		"own, shut for the owner":    {12345, 0, 0o077, false},
		"of its group":               {0, 23456, 0o710, true},
		"of its group, shut for it":  {0, 23456, 0o701, false},
		"of others, open":            {0, 0, 0o701, true},
		"of others, closed":          {0, 0, 0o770, false},
		"of others, readable but no": {0, 0, 0o774, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(openDir(t), "above")
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "below"), 0o755))
			require.NoError(t, os.Chown(dir, row.uid, row.gid))
			require.NoError(t, os.Chmod(dir, row.mode))
			require.Equal(t, row.enters, who.canEnter(filepath.Join(dir, "below")))
		})
	}
}

func TestUserNamespace_KnowsOnlyTheIdsOfItsTable(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		table string
		id    uint32
		known bool
	}{
		"no namespace":       {"         0          0 4294967295\n", 65534, true},
		"root alone":         {"         0       1000          1\n", 101, false},
		"root and a range":   {"         0       1000          1\n         1     100000      65536\n", 101, true},
		"just past a range":  {"         0       1000          1\n         1     100000        100\n", 101, false},
		"unreadable nothing": {"", 101, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, row.known, maps(row.table, row.id))
		})
	}
}
