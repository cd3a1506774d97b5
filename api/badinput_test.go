package api_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever comes in: a clear refusal that says what and where, and nothing written.

// unchanged asserts that a refusal left no trace.
func (b *bundle) unchanged() {
	b.t.Helper()
	require.Zero(b.t, b.db.Count(b.t, `SELECT (SELECT count(*) FROM orders) + (SELECT count(*) FROM charges) + (SELECT count(*) FROM carts)
		+ (SELECT count(*) FROM idempotency_keys WHERE operation <> 'products.create') + (SELECT sum(reserved) FROM stock)`))
}

func TestBadBodies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	valid := b.orderBody("1")
	with := func(old, new string) string { return strings.Replace(valid, old, new, 1) }
	const malformed, invalid = http.StatusBadRequest, http.StatusUnprocessableEntity
	for _, row := range []struct {
		situation string
		body      string
		status    int
		pointer   string
	}{
		{"nothing", " ", malformed, ""},
		{"null", "null", malformed, ""},
		{"a list", "[]", malformed, ""},
		{"two documents", valid + valid, malformed, ""},
		{"trailing text", valid + "x", malformed, ""},
		{"a duplicate member", with(`"currency":"EUR"`, `"currency":"EUR","currency":"EUR"`), malformed, "/currency"},
		{"a duplicate deep inside", with(`"quantity":1`, `"quantity":1,"quantity":2`), malformed, "/items/0/quantity"},
		{"an unknown member", with(`"currency"`, `"discount":5,"currency"`), malformed, "/discount"},
		{"price tampering", with(`"quantity"`, `"unit_amount":1,"quantity"`), malformed, "/items/0/unit_amount"},
		{"another case", with(`"currency"`, `"Currency"`), malformed, "/Currency"},
		{"the Kelvin sign", with(`"customer"`, `"customer":{"email":"a@example.com"},"\u212aey":1,"x"`), malformed, "/Key"},
		{"broken UTF-8", with("a@example", "a\xff@example"), malformed, "/customer/email"},
		{"a lone surrogate", with("a@example", `a\ud800@example`), malformed, "/customer/email"},
		{"NUL", with("a@example", `a\u0000@example`), malformed, "/customer/email"},
		{"a fraction", b.orderBody("1.0"), malformed, "/items/0/quantity"},
		{"an exponent", b.orderBody("1e2"), malformed, "/items/0/quantity"},
		{"text for a number", b.orderBody(`"2"`), malformed, "/items/0/quantity"},
		{"a leading zero", b.orderBody("02"), malformed, "/items/0/quantity"},
		{"minus zero", b.orderBody("-0"), malformed, "/items/0/quantity"},
		{"true for a number", b.orderBody("true"), malformed, "/items/0/quantity"},
		{"null for a number", b.orderBody("null"), malformed, "/items/0/quantity"},
		{"beyond 64 bits", b.orderBody("9223372036854775808"), malformed, "/items/0/quantity"},
		{"deep nesting", with(`"EUR"`, strings.Repeat("[", 5000)+strings.Repeat("]", 5000)), malformed, ""},
		{"null for what is required", with(`{"email":"a@example.com"}`, "null"), malformed, "/customer"},
		{"a negative quantity", b.orderBody("-1"), invalid, "/items/0/quantity"},
		{"no quantity at all", b.orderBody("0"), invalid, "/items/0/quantity"},
		{"64 bits of quantity", b.orderBody("9223372036854775807"), invalid, "/items/0/quantity"},
		{"a currency nobody sells in", with("EUR", "XXX"), invalid, "/currency"},
		{"a currency the product has no price in", with("EUR", "USD"), invalid, "/items/0/product_id"},
		{"a product of nobody", with(b.mug, "prd_unknown"), invalid, "/items/0/product_id"},
		{"SQL for a product", with(b.mug, "' OR 1=1--"), invalid, "/items/0/product_id"},
		{"no items", with(`{"product_id":"`+b.mug+`","quantity":1}`, ""), invalid, "/items"},
		{"too many items", with(`{"product_id":"`+b.mug+`","quantity":1}`, strings.Repeat(`{"product_id":"`+b.mug+`","quantity":1},`, 100)+`{"product_id":"`+b.mug+`","quantity":1}`), invalid, "/items"},
		{"no customer", with(`,"customer":{"email":"a@example.com"}`, ""), invalid, "/customer"},
		{"no address", with("a@example.com", "nobody"), invalid, "/customer/email"},
		{"a line break in an address", with("a@example.com", `a@example.com\r\nBcc: x@example.com`), invalid, "/customer/email"},
		{"too much metadata", with(`"currency"`, `"metadata":{"a":"`+strings.Repeat("x", 501)+`"},"currency"`), invalid, "/metadata/a"},
	} {
		t.Run(row.situation, func(t *testing.T) {
			slug := map[int]string{malformed: "malformed-json", invalid: "validation-failed"}[row.status]
			got := b.post(alpha, "/v1/orders", "k", row.body).problem(row.status, slug)
			require.NotEmpty(t, got.member("errors"))
			if row.pointer != "" {
				require.Contains(t, got.body, `"pointer":"`+row.pointer+`"`)
			}
			b.unchanged()
		})
	}
}

func TestBadBody_AllMistakesAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.post(alpha, "/v1/orders", "k", `{"items":[{"product_id":"x","quantity":0},{"quantity":10001}],"currency":"zzz","customer":{"email":"@"}}`).
		problem(http.StatusUnprocessableEntity, "validation-failed")
	for _, pointer := range []string{"/items/0/product_id", "/items/0/quantity", "/items/1/product_id", "/items/1/quantity", "/currency", "/customer/email"} {
		require.Contains(t, got.body, `"pointer":"`+pointer+`"`)
	}
}

func TestCardNumbers_AreRefusedAndNotRepeated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order := b.order("o")
	for _, body := range []string{
		`{"payment_method":"4242424242424242"}`, `{"payment_method":"4242 4242 4242 4242"}`, `{"payment_method":"pm_card_visa","card":{"number":5555555555554444}}`,
		`{"4000-0000-0000-0002":1}`,
	} {
		got := b.post(alpha, "/v1/orders/"+order+"/charges", "k", body).problem(http.StatusUnprocessableEntity, "card-data-not-accepted")
		require.NotContains(t, got.body, "42424242")
		require.NotContains(t, got.body, "4444")
	}
	require.Zero(t, b.db.Count(t, `SELECT count(*) FROM charges`))
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	auth, key := header{"Authorization", "Bearer " + alpha}, header{"Idempotency-Key", "k"}
	refused := func(headers ...header) {
		b.do(t.Context(), b.url, http.MethodPost, "/v1/carts", `{"currency":"EUR"}`, append(headers, auth, key)...).
			problem(http.StatusUnsupportedMediaType, "unsupported-media-type")
	}
	refused()
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml", "application/jsonp",
		"application/json-patch+json", "application/json; charset=latin1", "nonsense"} {
		refused(header{"Content-Type", kind})
	}
	refused(header{"Content-Type", "application/json"}, header{"Content-Type", "application/json"})
	refused(header{"Content-Type", "application/json"}, header{"Content-Encoding", "gzip"})
	b.unchanged()
	ok := b.do(t.Context(), b.url, http.MethodPost, "/v1/carts", `{"currency":"EUR"}`, auth, key, header{"Content-Type", `Application/JSON; charset="UTF-8"`})
	require.Equal(t, http.StatusCreated, ok.status, ok.body)
}

func TestBodyTooLarge_WithLengthAndChunked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	huge := `{"currency":"` + strings.Repeat("E", 64<<10) + `"}`
	b.post(alpha, "/v1/carts", "k", huge).problem(http.StatusRequestEntityTooLarge, "body-too-large")
	got := b.raw("POST /v1/carts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + alpha + "\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
		fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(huge), huge))
	require.Equal(t, http.StatusRequestEntityTooLarge, got)
	b.unchanged()
}

func TestBodyThatIsBrokenOff_IsTheCallersMistake(t *testing.T) {
	t.Parallel()
	b := setup(t)
	head := "POST /v1/carts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + alpha + "\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\n"
	for situation, rest := range map[string]string{
		"bad chunk length": "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
		"cut in a chunk":   "Transfer-Encoding: chunked\r\n\r\n10\r\n{}",
		"less than said":   "Content-Length: 100\r\n\r\n{}",
	} {
		require.Equal(t, http.StatusBadRequest, b.raw(head+rest), situation)
	}
	b.unchanged()
}

func TestHeadersTooLarge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.send(alpha, http.MethodGet, "/v1/orders", "", header{"X-Long", strings.Repeat("x", 17<<10)}).problem(http.StatusRequestHeaderFieldsTooLarge, "headers-too-large")
	b.post(alpha, "/v1/carts", strings.Repeat("k", 32000), `{"currency":"EUR"}`).problem(http.StatusRequestHeaderFieldsTooLarge, "headers-too-large")
	b.get(alpha, "/v1/orders?"+strings.Repeat("x", 17<<10)).problem(http.StatusRequestHeaderFieldsTooLarge, "headers-too-large")
	b.get(alpha, "/v1/orders?customer_email=4242424242424242@example.com").problem(http.StatusUnprocessableEntity, "card-data-not-accepted")
	b.unchanged()
}

// raw sends bytes as they are and reads the status.
func (b *bundle) raw(request string) int {
	b.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	require.NoError(b.t, err)
	defer conn.Close()
	_, err = conn.Write([]byte(request))
	require.NoError(b.t, err)
	if tcp, ok := conn.(*net.TCPConn); ok {
		require.NoError(b.t, tcp.CloseWrite()) // nothing more will come
	}
	got, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(b.t, err)
	require.NoError(b.t, got.Body.Close())
	return got.StatusCode
}

func TestQueries_UnknownRepeatedAndMalformedAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for path, parameter := range map[string]string{
		"/v1/orders?limit=0":                              "limit",
		"/v1/orders?limit=101":                            "limit",
		"/v1/orders?limit=-1":                             "limit",
		"/v1/orders?limit=1e3":                            "limit",
		"/v1/orders?limit=+1":                             "limit",
		"/v1/orders?limit=":                               "limit",
		"/v1/orders?limit=1&limit=2":                      "limit",
		"/v1/orders?sort=created_at;DROP":                 "",
		"/v1/orders?tenant_id=mrc_beta":                   "tenant_id",
		"/v1/orders?status[]=paid":                        "status[]",
		"/v1/orders?status=nothing":                       "status",
		"/v1/orders?created_after=0001-01-01T00:00:00Z":   "created_after",
		"/v1/orders?created_before=yesterday":             "created_before",
		"/v1/orders?starting_after=ord_unknown":           "starting_after",
		"/v1/orders?starting_after=%27":                   "starting_after",
		"/v1/charges?order_id=%00":                        "order_id",
		"/v1/orders?customer_email=%ff":                   "customer_email",
		"/v1/products/" + b.mug + "?expand=prices":        "expand",
		"/healthz?x=1":                                    "x",
		"/v1/orders?" + strings.Repeat("x", 200) + "=1":   strings.Repeat("x", 64),
		"/v1/orders?api_key=" + alpha + "&limit=" + "100": "api_key",
	} {
		got := b.get(alpha, path).problem(http.StatusBadRequest, "invalid-parameter")
		require.Equal(t, parameter, got.text("parameter"), path)
	}
	b.post(alpha, "/v1/carts?merchant=beta", "k", `{"currency":"EUR"}`).problem(http.StatusBadRequest, "invalid-parameter")
	b.unchanged()
}

func TestPaths_ThatNameNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{"/nothing", "/v1", "/v1/nothing", "/v1/orders/", "/v1/orders/ord_unknown", "/v1/orders/..%2fcarts",
		"/v1/orders/%27%20OR%201=1", "/v1/orders/" + strings.Repeat("x", 300), "/v1/orders/ORD_1", "/v1/orders/" + b.mug, "/v1/charges/chg_1"} {
		b.get(alpha, path).problem(http.StatusNotFound, "not-found")
	}
	got := b.send(alpha, http.MethodDelete, "/v1/orders", "").problem(http.StatusMethodNotAllowed, "method-not-allowed")
	require.Contains(t, got.header.Get("Allow"), "POST")
	b.send(alpha, http.MethodPost, "/v1/orders/ord_unknown/charges", goodCard, header{"Idempotency-Key", "k"}).problem(http.StatusNotFound, "not-found")
	b.unchanged()
}

func TestAuthentication_AllRefusalsAreAlike(t *testing.T) {
	t.Parallel()
	b := setup(t)
	bodies := map[string]bool{}
	for _, headers := range [][]header{
		nil,
		{{"Authorization", "Bearer "}},
		{{"Authorization", "Bearer sk_test_alph"}},
		{{"Authorization", "Basic c2tfdGVzdF9hbHBoYTo="}},
		{{"Authorization", "Bearer " + alpha}, {"Authorization", "Bearer " + alpha}},
		{{"Authorization", alpha}},
		{{"Authorization", "Bearer " + strings.Repeat("x", 5000)}},
	} {
		got := b.do(t.Context(), b.url, http.MethodGet, "/v1/orders", "", headers...).problem(http.StatusUnauthorized, "unauthenticated")
		require.Equal(t, `Bearer realm="payonce"`, got.header.Get("WWW-Authenticate"))
		bodies[strings.Replace(got.body, got.text("request_id"), "", 1)] = true
	}
	require.Len(t, bodies, 1)
	b.db.Exec(t, `UPDATE api_keys SET revoked_at = now() WHERE api_key_id = 'key_reader'`)
	b.get(reader, "/v1/orders").problem(http.StatusUnauthorized, "unauthenticated")
}

func TestOtherMerchants_SeeNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order := b.order("o")
	charge := b.post(alpha, "/v1/orders/"+order+"/charges", "k", goodCard).text("id")
	cart := b.post(alpha, "/v1/carts", "k", `{"currency":"EUR"}`).text("id")
	for _, path := range []string{"/v1/orders/" + order, "/v1/charges/" + charge, "/v1/products/" + b.mug, "/v1/products/" + b.mug + "/stock", "/v1/carts/" + cart} {
		require.Equal(t, http.StatusOK, b.get(alpha, path).status, path)
		b.get(beta, path).problem(http.StatusNotFound, "not-found")
	}
	b.post(beta, "/v1/orders/"+order+"/charges", "k", goodCard).problem(http.StatusNotFound, "not-found")
	b.send(beta, http.MethodPut, "/v1/products/"+b.mug+"/stock", `{"on_hand":1}`).problem(http.StatusNotFound, "not-found")
	b.send(beta, http.MethodPatch, "/v1/products/"+b.mug, `{"name":"Mine"}`).problem(http.StatusNotFound, "not-found")
	b.send(beta, http.MethodPut, "/v1/carts/"+cart+"/items/"+b.mug, `{"quantity":1}`).problem(http.StatusNotFound, "not-found")
	b.send(beta, http.MethodDelete, "/v1/carts/"+cart+"/items/"+b.mug, "").problem(http.StatusNotFound, "not-found")
	b.post(beta, "/v1/orders", "k", b.orderBody("1")).problem(http.StatusUnprocessableEntity, "validation-failed")
	require.Contains(t, b.get(beta, "/v1/orders").body, `"data":[]`)
	require.Contains(t, b.get(beta, "/v1/charges").body, `"data":[]`)
}

func TestAccept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for accept, status := range map[string]int{
		"*/*": 200, "application/json": 200, "application/*;q=0.5": 200, "text/html,application/xhtml+xml,*/*;q=0.8": 200, "application/problem+json": 200,
		"text/html": 406, "application/json;q=0": 406, "image/png, text/plain": 406,
	} {
		got := b.send(alpha, http.MethodGet, "/v1/orders", "", header{"Accept", accept})
		require.Equal(t, status, got.status, accept)
		if status == http.StatusNotAcceptable {
			got.problem(status, "not-acceptable")
		}
	}
}

func TestCardNumbers_InPathsQueriesAndBrokenBodies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const card = "4242424242424242"
	for _, path := range []string{"/v1/orders?" + card + "=1", "/v1/orders?limit=" + card, "/v1/orders?x=;" + card, "/docs?" + card, "/v1/orders/" + card,
		"/v1/orders/ord_" + card, "/problems/" + card} {
		got := b.get(alpha, path).problem(http.StatusUnprocessableEntity, "card-data-not-accepted")
		require.NotContains(t, got.body, card, path)
	}
	require.NotContains(t, b.get(alpha, "/nothing/"+card).problem(http.StatusNotFound, "not-found").body, card)
	for _, body := range []string{card, `"` + card + `"`, `[` + card + `]`, `{"currency":"EUR","x":"` + card, `{} ` + card} {
		b.post(alpha, "/v1/carts", "k", body).problem(http.StatusUnprocessableEntity, "card-data-not-accepted")
	}
	order := b.order("o")
	for _, token := range []string{"pm_" + card, "tok_" + card, "4242_4242_4242_4242"} {
		got := b.post(alpha, "/v1/orders/"+order+"/charges", "k", `{"payment_method":"`+token+`"}`).problem(http.StatusUnprocessableEntity, "card-data-not-accepted")
		require.NotContains(t, got.body, "4242")
	}
	require.Zero(t, b.db.Count(t, `SELECT count(*) FROM charges`))
}
