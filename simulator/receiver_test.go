package simulator_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"
	"github.com/stripe/stripe-go/v79/webhook"
)

// receiver is a webhook endpoint behind a real HTTP server, registered with a bench.
type receiver struct {
	b          *bench
	id, secret string // of the endpoint

	mu     sync.Mutex
	got    []received
	answer func(received) int // the status it answers with; nil is 200
}

// received is one delivery as it came over the wire.
type received struct {
	stripe.Event
	body      []byte
	signature string
}

// listen registers a receiver for types of events; none is all.
func (b *bench) listen(types ...string) *receiver {
	b.t.Helper()
	if len(types) == 0 {
		types = []string{"*"}
	}
	r := &receiver{b: b}
	server := httptest.NewServer(r)
	b.t.Cleanup(server.Close)
	form := url.Values{"url": {server.URL + "/webhooks"}, "enabled_events[]": types}
	made := b.send("POST", "/v1/webhook_endpoints", form.Encode())
	require.Equal(b.t, 200, made.status, made.text)
	r.id = made.id()
	r.secret, _ = made.at("secret").(string)
	return r
}

func (r *receiver) ServeHTTP(rw http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	one := received{body: body, signature: q.Header.Get("Stripe-Signature")}
	_ = json.Unmarshal(body, &one.Event)
	r.mu.Lock()
	r.got = append(r.got, one)
	answer, status := r.answer, 200
	r.mu.Unlock()
	if answer != nil {
		status = answer(one)
	}
	if status == http.StatusFound {
		rw.Header().Set("Location", "/elsewhere")
	}
	rw.WriteHeader(status)
}

// asks sets the function that decides what it answers with from now on.
func (r *receiver) asks(answer func(received) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// answers sets the status that it answers with from now on.
func (r *receiver) answers(status int) {
	r.asks(func(received) int { return status })
}

// all waits until nothing more is on its way, and returns what has come so far.
func (r *receiver) all() []received {
	r.b.t.Helper()
	require.Equal(r.b.t, true, r.b.get("/_sim/deliveries?wait=10s").at("at_rest"))
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received(nil), r.got...)
}

// types are the types of all that has come, in order.
func (r *receiver) types() []string {
	r.b.t.Helper()
	types := []string{}
	for _, one := range r.all() {
		types = append(types, string(one.Type))
	}
	return types
}

// verify checks a delivery as Stripe's own library does, but for its age: the clock of these tests stands still.
func (r *receiver) verify(one received) error {
	_, err := webhook.ConstructEventWithOptions(one.body, one.signature, r.secret,
		webhook.ConstructEventOptions{IgnoreTolerance: true})
	return err
}

// deliveries are the lines of the log, each as a text: type, state and the answers of its attempts.
func (b *bench) deliveries(query string) []string {
	b.t.Helper()
	list, _ := b.get("/_sim/deliveries?wait=10s&" + query).at("deliveries").([]any)
	lines := []string{}
	for _, item := range list {
		d, _ := item.(map[string]any)
		attempts, _ := d["attempts"].([]any)
		line := fmt.Sprint(d["type"], " ", d["state"])
		for _, made := range attempts {
			m, _ := made.(map[string]any)
			line += fmt.Sprint(" ", m["status"])
		}
		lines = append(lines, line)
	}
	return lines
}

// events are the types of the events that the API lists, oldest first.
func (b *bench) events(query string) []string {
	b.t.Helper()
	list, _ := b.get("/v1/events?limit=100&" + query).at("data").([]any)
	types := []string{}
	for _, item := range list {
		ev, _ := item.(map[string]any)
		types = append([]string{fmt.Sprint(ev["type"])}, types...)
	}
	return types
}

func (b *bench) rule(t *testing.T, text string) {
	t.Helper()
	r := b.control("/rules", text)
	require.Equal(t, 201, r.status, r.text)
}

// pay makes a payment that succeeds, with its balance transaction at once, and returns the intent's id.
func (b *bench) pay(key string, pairs ...string) string {
	b.t.Helper()
	r := b.post(key, "/v1/payment_intents", card(append(pairs, "confirm=true", "payment_method=pm_card_visa", "capture_method=automatic")...)...)
	require.Equal(b.t, "succeeded", r.at("status"), r.text)
	return r.id()
}
