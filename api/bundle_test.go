package api_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/api"
	"payonce/domain"
	"payonce/migrations"
	"payonce/payment"
	"payonce/provider/stripe"
	"payonce/repository"
	"payonce/repository/repositorytest"
	"payonce/simulator"
)

// The secrets of the test's merchants.
const (
	alpha  = "sk_test_alpha"
	beta   = "sk_test_beta"
	reader = "sk_test_reader"
)

// bundle is the whole interface over real sockets: HTTP in front, PostgreSQL and a simulated Stripe behind.
type bundle struct {
	t       *testing.T
	db      *repositorytest.DB
	service *payment.Service
	url     string
	simURL  string
	mug     string // a product of alpha at 19.99 EUR, 100 in stock
}

func setup(t *testing.T) *bundle {
	t.Helper()
	sim, err := simulator.New(simulator.Options{Seed: 1, Now: time.Now})
	require.NoError(t, err)
	stripeServer := httptest.NewServer(sim.Handler())
	t.Cleanup(stripeServer.Close)
	adapter, err := stripe.New(stripe.Options{SecretKey: "sk_test_x", BaseURL: stripeServer.URL})
	require.NoError(t, err)
	db := repositorytest.New(t)
	log := slog.New(slog.DiscardHandler)
	b := &bundle{t: t, db: db, simURL: stripeServer.URL, service: &payment.Service{
		Store: db.Store, Provider: adapter, Present: api.Present, NewID: payment.NewID, Log: log,
		Lease: 30 * time.Second, Retention: domain.RetentionPolicy{Default: domain.Retention{Answer: 720 * time.Hour, Tombstone: 9600 * time.Hour}}, KeyHorizon: 23 * time.Hour, OrderTTL: 30 * time.Minute, Grace: 10 * time.Second,
	}}
	ctx := repository.AsSystem(t.Context())
	require.NoError(t, db.Store.InTx(ctx, func(tx *repository.Tx) error {
		for _, merchant := range []string{"mrc_alpha", "mrc_beta"} {
			if err := tx.EnsureMerchant(ctx, merchant, merchant); err != nil {
				return err
			}
		}
		for secret, key := range map[string]domain.APIKey{
			alpha:  {MerchantID: "mrc_alpha", ID: "key_alpha", Role: domain.RoleOperator},
			beta:   {MerchantID: "mrc_beta", ID: "key_beta", Role: domain.RoleWrite},
			reader: {MerchantID: "mrc_alpha", ID: "key_reader", Role: domain.RoleRead},
		} {
			if err := tx.EnsureAPIKey(ctx, key, secret); err != nil {
				return err
			}
		}
		return nil
	}))
	b.url = b.replica()
	b.mug = b.product("mug", `[{"currency":"EUR","unit_amount":1999},{"currency":"KWD","unit_amount":6500}]`)
	return b
}

// replica is one more server over the same database.
func (b *bundle) replica() string {
	server := httptest.NewServer(contracted(b.t, api.New(api.Options{Payments: b.service, SchemaVersion: migrations.Latest()})))
	b.t.Cleanup(server.Close)
	return server.URL
}

// otherReplica is one more process over the same database and provider, with a pool of its own.
func (b *bundle) otherReplica() string {
	b.t.Helper()
	store, err := repository.Open(repository.Options{URL: b.db.URL})
	require.NoError(b.t, err)
	b.t.Cleanup(func() { require.NoError(b.t, store.Close()) })
	s := b.service
	other := &payment.Service{Store: store, Provider: s.Provider, Present: s.Present, NewID: s.NewID, Log: s.Log,
		Lease: s.Lease, Retention: s.Retention, KeyHorizon: s.KeyHorizon, OrderTTL: s.OrderTTL, Grace: s.Grace}
	server := httptest.NewServer(contracted(b.t, api.New(api.Options{Payments: other, SchemaVersion: migrations.Latest()})))
	b.t.Cleanup(server.Close)
	return server.URL
}

// system is a context for what is done without anybody asking over HTTP.
func (b *bundle) system() context.Context { return repository.AsSystem(b.t.Context()) }

func (b *bundle) product(sku, prices string) string {
	b.t.Helper()
	made := b.post(alpha, "/v1/products", "product-"+sku, `{"sku":"`+sku+`","name":"Mug","prices":`+prices+`}`)
	require.Equal(b.t, http.StatusCreated, made.status, made.body)
	id := made.text("id")
	require.Equal(b.t, http.StatusOK, b.send(alpha, http.MethodPut, "/v1/products/"+id+"/stock", `{"on_hand":100}`).status)
	return id
}

// answer is what came back.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   string
}

// member reads a member of the body by a path such as "charge.status".
func (a answer) member(path string) any {
	a.t.Helper()
	var v any
	require.NoError(a.t, json.Unmarshal([]byte(a.body), &v), a.body)
	for name := range strings.SplitSeq(path, ".") {
		object, ok := v.(map[string]any)
		require.True(a.t, ok, "%s in %s", path, a.body)
		v = object[name]
	}
	return v
}

func (a answer) text(path string) string {
	a.t.Helper()
	text, ok := a.member(path).(string)
	require.True(a.t, ok, "%s is no text in %s", path, a.body)
	return text
}

// problem asserts that the answer is the problem of that status and slug, and a well-formed one.
func (a answer) problem(status int, slug string) answer {
	a.t.Helper()
	require.Equal(a.t, status, a.status, a.body)
	require.Equal(a.t, "application/problem+json", a.header.Get("Content-Type"))
	require.Equal(a.t, "/problems/"+slug, a.text("type"))
	require.InDelta(a.t, status, a.member("status"), 0)
	require.NotEmpty(a.t, a.text("title"))
	require.NotEmpty(a.t, a.text("detail"))
	require.True(a.t, strings.HasPrefix(a.text("request_id"), "req_"))
	require.NotContains(a.t, a.body, "pq:")
	return a
}

// header is one header of a request.
type header struct{ name, value string }

// do sends a request with exactly these headers.
func (b *bundle) do(ctx context.Context, base, method, path, body string, headers ...header) answer {
	b.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	require.NoError(b.t, err)
	for _, h := range headers {
		r.Header.Add(h.name, h.value)
	}
	got, err := http.DefaultClient.Do(r)
	require.NoError(b.t, err)
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	require.NoError(b.t, err)
	require.True(b.t, strings.HasPrefix(got.Header.Get("Request-Id"), "req_"), "every answer carries its request id")
	return answer{b.t, got.StatusCode, got.Header, string(text)}
}

func (b *bundle) send(secret, method, path, body string, headers ...header) answer {
	b.t.Helper()
	headers = append(headers, header{"Authorization", "Bearer " + secret})
	if body != "" {
		headers = append(headers, header{"Content-Type", "application/json"})
	}
	return b.do(b.t.Context(), b.url, method, path, body, headers...)
}

func (b *bundle) get(secret, path string) answer {
	b.t.Helper()
	return b.send(secret, http.MethodGet, path, "")
}

func (b *bundle) post(secret, path, key, body string, headers ...header) answer {
	b.t.Helper()
	return b.send(secret, http.MethodPost, path, body, append(headers, header{"Idempotency-Key", key})...)
}

func (b *bundle) orderBody(quantity string) string {
	return `{"items":[{"product_id":"` + b.mug + `","quantity":` + quantity + `}],"currency":"EUR","customer":{"email":"a@example.com"}}`
}

func (b *bundle) order(key string) string {
	b.t.Helper()
	made := b.post(alpha, "/v1/orders", key, b.orderBody("2"))
	require.Equal(b.t, http.StatusCreated, made.status, made.body)
	return made.text("id")
}

const (
	goodCard = `{"payment_method":"pm_card_visa"}`
	badCard  = `{"payment_method":"pm_card_visa_chargeDeclined"}`
)
