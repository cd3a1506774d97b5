package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/api"
	"payonce/domain"
	"payonce/migrations"
)

// What happens before anything is looked at: requests that are none, callers that ask too much, and where they come from.

// edge is the interface as the program runs it, on a server of its own that the tests may have changed. Nothing of what
// is seen there may be missing in the contract.
func (b *bundle) edge(change func(*api.Options)) *bundle {
	b.t.Helper()
	options := api.Options{Payments: b.service, SchemaVersion: migrations.Latest()}
	change(&options)
	served := api.New(options)
	server := &http.Server{Handler: contracted(b.t, served), MaxHeaderBytes: 64 << 10, ReadHeaderTimeout: time.Minute}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b.t, err)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(served.Guard(server, listener, 100)) }()
	b.t.Cleanup(func() {
		require.NoError(b.t, server.Close())
		require.ErrorIs(b.t, <-ended, http.ErrServerClosed)
	})
	at := *b
	at.url = "http://" + listener.Addr().String()
	return &at
}

func unchangedOptions(*api.Options) {}

// socket is one connection on which bytes are sent as they are.
type socket struct {
	b    *bundle
	conn net.Conn
	in   *bufio.Reader
}

func (b *bundle) dial() *socket {
	b.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	require.NoError(b.t, err)
	b.t.Cleanup(func() { _ = conn.Close() })
	require.NoError(b.t, conn.SetDeadline(time.Now().Add(30*time.Second))) // what hangs fails
	return &socket{b, conn, bufio.NewReader(conn)}
}

func (w *socket) send(format string, args ...any) *socket {
	w.b.t.Helper()
	_, err := fmt.Fprintf(w.conn, format, args...)
	require.NoError(w.b.t, err)
	return w
}

func (w *socket) read() answer {
	w.b.t.Helper()
	got, err := http.ReadResponse(w.in, nil)
	require.NoError(w.b.t, err)
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	require.NoError(w.b.t, err)
	return answer{w.b.t, got.StatusCode, got.Header, string(body)}
}

// closed asserts that nothing more comes.
func (w *socket) closed() {
	w.b.t.Helper()
	rest, err := io.ReadAll(w.in)
	require.NoError(w.b.t, err)
	require.Empty(w.b.t, string(rest))
}

// hardened asserts the headers that every answer has.
func (a answer) hardened() answer {
	a.t.Helper()
	for name, value := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'"} {
		require.Equal(a.t, value, a.header.Get(name), name)
	}
	require.True(a.t, strings.HasPrefix(a.header.Get("Request-Id"), "req_"))
	require.Empty(a.t, a.header.Get("Strict-Transport-Security"), "it means nothing over plain HTTP")
	return a
}

func TestRequestsThatAreNone_AreRefusedAsAProblem(t *testing.T) {
	t.Parallel()
	b := setup(t).edge(unchangedOptions)
	head := "POST /v1/carts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + alpha + "\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\n"
	for _, row := range []struct {
		situation, request string
		status             int
	}{
		{"not HTTP", "\x16\x03\x01\x00\xa5\x01\r\n\r\n", http.StatusBadRequest},
		{"half a request line", "GET /v1/orders\r\n\r\n", http.StatusBadRequest},
		{"an odd method", "G\x00T / HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusBadRequest},
		{"another version", "GET / HTTP/3.0\r\nHost: x\r\n\r\n", http.StatusHTTPVersionNotSupported},
		{"no host", "GET / HTTP/1.1\r\n\r\n", http.StatusBadRequest},
		{"two hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", http.StatusBadRequest},
		{"a line feed in a name", "GET / HTTP/1.1\r\nHost: x\r\nX-A\nB: 1\r\n\r\n", http.StatusBadRequest},
		{"a space before the colon", head + "X-A : 1\r\n\r\n", http.StatusBadRequest},
		{"a NUL in a header", head + "X-A: \x00\r\n\r\n", http.StatusBadRequest},
		{"two lengths", head + "Content-Length: 18\r\nContent-Length: 19\r\n\r\n" + `{"currency":"EUR"}`, http.StatusBadRequest},
		{"a length with a sign", head + "Content-Length: +18\r\n\r\n" + `{"currency":"EUR"}`, http.StatusBadRequest},
		{"a negative length", head + "Content-Length: -1\r\n\r\n", http.StatusBadRequest},
		{"an unknown encoding of the transfer", head + "Transfer-Encoding: gzip, chunked\r\n\r\n", http.StatusNotImplemented},
		{"an expectation nobody knows", head + "Expect: 200-ok\r\nContent-Length: 18\r\n\r\n" + `{"currency":"EUR"}`, http.StatusExpectationFailed},
		{"a key of 900 kB", head + "X-A: " + strings.Repeat("k", 900<<10) + "\r\n\r\n", http.StatusRequestHeaderFieldsTooLarge},
	} {
		t.Run(row.situation, func(t *testing.T) {
			w := b.dial()
			go func() { _, _ = w.conn.Write([]byte(row.request)) }() // the server may stop reading before the end
			got := w.read().hardened()
			require.Equal(t, row.status, got.status, got.body)
			require.Equal(t, "application/problem+json", got.header.Get("Content-Type"))
			require.InDelta(t, row.status, got.member("status"), 0)
			require.Equal(t, got.header.Get("Request-Id"), got.text("request_id"))
			require.NotEmpty(t, got.text("title"))
			require.NotEmpty(t, got.text("detail"))
			b.unchanged()
		})
	}
	got := b.dial().send("%s", head+"X-A: "+strings.Repeat("k", 20<<10)+"\r\n\r\n").read().hardened()
	require.Equal(t, "/problems/headers-too-large", got.text("type"))
}

func TestRequestThatIsNone_AfterGoodOnesOnOneConnection(t *testing.T) {
	t.Parallel()
	b := setup(t).edge(unchangedOptions)
	w := b.dial()
	for range 3 {
		require.Equal(t, http.StatusOK, w.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").read().status)
	}
	got := w.send("nonsense\r\n\r\n").read().hardened()
	require.Equal(t, http.StatusBadRequest, got.status)
	require.Equal(t, "about:blank", got.text("type"))
	w.closed()
}

func TestLengthAndChunks_TheChunksCountAndTheConnectionEnds(t *testing.T) {
	t.Parallel()
	b := setup(t).edge(unchangedOptions)
	w := b.dial().send("POST /v1/carts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\n"+
		"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n12\r\n{\"currency\":\"EUR\"}\r\n0\r\n\r\nGET /v1/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", alpha, alpha)
	require.Equal(t, http.StatusCreated, w.read().status)
	w.closed() // what came behind is not taken for a second request
}

func TestExpectContinue_WithABadKeyGetsTheRefusalAndNotTheGoAhead(t *testing.T) {
	t.Parallel()
	b := setup(t).edge(unchangedOptions)
	for situation, row := range map[string]struct {
		secret, key string
		status      int
	}{
		"API key": {"sk_test_wrong", "k", http.StatusUnauthorized}, "idempotency key": {alpha, "a, b \xff", http.StatusBadRequest},
	} {
		w := b.dial().send("POST /v1/carts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nIdempotency-Key: %s\r\nContent-Type: application/json\r\n"+
			"Content-Length: 18\r\nExpect: 100-continue\r\n\r\n", row.secret, row.key)
		require.Equal(t, row.status, w.read().status, situation) // the body was never sent
	}
	w := b.dial().send("POST /v1/carts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\n"+
		"Content-Length: 18\r\nExpect: 100-continue\r\n\r\n", alpha)
	require.Equal(t, http.StatusContinue, w.read().status)
	require.Equal(t, http.StatusCreated, w.send(`{"currency":"EUR"}`).read().status)
}

func TestMethodOverride_IsIgnored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, name := range []string{"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"} {
		got := b.post(alpha, "/v1/carts", "k"+strconv.Itoa(i), `{"currency":"EUR"}`, header{name, http.MethodDelete})
		require.Equal(t, http.StatusCreated, got.status, got.body)
	}
}

func TestPreflight_GivesNoOtherSiteLeave(t *testing.T) {
	t.Parallel()
	b := setup(t).edge(unchangedOptions)
	for _, path := range []string{"/v1/orders", "/v1/carts", "/healthz", "/nothing"} {
		got := b.do(t.Context(), b.url, http.MethodOptions, path, "", header{"Origin", "https://evil.example"}, header{"Access-Control-Request-Method", http.MethodPost},
			header{"Access-Control-Request-Headers", "authorization, idempotency-key"}).hardened()
		for name := range got.header {
			require.NotContains(t, name, "Access-Control", path)
		}
	}
	got := b.dial().send("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n").read().hardened()
	require.Equal(t, http.StatusNotFound, got.status)
}

func TestMetricsAndProfiles_AreNotPublic(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{"/metrics", "/debug/pprof", "/debug/pprof/", "/debug/pprof/heap", "/debug/vars"} {
		b.get(alpha, path).problem(http.StatusNotFound, "not-found").hardened()
	}
}

func TestEveryAnswer_IsHardened(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.get(alpha, "/v1/orders").hardened()
	b.get("sk_test_wrong", "/v1/orders").problem(http.StatusUnauthorized, "unauthenticated").hardened()
	b.post(alpha, "/v1/orders", "k", "{").problem(http.StatusBadRequest, "malformed-json").hardened()
	b.send(alpha, http.MethodDelete, "/v1/orders", "").problem(http.StatusMethodNotAllowed, "method-not-allowed").hardened()
	b.get(alpha, "/readyz").hardened()
	order := b.order("o")
	for range 2 { // told, and told again
		b.post(alpha, "/v1/orders/"+order+"/charges", "c", badCard).problem(http.StatusPaymentRequired, "card-declined").hardened()
	}
}

func TestConnections_BeyondTheCapWaitUntilAnotherEnds(t *testing.T) {
	t.Parallel()
	b := setup(t).edge(unchangedOptions)
	idle := make([]*socket, 100)
	for i := range idle {
		idle[i] = b.dial().send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		require.Equal(t, http.StatusOK, idle[i].read().status)
	}
	// On a machine that is too slow to serve it in this time the test would not notice a missing cap; it never fails for it.
	late := b.dial().send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, late.conn.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err := late.in.Peek(1)
	var timeout net.Error
	require.ErrorAs(t, err, &timeout, "nobody has accepted it")
	require.NoError(t, idle[42].conn.Close())
	require.NoError(t, late.conn.SetReadDeadline(time.Now().Add(30*time.Second)))
	require.Equal(t, http.StatusOK, late.read().status)
}

func TestReady_SaysWhenTheProcessIsAboutToStop(t *testing.T) {
	t.Parallel()
	var draining atomic.Bool
	b := setup(t).edge(func(o *api.Options) { o.Draining = draining.Load })
	require.Equal(t, http.StatusOK, b.get(alpha, "/readyz").status)
	draining.Store(true)
	b.get(alpha, "/readyz").problem(http.StatusServiceUnavailable, "unavailable")
	require.Equal(t, http.StatusOK, b.get(alpha, "/healthz").status, "it runs")
	require.Equal(t, http.StatusOK, b.get(alpha, "/v1/orders").status, "and answers")
}

// seen collects what an interface says about its requests. An answer as short as those here is on its way only after that.
type seen struct {
	mu  sync.Mutex
	all []api.Observation
}

func (s *seen) observe(o api.Observation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, o)
}

// last is the latest, without what differs from run to run.
func (s *seen) last() api.Observation {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.all[len(s.all)-1]
	o.Duration = 0
	return o
}

func TestObserver_IsToldWhatIsWorthCounting(t *testing.T) {
	t.Parallel()
	var s seen
	b := setup(t).edge(func(o *api.Options) { o.Observer = s.observe })
	b.post(alpha, "/v1/carts", "k", `{"currency":"EUR"}`)
	require.Equal(t, api.Observation{Method: "POST", Route: "/v1/carts", Status: 201}, s.last())
	b.post(alpha, "/v1/carts", "k", `{"currency":"EUR"}`)
	require.Equal(t, api.Observation{Method: "POST", Route: "/v1/carts", Status: 201, Replayed: true}, s.last())
	b.post(alpha, "/v1/carts", "k", `{"currency":"USD"}`)
	require.Equal(t, api.Observation{Method: "POST", Route: "/v1/carts", Status: 422, Problem: domain.CodeKeyReused}, s.last())
	b.get(alpha, "/v1/orders/ord_unknown")
	require.Equal(t, api.Observation{Method: "GET", Route: "/v1/orders/:id", Status: 404, Problem: domain.CodeNotFound}, s.last(), "the pattern, not the path")
	b.get(alpha, "/nothing/ord_1")
	require.Empty(t, s.last().Route)
	b.dial().send("nonsense\r\n\r\n").read()
	require.Equal(t, api.Observation{Status: 400}, s.last())
}
