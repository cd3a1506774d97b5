package api_test

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"payonce/api"
	"payonce/domain"
)

// notRoutedYet are the operations that the document describes before they can be asked. The list must be exact: when an
// operation gets its route, its line here fails the test until it is gone.
var notRoutedYet []string

func openDocument(t *testing.T) *contract {
	t.Helper()
	c, err := document()
	require.NoError(t, err)
	return c
}

// operations are all operations of the document, by method and path.
func (c *contract) operations() map[string]place {
	all := map[string]place{}
	for _, path := range c.at("paths").members() {
		for _, method := range c.at("paths", path).members() {
			if method != "parameters" {
				all[strings.ToUpper(method)+" "+path] = c.at("paths", path, method)
			}
		}
	}
	return all
}

func TestOpenAPI_IsAValidDocument(t *testing.T) {
	t.Parallel()
	d, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	require.NoError(t, err)
	require.NoError(t, d.Validate(t.Context()))
	require.Equal(t, "3.1.0", d.OpenAPI)
}

func TestOpenAPI_DescribesTheRoutesAndNothingElse(t *testing.T) {
	t.Parallel()
	described := openDocument(t).operations()
	var notRouted, scopes []string
	for _, r := range api.Routes() {
		name := r.Method + " " + regexp.MustCompile(`:(\w+)`).ReplaceAllString(r.Path, "{$1}")
		op, ok := described[name]
		require.True(t, ok, "%s is a route and is not in openapi.yaml", name)
		delete(described, name)
		require.Equal(t, string(r.Role), op.text("x-role"), "role of %s", name)
		var query []string
		keyed := false
		for _, p := range op.list("parameters") {
			if p.text("in") == "query" {
				query = append(query, p.text("name"))
			}
			keyed = keyed || p.text("name") == "Idempotency-Key"
		}
		require.ElementsMatch(t, r.Query, query, "query of %s", name)
		require.Equal(t, r.Operation != "", keyed, "whether %s needs a key", name)
		if keyed {
			require.Equal(t, string(r.Operation), op.text("operationId"), "the scope of a key is called as the operation")
			scopes = append(scopes, op.text("operationId"))
		}
	}
	require.ElementsMatch(t, openDocument(t).at("components", "schemas", "KeyedOperation", "enum").value, scopes)
	for name := range described {
		notRouted = append(notRouted, name)
	}
	slices.Sort(notRouted)
	require.Equal(t, notRoutedYet, notRouted, "described without a route; a line of notRoutedYet that has its route now must go")
}

func TestOpenAPI_OptionsListTheMethodsOfAPath(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.do(t.Context(), b.url, http.MethodOptions, "/v1/orders", "")
	require.Equal(t, http.StatusNoContent, got.status)
	require.Equal(t, "OPTIONS, GET, POST", got.header.Get("Allow"))
	b.do(t.Context(), b.url, http.MethodOptions, "/v1/nothing", "").problem(http.StatusNotFound, "not-found")
}

func TestOpenAPI_EveryProblemIsDescribedAndComesUpSomewhere(t *testing.T) {
	t.Parallel()
	c := openDocument(t)
	used := usedProblems(c)
	table := api.Problems()
	for code, row := range table {
		schema := c.at("components", "schemas", string(code))
		require.True(t, schema.exists(), "%s has no schema", code)
		require.Equal(t, "/problems/"+string(code), schema.member("properties").member("type").text("const"), code)
		require.Equal(t, row.Title, schema.member("properties").member("title").text("const"), code)
		require.Equal(t, code.Final(), schema.member("x-final").value, "whether %s is stored under the key", code)
		require.Equal(t, false, schema.member("unevaluatedProperties").value, code)
		require.NoError(t, schema.member("properties").member("status").validateConst(row.Status), code)
		require.True(t, c.at("components", "examples", string(code)).exists(), "%s has no example", code)
		require.True(t, used[string(code)], "%s is in no answer", code)
		require.NotEmpty(t, row.Cause, code)
		require.NotEmpty(t, row.Cure, code)
	}
	for _, name := range c.at("components", "schemas").members() {
		if c.at("components", "schemas", name).member("x-final").exists() {
			require.Contains(t, table, domain.Code(name), "%s is described and does not exist", name)
		}
	}
}

func TestOpenAPI_EveryExampleIsValidAndShown(t *testing.T) {
	t.Parallel()
	c := openDocument(t)
	shown := map[string]bool{}
	c.walk(place{c, "", c.root}, func(p place) {
		schema := p.member("schema")
		if !schema.exists() {
			return
		}
		if example := p.member("example"); example.exists() {
			require.NoError(t, schema.validate(example.value), p.pointer)
		}
		for _, name := range p.member("examples").members() {
			example := p.member("examples").member(name)
			shown[example.pointer] = true
			require.True(t, example.member("value").exists(), "%s: no example %s", p.pointer, name)
			require.NoError(t, schema.validate(example.member("value").value), example.pointer)
		}
	})
	for _, name := range c.at("components", "examples").members() {
		require.True(t, shown["/components/examples/"+name], "the example %s is shown nowhere", name)
	}
	for _, name := range c.at("components", "schemas").members() {
		schema := c.at("components", "schemas", name)
		values, _ := schema.member("examples").value.([]any)
		for _, value := range values {
			require.NoError(t, schema.validate(value), name)
		}
	}
}

func TestOpenAPI_EveryPartIsUsed(t *testing.T) {
	t.Parallel()
	c, text := openDocument(t), string(api.OpenAPI())
	for _, kind := range []string{"schemas", "responses", "parameters", "headers", "examples"} {
		for _, name := range c.at("components", kind).members() {
			require.Contains(t, text, `"#/components/`+kind+`/`+name+`"`, "nothing refers to it")
		}
	}
}

func TestOpenAPI_ExamplesOfProblemsHaveTheHeadersOfTheirAnswers(t *testing.T) {
	t.Parallel()
	c := openDocument(t)
	described := map[string][]string{} // by problem: all headers that an answer with it may have
	c.walk(place{c, "", c.root}, func(response place) {
		examples := response.member("content").member("application/problem+json").member("examples")
		for _, code := range examples.members() {
			headers := response.member("headers")
			described[code] = append(described[code], headers.members()...)
			for _, name := range headers.members() {
				value := examples.member(code).member("x-response-headers").member(name)
				if value.exists() {
					require.NoError(t, headers.member(name).validateText(value.value.(string)), "%s of %s", name, code)
				}
				required := headers.member(name).member("required").value == true && name != "Request-Id"
				require.False(t, required && !value.exists(), "%s: the example %s lacks the header %s", response.pointer, code, name)
			}
		}
	})
	for code := range described {
		shown := c.at("components", "examples", code, "x-response-headers").members()
		require.Subset(t, described[code], shown, "the example %s has a header that its answers do not have", code)
	}
}

var requestLine = regexp.MustCompile(`^(GET|POST|PUT|PATCH|DELETE) (/[^ ?]*)(\?\S*)?\n([A-Za-z-]+: .+\n?)+(\n.+)?`)

func TestOpenAPI_ExamplesOfProblemsShowARequestThatCanBeSent(t *testing.T) {
	t.Parallel()
	c := openDocument(t)
	for code := range api.Problems() {
		parts := requestLine.FindStringSubmatch(c.at("components", "examples", string(code)).text("x-request"))
		require.NotNil(t, parts, code)
		path, known := c.find(parts[2])
		require.True(t, known, "%s: %s", code, parts[2])
		op := path.member(strings.ToLower(parts[1]))
		require.Equal(t, code != domain.CodeMethodNotAllowed, op.exists(), code)
		if !op.exists() {
			continue
		}
		instance := c.at("components", "examples", string(code), "value", "instance").value
		require.Equal(t, parts[2], instance, code)
		status := strconv.Itoa(api.Problems()[code].Status)
		require.Contains(t, op.member("responses").member(status).member("content").member("application/problem+json").member("examples").members(), string(code),
			"the request of the example cannot be answered with it")
	}
}
