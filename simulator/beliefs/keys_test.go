package beliefs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Documented: a decline is stored under its key, and the header says that an answer is a replay. Believed: Original-Request
// names the request that executed.
func declinedConfirmSentAgain(t *testing.T, w *world) {
	confirm := "/v1/payment_intents/" + w.intent(t, "01") + "/confirm"
	first := w.post(t, "01-confirm", confirm, "payment_method=pm_card_visa_chargeDeclined")
	refuses(t, first, 402, "card_error", "card_declined")
	require.Empty(t, first.header.Get("Idempotent-Replayed"))

	again := w.post(t, "01-confirm", confirm, "payment_method=pm_card_visa_chargeDeclined")
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	require.Equal(t, first.header.Get("Request-Id"), again.header.Get("Original-Request"))
	require.Equal(t, []any{402, first.body}, []any{again.status, again.body})
	t.Logf("observed: the replay has a request id of its own: %t", first.header.Get("Request-Id") != again.header.Get("Request-Id"))
}

// Documented for other parameters. Believed for another path, and that there is no code.
func keyWithAnotherRequest(t *testing.T, w *world) {
	first := w.intent(t, "02")
	refuses(t, w.post(t, "02", "/v1/payment_intents", append(w.card(), "description=other")...), 400, "idempotency_error", nil)
	refuses(t, w.post(t, "02", "/v1/payment_intents/"+first+"/cancel"), 400, "idempotency_error", nil)
	again := w.post(t, "02", "/v1/payment_intents", w.card()...)
	require.Equal(t, []any{200, first, "true"}, []any{again.status, again.id(), again.header.Get("Idempotent-Replayed")}, "the first is still there")
}

// Believed: a key in use is 409 idempotency_key_in_use, and an object in use is 429 lock_timeout. Stripe waits a while before
// it gives up on an object, so that a twin with a key of its own may also come after the first, and find it paid.
func twoConfirmsAtOnce(t *testing.T, w *world) {
	confirm := "/v1/payment_intents/" + w.intent(t, "03-a") + "/confirm"
	first, second := w.atOnce(t, confirm, "payment_method=pm_card_visa", "03-confirm", "03-confirm")
	require.Equal(t, []any{200, "succeeded"}, []any{first.status, first.at("status")}, first.text)
	refuses(t, second, 409, "invalid_request_error", "idempotency_key_in_use")

	confirm = "/v1/payment_intents/" + w.intent(t, "03-b") + "/confirm"
	first, second = w.atOnce(t, confirm, "payment_method=pm_card_visa", "03-one", "03-other")
	require.Equal(t, []any{200, "succeeded"}, []any{first.status, first.at("status")}, first.text)
	t.Logf("observed: the one that came second got %d %v", second.status, second.at("error", "code"))
	if second.status == 400 && !w.simulated {
		refuses(t, second, 400, "invalid_request_error", "payment_intent_unexpected_state")
		return
	}
	refuses(t, second, 429, "invalid_request_error", "lock_timeout")
}

// Documented: an answer is stored once execution has begun. Believed: a conflict with the state is found by executing, a
// wrong parameter before that.
func whatIsStored(t *testing.T, w *world) {
	confirm := "/v1/payment_intents/" + w.paid(t, "04").id() + "/confirm"
	refuses(t, w.post(t, "04-confirm", confirm, "payment_method=pm_card_visa"), 400, "invalid_request_error", "payment_intent_unexpected_state")
	again := w.post(t, "04-confirm", confirm, "payment_method=pm_card_visa")
	refuses(t, again, 400, "invalid_request_error", "payment_intent_unexpected_state")
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))

	refuses(t, w.post(t, "04-valid", "/v1/payment_intents", "amount=much", "currency=eur"), 400, "invalid_request_error", "parameter_invalid_integer")
	require.Equal(t, 200, w.post(t, "04-valid", "/v1/payment_intents", w.card()...).status, "the key is still free")
}
