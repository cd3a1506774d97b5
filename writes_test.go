package payonce_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Writes exist only on *repository.Tx. The types say so as long as nobody goes around them: a statement on the pool
// commits by itself, without the key, the answer and the event that belong to it, and database/sql may run it a second
// time on another connection without saying so. A read on the pool sees another moment than the transaction beside it.

// outsideTx are the functions, or whole files, that use a connection or the pool itself, and why they must.
var outsideTx = map[string]string{
	"repository/store.go:Ready":             "it reads one row before there is anything to write",
	"repository/database.go:EnsureDatabase": "CREATE DATABASE cannot run in a transaction",
	"repository/migrate.go":                 "migrations have a connection of their own and touch no money",
	"repository/scope.go:BeginTx":           "it is how a transaction begins",
	"repository/role.go":                    "a role belongs to the server, not to a database, and only migrations make it",
	"repository/localpg/start.go:ping":      "it reads a setting of the server that it has started",
	"repository/localpg/start.go:equip":     "it gives a right to a role of the server that it has started",
}

var (
	// executes are the methods and sqlx functions that run a statement for its effect.
	executes = regexp.MustCompile(`^(Exec|MustExec|NamedExec)(Context)?$`)
	// queries are those that run one for its rows; with RETURNING those have effects, too.
	queries = regexp.MustCompile(`^(Query|Queryx|QueryRow|QueryRowx|NamedQuery|Get|Select|Prepare|Preparex|PrepareNamed)(Context)?$`)
	// writing is a statement that changes something, also behind a WITH.
	writing = regexp.MustCompile(`(?i)\b(insert\s+into|merge\s+into|delete\s+from|truncate\s+\w|update\s+(only\s+)?\w+\s+(as\s+)?(\w+\s+)?set)\b`)
)

// method is where a statement stands: a function, and the receiver if it is a method.
type method struct{ name, receiver, receiverType string }

func enclosing(declaration ast.Decl) (m method) {
	function, ok := declaration.(*ast.FuncDecl)
	if !ok {
		return m
	}
	m.name = function.Name.Name
	if function.Recv == nil {
		return m
	}
	m.receiverType = dotted(function.Recv.List[0].Type)
	if names := function.Recv.List[0].Names; len(names) > 0 {
		m.receiver = names[0].Name
	}
	return m
}

// dotted writes an expression of names, stars and dots as the source does; anything else is a question mark.
func dotted(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return "*" + dotted(e.X)
	case *ast.SelectorExpr:
		return dotted(e.X) + "." + e.Sel.Name
	default:
		return "?"
	}
}

// onPool reports whether an expression is a pool by the name that pools have here.
func onPool(name string) bool { return name == "db" || strings.HasSuffix(name, ".db") }

func writeProblems(s source) (problems []string) {
	if s.isTest() {
		return nil
	}
	for _, declaration := range s.file.Decls {
		in := enclosing(declaration)
		exempt := outsideTx[s.path] != "" || outsideTx[s.path+":"+in.name] != ""
		inTx := in.receiverType == "*Tx" && within(s.path, []string{"repository"})
		wrong := func(at token.Pos, format string, args ...any) {
			problems = append(problems, fmt.Sprintf("%s:%d: ", s.path, s.line(at))+fmt.Sprintf(format, args...))
		}
		ast.Inspect(declaration, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				on, name, ok := target(n)
				switch {
				case ok && name == "Bind":
					wrong(n.Pos(), "Bind: a body could overwrite the ids of the path, and a form would pass for JSON; use strictjson")
				case exempt || !ok:
				case executes.MatchString(name) && !(inTx && on == in.receiver+".q"):
					wrong(n.Pos(), "%s.%s: a statement outside a transaction commits alone and may silently run twice; make it a method of *Tx that uses its q", on, name)
				case queries.MatchString(name) && onPool(on):
					wrong(n.Pos(), "%s on the pool: it sees another moment than the transaction; make it a method of Reader, or name it in outsideTx", name)
				}
			case *ast.BasicLit:
				if n.Kind == token.STRING && within(s.path, []string{"repository"}) && writing.MatchString(n.Value) && !inTx && !exempt {
					wrong(n.Pos(), "a statement that writes stands outside the methods of *Tx, where it could run without a transaction")
				}
			}
			return true
		})
	}
	return problems
}

// target tells what a call is made on and what is called. sqlx's functions take what they work on as an argument.
func target(call *ast.CallExpr) (on, name string, ok bool) {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", "", false
	}
	on, name = dotted(selector.X), selector.Sel.Name
	if on != "sqlx" {
		return on, name, true
	}
	position := 0
	if strings.HasSuffix(name, "Context") {
		position = 1
	}
	if len(call.Args) <= position {
		return "", "", false
	}
	return dotted(call.Args[position]), name, true
}

func TestWrites(t *testing.T) {
	t.Parallel()
	eachSource(t, func(s source) {
		for _, problem := range writeProblems(s) {
			t.Error(problem)
		}
	})
}

func TestWrites_ExceptionsExist(t *testing.T) {
	t.Parallel()
	var places []string
	eachSource(t, func(s source) {
		places = append(places, s.path)
		for _, declaration := range s.file.Decls {
			places = append(places, s.path+":"+enclosing(declaration).name)
		}
	})
	for place := range outsideTx {
		require.True(t, slices.Contains(places, place), "%s is gone; so should be its exception in outsideTx", place)
	}
}

func TestWrites_RulesCatchWhatTheyForbid(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ situation, path, body, says string }{
		{"a write in a transaction", "repository/x.go", "func (tx *Tx) F() { tx.q.ExecContext(ctx, `INSERT INTO charges`) }", ""},
		{"on the pool", "repository/x.go", "func (s *Store) F() { s.db.ExecContext(ctx, x) }", "commits alone"},
		{"on the pool, by another name", "repository/x.go", "func f(pool *sql.DB) { pool.Exec(x) }", "commits alone"},
		{"by the reader", "repository/x.go", "func (r Reader) F() { r.q.ExecContext(ctx, x) }", "commits alone"},
		{"by sqlx's function", "repository/x.go", "func (s *Store) F() { sqlx.MustExec(s.db, x) }", "commits alone"},
		{"by a named statement", "repository/x.go", "func (s *Store) F() { s.db.NamedExecContext(ctx, x, y) }", "commits alone"},
		{"in a *Tx, but on the pool", "repository/x.go", "func (tx *Tx) F() { tx.store.db.Exec(x) }", "commits alone"},
		{"in somebody else's Tx", "payment/x.go", "func (tx *Tx) F() { tx.q.Exec(x) }", "commits alone"},
		{"in a function literal", "repository/x.go", "var f = func() { db.Exec(x) }", "commits alone"},
		{"a read on the reader", "repository/x.go", "func (r Reader) F() { sqlx.GetContext(ctx, r.q, &row, `SELECT 1`) }", ""},
		{"a read on the pool", "repository/x.go", "func (s *Store) F() { s.db.QueryRowContext(ctx, `SELECT 1`) }", "another moment"},
		{"a read on the pool by sqlx", "repository/x.go", "func (s *Store) F() { sqlx.SelectContext(ctx, s.db, &rows, `SELECT 1`) }", "another moment"},
		{"a map's Get", "api/x.go", "func f() { r.Header.Get(`Accept`); c.Get(key) }", ""},
		{"a write that returns rows", "repository/x.go", "func (r Reader) F() { sqlx.GetContext(ctx, r.q, &row, `insert  into charges RETURNING id`) }", "outside the methods of *Tx"},
		{"a write behind a WITH", "repository/x.go", "func (r Reader) F() { f(`WITH x AS (UPDATE charges c SET state = 1 RETURNING 1) SELECT 1`) }", "outside the methods of *Tx"},
		{"a write kept for later", "repository/x.go", "const drop = `DELETE FROM charges`", "outside the methods of *Tx"},
		{"a lock is no write", "repository/x.go", "func (r Reader) F() { f(`SELECT 1 FROM orders FOR UPDATE`) }", ""},
		{"words about a write", "web/x.go", "const text = `delete from the cart`", ""},
		{"a known exception", "repository/store.go", "func (s *Store) Ready() { sqlx.GetContext(ctx, s.db, &row, x) }", ""},
		{"its neighbour", "repository/store.go", "func (s *Store) Steady() { sqlx.GetContext(ctx, s.db, &row, x) }", "another moment"},
		{"a test", "repository/x_test.go", "func f() { db.Exec(`DELETE FROM charges`) }", ""},
		{"a test's package", "repository/repositorytest/x.go", "func f() { db.Exec(`DELETE FROM charges`) }", ""},
		{"echo's Bind", "api/x.go", "func f() { c.Bind(&body) }", "use strictjson"},
	} {
		s, err := parse(row.path, []byte("package p\n\n"+row.body+"\n"))
		require.NoError(t, err, row.situation)
		found := strings.Join(writeProblems(s), "\n")
		if row.says == "" {
			require.Empty(t, found, row.situation)
		} else {
			require.Contains(t, found, row.says, row.situation)
		}
	}
}
