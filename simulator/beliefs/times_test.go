package beliefs

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// Documented for this version: automatic_async, and no balance transaction in the answer. The simulator's delay is made up.
func defaultCapture(t *testing.T, w *world) {
	r := w.paid(t, "08", "expand[]=latest_charge")
	require.Equal(t, []any{"succeeded", "automatic_async"}, []any{r.at("status"), r.at("capture_method")})
	charge, _ := r.at("latest_charge", "id").(string)
	t.Logf("observed: balance transaction in the answer: %v", r.at("latest_charge", "balance_transaction"))
	took, came := w.later(t, func() bool { return w.get(t, "/v1/charges/"+charge).at("balance_transaction") != nil })
	require.True(t, came)
	t.Logf("observed: there after about %s", took)
}

// Documented: a card refund is told of as charge.refunded; events of the refund's own became universal with the next version.
// Believed: which of these are listed. The simulator tells of both kinds unless its settings say otherwise, so that a
// receiver is tried with both.
func refundEvents(t *testing.T, w *world) {
	paid := w.paid(t, "09")
	refund := w.post(t, "09-refund", "/v1/refunds", "payment_intent="+paid.id())
	require.Equal(t, []any{200, "succeeded"}, []any{refund.status, refund.at("status")}, refund.text)
	charge, _ := refund.at("charge").(string)
	since, _ := paid.at("created").(float64)
	kinds := []string{"charge.refunded", "charge.refund.updated", "refund.created", "refund.updated"}
	var told []any
	took, _ := w.later(t, func() bool {
		told = nil
		for _, e := range w.events(t, int64(since), kinds, charge, refund.id()) {
			told = append(told, e.at("type"))
		}
		return len(told) > 0
	})
	require.Contains(t, told, "charge.refunded")
	t.Logf("observed: %v after about %s", told, took)
}

// Documented: an event names the request that caused it. Believed: with its key, for what a confirm brings about, too.
func eventsNameTheirKey(t *testing.T, w *world) {
	created := w.post(t, "10", "/v1/payment_intents", w.card()...)
	confirmed := w.post(t, "10-confirm", "/v1/payment_intents/"+created.id()+"/confirm", "payment_method=pm_card_visa")
	require.Equal(t, "succeeded", confirmed.at("status"), confirmed.text)
	charge, _ := confirmed.at("latest_charge").(string)
	since, _ := created.at("created").(float64)
	keys := map[string]any{}
	took, came := w.later(t, func() bool {
		for _, e := range w.events(t, int64(since), []string{"payment_intent.created", "charge.succeeded"}, created.id(), charge) {
			keys[e.at("type").(string)] = e.at("request", "idempotency_key")
		}
		return len(keys) == 2
	})
	require.True(t, came, "only %v", keys)
	require.Equal(t, map[string]any{"payment_intent.created": w.mark + "-10", "charge.succeeded": w.mark + "-10-confirm"}, keys)
	t.Logf("observed: listed after about %s", took)
}

// Documented: a list is up to date, a search is not; it lags by less than a minute as a rule. A quick search index would make
// the last line fail without harm: nothing may rely on search either way.
func listAndSearch(t *testing.T, w *world) {
	id := w.intent(t, "11", "metadata[payonce_belief_search]="+w.mark)
	newest := w.get(t, "/v1/payment_intents?limit=10").list()
	require.NotEmpty(t, newest)
	ids := []string{}
	for _, item := range newest {
		ids = append(ids, item.id())
	}
	require.Contains(t, ids, id)
	found := w.get(t, "/v1/payment_intents/search?query="+url.QueryEscape("metadata['payonce_belief_search']:'"+w.mark+"'"))
	require.Equal(t, 200, found.status, found.text)
	require.Empty(t, found.list())
}
