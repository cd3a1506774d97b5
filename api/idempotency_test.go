package api_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/payment"
)

// This file is the promise, one situation after the other.

func TestSameKeySameOrder_TheFirstAnswerAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.post(alpha, "/v1/orders", "k1", b.orderBody("2"))
	require.Equal(t, http.StatusCreated, first.status, first.body)
	require.Equal(t, "/v1/orders/"+first.text("id"), first.header.Get("Location"))
	require.Empty(t, first.header.Get("Idempotent-Replayed"))
	require.NotEmpty(t, first.header.Get("Idempotency-Expires"))

	second := b.post(alpha, "/v1/orders", "k1", b.orderBody("2"))
	require.Equal(t, first.status, second.status)
	require.Equal(t, first.body, second.body, "byte for byte")
	require.Equal(t, first.header.Get("Location"), second.header.Get("Location"))
	require.Equal(t, "true", second.header.Get("Idempotent-Replayed"))
	require.Equal(t, first.header.Get("Request-Id"), second.header.Get("Original-Request"))
	require.NotEqual(t, first.header.Get("Request-Id"), second.header.Get("Request-Id"))
	require.Equal(t, "</v1/orders/"+first.text("id")+`>; rel="latest"`, second.header.Get("Link"))
}

func TestSameMeaningInOtherWords_IsTheSameIntent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.post(alpha, "/v1/orders", "k1", b.orderBody("2"))
	for situation, body := range map[string]string{
		"other spacing and order": `{ "customer" : {"email":"a@example.com"}, "currency":"EUR", "items":[{"quantity":2,"product_id":"` + b.mug + `"}]}`,
		"lower-case currency":     strings.Replace(b.orderBody("2"), "EUR", "eur", 1),
		"defaults spelt out":      strings.Replace(b.orderBody("2"), `"currency"`, `"metadata":{},"shipping_address":null,"currency"`, 1),
		"escaped text":            strings.Replace(b.orderBody("2"), "a@example", `\u0061@example`, 1),
	} {
		again := b.post(alpha, "/v1/orders", "k1", body)
		require.Equal(t, first.body, again.body, situation)
	}
	quoted := b.post(alpha, "/v1/orders", `"k1"`, b.orderBody("2"))
	require.Equal(t, first.body, quoted.body, "the quoted form of a key is the same key")
}

func TestSameKeyOtherPayload_RefusedAndTheFirstIsUntouched(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.post(alpha, "/v1/orders", "k1", b.orderBody("2"))
	for _, body := range []string{
		b.orderBody("3"),
		strings.Replace(b.orderBody("2"), "a@example", "b@example", 1),
		strings.Replace(b.orderBody("2"), `"currency"`, `"metadata":{"a":"b"},"currency"`, 1),
		strings.Replace(b.orderBody("2"), `"currency"`, `"expected_total":3998,"currency"`, 1),
	} {
		b.post(alpha, "/v1/orders", "k1", body).problem(http.StatusUnprocessableEntity, "idempotency-key-reused")
	}
	require.Equal(t, first.body, b.post(alpha, "/v1/orders", "k1", b.orderBody("2")).body)
}

func TestSameKey_OtherMerchantOrOperation_IsAnotherKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.post(alpha, "/v1/carts", "k1", `{"currency":"EUR"}`)
	require.Equal(t, http.StatusCreated, b.post(alpha, "/v1/orders", "k1", b.orderBody("1")).status)
	other := b.post(beta, "/v1/carts", "k1", `{"currency":"USD"}`)
	require.Equal(t, http.StatusCreated, other.status)
	require.Empty(t, other.header.Get("Idempotent-Replayed"))
}

func TestStateMovedOn_TheReplayKeepsItsFirstMeaning(t *testing.T) {
	t.Parallel()
	b := setup(t)
	placed := b.post(alpha, "/v1/orders", "k1", b.orderBody("2"))
	order := placed.text("id")
	charged := b.post(alpha, "/v1/orders/"+order+"/charges", "k2", goodCard)
	require.Equal(t, http.StatusCreated, charged.status, charged.body)

	again := b.post(alpha, "/v1/orders", "k1", b.orderBody("2"))
	require.Equal(t, "pending_payment", again.text("status"), "what was true when it was first told")
	latest, _, _ := strings.Cut(strings.TrimPrefix(again.header.Get("Link"), "<"), ">")
	require.Equal(t, "paid", b.get(alpha, latest).text("status"), "and where to find what is true now")
}

func TestRefusedBeforeTheClaim_LeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.post(alpha, "/v1/orders", "k1", `{`).problem(http.StatusBadRequest, "malformed-json")
	b.post(alpha, "/v1/orders", "k1", b.orderBody("0")).problem(http.StatusUnprocessableEntity, "validation-failed")
	b.post(reader, "/v1/orders", "k1", b.orderBody("1")).problem(http.StatusForbidden, "forbidden")
	b.post("sk_test_nobody", "/v1/orders", "k1", b.orderBody("1")).problem(http.StatusUnauthorized, "unauthenticated")
	require.Zero(t, b.db.Count(t, `SELECT count(*) FROM idempotency_keys WHERE operation = 'orders.create'`))
	require.Equal(t, http.StatusCreated, b.post(alpha, "/v1/orders", "k1", b.orderBody("1")).status)
}

func TestFinalRefusals_AreStoredAndReplayed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.post(alpha, "/v1/orders", "k1", b.orderBody("101")).problem(http.StatusConflict, "out-of-stock")
	require.Equal(t, b.mug, first.text("product_id"))
	require.InDelta(t, 100, first.member("available"), 0)
	b.send(alpha, http.MethodPut, "/v1/products/"+b.mug+"/stock", `{"on_hand":1000}`)
	second := b.post(alpha, "/v1/orders", "k1", b.orderBody("101"))
	require.Equal(t, first.body, second.body)
	require.Equal(t, "true", second.header.Get("Idempotent-Replayed"))
	require.Equal(t, http.StatusCreated, b.post(alpha, "/v1/orders", "k2", b.orderBody("101")).status, "a new try is a new intent")
}

func TestDecline_Is402AndReplaysAs402(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/v1/orders/" + b.order("o1") + "/charges"
	first := b.post(alpha, path, "k1", badCard).problem(http.StatusPaymentRequired, "card-declined")
	require.Equal(t, "failed", first.text("charge.status"))
	require.Equal(t, "card_declined", first.text("failure.code"))
	require.NotEmpty(t, first.text("order_id"))
	second := b.post(alpha, path, "k1", badCard)
	require.Equal(t, first.body, second.body)
	require.Equal(t, http.StatusPaymentRequired, second.status)
	require.Equal(t, http.StatusCreated, b.post(alpha, path, "k2", goodCard).status)
	paid := b.post(alpha, path, "k3", goodCard).problem(http.StatusConflict, "order-already-paid")
	require.NotEmpty(t, paid.text("charge_id"))
}

func TestMissingAndMalformedKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	auth, kind := header{"Authorization", "Bearer " + alpha}, header{"Content-Type", "application/json"}
	b.do(t.Context(), b.url, http.MethodPost, "/v1/orders", b.orderBody("1"), auth, kind).problem(http.StatusBadRequest, "idempotency-key-missing")
	b.do(t.Context(), b.url, http.MethodPost, "/v1/orders", b.orderBody("1"), auth, kind, header{"Idempotency-Key", "a"}, header{"Idempotency-Key", "a"}).
		problem(http.StatusBadRequest, "idempotency-key-invalid")
	for _, key := range []string{"", "a, b", "é", strings.Repeat("k", 256), `"open`} {
		b.post(alpha, "/v1/orders", key, b.orderBody("1")).problem(http.StatusBadRequest, "idempotency-key-invalid")
	}
}

func TestProviderDark_202ThenTheSameKeyTells(t *testing.T) {
	t.Parallel()
	b := setup(t)
	rule := b.simulator(http.MethodPost, "/_sim/rules", `{"id":"dark","match":{"path_glob":"/v1/payment_intents/**"},"fault":{"name":"drop_after_effect","mode":"fin"}}`)
	require.Equal(t, http.StatusCreated, rule)
	path := "/v1/orders/" + b.order("o1") + "/charges"
	first := b.post(alpha, path, "k1", goodCard)
	require.Equal(t, http.StatusAccepted, first.status, first.body)
	require.Equal(t, "unknown", first.text("status"))
	require.NotEmpty(t, first.header.Get("Retry-After"))
	require.Equal(t, "/v1/charges/"+first.text("id"), first.header.Get("Location"))
	looked := b.get(alpha, "/v1/charges/"+first.text("id"))
	require.Equal(t, "unknown", looked.text("status"))
	require.Equal(t, http.StatusAccepted, looked.status, "a look is told the same: not decided")
	require.NotEmpty(t, looked.header.Get("Retry-After"))

	b.simulator(http.MethodDelete, "/_sim/rules", "")
	second := b.post(alpha, path, "k1", goodCard)
	require.Equal(t, http.StatusCreated, second.status, second.body)
	require.Equal(t, "succeeded", second.text("status"))
	require.Equal(t, second.body, b.post(alpha, path, "k1", goodCard).body)
}

// simulator speaks to the simulator.
func (b *bundle) simulator(method, path, body string) int {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.simURL+path, strings.NewReader(body))
	require.NoError(b.t, err)
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	require.NoError(b.t, err)
	require.NoError(b.t, got.Body.Close())
	return got.StatusCode
}

// losesAnswers stands in front of a replica like a network that brings every request and loses every answer.
func (b *bundle) losesAnswers() string {
	b.t.Helper()
	network := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		onward, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, b.url+r.RequestURI, bytes.NewReader(body))
		if err != nil {
			panic(err)
		}
		onward.Header = r.Header.Clone()
		got, err := http.DefaultClient.Do(onward)
		if err == nil {
			_, _ = io.Copy(io.Discard, got.Body)
			_ = got.Body.Close()
		}
		panic(http.ErrAbortHandler) // cuts the connection
	}))
	b.t.Cleanup(network.Close)
	return network.URL
}

func TestCommittedButTheAnswerLost_TheSameKeyBringsIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	network := b.losesAnswers()
	lost := func(path, key, body string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, network+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Header = http.Header{"Authorization": {"Bearer " + alpha}, "Content-Type": {"application/json"}, "Idempotency-Key": {key}}
		got, err := http.DefaultTransport.RoundTrip(r)
		require.Error(t, err, "%v", got)
	}
	lost("/v1/orders", "k1", b.orderBody("2"))
	order := b.post(alpha, "/v1/orders", "k1", b.orderBody("2"))
	require.Equal(t, http.StatusCreated, order.status, order.body)
	require.Equal(t, "true", order.header.Get("Idempotent-Replayed"))
	require.Equal(t, 1, b.db.Count(t, `SELECT count(*) FROM orders`))

	path := "/v1/orders/" + order.text("id") + "/charges"
	lost(path, "k2", badCard)
	declined := b.post(alpha, path, "k2", badCard).problem(http.StatusPaymentRequired, "card-declined")
	require.Equal(t, "true", declined.header.Get("Idempotent-Replayed"), "a lost refusal comes back as the same refusal")
	lost(path, "k3", goodCard)
	paid := b.post(alpha, path, "k3", goodCard)
	require.Equal(t, http.StatusCreated, paid.status, paid.body)
	require.Equal(t, "true", paid.header.Get("Idempotent-Replayed"))
	require.Equal(t, 1, b.db.Count(t, `SELECT count(*) FROM charges WHERE status = 'succeeded'`))
}

func TestTwoHundredAtOnceOverTwoReplicas_OneEffectAndNoServerError(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order := b.order("o1")
	replicas := []string{b.url, b.otherReplica()}
	for path, body := range map[string]string{"/v1/orders": b.orderBody("1"), "/v1/orders/" + order + "/charges": goodCard} {
		answers := make([]answer, 200)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() {
				answers[i] = b.do(t.Context(), replicas[i%2], http.MethodPost, path, body, header{"Authorization", "Bearer " + alpha},
					header{"Content-Type", "application/json"}, header{"Idempotency-Key", "k1"}, header{"Prefer", "wait=10"})
			})
		}
		all.Wait()
		first := 0
		for _, a := range answers {
			require.Equal(t, http.StatusCreated, a.status, a.body)
			require.Equal(t, answers[0].body, a.body)
			if a.header.Get("Idempotent-Replayed") == "" {
				first++
			}
		}
		require.Equal(t, 1, first)
	}
	require.Equal(t, 2, b.db.Count(t, `SELECT count(*) FROM orders`))
	require.Equal(t, 1, b.db.Count(t, `SELECT count(*) FROM charges`))
	require.Equal(t, 1, b.db.Count(t, `SELECT count(*) FROM provider_calls WHERE kind = 'confirm'`))
}

func TestAThousandOrdinaryFlows_NeverMeetAConflict(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, http.StatusOK, b.send(alpha, http.MethodPut, "/v1/products/"+b.mug+"/stock", `{"on_hand":1000000}`).status)
	replicas := []string{b.url, b.otherReplica()}
	var all sync.WaitGroup
	for buyer := range 8 {
		all.Go(func() {
			for n := range 125 {
				key := fmt.Sprintf("buyer-%d-cart-%d", buyer, n)
				made := b.do(t.Context(), replicas[n%2], http.MethodPost, "/v1/orders", b.orderBody("1"), header{"Authorization", "Bearer " + alpha},
					header{"Content-Type", "application/json"}, header{"Idempotency-Key", key})
				if made.status != http.StatusCreated || made.header.Get("Idempotent-Replayed") != "" {
					t.Errorf("%s: %d %s", key, made.status, made.body)
				}
			}
		})
	}
	all.Wait()
	require.Equal(t, 1000, b.db.Count(t, `SELECT count(*) FROM orders`))
}

func TestPanicInTheHandler_500AndTheSameKeyGoesOn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order := b.order("o1")
	whole := b.service.Present
	var once sync.Once
	b.service.Present = func(p payment.Presentation) domain.Answer {
		once.Do(func() { panic("a bug") })
		return whole(p)
	}
	b.post(alpha, "/v1/orders", "k1", b.orderBody("1")).problem(http.StatusInternalServerError, "internal")
	made := b.post(alpha, "/v1/orders", "k1", b.orderBody("1"), header{"Prefer", "wait=0"})
	require.Equal(t, http.StatusCreated, made.status, made.body)
	require.Empty(t, made.header.Get("Idempotent-Replayed"), "a 500 is never stored")

	once = sync.Once{}
	path := "/v1/orders/" + order + "/charges"
	b.post(alpha, path, "k2", goodCard).problem(http.StatusInternalServerError, "internal")
	charged := b.post(alpha, path, "k2", goodCard, header{"Prefer", "wait=0"})
	require.Equal(t, http.StatusCreated, charged.status, charged.body)
	require.Equal(t, "succeeded", charged.text("status"))
	require.Equal(t, 1, b.db.Count(t, `SELECT count(*) FROM charges`))
}
