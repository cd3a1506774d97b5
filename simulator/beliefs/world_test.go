package beliefs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/simulator"
	"payonce/simulator/stripemocktest"
)

const (
	mostCalls = 60                     // to Stripe, in all
	pace      = 150 * time.Millisecond // between two of them: under 10 a second
	patience  = 2 * time.Second        // between two looks at what comes later
	looks     = 4                      // at it, at most
)

// world is one of the two that are asked.
type world struct {
	url, key  string
	mark      string // begins every idempotency key, and is in all metadata: Stripe remembers earlier runs
	simulated bool
	client    *http.Client

	mu    sync.Mutex // held while waiting for one's turn
	calls int
}

// simulated is a simulator of a check's own.
func simulated(t *testing.T) *world {
	t.Helper()
	sim, err := simulator.New(simulator.Options{Seed: 1, Now: time.Now})
	require.NoError(t, err)
	server := httptest.NewServer(stripemocktest.Watch(t, sim.Handler()))
	t.Cleanup(func() {
		require.NoError(t, sim.Close()) // first, so that nothing waits at a barrier any more
		server.Close()
	})
	return newWorld(server.URL, "sk_test_beliefs", true)
}

// stripe is Stripe's test mode, or the reason why it is not asked.
func stripe() (w *world, whyNot string, err error) {
	key := os.Getenv("STRIPE_SECRET_KEY")
	switch {
	case os.Getenv("PAYONCE_ASK_STRIPE") == "":
		return nil, "set PAYONCE_ASK_STRIPE=1 and STRIPE_SECRET_KEY=sk_test_... to ask Stripe as well", nil
	case !strings.HasPrefix(key, "sk_test_"):
		return nil, "", errors.New("PAYONCE_ASK_STRIPE is set, and STRIPE_SECRET_KEY does not begin with sk_test_: only test mode is asked")
	}
	return newWorld("https://api.stripe.com", key, false), "", nil
}

func newWorld(url, key string, simulated bool) *world {
	// A connection per request: on a kept one net/http may repeat a request by itself, and a repetition is what is tested.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	return &world{url: url, key: key, mark: "belief-" + strconv.FormatInt(time.Now().UnixNano(), 36), simulated: simulated, client: client}
}

// reply is a whole answer.
type reply struct {
	status int
	header http.Header
	text   string
	body   map[string]any
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

func (r reply) id() string { return fmt.Sprint(r.at("id")) }

// list are the objects of a list.
func (r reply) list() (items []reply) {
	data, _ := r.at("data").([]any)
	for _, item := range data {
		m, _ := item.(map[string]any)
		items = append(items, reply{body: m})
	}
	return items
}

// post sends a form of name=value pairs. The key is one of the run's own.
func (w *world) post(t *testing.T, key, path string, pairs ...string) reply {
	t.Helper()
	return w.send(t, "POST", path, strings.Join(pairs, "&"), "Idempotency-Key", w.mark+"-"+key)
}

func (w *world) get(t *testing.T, path string) reply {
	t.Helper()
	return w.send(t, "GET", path, "")
}

func (w *world) send(t *testing.T, method, path, form string, headers ...string) reply {
	t.Helper()
	require.NoError(t, w.turn(t.Context()))
	r, err := w.exchange(t.Context(), method, path, form, headers...)
	require.NoError(t, err)
	return r
}

func (w *world) exchange(ctx context.Context, method, path, form string, headers ...string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, w.url+path, strings.NewReader(form))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Authorization", "Bearer "+w.key)
	req.Header.Set("Stripe-Version", "2024-06-20")
	if form != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for n := 0; n < len(headers); n += 2 {
		req.Header.Set(headers[n], headers[n+1])
	}
	res, err := w.client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	r := reply{status: res.StatusCode, header: res.Header, text: string(text)}
	_ = json.Unmarshal(text, &r.body)
	return r, err
}

// turn counts a call, and waits until it may be made.
func (w *world) turn(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls++; w.calls > mostCalls {
		return fmt.Errorf("more than %d calls", mostCalls)
	}
	if w.simulated {
		return nil
	}
	return pause(ctx, pace)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// later looks until there is what comes by itself, at most a few times, and says how long that took. The simulator's clock
// is advanced instead of waiting.
func (w *world) later(t *testing.T, there func() bool) (took time.Duration, came bool) {
	t.Helper()
	for n := range looks {
		if there() {
			return time.Duration(n) * patience, true
		}
		if !w.simulated {
			require.NoError(t, pause(t.Context(), patience))
			continue
		}
		w.control(t, "/clock", fmt.Sprintf(`{"advance":%q}`, patience))
	}
	return looks * patience, false
}

func (w *world) control(t *testing.T, path, body string) {
	t.Helper()
	r, err := w.exchange(t.Context(), "POST", "/_sim"+path, body, "Content-Type", "application/json")
	require.NoError(t, err)
	require.Equal(t, 200, r.status, r.text)
}

// atOnce sends two requests of which the second arrives while the first executes, and returns both answers. In the simulator
// the first is held there until the second is answered; at Stripe a confirm takes longer than the way of the second.
func (w *world) atOnce(t *testing.T, path, form, firstKey, secondKey string) (first, second reply) {
	t.Helper()
	headers := []string{"Idempotency-Key", w.mark + "-" + firstKey}
	if w.simulated {
		headers = append(headers, "X-Sim-Fault", "hold;barrier=busy;point=locked")
	}
	require.NoError(t, w.turn(t.Context()))
	var failure error
	done := make(chan struct{})
	go func() {
		defer close(done)
		first, failure = w.exchange(t.Context(), "POST", path, form, headers...)
	}()
	if w.simulated {
		held, err := w.exchange(t.Context(), "GET", "/_sim/barriers/busy?wait=10s", "")
		require.NoError(t, err)
		require.EqualValues(t, 1, held.at("waiting"))
	}
	second = w.send(t, "POST", path, form, "Idempotency-Key", w.mark+"-"+secondKey)
	if w.simulated {
		w.control(t, "/barriers/busy/release", "")
	}
	<-done
	require.NoError(t, failure)
	return first, second
}

// card are the parameters of an intent over 12.50 EUR that needs no return_url.
func (w *world) card(pairs ...string) []string {
	return append([]string{"amount=1250", "currency=eur", "payment_method_types[]=card", "metadata[payonce_belief]=" + w.mark}, pairs...)
}

// intent creates an intent and returns its id; key makes it one of the check's own.
func (w *world) intent(t *testing.T, key string, pairs ...string) string {
	t.Helper()
	r := w.post(t, key, "/v1/payment_intents", w.card(pairs...)...)
	require.Equal(t, 200, r.status, r.text)
	return r.id()
}

// paid creates and confirms one in a single call.
func (w *world) paid(t *testing.T, key string, pairs ...string) reply {
	t.Helper()
	r := w.post(t, key, "/v1/payment_intents", w.card(append(pairs, "confirm=true", "payment_method=pm_card_visa")...)...)
	require.Equal(t, 200, r.status, r.text)
	return r
}

// events are the events of some types that tell of one of some objects, newest first.
func (w *world) events(t *testing.T, since int64, types []string, objects ...string) (found []reply) {
	t.Helper()
	query := fmt.Sprintf("limit=100&created[gte]=%d", since)
	for _, kind := range types {
		query += "&types[]=" + kind
	}
	for _, e := range w.get(t, "/v1/events?"+query).list() {
		for _, id := range objects {
			if e.at("data", "object", "id") == id {
				found = append(found, e)
			}
		}
	}
	return found
}

// refuses asserts a refusal: status, type and code; a code of nil is none at all.
func refuses(t *testing.T, r reply, status int, kind string, code any) {
	t.Helper()
	require.Equal(t, []any{status, kind, code}, []any{r.status, r.at("error", "type"), r.at("error", "code")}, r.text)
}
