package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/api"
	"payonce/domain"
)

func TestConfig_EdgeMistakes(t *testing.T) {
	t.Parallel()
	for setting, says := range map[string]string{
		"PAYONCE_ADMIN_ADDR=0.0.0.0:8081":     "PAYONCE_ADMIN_PUBLIC=true",
		"PAYONCE_ADMIN_ADDR=:8081":            "PAYONCE_ADMIN_PUBLIC=true",
		"PAYONCE_ADMIN_ADDR=[::]:8081":        "PAYONCE_ADMIN_PUBLIC=true",
		"PAYONCE_ADMIN_ADDR=example.com:8081": "PAYONCE_ADMIN_PUBLIC=true",
		"PAYONCE_ADMIN_ADDR=8081":             "PAYONCE_ADMIN_ADDR: is not an address",
		"PAYONCE_TRUSTED_PROXIES=everybody":   "PAYONCE_TRUSTED_PROXIES: is not a valid list of addresses",
		"PAYONCE_TRUSTED_PROXIES=10.0.0.0/33": "PAYONCE_TRUSTED_PROXIES: is not a valid list of addresses",
		"PAYONCE_RATE_LIMIT=-1":               "PAYONCE_RATE_LIMIT: must be 0, or from 0.01",
		"PAYONCE_RATE_LIMIT=NaN":              "PAYONCE_RATE_LIMIT: must be 0, or from 0.01",
		"PAYONCE_RATE_LIMIT=Inf":              "PAYONCE_RATE_LIMIT: must be 0, or from 0.01",
		"PAYONCE_FAILURE_LIMIT=0.001":         "PAYONCE_FAILURE_LIMIT: must be 0, or from 0.01",
		"PAYONCE_RATE_BURST=10000000":         "PAYONCE_RATE_BURST: must be at most",
		"PAYONCE_RATE_LIMIT=fast":             "PAYONCE_RATE_LIMIT: is not a valid number",
		"PAYONCE_RATE_BURST=0":                "PAYONCE_RATE_BURST: must be more than 0",
		"PAYONCE_DATABASE_WAIT=0s":            "PAYONCE_DATABASE_WAIT: must be more than 0",
		"PAYONCE_DRAIN_DELAY=-1s":             "PAYONCE_DRAIN_DELAY: must not be negative",
		"PAYONCE_MAX_CONNECTIONS=many":        "PAYONCE_MAX_CONNECTIONS: is not a valid int",
	} {
		_, err := loadConfig([]string{setting})
		require.ErrorContains(t, err, says, setting)
	}
	for _, environ := range [][]string{
		{"PAYONCE_ADMIN_ADDR=localhost:0"}, {"PAYONCE_ADMIN_ADDR=[::1]:9000"}, {"PAYONCE_ADMIN_ADDR=0.0.0.0:8081", "PAYONCE_ADMIN_PUBLIC=true"},
		{"PAYONCE_RATE_LIMIT=0"}, {"PAYONCE_DRAIN_DELAY=0s"}, {"PAYONCE_TRUSTED_PROXIES=127.0.0.1, 10.1.2.3/8,fd00::/8"},
	} {
		_, err := loadConfig(environ)
		require.NoError(t, err, environ)
	}
}

func TestHelp_ShowsTheSettingsOfTheEdge(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"PAYONCE_RATE_LIMIT", "PAYONCE_ADMIN_ADDR", "PAYONCE_DRAIN_DELAY", "PAYONCE_LOG_LEVEL"} {
		require.Equal(t, 1, strings.Count(settingsHelp(), "  "+name+" "), name)
	}
}

func TestServer_HasALimitForEverything(t *testing.T) {
	t.Parallel()
	server := newServer(config{Lease: 30 * time.Second}, nil)
	require.Equal(t, 5*time.Second, server.ReadHeaderTimeout)
	require.Equal(t, 15*time.Second, server.ReadTimeout)
	require.Equal(t, 45*time.Second, server.WriteTimeout, "a charge may use its whole lease")
	require.Equal(t, 60*time.Second, server.IdleTimeout)
	require.Equal(t, 64<<10, server.MaxHeaderBytes)
	require.True(t, server.Protocols.HTTP1())
	require.False(t, server.Protocols.UnencryptedHTTP2())
}

// impatient serves with the program's limits, but a hundredth of their time.
func impatient(t *testing.T, f *shopfront) (address string) {
	t.Helper()
	at := newSite(f.config, f.service, func(api.Observation) {})
	server := newServer(f.config, at.handler)
	for _, limit := range []*time.Duration{&server.ReadHeaderTimeout, &server.ReadTimeout, &server.IdleTimeout} {
		*limit /= 100
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(at.api.Guard(server, listener, 10)) }()
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-ended, http.ErrServerClosed)
	})
	return listener.Addr().String()
}

func TestSlowCallers_AreCutOff(t *testing.T) {
	t.Parallel()
	f := newShopfront(t)
	address := impatient(t, f)
	head := "POST /v1/carts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + demoAlpha + "\r\nIdempotency-Key: slow\r\nContent-Type: application/json\r\n"
	for situation, row := range map[string]struct{ sent, answered string }{
		"nothing at all":     {"", ""},
		"half a line":        {"GET /v1/orders HTT", ""},
		"no end of headers":  {head, ""},
		"half a body":        {head + "Content-Length: 18\r\n\r\n{\"curr", "HTTP/1.1 "},
		"half a chunk":       {head + "Transfer-Encoding: chunked\r\n\r\n12\r\n{\"curr", "HTTP/1.1 "},
		"silence afterwards": {"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK"},
	} {
		t.Run(situation, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", address)
			require.NoError(t, err)
			defer conn.Close()
			_, err = conn.Write([]byte(row.sent))
			require.NoError(t, err)
			require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
			text, err := io.ReadAll(conn) // ends when the server hangs up, and fails when it does not
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(string(text), row.answered), "%q", text)
			require.NotContains(t, string(text), "201 Created")
		})
	}
}

func TestHTTP2_IsNotSpokenInCleartext(t *testing.T) {
	t.Parallel()
	conn, err := net.Dial("tcp", impatient(t, newShopfront(t)))
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	require.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusNotFound, answer.StatusCode, "net/http takes the preface for a request, of a method and for a path that nobody knows")
	require.Equal(t, "application/problem+json", answer.Header.Get("Content-Type"))
}

func TestPublicAddress_HidesMetricsAndTellsBrowsersToStayOnTLS(t *testing.T) {
	t.Parallel()
	for situation, settings := range map[string][]string{
		"API alone": {"PAYONCE_TRUSTED_PROXIES=192.0.2.0/24"},
		"with shop": {"PAYONCE_TRUSTED_PROXIES=192.0.2.0/24", "PAYONCE_SHOP_KEY=" + demoAlpha},
	} {
		f := newShopfront(t, settings...)
		handler := newSite(f.config, f.service, func(api.Observation) {}).handler
		ask := func(path, proto string) *httptest.ResponseRecorder {
			r, w := httptest.NewRequest(http.MethodGet, path, http.NoBody), httptest.NewRecorder() // its peer is 192.0.2.1
			r.Header.Set("X-Forwarded-Proto", proto)
			handler.ServeHTTP(w, r)
			return w
		}
		for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap"} {
			require.Equal(t, http.StatusNotFound, ask(path, "https").Code, "%s: %s", situation, path)
		}
		for _, path := range []string{"/", "/healthz", "/v1/orders", "/nothing"} {
			require.Equal(t, "max-age=31536000", ask(path, "https").Header().Get("Strict-Transport-Security"), "%s: %s", situation, path)
			require.Empty(t, ask(path, "http").Header().Get("Strict-Transport-Security"), "%s: %s", situation, path)
		}
	}
}

func adminOf(t *testing.T, f *shopfront) (*metrics, func(path, host string) *httptest.ResponseRecorder) {
	t.Helper()
	m := newMetrics(f.service)
	handler := newAdmin(f.config, m)
	return m, func(path, host string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest(http.MethodGet, path, http.NoBody), httptest.NewRecorder()
		r.Host = host
		handler.ServeHTTP(w, r)
		return w
	}
}

func TestAdmin_ServesMetricsProfilesAndHealth_AndNothingElse(t *testing.T) {
	t.Parallel()
	f := newShopfront(t)
	_, ask := adminOf(t, f)
	for path, status := range map[string]int{
		"/metrics": 200, "/healthz": 200, "/debug/pprof/": 200, "/debug/pprof/heap": 200, "/debug/pprof/goroutine?debug=2": 200, "/debug/pprof/cmdline": 200,
		"/": 404, "/v1/orders": 404, "/debug/vars": 404, "/readyz": 404, "/debug/pprof/nothing": 404,
	} {
		got := ask(path, "127.0.0.1:8081")
		require.Equal(t, status, got.Code, path)
		require.Equal(t, "nosniff", got.Header().Get("X-Content-Type-Options"), path)
		require.Equal(t, "no-store", got.Header().Get("Cache-Control"), path)
		require.Equal(t, "default-src 'none'; frame-ancestors 'none'", got.Header().Get("Content-Security-Policy"), path)
	}
	require.Equal(t, http.StatusMisdirectedRequest, ask("/debug/pprof/heap", "rebound.example:8081").Code, "a page whose name leads here")
	f.config.AdminPublic = true
	_, ask = adminOf(t, f)
	require.Equal(t, http.StatusOK, ask("/metrics", "payonce.internal:8081").Code)
}

func TestMetrics_CountWhatWasObserved_UnderBoundedLabels(t *testing.T) {
	t.Parallel()
	f := newShopfront(t)
	m, ask := adminOf(t, f)
	server := httptest.NewServer(newSite(f.config, f.service, m.observe).handler)
	defer server.Close()
	f.must(http.MethodPost, server.URL+"/v1/carts", "k", `{"currency":"EUR"}`)
	f.must(http.MethodPost, server.URL+"/v1/carts", "k", `{"currency":"EUR"}`)
	f.must(http.MethodPost, server.URL+"/v1/carts", "k", `{"currency":"USD"}`)
	f.must(http.MethodGet, server.URL+"/v1/orders/ord_secret", "", "")
	f.must("PURGE", server.URL+"/wp-admin/secret", "", "")
	m.observe(api.Observation{Method: "GET", Route: "/v1/orders", Status: 500, Problem: domain.CodeInternal, Panicked: true})
	m.resume(domain.ByResponse)
	text := ask("/metrics", "localhost").Body.String()
	for _, line := range []string{
		`payonce_http_request_duration_seconds_count{method="POST",route="/v1/carts",status="201"} 2`,
		`payonce_http_request_duration_seconds_count{method="GET",route="/v1/orders/:id",status="404"} 1`,
		`payonce_http_request_duration_seconds_count{method="other",route="none",status="404"} 1`,
		`payonce_idempotency_replays_total{route="/v1/carts"} 1`,
		`payonce_problems_total{problem="idempotency-key-reused"} 1`,
		`payonce_problems_total{problem="idempotency-key-in-progress"} 0`,
		`payonce_problems_total{problem="rate-limited"} 0`,
		`payonce_idempotency_keys_resumed_total{by="response"} 1`,
		`payonce_panics_total 1`, `payonce_database_places 16`, `payonce_database_waiting 0`, `payonce_database_refused_total 0`,
	} {
		require.Contains(t, text, line+"\n")
	}
	for _, name := range []string{"payonce_build_info{", "go_goroutines", "process_open_fds", "payonce_database_in_use "} {
		require.Contains(t, text, "\n"+name)
	}
	require.NotContains(t, text, "secret")
	require.NotContains(t, text, "PURGE")
}

func TestResumedKey_IsCounted(t *testing.T) {
	t.Parallel()
	f := newShopfront(t, "PAYONCE_LEASE=1s")
	m, ask := adminOf(t, f)
	f.service.Resumed = m.resume
	server := httptest.NewServer(newSite(f.config, f.service, m.observe).handler)
	defer server.Close()
	charges := f.order(server.URL)
	f.must(http.MethodPost, f.sim+"/_sim/rules", "", `{"match":{"path_glob":"/v1/payment_intents/**"},"fault":{"name":"drop_after_effect","mode":"fin"}}`)
	status, _, text := f.must(http.MethodPost, charges, "charge", card)
	require.Equal(t, http.StatusAccepted, status, text)
	f.must(http.MethodDelete, f.sim+"/_sim/rules", "", "")
	status, _, text = f.must(http.MethodPost, charges, "charge", card)
	require.Equal(t, http.StatusCreated, status, text)
	require.Contains(t, ask("/metrics", "localhost").Body.String(), `payonce_idempotency_keys_resumed_total{by="response"} 1`)
}

func TestAdminAddress_MovesWhenNobodyChoseIt_AndSaysWhatToSetWhenSomebodyDid(t *testing.T) {
	t.Parallel()
	taken, err := listen("127.0.0.1:0", "X")
	require.NoError(t, err)
	defer taken.Close()
	var out, errs bytes.Buffer
	code := run([]string{"demo"}, []string{"PAYONCE_ADDR=127.0.0.1:0", "PAYONCE_ADMIN_ADDR=" + taken.Addr().String()}, &out, &errs)
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs.String(), "set PAYONCE_ADMIN_ADDR")

	usual, err := net.Listen("tcp", defaultAdmin)
	if err == nil {
		defer usual.Close()
	} // otherwise another process has it, which is just as well
	a := &app{err: &errs}
	c, log, err := a.load()
	require.NoError(t, err)
	moved, err := listenAdmin(t.Context(), c, log)
	require.NoError(t, err)
	defer moved.Close()
	require.NotEqual(t, defaultAdmin, moved.Addr().String())
	require.Contains(t, errs.String(), "set PAYONCE_ADMIN_ADDR to choose another")
}

func TestLoops_OutliveAPanic(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	a := &app{err: &text}
	_, log, err := a.load()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	rounds := 0
	once := loop{name: "x", batch: 1, round: func(context.Context, int) (int, error) {
		if rounds++; rounds == 2 {
			cancel()
			return 0, nil
		}
		panic(fmt.Sprint("planted ", rounds))
	}}
	once.run(ctx, time.Nanosecond, log)
	require.Equal(t, 2, rounds)
	require.Contains(t, text.String(), "planted 1")
}
