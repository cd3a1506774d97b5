package stripe_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/provider"
	"payonce/provider/stripe"
)

const (
	testKey   = "sk_test_4eC39HqLyjWDarjtT1zdp7dc"
	reference = "pi_1"
	// private is text that arrives in answers and must never leave the adapter: a client secret, or a message.
	private = "pi_1_secret_NEVERSHOWN"
)

// arrival is one request as it reached the server.
type arrival struct {
	Method, Path, Query, Body string
	Header                    http.Header
}

// server gives prepared answers and remembers what arrived.
type server struct {
	URL string

	mu       sync.Mutex
	arrivals []arrival
}

func serve(t *testing.T, answer http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	hs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.arrivals = append(s.arrivals, arrival{r.Method, r.URL.Path, r.URL.RawQuery, string(body), r.Header.Clone()})
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(hs.Close)
	s.URL = hs.URL
	return s
}

func (s *server) seen() []arrival {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]arrival(nil), s.arrivals...)
}

// says is an answer with Stripe's usual headers.
func says(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Request-Id", "req_1")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// object is a JSON object in the making.
type object map[string]any

func (o object) with(changes object) object {
	out := maps.Clone(o)
	maps.Copy(out, changes)
	return out
}

func (o object) json() string {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// intent is a payment intent as Stripe shows it, over 19.99 EUR.
func intent(status string, changes ...object) object {
	o := object{
		"id": reference, "object": "payment_intent", "amount": 1999, "amount_received": 0, "currency": "eur", "status": status,
		"capture_method": "automatic", "livemode": false, "client_secret": private, "latest_charge": nil, "next_action": nil,
		"last_payment_error": nil, "metadata": object{"charge_id": "chg_1", "order_id": "ord_1"},
	}
	for _, change := range changes {
		o = o.with(change)
	}
	return o
}

var (
	paid         = intent("succeeded", object{"amount_received": 1999, "latest_charge": "ch_1"})
	cardDeclined = object{"type": "card_error", "code": "card_declined", "decline_code": "lost_card", "message": private}
	failed       = intent("requires_payment_method", object{"last_payment_error": cardDeclined, "latest_charge": "ch_1"})
)

// refusal is the body of an answer with Stripe's error object.
func refusal(kind, code string, more ...object) string {
	e := object{"type": kind, "message": private}
	if code != "" {
		e["code"] = code
	}
	for _, change := range more {
		e = e.with(change)
	}
	return object{"error": e}.json()
}

// logs collects what an adapter logs. Its writer is called by one goroutine at a time.
type logs struct{ bytes.Buffer }

// adapter is an adapter to the server at a URL.
func adapter(t *testing.T, baseURL string, options ...func(*stripe.Options)) *stripe.Stripe {
	t.Helper()
	o := stripe.Options{SecretKey: testKey, BaseURL: baseURL}
	for _, option := range options {
		option(&o)
	}
	s, err := stripe.New(o)
	require.NoError(t, err)
	return s
}

func logTo(l *logs) func(*stripe.Options) {
	return func(o *stripe.Options) {
		o.Log = slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
}

// The calls, with parameters that are in order.
func doCreate(t *testing.T, s *stripe.Stripe) provider.Result {
	t.Helper()
	return s.CreateIntent(t.Context(), "chg_1:create:1", params())
}

func doConfirm(t *testing.T, s *stripe.Stripe) provider.Result {
	t.Helper()
	return s.ConfirmIntent(t.Context(), "chg_1:confirm:1", reference, provider.ConfirmParams{PaymentMethod: "pm_card_visa"})
}

func doCancel(t *testing.T, s *stripe.Stripe) provider.Result {
	t.Helper()
	return s.CancelIntent(t.Context(), "chg_1:cancel:1", reference)
}

func doLookUp(t *testing.T, s *stripe.Stripe) provider.Result {
	t.Helper()
	return s.Intent(t.Context(), reference)
}

func doCapture(t *testing.T, s *stripe.Stripe) provider.Result {
	t.Helper()
	return s.CaptureIntent(t.Context(), "chg_1:capture:1", reference, 0)
}

func doRefund(t *testing.T, s *stripe.Stripe) provider.Result {
	t.Helper()
	return s.CreateRefund(t.Context(), "rfd_1:1", refundParams())
}

func doLookUpRefund(t *testing.T, s *stripe.Stripe) provider.Result {
	t.Helper()
	return s.Refund(t.Context(), "re_1")
}

func doLookUpDispute(t *testing.T, s *stripe.Stripe) provider.Result {
	t.Helper()
	return s.Dispute(t.Context(), "dp_1")
}

func doList(t *testing.T, s *stripe.Stripe) provider.Result {
	t.Helper()
	_, result := s.ListIntents(t.Context(), provider.Query{})
	return result
}

func refundParams() provider.RefundParams {
	return provider.RefundParams{
		Intent: reference, Amount: domain.Money{Amount: 500, Currency: domain.EUR}, Reason: provider.RefundRequested,
		Metadata: map[string]string{"refund_id": "rfd_1"},
	}
}

func params() provider.IntentParams {
	return provider.IntentParams{
		Amount:        domain.Money{Amount: 1999, Currency: domain.EUR},
		CaptureMethod: domain.CaptureAutomatic,
		Description:   "Order ord_1",
		Metadata:      map[string]string{"order_id": "ord_1", "charge_id": "chg_1"},
	}
}
