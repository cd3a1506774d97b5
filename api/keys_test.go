package api_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeyState_FollowsTheIntent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order := b.order("o1")
	look := func(operation, key string) answer {
		return b.get(alpha, "/v1/idempotency_keys/"+operation+"/"+url.PathEscape(key))
	}
	look("charges.create", "k1").problem(http.StatusNotFound, "not-found")

	b.simulator(http.MethodPost, "/_sim/rules", `{"match":{"path_glob":"/v1/payment_intents/**"},"fault":{"name":"drop_after_effect","mode":"fin"}}`)
	open := b.post(alpha, "/v1/orders/"+order+"/charges", "k1", goodCard)
	require.Equal(t, http.StatusAccepted, open.status)
	state := look("charges.create", "k1")
	require.Equal(t, http.StatusOK, state.status, state.body)
	require.Equal(t, "recoverable", state.text("status"), "nobody is at work; the same key goes on")
	require.Equal(t, "charge_recorded", state.text("recovery_point"))
	require.Equal(t, open.text("id"), state.text("resource"))
	require.Nil(t, state.member("response_status"))

	b.simulator(http.MethodDelete, "/_sim/rules", "")
	require.Equal(t, http.StatusCreated, b.post(alpha, "/v1/orders/"+order+"/charges", "k1", goodCard).status)
	state = look("charges.create", "k1")
	require.Equal(t, "completed", state.text("status"))
	require.Equal(t, "finished", state.text("recovery_point"))
	require.InDelta(t, http.StatusCreated, state.member("response_status"), 0)

	b.expire()
	state = look("orders.create", "o1")
	require.Equal(t, "expired", state.text("status"))
	require.Equal(t, order, state.text("resource"))
}

func TestKeyState_InProgressWhileAnOwnerIsAtWork(t *testing.T) {
	t.Parallel()
	b := setup(t)
	charge := b.heldCharge("k1")
	require.Equal(t, "in_progress", b.get(alpha, "/v1/idempotency_keys/charges.create/k1").text("status"))
	charge.release()
	require.Equal(t, http.StatusCreated, (<-charge.answer).status)
}

func TestKeyState_IsTheMerchantsOwn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.order("o1")
	unknown := b.get(alpha, "/v1/idempotency_keys/orders.create/never-used").problem(http.StatusNotFound, "not-found")
	other := b.get(beta, "/v1/idempotency_keys/orders.create/o1").problem(http.StatusNotFound, "not-found")
	require.Equal(t, unknown.text("detail"), other.text("detail"))
	b.get(alpha, "/v1/idempotency_keys/orders.destroy/o1").problem(http.StatusNotFound, "not-found")
	b.get(alpha, "/v1/idempotency_keys/orders.create/cl%C3%A9").problem(http.StatusNotFound, "not-found")
	require.Equal(t, http.StatusOK, b.get(reader, "/v1/idempotency_keys/orders.create/o1").status, "looking needs no right to write")
}

func TestKeyState_OfAnyKeyThatTheHeaderTakes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for header, key := range map[string]string{`"a key, with all/of \"it\" %2F?"`: `a key, with all/of "it" %2F?`, "plain/slash": "plain/slash",
		"a..b": "a..b", "50%41": "50%41", "?#;=&+": "?#;=&+"} {
		require.Equal(t, http.StatusCreated, b.post(alpha, "/v1/carts", header, `{"currency":"EUR"}`).status)
		state := b.get(alpha, "/v1/idempotency_keys/carts.create/"+url.PathEscape(key))
		require.Equal(t, http.StatusOK, state.status, "%s: %s", key, state.body)
		require.Equal(t, "completed", state.text("status"))
	}
}

func TestKeyPolicy_TellsWhatIsKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	policy := b.get(reader, "/v1/idempotency_policy")
	require.Equal(t, http.StatusOK, policy.status, policy.body)
	require.Equal(t, "Idempotency-Key", policy.text("header"))
	require.InDelta(t, 255, policy.member("max_length"), 0)
	require.InDelta(t, 1, policy.member("in_progress.wait_seconds"), 0)
	require.InDelta(t, 10, policy.member("in_progress.max_wait_seconds"), 0)
	operations, ok := policy.member("operations").([]any)
	require.True(t, ok)
	paths := map[string]string{}
	for _, one := range operations {
		row, ok := one.(map[string]any)
		require.True(t, ok)
		paths[row["operation"].(string)] = row["method"].(string) + " " + row["path"].(string) //nolint:forcetypeassert // a wrong type fails the test
		require.InDelta(t, 720*3600, row["retention_seconds"], 0)
		require.InDelta(t, 9600*3600, row["tombstone_seconds"], 0)
		require.NotEmpty(t, row["reasons"])
	}
	require.Equal(t, map[string]string{
		"products.create": "POST /v1/products", "carts.create": "POST /v1/carts", "orders.create": "POST /v1/orders",
		"charges.create": "POST /v1/orders/{id}/charges", "charges.capture": "POST /v1/charges/{id}/capture",
		"charges.cancel": "POST /v1/charges/{id}/cancel",
	}, paths)
}

func TestKeyHint_IsAdviceAndNoRefusal(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for key, hint := range map[string]string{"jane@example.com": "email-address", "4242424242424242": "card-number", "1764547200123": "timestamp", "7": "too-short",
		"cart-0190f4b2": ""} {
		made := b.post(alpha, "/v1/carts", key, `{"currency":"EUR"}`)
		require.Equal(t, http.StatusCreated, made.status, made.body)
		require.Equal(t, hint, made.header.Get("Idempotency-Key-Hint"), key)
	}
}
