package beliefs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Believed: the error holds the intent as it is, so that one refused call also tells the truth; and a second cancel is an
// error, not the same again.
func cancelTooLate(t *testing.T, w *world) {
	succeeded := w.paid(t, "05-paid").id()
	r := w.post(t, "05-cancel", "/v1/payment_intents/"+succeeded+"/cancel")
	refuses(t, r, 400, "invalid_request_error", "payment_intent_unexpected_state")
	require.Equal(t, []any{succeeded, "succeeded"}, []any{r.at("error", "payment_intent", "id"), r.at("error", "payment_intent", "status")})

	canceled := w.intent(t, "05-open")
	require.Equal(t, "canceled", w.post(t, "05-first", "/v1/payment_intents/"+canceled+"/cancel").at("status"))
	r = w.post(t, "05-second", "/v1/payment_intents/"+canceled+"/cancel")
	refuses(t, r, 400, "invalid_request_error", "payment_intent_unexpected_state")
	require.Equal(t, []any{canceled, "canceled"}, []any{r.at("error", "payment_intent", "id"), r.at("error", "payment_intent", "status")})
}

// The fence that everything else relies on. Documented: a canceled intent cannot be confirmed.
func confirmAfterCancel(t *testing.T, w *world) {
	id := w.intent(t, "06", "payment_method=pm_card_visa")
	require.Equal(t, "canceled", w.post(t, "06-cancel", "/v1/payment_intents/"+id+"/cancel").at("status"))
	r := w.post(t, "06-confirm", "/v1/payment_intents/"+id+"/confirm")
	refuses(t, r, 400, "invalid_request_error", "payment_intent_unexpected_state")
	charges := w.get(t, "/v1/charges?payment_intent="+id)
	require.Equal(t, 200, charges.status, charges.text)
	require.Empty(t, charges.list())
}

// Only believed, all of it: 400 and not 404, and which parameter is named. The simulator cannot differ from that.
func unknownIDInTheBody(t *testing.T, w *world) {
	for _, row := range []struct {
		key, path, param, value string
		more                    []string
	}{
		{"07-method", "/v1/payment_intents", "payment_method", "pm_1PayonceBelief", w.card()},
		{"07-charge", "/v1/refunds", "charge", "ch_1PayonceBelief", nil},
		{"07-intent", "/v1/refunds", "payment_intent", "pi_1PayonceBelief", nil},
	} {
		r := w.post(t, row.key, row.path, append(row.more, row.param+"="+row.value)...)
		refuses(t, r, 400, "invalid_request_error", "resource_missing")
		require.Equal(t, row.param, r.at("error", "param"), r.text)
	}
}

// Believed: no code tells this refusal from others, so the parameter has to.
func refundOfTooMuch(t *testing.T, w *world) {
	r := w.post(t, "12-refund", "/v1/refunds", "payment_intent="+w.paid(t, "12").id(), "amount=1251")
	refuses(t, r, 400, "invalid_request_error", nil)
	require.Equal(t, "amount", r.at("error", "param"))
}

// Documented, but for the code. Believed: it is in code and in decline_code, and the error holds the intent as it is then.
func offSession(t *testing.T, w *world) {
	confirm := "/v1/payment_intents/" + w.intent(t, "13") + "/confirm"
	r := w.post(t, "13-confirm", confirm, "payment_method=pm_card_authenticationRequired", "off_session=true")
	refuses(t, r, 402, "card_error", "authentication_required")
	require.Equal(t, "authentication_required", r.at("error", "decline_code"))
	require.Equal(t, []any{"requires_payment_method", nil, "authentication_required"}, []any{r.at("error", "payment_intent", "status"),
		r.at("error", "payment_intent", "payment_method"), r.at("error", "payment_intent", "last_payment_error", "code")})
}

// Documented: one capture, and the rest is released. Believed: which events tell of it. Whether the charge counts the rest
// as refunded is not known: the simulator leaves amount_refunded at 0.
func partialCapture(t *testing.T, w *world) {
	held := w.paid(t, "14", "capture_method=manual")
	require.Equal(t, []any{"requires_capture", 1250.0}, []any{held.at("status"), held.at("amount_capturable")})
	r := w.post(t, "14-capture", "/v1/payment_intents/"+held.id()+"/capture", "amount_to_capture=400", "expand[]=latest_charge")
	require.Equal(t, []any{200, "succeeded", 400.0, 0.0},
		[]any{r.status, r.at("status"), r.at("amount_received"), r.at("amount_capturable")}, r.text)
	charge, _ := r.at("latest_charge", "id").(string)
	require.Equal(t, []any{true, 1250.0, 400.0},
		[]any{r.at("latest_charge", "captured"), r.at("latest_charge", "amount"), r.at("latest_charge", "amount_captured")})
	t.Logf("observed: amount_refunded %v, refunded %v", r.at("latest_charge", "amount_refunded"), r.at("latest_charge", "refunded"))

	want := []string{"charge.captured", "payment_intent.succeeded", "payment_intent.amount_capturable_updated"}
	since, _ := held.at("created").(float64)
	var told []string
	_, came := w.later(t, func() bool {
		told = nil
		for _, e := range w.events(t, int64(since), want, held.id(), charge) {
			told = append(told, e.at("type").(string))
		}
		return len(told) >= len(want)
	})
	require.True(t, came, "only %v", told)
	require.ElementsMatch(t, want, told)
}
