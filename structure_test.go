package payonce_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The structure of the project, as rules that can fail. Each message says which rule and why.

const module = "payonce"

// importRules says which of our packages a package may import, by the first part of its path. Packages that are not
// listed are new, and somebody has to decide where they belong.
var importRules = map[string][]string{
	"domain":     {},
	"migrations": {},
	"simulator":  {}, // so that others can use it alone
	"provider":   {"domain", "provider"},
	"repository": {"domain", "migrations", "repository"},
	"payment":    {"domain", "provider", "repository"},
	"api":        {"domain", "repository", "payment", "api"},
	"web":        {}, // a client of the API like any other
	"cmd":        {"domain", "provider", "repository", "payment", "api", "web", "simulator", "migrations"},
}

// onlyIn says which packages alone may import a library, so that it can be replaced in one place.
var onlyIn = map[string][]string{
	"github.com/jmoiron/sqlx":           {"repository"},
	"github.com/lib/pq":                 {"repository"},
	"github.com/golang-migrate/migrate": {"repository"},
	"github.com/stripe/stripe-go":       {"provider/stripe"},
	"github.com/labstack/echo":          {"api"},
	"github.com/spf13/cobra":            {"cmd"},
	"net/http":                          {"api", "web", "cmd", "simulator", "provider/stripe", "payment"},
}

type listed struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Standard     bool
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...")
	out, err := cmd.Output()
	require.NoError(t, err)
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else {
			require.NoError(t, err)
		}
		all = append(all, p)
	}
}

func within(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") })
}

func TestImports(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		path, ours := strings.CutPrefix(p.ImportPath, module+"/")
		if !ours {
			continue
		}
		top, _, _ := strings.Cut(path, "/")
		allowed, known := importRules[top]
		if !known {
			t.Errorf("%s: the package is new; decide in importRules what it may import", path)
			continue
		}
		for _, name := range []string{"pkg", "util", "utils", "common", "service", "model", "helpers"} {
			if slices.Contains(strings.Split(path, "/"), name) {
				t.Errorf("%s: %q names no thing; name the package after what it holds", path, name)
			}
		}
		for _, imported := range p.Imports {
			if inner, ours := strings.CutPrefix(imported, module+"/"); ours && !within(inner, allowed) && !strings.HasSuffix(path, "test") {
				t.Errorf("%s imports %s: it may import only %v, so that the layers stay readable from the inside out", path, inner, allowed)
			}
			if top == "domain" && strings.Contains(strings.Split(imported, "/")[0], ".") {
				t.Errorf("domain imports %s: the rules of the business depend on the standard library only", imported)
			}
			for library, folders := range onlyIn {
				if strings.HasPrefix(imported, library) && !strings.HasPrefix(imported, "net/http/") && !within(path, folders) {
					t.Errorf("%s imports %s: only %v may, so that it can be replaced in one place", path, imported, folders)
				}
			}
		}
	}
}

// goFiles walks over every Go file of the module.
func goFiles(t *testing.T, visit func(path string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "tools" || entry.Name() == "bin" || entry.Name() == "testdata") {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".go") {
			visit(path)
		}
		return nil
	})
	require.NoError(t, err)
}

func TestSizes(t *testing.T) {
	t.Parallel()
	const longestFile, longestFunction = 450, 70
	goFiles(t, func(path string) {
		file, err := os.Open(path)
		require.NoError(t, err)
		defer file.Close()
		lines := 0
		for scanner := bufio.NewScanner(file); scanner.Scan(); {
			lines++
		}
		if lines > longestFile {
			t.Errorf("%s has %d lines: split what is longer than %d by what it is about", path, lines, longestFile)
		}
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, path, nil, 0)
		require.NoError(t, err)
		for _, declaration := range parsed.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := set.Position(function.End()).Line - set.Position(function.Pos()).Line + 1; n > longestFunction {
				t.Errorf("%s: %s has %d lines: a function fits a screen, which is %d", path, function.Name.Name, n, longestFunction)
			}
		}
	})
}

// TestWrites holds two rules that the types alone cannot: nothing is executed on a pool, where database/sql may silently
// run it twice, and echo's Bind, which lets the body overwrite ids of the path and takes forms for JSON, is not used.
func TestWrites(t *testing.T) {
	t.Parallel()
	writes := []string{"Exec", "ExecContext", "MustExec", "MustExecContext", "NamedExec", "NamedExecContext"}
	goFiles(t, func(path string) {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "repositorytest") {
			return
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, path, nil, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			selector, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			on := named(selector.X)
			if slices.Contains(writes, selector.Sel.Name) && on != "tx.q" && path != "repository/database.go" {
				t.Errorf("%s: %s.%s: a statement outside a transaction may silently run twice; write it as a method of *Tx", set.Position(call.Pos()), on, selector.Sel.Name)
			}
			if selector.Sel.Name == "Bind" {
				t.Errorf("%s: echo's Bind is not strict enough for money; use strictjson", set.Position(call.Pos()))
			}
			return true
		})
	})
}

func named(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return named(e.X) + "." + e.Sel.Name
	default:
		return "?"
	}
}
