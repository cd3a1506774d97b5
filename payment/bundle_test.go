package payment_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/payment"
	"payonce/provider"
	"payonce/provider/stripe"
	"payonce/repository"
	"payonce/repository/repositorytest"
	"payonce/simulator"
)

const merchant = "mrc_test"

// asMerchant is what authentication would make of a request's context.
func asMerchant(t testing.TB) context.Context { return repository.AsMerchant(t.Context(), merchant) }

// asSystem is the context of the worker's loops.
func asSystem(t testing.TB) context.Context { return repository.AsSystem(t.Context()) }

// bundle is a service over a database of its own and a simulated Stripe of its own, spoken to over real HTTP.
type bundle struct {
	*payment.Service
	t       testing.TB
	db      *repositorytest.DB
	simURL  string
	between *interposed
	product string
}

func setup(t testing.TB, options ...func(*repository.Options)) *bundle {
	t.Helper()
	sim, err := simulator.New(simulator.Options{Seed: 1, Now: time.Now})
	require.NoError(t, err)
	server := httptest.NewServer(sim.Handler())
	t.Cleanup(server.Close)
	adapter, err := stripe.New(stripe.Options{SecretKey: "sk_test_x", BaseURL: server.URL})
	require.NoError(t, err)

	b := &bundle{t: t, simURL: server.URL, db: repositorytest.New(t, options...), between: &interposed{Provider: adapter}}
	b.between.store = b.db.Store
	b.Service = b.service()
	ctx := asMerchant(t)
	require.NoError(t, b.Store.InTx(ctx, func(tx *repository.Tx) error { return tx.EnsureMerchant(ctx, merchant, "Test") }))
	made, err := b.CreateProduct(ctx, b.request(), payment.CreateProduct{SKU: "mug", Name: "Mug", Active: true,
		Prices: []domain.Price{{Currency: domain.EUR, UnitAmount: 1999}}, Metadata: map[string]string{}})
	require.NoError(t, err)
	b.product = made.Resource
	_, err = b.SetStock(ctx, merchant, b.product, 100)
	require.NoError(t, err)
	return b
}

// service is another process over the same database and provider.
func (b *bundle) service() *payment.Service {
	return &payment.Service{
		Store: b.db.Store, Provider: b.between, Present: present, NewID: payment.NewID, Log: slog.New(slog.DiscardHandler),
		Lease: 30 * time.Second, Retention: domain.RetentionPolicy{Default: domain.Retention{Answer: time.Hour, Tombstone: 10 * time.Hour}}, KeyHorizon: 23 * time.Hour, OrderTTL: 30 * time.Minute, Grace: 10 * time.Second,
	}
}

// present is a plain stand-in for the API's rendering.
func present(p payment.Presentation) domain.Answer {
	if p.Err != nil {
		status := map[domain.Code]int{domain.CodeCardDeclined: http.StatusPaymentRequired}[domain.CodeOf(p.Err)]
		if status == 0 {
			status = http.StatusConflict
		}
		return domain.Answer{Status: status, Body: []byte(`{"type":"` + string(domain.CodeOf(p.Err)) + `"}`)}
	}
	body, err := json.Marshal(p.Object)
	if err != nil {
		panic(err)
	}
	return domain.Answer{Status: p.Status, Location: p.Location, Body: body}
}

// simGet reads one of the simulator's control pages.
func (b *bundle) simGet(path string, into any) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(asMerchant(b.t), http.MethodGet, b.simURL+path, http.NoBody)
	require.NoError(b.t, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(b.t, err)
	defer answer.Body.Close()
	require.NoError(b.t, json.NewDecoder(answer.Body).Decode(into))
}

// simPost speaks to the simulator's control interface.
func (b *bundle) simPost(path, body string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.simURL+path, strings.NewReader(body))
	require.NoError(b.t, err)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(b.t, err)
	require.NoError(b.t, answer.Body.Close())
	require.Less(b.t, answer.StatusCode, http.StatusBadRequest)
}

// money is what the provider itself says about an order.
type money struct {
	Reference      string `json:"reference"`
	PaymentIntents int    `json:"payment_intents"`
	Succeeded      int    `json:"succeeded"`
	Captured       int64  `json:"captured"`
	FencedConfirms int    `json:"fenced_confirms"`
}

func (b *bundle) audit(reference string) money {
	b.t.Helper()
	var audit struct {
		References []money `json:"references"`
		Alarms     []any   `json:"alarms"`
	}
	b.simGet("/_sim/audit", &audit)
	require.Empty(b.t, audit.Alarms)
	for _, m := range audit.References {
		if m.Reference == reference {
			return m
		}
	}
	return money{Reference: reference}
}

// executed counts the executed requests whose path ends in suffix.
func (b *bundle) executed(suffix string) (n int) {
	b.t.Helper()
	var journal struct {
		Arrivals []struct {
			Path     string `json:"path"`
			Method   string `json:"method"`
			Executed bool   `json:"executed"`
			Replayed bool   `json:"replayed"`
		} `json:"arrivals"`
	}
	b.simGet("/_sim/journal", &journal)
	for _, a := range journal.Arrivals {
		if a.Method == http.MethodPost && strings.HasSuffix(a.Path, suffix) && a.Executed && !a.Replayed {
			n++
		}
	}
	return n
}

// request is a request under a key of its own.
func (b *bundle) request() payment.Request {
	return payment.Request{MerchantID: merchant, Key: domain.Key(payment.NewID("key")), RequestID: payment.NewID("req"), Wait: 5 * time.Second}
}

// again is another request for the same intent: the same key, a new request id.
func again(r payment.Request) payment.Request {
	r.RequestID = payment.NewID("req")
	return r
}

func (b *bundle) order(quantity int64) string {
	b.t.Helper()
	reply, err := b.CreateOrder(asMerchant(b.t), b.request(), b.orderCommand(quantity))
	require.NoError(b.t, err)
	require.Equal(b.t, http.StatusCreated, reply.Answer.Status, string(reply.Answer.Body))
	return reply.Resource
}

func (b *bundle) orderCommand(quantity int64) payment.CreateOrder {
	return payment.CreateOrder{Items: []payment.OrderLine{{ProductID: b.product, Quantity: quantity}}, Currency: domain.EUR,
		Customer: domain.Customer{Email: "a@example.com"}, Metadata: map[string]string{}}
}

func card(order, method string) payment.CreateCharge {
	return payment.CreateCharge{OrderID: order, PaymentMethod: method, CaptureMethod: domain.CaptureAutomatic}
}

const (
	goodCard = "pm_card_visa"
	badCard  = "pm_card_visa_chargeDeclined"
)

// leaseEnds lets the lease of every running key end, as time would.
func (b *bundle) leaseEnds() {
	b.db.Exec(b.t, `UPDATE idempotency_keys SET lease_until = clock_timestamp() - interval '1 second' WHERE recovery_point <> 'finished'`)
}

// longAgo makes open charges look abandoned and due.
func (b *bundle) longAgo() {
	b.leaseEnds()
	b.db.Exec(b.t, `UPDATE idempotency_keys SET wanted_at = wanted_at - interval '1 hour' WHERE recovery_point <> 'finished'`)
	b.db.Exec(b.t, `UPDATE charges SET look_at = clock_timestamp() - interval '1 second' WHERE look_at IS NOT NULL`)
	b.db.Exec(b.t, `ALTER TABLE charges DISABLE TRIGGER USER`)
	b.db.Exec(b.t, `UPDATE charges SET updated_at = updated_at - interval '1 hour' WHERE look_at IS NOT NULL`)
	b.db.Exec(b.t, `ALTER TABLE charges ENABLE TRIGGER USER`)
}

// interposed stands between the service and the provider. It counts calls, asserts that none is made while a database
// connection is taken, and lets a test break one.
type interposed struct {
	provider.Provider
	store     *repository.Store
	exclusive bool // assert that no connection is in use; only where nothing else runs
	busy      atomic.Int64
	before    func(kind string) *provider.Result // a result instead of the call
	after     func(kind string, r provider.Result) provider.Result
	waits     func(ctx context.Context, kind string)
}

func (i *interposed) call(ctx context.Context, kind string, send func() provider.Result) provider.Result {
	if i.exclusive && i.store.InUse() != 0 {
		i.busy.Add(1)
	}
	if i.before != nil {
		if r := i.before(kind); r != nil {
			return *r
		}
	}
	r := send()
	if i.waits != nil {
		i.waits(ctx, kind)
	}
	if i.after != nil {
		r = i.after(kind, r)
	}
	return r
}

func (i *interposed) CreateIntent(ctx context.Context, key string, p provider.IntentParams) provider.Result {
	return i.call(ctx, "create", func() provider.Result { return i.Provider.CreateIntent(ctx, key, p) })
}

func (i *interposed) ConfirmIntent(ctx context.Context, key, ref string, p provider.ConfirmParams) provider.Result {
	return i.call(ctx, "confirm", func() provider.Result { return i.Provider.ConfirmIntent(ctx, key, ref, p) })
}

func (i *interposed) CaptureIntent(ctx context.Context, key, ref string, amount int64) provider.Result {
	return i.call(ctx, "capture", func() provider.Result { return i.Provider.CaptureIntent(ctx, key, ref, amount) })
}

func (i *interposed) CancelIntent(ctx context.Context, key, ref string) provider.Result {
	return i.call(ctx, "cancel", func() provider.Result { return i.Provider.CancelIntent(ctx, key, ref) })
}

func (i *interposed) Intent(ctx context.Context, ref string) provider.Result {
	return i.call(ctx, "lookup", func() provider.Result { return i.Provider.Intent(ctx, ref) })
}

// advanceSimulator moves the provider's clock on.
func (b *bundle) advanceSimulator(d time.Duration) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.simURL+"/_sim/clock", strings.NewReader(`{"advance":"`+d.String()+`"}`))
	require.NoError(b.t, err)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(b.t, err)
	require.NoError(b.t, answer.Body.Close())
	require.Equal(b.t, http.StatusOK, answer.StatusCode)
}
