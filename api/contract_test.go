package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/api"
)

// walk visits every object of the document, in place.
func (c *contract) walk(p place, visit func(place)) {
	switch value := p.value.(type) {
	case map[string]any:
		visit(p)
		for name, inner := range value {
			c.walk(place{c, p.pointer + "/" + escapePointer.Replace(name), inner}, visit)
		}
	case []any:
		for _, inner := range value {
			c.walk(place{c, p.pointer + "/-", inner}, visit)
		}
	}
}

// usedProblems are the kinds that some answer shows.
func usedProblems(c *contract) map[string]bool {
	used := map[string]bool{}
	c.walk(place{c, "", c.root}, func(p place) {
		for _, name := range p.member("content").member("application/problem+json").member("examples").members() {
			used[name] = true
		}
	})
	return used
}

// validateConst asserts that a schema allows exactly this number.
func (p place) validateConst(n int) error {
	encoded, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return p.validate(json.Number(encoded))
}

// ordered is an exchange as the document describes it.
func ordered(t *testing.T, c *contract) exchange {
	t.Helper()
	text := func(example string) []byte {
		encoded, err := json.Marshal(c.at("components", "examples", example, "value").value)
		require.NoError(t, err)
		return encoded
	}
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	return exchange{
		method: http.MethodPost, path: "/v1/orders", query: url.Values{}, request: header("Idempotency-Key", "order-8f14e45f"), sent: text("order-from-items"),
		status: http.StatusCreated, body: text("order"), header: header("Content-Type", "application/json", "Request-Id", "req_1", "Location", "/v1/orders/ord_1",
			"Idempotency-Expires", "Thu, 31 Dec 2026 03:38:45 GMT", "X-Content-Type-Options", "nosniff", "Cache-Control", "no-store",
			"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'", "Referrer-Policy", "no-referrer"),
	}
}

// remove takes a member out of a document.
func remove(t *testing.T, root any, steps ...string) {
	t.Helper()
	object, ok := root.(map[string]any)
	require.True(t, ok)
	for _, step := range steps[:len(steps)-1] {
		object, ok = object[step].(map[string]any)
		require.True(t, ok, step)
	}
	require.Contains(t, object, steps[len(steps)-1])
	delete(object, steps[len(steps)-1])
}

func TestContract_NoticesWhatTheDocumentLacks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		situation string
		without   []string
		says      string
	}{
		{"the document as it is", nil, ""},
		{"a route", []string{"paths", "/v1/orders"}, "the status is not described"},
		{"a method", []string{"paths", "/v1/orders", "post"}, "the status is not described"},
		{"a status", []string{"paths", "/v1/orders", "post", "responses", "201"}, "the status is not described"},
		{"a header", []string{"paths", "/v1/orders", "post", "responses", "201", "headers", "Idempotency-Expires"}, "the header Idempotency-Expires is not described"},
		{"a header of every answer", []string{"x-every-response", "headers", "Referrer-Policy"}, "the header Referrer-Policy is not described"},
		{"a media type", []string{"paths", "/v1/orders", "post", "responses", "201", "content", "application/json"}, "the media type application/json is not described"},
		{"the whole content", []string{"paths", "/v1/orders", "post", "responses", "201", "content"}, "a body is not described"},
		{"a member of the answer", []string{"components", "schemas", "Order", "properties", "total"}, "additional properties 'total' not allowed"},
		{"a member of a member", []string{"components", "schemas", "OrderItem", "properties", "sku"}, "additional properties 'sku' not allowed"},
		{"a member of the request", []string{"components", "schemas", "OrderOfItems", "properties", "expected_total"}, "additional properties 'expected_total' not allowed"},
	} {
		t.Run(row.situation, func(t *testing.T) {
			t.Parallel()
			c, err := parseContract(api.OpenAPI())
			require.NoError(t, err)
			seen := ordered(t, c)
			if row.without != nil {
				remove(t, c.root, row.without...)
			}
			found := strings.Join(c.check(seen), "\n")
			if row.says == "" {
				require.Empty(t, found)
			}
			require.Contains(t, found, row.says)
		})
	}
}

func TestContract_NoticesWhatTheServiceDoesOtherwise(t *testing.T) {
	t.Parallel()
	c := openDocument(t)
	for _, row := range []struct {
		situation string
		change    func(*exchange)
		says      string
	}{
		{"another status", func(x *exchange) { x.status = http.StatusTeapot }, "the status is not described"},
		{"another path", func(x *exchange) { x.path = "/v1/order" }, "the status is not described"},
		{"one header more", func(x *exchange) { x.header.Set("X-Powered-By", "y") }, "the header X-Powered-By is not described"},
		{"a header less", func(x *exchange) { x.header.Del("Request-Id") }, "the header Request-Id is missing"},
		{"a header of another form", func(x *exchange) { x.header.Set("Idempotency-Expires", "tomorrow") }, "the header Idempotency-Expires"},
		{"a member more", func(x *exchange) { x.body = []byte(strings.Replace(string(x.body), "{", `{"merchant_id":"mrc_1",`, 1)) }, "merchant_id"},
		{"a member less", func(x *exchange) { x.body = []byte(strings.Replace(string(x.body), `"total":3998`, `"sum":3998`, 1)) }, "missing property 'total'"},
		{"money with a fraction", func(x *exchange) {
			x.body = []byte(strings.Replace(string(x.body), `"total":3998`, `"total":39.98`, 1))
		}, "got number, want integer"},
		{"a time without a zone", func(x *exchange) { x.body = []byte(strings.Replace(string(x.body), `147388Z"`, `147388"`, 1)) }, "not valid date-time"},
		{"an unknown parameter was accepted", func(x *exchange) { x.query.Set("expand", "items") }, "the query parameter expand is not described"},
		{"no key was accepted", func(x *exchange) { x.request.Del("Idempotency-Key") }, "accepted without the header Idempotency-Key"},
		{"no items were accepted", func(x *exchange) { x.sent = []byte(`{"currency":"EUR","customer":{"email":"a@example.com"}}`) }, "the body of the request"},
		{"a problem of another operation", func(x *exchange) {
			x.status, x.body = http.StatusConflict, []byte(`{"type":"/problems/charge-in-progress","title":"Another charge of this order is not decided yet","status":409,"detail":"x","instance":"/","request_id":"req_1","charge_id":"chg_1"}`)
			x.header.Set("Content-Type", "application/problem+json")
		}, "'oneOf' failed"},
	} {
		t.Run(row.situation, func(t *testing.T) {
			t.Parallel()
			seen := ordered(t, c)
			row.change(&seen)
			require.Contains(t, strings.Join(c.check(seen), "\n"), row.says)
		})
	}
}
