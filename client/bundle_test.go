package client_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/client"
)

const apiKey = "sk_test_do_not_print"

// step is what the service does with one request.
type step func(w http.ResponseWriter, r *http.Request)

// arrival is a request as the service got it.
type arrival struct {
	method, uri, key, body string
	header                 http.Header
}

// bundle is a client in front of a service that follows a script, one step per request. Time passes only when the client
// pauses.
type bundle struct {
	t      *testing.T
	client *client.Client
	url    string
	intent client.Intent

	mu       sync.Mutex
	script   []step
	arrivals []arrival
	now      time.Time
	pauses   []time.Duration
	cancel   context.CancelFunc // called in the next pause
}

func setup(t *testing.T, script ...step) *bundle {
	t.Helper()
	return setupWith(t, client.Options{}, script...)
}

func setupWith(t *testing.T, o client.Options, script ...step) *bundle {
	t.Helper()
	b := &bundle{t: t, script: script, now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	// On a connection that was used before, net/http repeats what it can by itself. That is good in production, and would
	// hide here what the client does.
	transport := &http.Transport{DisableKeepAlives: true}
	t.Cleanup(transport.CloseIdleConnections)
	o.Transport, o.Now, o.Sleep, o.Random = transport, b.clock, b.sleep, func() float64 { return 0.5 }
	var err error
	b.url = server.URL
	b.client, err = client.New(server.URL, apiKey, o)
	require.NoError(t, err)
	b.intent, err = client.StoredIntent("wish-1")
	require.NoError(t, err)
	return b
}

func (b *bundle) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *bundle) sleep(ctx context.Context, d time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pauses, b.now = append(b.pauses, d), b.now.Add(d)
	if b.cancel != nil {
		b.cancel()
	}
	return ctx.Err()
}

// ServeHTTP plays the next step; when the script is over, the last one again.
func (b *bundle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		b.t.Error(err)
	}
	b.mu.Lock()
	next := b.script[min(len(b.arrivals), len(b.script)-1)]
	b.arrivals = append(b.arrivals, arrival{r.Method, r.RequestURI, r.Header.Get("Idempotency-Key"), string(body), r.Header})
	b.mu.Unlock()
	next(w, r)
}

// plays gives the service another script, and forgets what has arrived.
func (b *bundle) plays(script ...step) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.script, b.arrivals = script, nil
}

// sent is everything that has arrived.
func (b *bundle) sent() []arrival {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.arrivals
}

// arrived asserts that the same request came n times, byte for byte, and returns it.
func (b *bundle) arrived(n int) arrival {
	b.t.Helper()
	sent := b.sent()
	require.Len(b.t, sent, n)
	for _, later := range sent[1:] {
		require.Equal(b.t, sent[0], later, "the same key, the same bytes")
	}
	return sent[0]
}

func (b *bundle) createOrder() (client.Order, error) {
	return b.client.CreateOrder(b.t.Context(), b.intent, client.OrderParams{
		Items: []client.OrderLine{{ProductID: "prd_mug", Quantity: 2}}, Currency: "EUR", Customer: client.Customer{Email: "a@example.com"},
	})
}

func (b *bundle) createCharge() (client.Charge, error) {
	return b.client.CreateCharge(b.t.Context(), b.intent, "ord_1", card)
}

var card = client.ChargeParams{PaymentMethod: "pm_card_visa"}

// reply answers with a status, a body, and pairs of header names and values.
func reply(status int, body string, headers ...string) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// refuse answers with a problem of the service's kind; more are further members.
func refuse(status int, slug, more string, headers ...string) step {
	body := `{"type":"/problems/` + slug + `","title":"T","status":0,"detail":"why","instance":"/v1/x","request_id":"req_first"` + more + `}`
	return reply(status, body, append(headers, "Content-Type", "application/problem+json")...)
}

// lost does whatever was asked for and loses the connection before a word is said.
func lost(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// cut loses the connection in the middle of the answer.
func cut(body string) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, body[:len(body)/2])
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

const (
	orderBody = `{"id":"ord_1","object":"order","status":"pending_payment","currency":"EUR","total":3998,"charge_id":null,"new_member":{"x":1}}`
	succeeded = `{"id":"chg_1","object":"charge","order_id":"ord_1","status":"succeeded","amount":3998,"currency":"EUR","resolved_by":"response"}`
	undecided = `{"id":"chg_1","object":"charge","order_id":"ord_1","status":"unknown","amount":3998,"currency":"EUR","resolved_by":null}`
)

// asUnknown asserts that the outcome is open, that the error carries the intent, and that it cannot be taken for a refusal.
func (b *bundle) asUnknown(err error) *client.UnknownError {
	b.t.Helper()
	var unknown *client.UnknownError
	require.ErrorAs(b.t, err, &unknown)
	require.Equal(b.t, b.intent, unknown.Intent)
	var refusal *client.Problem
	require.NotErrorAs(b.t, err, &refusal)
	require.Contains(b.t, err.Error(), "outcome is open")
	return unknown
}

// asProblem asserts that the service refused.
func asProblem(t *testing.T, err error, status int, problemType string) *client.Problem {
	t.Helper()
	var refusal *client.Problem
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, status, refusal.Status)
	require.Equal(t, problemType, refusal.Type)
	return refusal
}
