package payonce_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The documentation names tests as proofs, files as places and pages as reasons. A name that leads nowhere is a proof that
// nobody can check.

var (
	namedTest = regexp.MustCompile(`\bTest[A-Z]\w+`)
	testFunc  = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	link      = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	sourceRef = regexp.MustCompile("`([a-z]+(?:/[a-z_0-9]+)*/[a-z_0-9]+\\.(?:go|sql|yaml))`")
)

// texts are the files of the project whose names end so, by path.
func texts(t *testing.T, suffix string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != ".":
			return filepath.SkipDir // the demo's data, among others, where files come and go
		case d.IsDir() || !strings.HasSuffix(path, suffix):
			return nil
		}
		text, err := os.ReadFile(path)
		found[path] = string(text)
		return err
	}))
	require.NotEmpty(t, found)
	return found
}

func TestDocs_NamedTestsExist(t *testing.T) {
	t.Parallel()
	exists := map[string]bool{}
	for _, text := range texts(t, "_test.go") {
		for _, found := range testFunc.FindAllStringSubmatch(text, -1) {
			exists[found[1]] = true
		}
	}
	for page, text := range texts(t, ".md") {
		for _, name := range namedTest.FindAllString(text, -1) {
			require.True(t, exists[name], "%s names %s", page, name)
		}
	}
}

func TestDocs_LinksAndPlacesExist(t *testing.T) {
	t.Parallel()
	for page, text := range texts(t, ".md") {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(found[1], "://") && !strings.HasPrefix(found[1], "mailto:") {
				_, err := os.Stat(filepath.Join(filepath.Dir(page), found[1]))
				require.NoError(t, err, "linked from %s", page)
			}
		}
		for _, found := range sourceRef.FindAllStringSubmatch(text, -1) {
			require.FileExists(t, found[1], "named in %s", page)
		}
	}
}
