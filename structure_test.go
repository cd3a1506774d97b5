package payonce_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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

// The structure of the project, as rules that can fail. A rule is a function from what it looks at to what is wrong with
// it, so that it can be shown to catch what it forbids; and what it says is enough to know what to do.

const module = "payonce"

// layers says which of our packages a package may import, by the first part of its path: from the inside out, never back.
// A package that is not listed is new, and somebody has to decide where it belongs.
var layers = map[string][]string{
	"domain":         {},
	"migrations":     {},
	"simulator":      {}, // others can use it alone
	"client":         {}, // it is made for other people's programs
	"web":            {}, // it is a client of the API like any other
	"provider":       {"domain", "provider"},
	"repository":     {"domain", "migrations", "repository"},
	"payment":        {"domain", "provider", "repository"},
	"events":         {"domain", "provider", "repository", "payment"}, // payment applies what a provider's event says
	"reconciliation": {"domain", "provider", "repository", "payment"}, // and what reconciliation finds out
	"api":            {"domain", "repository", "payment", "events", "reconciliation", "api"},
	"cmd": {"domain", "migrations", "simulator", "client", "web", "provider", "repository", "payment", "events",
		"reconciliation", "api"},
}

// outermost are the packages that only cmd imports, in tests too: what they hold would be out of reach for the rest.
var outermost = []string{"api", "web", "cmd"}

// onlyIn says which packages alone may import a library, or a part of the standard library.
var onlyIn = map[string][]string{
	"database/sql":                      {"repository"},
	"github.com/jmoiron/sqlx":           {"repository"},
	"github.com/lib/pq":                 {"repository"},
	"github.com/golang-migrate/migrate": {"repository"},
	"github.com/stripe/stripe-go":       {"provider/stripe"},
	"github.com/labstack/echo":          {"api"},
	"github.com/spf13/cobra":            {"cmd"},
	"net/http":                          {"api", "web", "cmd", "client", "simulator", "provider/stripe", "payment"},
}

// onlyInTestsOf are further packages whose tests may: the simulator is asked by the client it is made for.
var onlyInTestsOf = map[string][]string{"github.com/stripe/stripe-go": {"simulator"}}

// forTests has no place in the binary.
var forTests = []string{"testing", "net/http/httptest", "github.com/stretchr/testify", "github.com/google/go-cmp",
	"pgregory.net/rapid", "github.com/chromedp/chromedp", "github.com/compose-spec/compose-go",
	"github.com/getkin/kin-openapi", "github.com/santhosh-tekuri/jsonschema"}

// noNames are names that say nothing about what is inside, so that everything ends up there.
var noNames = []string{"pkg", "util", "utils", "common", "service", "services", "model", "models", "helper", "helpers"}

const longestFile, longestFunction = 450, 70 // lines

// listed is what go list tells of a package.
type listed struct {
	ImportPath, Dir string
	EmbedFiles      []string
	Imports         []string
	TestImports     []string // of tests inside the package
	XTestImports    []string // of tests that see it from outside
}

func goList(t *testing.T, patterns ...string) (all []listed) {
	t.Helper()
	const fields = "-json=ImportPath,Dir,EmbedFiles,Imports,TestImports,XTestImports"
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", fields}, patterns...)...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	require.NoError(t, err, complaints.String())
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			require.NoError(t, err)
		}
		all = append(all, p)
	}
}

// within reports whether an import path is one of the given ones or below it.
func within(importPath string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return importPath == f || strings.HasPrefix(importPath, f+"/") })
}

// support reports whether a package exists for tests only: its name ends with test, as httptest's does.
func support(importPath string) bool { return strings.HasSuffix(importPath, "test") }

func importProblems(p listed) (problems []string) {
	wrong := func(format string, args ...any) {
		problems = append(problems, p.ImportPath+": "+fmt.Sprintf(format, args...))
	}
	inner, _ := strings.CutPrefix(p.ImportPath, module+"/")
	top, _, _ := strings.Cut(inner, "/")
	allowed, known := layers[top]
	if !known {
		wrong("is new: decide in layers what it may import, and who may import it")
	}
	for _, name := range noNames {
		if slices.Contains(strings.Split(inner, "/"), name) {
			wrong("%q names no thing: name the package after what it holds", name)
		}
	}
	for _, imported := range p.Imports {
		if ours, ok := strings.CutPrefix(imported, module+"/"); ok && known && !within(ours, allowed) {
			wrong("imports %s, and may import %v of ours: the layers are read from the inside out", ours, allowed)
		}
		if top == "domain" && strings.Contains(strings.Split(imported, "/")[0], ".") {
			wrong("imports %s: the rules of the business depend on the standard library only", imported)
		}
		if !support(p.ImportPath) && (within(imported, forTests) || strings.HasPrefix(imported, module+"/") && support(imported)) {
			wrong("imports %s: what is for tests has no place in the binary", imported)
		}
		if library, homes := homesOf(imported); library != "" && !within(inner, homes) {
			wrong("imports %s: only %v may, so that it is understood and replaced in one place", imported, homes)
		}
	}
	for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
		ours, isOurs := strings.CutPrefix(imported, module+"/")
		if isOurs && within(ours, outermost) && top != "cmd" && !within(ours, []string{top}) {
			wrong("a test imports %s: only cmd knows %v", ours, outermost)
		}
		if library, homes := homesOf(imported); library != "" && !within(inner, slices.Concat(homes, onlyInTestsOf[library])) {
			wrong("a test imports %s: only those of %v may", imported, homes)
		}
	}
	return problems
}

func homesOf(imported string) (library string, homes []string) {
	for library, homes := range onlyIn {
		if within(imported, []string{library}) && !within(imported, forTests) {
			return library, homes
		}
	}
	return "", nil
}

func TestImports(t *testing.T) {
	t.Parallel()
	for _, p := range goList(t, "./...") {
		if p.ImportPath == module && len(p.Imports) == 0 {
			continue // the folder of these tests
		}
		for _, problem := range importProblems(p) {
			t.Error(problem)
		}
	}
}

func TestImports_RulesCatchWhatTheyForbid(t *testing.T) {
	t.Parallel()
	imports := func(path string, imported ...string) listed { return listed{ImportPath: path, Imports: imported} }
	test := func(path string, imported ...string) listed { return listed{ImportPath: path, XTestImports: imported} }
	for _, row := range []struct {
		situation string
		listed    listed
		says      string // "" when it is allowed
	}{
		{"inwards", imports("payonce/payment", "payonce/domain", "payonce/repository", "errors"), ""},
		{"outwards", imports("payonce/domain", "payonce/payment"), "from the inside out"},
		{"sideways", imports("payonce/provider/stripe", "payonce/repository"), "from the inside out"},
		{"the interface from inside", imports("payonce/payment", "payonce/api"), "from the inside out"},
		{"ours in the simulator", imports("payonce/simulator", "payonce/domain"), "from the inside out"},
		{"ours in the client", imports("payonce/client", "payonce/domain"), "from the inside out"},
		{"a library in the domain", imports("payonce/domain", "github.com/google/uuid"), "standard library only"},
		{"SQL outside", imports("payonce/payment", "database/sql"), "only [repository]"},
		{"the driver outside", imports("payonce/payment", "github.com/lib/pq/pqerror"), "only [repository]"},
		{"Stripe's client in the port", imports("payonce/provider", "github.com/stripe/stripe-go/v79"), "only [provider/stripe]"},
		{"Stripe's client in its adapter", imports("payonce/provider/stripe", "github.com/stripe/stripe-go/v79"), ""},
		{"the framework outside", imports("payonce/web", "github.com/labstack/echo/v4"), "only [api]"},
		{"a test's library in the product", imports("payonce/web", "github.com/stretchr/testify/require"), "no place in the binary"},
		{"a test's package in the product", imports("payonce/cmd/payonce", "payonce/repository/repositorytest"), "no place in the binary"},
		{"a test's library in a test's package", imports("payonce/provider/providertest", "testing", "payonce/provider"), ""},
		{"a new package", imports("payonce/billing"), "decide in layers"},
		{"a name for anything", imports("payonce/payment/util"), "names no thing"},
		{"a longer name", imports("payonce/payment/utilization"), ""},
		{"a test that looks from outside", test("payonce/api", "payonce/api", "payonce/simulator", "net/http/httptest"), ""},
		{"a test that reaches for the interface", test("payonce/payment", "payonce/api"), "only cmd knows"},
		{"a test that writes SQL", test("payonce/api", "github.com/jmoiron/sqlx"), "only those of [repository]"},
		{"a test with Stripe's client", test("payonce/simulator", "github.com/stripe/stripe-go/v79/client"), ""},
	} {
		found := strings.Join(importProblems(row.listed), "\n")
		if row.says == "" {
			require.Empty(t, found, row.situation)
		} else {
			require.Contains(t, found, row.says, row.situation)
		}
	}
}

// source is one Go file, read and parsed.
type source struct {
	path string
	text []byte
	set  *token.FileSet
	file *ast.File
}

func parse(path string, text []byte) (source, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	return source{path, text, set, file}, err
}

func (s source) line(at token.Pos) int { return s.set.Position(at).Line }

// isTest reports whether the file is no part of the product.
func (s source) isTest() bool {
	return strings.HasSuffix(s.path, "_test.go") || support(filepath.Dir(s.path))
}

// eachSource visits every Go file of the module. It reads them itself, which also tells the test cache what they are.
func eachSource(t *testing.T, visit func(source)) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || isModule(path)):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		s, err := parse(filepath.ToSlash(path), text)
		if err != nil {
			return err
		}
		visit(s)
		seen++
		return nil
	})
	require.NoError(t, err)
	require.NotZero(t, seen)
}

func isModule(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil
}

func sizeProblems(s source) (problems []string) {
	if lines := bytes.Count(s.text, []byte("\n")); lines > longestFile {
		problems = append(problems, fmt.Sprintf("%s has %d lines: split what is longer than %d by what it is about", s.path, lines, longestFile))
	}
	for _, declaration := range s.file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || s.isTest() {
			continue
		}
		if lines := s.line(function.End()) - s.line(function.Pos()) + 1; lines > longestFunction {
			problems = append(problems, fmt.Sprintf("%s:%d: %s has %d lines: a function fits a screen, which is %d",
				s.path, s.line(function.Pos()), function.Name.Name, lines, longestFunction))
		}
	}
	return problems
}

func TestSizes(t *testing.T) {
	t.Parallel()
	eachSource(t, func(s source) {
		for _, problem := range sizeProblems(s) {
			t.Error(problem)
		}
	})
}

func TestSizes_RulesCatchWhatTheyForbid(t *testing.T) {
	t.Parallel()
	body := func(lines int) string {
		return "package p\n\nfunc f() {\n" + strings.Repeat("\tg()\n", lines-2) + "}\n"
	}
	for _, row := range []struct {
		situation, path, text string
		problems              int
	}{
		{"a function of a screen", "p/p.go", body(longestFunction), 0},
		{"a line more", "p/p.go", body(longestFunction + 1), 1},
		{"a long test", "p/p_test.go", body(longestFunction + 1), 0},
		{"a long function that only tests use", "p/ptest/p.go", body(longestFunction + 1), 0},
		{"a file of the full length", "p/p.go", "package p\n" + strings.Repeat("\n", longestFile-1), 0},
		{"a line more, even in a test", "p/p_test.go", "package p\n" + strings.Repeat("\n", longestFile), 1},
	} {
		s, err := parse(row.path, []byte(row.text))
		require.NoError(t, err)
		require.Len(t, sizeProblems(s), row.problems, row.situation)
	}
}
