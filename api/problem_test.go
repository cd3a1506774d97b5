package api_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/api"
	"payonce/domain"
	"payonce/payment"
)

func TestProblems_EveryCodeOfTheDomainHasARowAndAPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file, err := parser.ParseFile(token.NewFileSet(), "../domain/errors.go", nil, 0)
	require.NoError(t, err)
	codes := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		code, err := strconv.Unquote(literal.Value)
		require.NoError(t, err)
		codes++
		answer := api.Present(payment.Presentation{Result: payment.Result{Err: domain.E(domain.Code(code), nil, "x")}})
		if code != string(domain.CodeInternal) {
			require.NotEqual(t, http.StatusInternalServerError, answer.Status, "%s has no row", code)
		}
		require.Contains(t, string(answer.Body), `"type":"/problems/`+code+`"`)
		page := b.do(t.Context(), b.url, http.MethodGet, "/problems/"+code, "", header{"Accept", "text/html"})
		require.Equal(t, http.StatusOK, page.status)
		require.Contains(t, page.header.Get("Content-Type"), "text/html")
		require.NotContains(t, page.body, "<p></p>", "%s is not explained", code)
		return true
	})
	require.Greater(t, codes, 25)
}

func TestProblems_UnknownOnesHaveNoPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.do(t.Context(), b.url, http.MethodGet, "/problems/nothing", "").problem(http.StatusNotFound, "not-found")
}

func TestProblems_OtherErrorsTellNothing(t *testing.T) {
	t.Parallel()
	answer := api.Present(payment.Presentation{RequestID: "req_1", Result: payment.Result{Err: errors.New("pq: password authentication failed for user hunter2")}})
	require.Equal(t, http.StatusInternalServerError, answer.Status)
	require.NotContains(t, string(answer.Body), "hunter2")
	require.Contains(t, string(answer.Body), "req_1")
}
