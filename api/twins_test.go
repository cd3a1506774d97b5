package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What a second request with the same key is told, while the first one runs and long after it.

// heldCharge is a charge that waits at the provider, with its key claimed, until release.
type heldCharge struct {
	order   string
	answer  chan answer
	release func()
}

func (b *bundle) heldCharge(key string) heldCharge {
	b.t.Helper()
	h := heldCharge{order: b.order("order-of-" + key), answer: make(chan answer, 1)}
	status := b.simulator(http.MethodPost, "/_sim/rules",
		`{"match":{"method":"POST","path_glob":"/v1/payment_intents/*/confirm"},"fault":{"name":"hold","barrier":"`+key+`","point":"before_effect"},"times":1}`)
	require.Equal(b.t, http.StatusCreated, status)
	go func() { h.answer <- b.post(alpha, "/v1/orders/"+h.order+"/charges", key, goodCard) }()
	require.Equal(b.t, http.StatusOK, b.simulator(http.MethodGet, "/_sim/barriers/"+key+"?wait=10s", ""), "the confirm has arrived")
	h.release = func() { b.simulator(http.MethodPost, "/_sim/barriers/"+key+"/release", "") }
	return h
}

// again sends a charge once more, to any process.
func (b *bundle) again(base, order, key, body string, wait string) answer {
	b.t.Helper()
	return b.do(b.t.Context(), base, http.MethodPost, "/v1/orders/"+order+"/charges", body, header{"Authorization", "Bearer " + alpha},
		header{"Content-Type", "application/json"}, header{"Idempotency-Key", key}, header{"Prefer", "wait=" + wait})
}

func TestStillRunning_409WithAPointerAndWhenToComeBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	charge := b.heldCharge("k1")
	for _, base := range []string{b.url, b.otherReplica()} {
		busy := b.again(base, charge.order, "k1", goodCard, "0").problem(http.StatusConflict, "idempotency-key-in-progress")
		require.True(t, strings.HasPrefix(busy.text("resource"), "chg_"), "once known, where the result will be")
		require.NotEmpty(t, busy.header.Get("Retry-After"))
		require.NotEmpty(t, busy.header.Get("Idempotency-Expires"))
	}
	charge.release()
	first := <-charge.answer
	require.Equal(t, http.StatusCreated, first.status, first.body)
	require.Equal(t, first.body, b.again(b.url, charge.order, "k1", goodCard, "0").body)
}

func TestStillRunning_WhoWaitsGetsTheAnswerAsAReplay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	charge := b.heldCharge("k1")
	waiting := make(chan answer, 2)
	for _, base := range []string{b.url, b.otherReplica()} {
		go func() { waiting <- b.again(base, charge.order, "k1", goodCard, "10") }()
	}
	charge.release()
	first := <-charge.answer
	for range 2 {
		second := <-waiting
		require.Equal(t, first.status, second.status)
		require.Equal(t, first.body, second.body)
		require.Equal(t, "true", second.header.Get("Idempotent-Replayed"))
		require.Equal(t, first.header.Get("Request-Id"), second.header.Get("Original-Request"))
	}
}

func TestStillRunning_OtherPayload_422AndTheFirstIsUntouched(t *testing.T) {
	t.Parallel()
	b := setup(t)
	charge := b.heldCharge("k1")
	for _, base := range []string{b.url, b.otherReplica()} {
		other := b.again(base, charge.order, "k1", badCard, "0").problem(http.StatusUnprocessableEntity, "idempotency-key-reused")
		require.NotEmpty(t, other.header.Get("Idempotency-Expires"))
	}
	charge.release()
	require.Equal(t, http.StatusCreated, (<-charge.answer).status)
}

// expire lets the retention of all answers pass.
func (b *bundle) expire() {
	b.t.Helper()
	b.db.Exec(b.t, `ALTER TABLE idempotency_keys DISABLE TRIGGER USER`)
	b.db.Exec(b.t, `UPDATE idempotency_keys SET expires_at = now() - interval '1 second'`)
	b.db.Exec(b.t, `ALTER TABLE idempotency_keys ENABLE TRIGGER USER`)
}

func TestExpired_ALateRetryIsToldWhereToLook(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order := b.order("o1")
	b.expire()
	for _, purged := range []bool{false, true} {
		if purged {
			_, err := b.service.PurgeKeys(b.system(), 100)
			require.NoError(t, err)
		}
		late := b.post(alpha, "/v1/orders", "o1", b.orderBody("2")).problem(http.StatusConflict, "idempotency-key-expired")
		require.Equal(t, order, late.text("resource"))
		expired, err := http.ParseTime(late.header.Get("Idempotency-Expires"))
		require.NoError(t, err)
		require.False(t, expired.After(time.Now()))
	}
	require.Equal(t, 1, b.db.Count(t, `SELECT count(*) FROM orders`))
}

func TestStillRunning_ALookIsTold202AndNeverThatNothingWasSent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	charge := b.heldCharge("k1")
	id := b.again(b.url, charge.order, "k1", goodCard, "0").text("resource")
	looked := b.get(alpha, "/v1/charges/"+id)
	require.Equal(t, http.StatusAccepted, looked.status)
	require.Equal(t, "unknown", looked.text("status"), "the confirm is on its way")
	require.NotEmpty(t, looked.header.Get("Retry-After"))
	require.Contains(t, b.get(alpha, "/v1/charges?status=unknown").body, id)
	require.NotContains(t, b.get(alpha, "/v1/charges?status=created").body, id)
	charge.release()
	require.Equal(t, http.StatusCreated, (<-charge.answer).status)
	require.Equal(t, http.StatusOK, b.get(alpha, "/v1/charges/"+id).status)
}
