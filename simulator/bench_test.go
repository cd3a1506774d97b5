package simulator_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"
	"github.com/stripe/stripe-go/v79/client"

	"payonce/simulator"
	"payonce/simulator/stripemocktest"
)

// bench is one simulator behind a real HTTP server, with the unmodified Stripe client and a plain one.
type bench struct {
	t      *testing.T
	sim    *simulator.Simulator
	server *httptest.Server
	stripe *client.API // no retries
	http   *http.Client
}

// noon is where the clock of every test stands still until the test moves it.
var noon = time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)

func start(t *testing.T) *bench {
	t.Helper()
	return startWith(t, simulator.Options{Seed: 1})
}

// startNow is start by the real time.
func startNow(t *testing.T) *bench {
	t.Helper()
	return startWith(t, simulator.Options{Seed: 1, Now: time.Now})
}

func startWith(t *testing.T, o simulator.Options) *bench {
	t.Helper()
	if o.Now == nil {
		o.Now = func() time.Time { return noon }
	}
	sim, err := simulator.New(o)
	require.NoError(t, err)
	// A connection per request: on a kept one net/http may repeat a request by itself, and these tests count arrivals.
	plain := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	b := &bench{t: t, sim: sim, server: httptest.NewServer(stripemocktest.Watch(t, sim.Handler())), http: plain}
	b.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	b.stripe = b.client(0)
	t.Cleanup(b.stop)
	return b
}

// stop ends the simulator first, so that calls which still wait at a barrier let the server close.
func (b *bench) stop() {
	_ = b.sim.Close()
	b.http.CloseIdleConnections()
	b.server.Close()
}

// client returns the unmodified Stripe client with its own connections.
func (b *bench) client(retries int64) *client.API { return b.clientAt("", retries, &http.Transport{}) }

func (b *bench) clientAt(prefix string, retries int64, transport *http.Transport) *client.API {
	b.t.Cleanup(transport.CloseIdleConnections)
	return client.New("sk_test_bench", &stripe.Backends{API: stripe.GetBackendWithConfig(stripe.APIBackend,
		&stripe.BackendConfig{
			URL: stripe.String(b.server.URL + prefix), HTTPClient: &http.Client{Transport: transport},
			MaxNetworkRetries: stripe.Int64(retries), EnableTelemetry: stripe.Bool(false),
			LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
		})})
}

// reply is a whole answer.
type reply struct {
	status int
	header http.Header
	text   string
	body   map[string]any // the text as JSON; nil when it is none
}

// at digs into the body: at("error", "code").
func (r reply) at(path ...string) any {
	var v any = r.body
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// id is the id of the object in the body.
func (r reply) id() string {
	id, _ := r.at("id").(string)
	return id
}

// send makes one request; headers come as name, value, name, value.
func (b *bench) send(method, path, body string, headers ...string) reply {
	b.t.Helper()
	r, err := b.trySend(method, path, body, headers...)
	require.NoError(b.t, err)
	return r
}

func (b *bench) trySend(method, path, body string, headers ...string) (reply, error) {
	req, err := http.NewRequest(method, b.server.URL+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Authorization", "Bearer sk_test_bench")
	if body != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for n := 0; n < len(headers); n += 2 {
		req.Header.Set(headers[n], headers[n+1])
	}
	res, err := b.http.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	r := reply{status: res.StatusCode, header: res.Header, text: string(text)}
	_ = json.Unmarshal(text, &r.body)
	return r, err
}

// post sends a form of name=value pairs under an idempotency key.
func (b *bench) post(key, path string, pairs ...string) reply {
	b.t.Helper()
	return b.send("POST", path, strings.Join(pairs, "&"), "Idempotency-Key", key)
}

// faulty is post with a fault header.
func (b *bench) faulty(fault, key, path string, pairs ...string) (reply, error) {
	return b.trySend("POST", path, strings.Join(pairs, "&"), "Idempotency-Key", key, "X-Sim-Fault", fault)
}

func (b *bench) get(path string) reply {
	b.t.Helper()
	return b.send("GET", path, "")
}

// control posts JSON to the control interface.
func (b *bench) control(path, json string) reply {
	b.t.Helper()
	return b.send("POST", "/_sim"+path, json, "Content-Type", "application/json")
}

// card are the parameters of an intent that takes cards and needs no return_url.
func card(pairs ...string) []string {
	return append([]string{"amount=1250", "currency=eur", "payment_method_types[]=card", "metadata[order_id]=order_1"}, pairs...)
}

// intent creates a payment intent and returns its id.
func (b *bench) intent(pairs ...string) string {
	b.t.Helper()
	r := b.send("POST", "/v1/payment_intents", strings.Join(card(pairs...), "&"))
	require.Equal(b.t, 200, r.status, r.text)
	return r.id()
}

// intentIn brings a payment intent into a state.
func (b *bench) intentIn(status string) string {
	b.t.Helper()
	var id string
	switch status {
	case "requires_payment_method":
		id = b.intent()
	case "requires_confirmation":
		id = b.intent("payment_method=pm_card_visa")
	case "requires_action":
		id = b.intent("confirm=true", "payment_method=pm_card_authenticationRequired")
	case "processing":
		id = b.intent("confirm=true", "payment_method=pm_sim_processing_then_success")
	case "requires_capture":
		id = b.intent("confirm=true", "payment_method=pm_card_visa", "capture_method=manual")
	case "succeeded":
		id = b.intent("confirm=true", "payment_method=pm_card_visa")
	case "canceled":
		id = b.intent()
		b.send("POST", "/v1/payment_intents/"+id+"/cancel", "")
	}
	require.Equal(b.t, status, b.get("/v1/payment_intents/"+id).at("status"))
	return id
}

// charges lists the charges of an intent, newest first.
func (b *bench) charges(intent string) []any {
	b.t.Helper()
	list, _ := b.get("/v1/charges?payment_intent=" + url.QueryEscape(intent)).at("data").([]any)
	return list
}

// held waits until a call waits at the barrier.
func (b *bench) held(barrier string) {
	b.t.Helper()
	require.EqualValues(b.t, 1, b.get("/_sim/barriers/"+barrier+"?wait=10s").at("waiting"))
}

// executions counts the arrivals under a key that had an effect.
func (b *bench) executions(key string) (arrivals, executed int) {
	for _, a := range b.sim.Journal() {
		if a.Key == key {
			arrivals++
			if a.Executed {
				executed++
			}
		}
	}
	return arrivals, executed
}

// together runs a function n times at once and waits for all.
func together(n int, run func(i int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { run(i) })
	}
	group.Wait()
}

func stripeError(t *testing.T, err error) *stripe.Error {
	t.Helper()
	var e *stripe.Error
	require.ErrorAs(t, err, &e)
	return e
}
