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

func markdown(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != "." {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".md" {
			text, err := os.ReadFile(path)
			pages[path] = string(text)
			return err
		}
		return nil
	}))
	require.NotEmpty(t, pages)
	return pages
}

func TestDocs_NamedTestsExist(t *testing.T) {
	t.Parallel()
	exists := map[string]bool{}
	require.NoError(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range testFunc.FindAllStringSubmatch(string(text), -1) {
			exists[found[1]] = true
		}
		return err
	}))
	for page, text := range markdown(t) {
		for _, name := range namedTest.FindAllString(text, -1) {
			require.True(t, exists[name], "%s names %s", page, name)
		}
	}
}

func TestDocs_LinksAndPlacesExist(t *testing.T) {
	t.Parallel()
	for page, text := range markdown(t) {
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
