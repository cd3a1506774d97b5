package simulator_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"

	"payonce/simulator"
)

func TestEvents_AreListedNewestFirstAndPaged(t *testing.T) {
	t.Parallel()
	b := start(t)
	for n := range 4 {
		b.pay(fmt.Sprint("k", n))
	}
	p := &stripe.EventListParams{}
	p.Limit = stripe.Int64(5)
	var seen []string
	for it := b.stripe.Events.List(p); it.Next(); {
		seen = append(seen, string(it.Event().Type))
	}
	require.Len(t, seen, 12, "all pages")
	require.Equal(t, "payment_intent.succeeded", seen[0])
	require.Equal(t, "payment_intent.created", seen[11])
}

func TestEvents_AreFilteredByTypeAndTime(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.pay("k:1")
	b.control("/clock", `{"advance":"1h"}`)
	b.send("POST", "/v1/payment_intents/"+b.intent()+"/cancel", "")
	for query, want := range map[string][]string{
		"type=charge.succeeded": {"charge.succeeded"},
		"type=payment_intent.*": {"payment_intent.created", "payment_intent.succeeded", "payment_intent.created", "payment_intent.canceled"},
		"type=charge.refunded":  {},
		"types[]=charge.succeeded&types[]=payment_intent.canceled":             {"charge.succeeded", "payment_intent.canceled"},
		fmt.Sprintf("created[gt]=%d&type=payment_intent.created", noon.Unix()): {"payment_intent.created"},
		fmt.Sprintf("created=%d&type=payment_intent.canceled", noon.Unix()):    {},
		fmt.Sprintf("created[lte]=%d&type=payment_intent.*", noon.Unix()):      {"payment_intent.created", "payment_intent.succeeded"},
		"delivery_success=true&type=payment_intent.canceled":                   {"payment_intent.canceled"},
		"delivery_success=false": {},
	} {
		require.Equal(t, want, b.events(query), query)
	}
	for _, bad := range []string{
		"type=charge.succeeded&types[]=charge.failed", "type=", "delivery_success=maybe", "kind=charge.succeeded",
		"starting_after=evt_none", strings.Repeat("types[]=charge.failed&", 21),
	} {
		require.Equal(t, 400, b.get("/v1/events?"+bad).status, bad)
	}
	require.Equal(t, 404, b.get("/v1/events/evt_none").status)
}

func TestEvents_AreForgottenAfterThirtyDays(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "sim.jsonl")
	b := startWith(t, simulator.Options{Seed: 1, Data: data})
	b.intent()
	id := b.get("/v1/events").at("data").([]any)[0].(map[string]any)["id"].(string)
	b.control("/clock", `{"advance":"720h"}`)
	require.Equal(t, 200, b.get("/v1/events/"+id).status)
	b = b.restart(data)
	require.Equal(t, 200, b.get("/v1/events/"+id).status)
	b.control("/clock", `{"advance":"1s"}`)
	require.Equal(t, 404, b.get("/v1/events/"+id).status)
	require.Empty(t, b.events(""))
	require.Equal(t, 404, b.control("/events/"+id+"/redeliver", "").status)
}

// A snapshot is of the moment, whatever becomes of the object.
func TestEvent_ShowsTheObjectAsItWas(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent()
	b.post("k", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa")
	list, err := b.stripe.Events.Get(b.eventOf("payment_intent.created"), nil)
	require.NoError(t, err)
	require.Equal(t, "requires_payment_method", list.Data.Object["status"])
	require.Equal(t, "succeeded", b.get("/v1/payment_intents/"+id).at("status"))
}

// eventOf returns the id of the newest event of a type.
func (b *bench) eventOf(kind string) string {
	b.t.Helper()
	list, _ := b.get("/v1/events?type=" + kind).at("data").([]any)
	require.NotEmpty(b.t, list, kind)
	id, _ := list[0].(map[string]any)["id"].(string)
	return id
}

func TestReplayedOrRefusedRequests_MakeNoEvents(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.pay("k")
	b.pay("k")
	require.Equal(t, 400, b.post("again", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa").status)
	_, err := b.faulty("reset_before_effect", "lost", "/v1/payment_intents", card()...)
	require.Error(t, err)
	require.Equal(t, paidEvents, b.events(""))
}

func TestRefundEvents_ComeInTheFamiliesThatWereChosen(t *testing.T) {
	t.Parallel()
	for families, want := range map[string][]string{
		"legacy": {"charge.refunded"},
		"new":    {"refund.created"},
		"both":   {"charge.refunded", "refund.created"},
		"":       {"charge.refunded", "refund.created"},
	} {
		b := start(t)
		if families != "" {
			require.Equal(t, 200, b.control("/settings", `{"refund_events":"`+families+`"}`).status)
		}
		id := b.pay("k")
		before := len(b.events(""))
		require.Equal(t, 200, b.post("r", "/v1/refunds", "payment_intent="+id).status)
		require.ElementsMatch(t, want, b.events("")[before:], families)
	}
}

func TestSettings_AreChangedOneByOneAndChecked(t *testing.T) {
	t.Parallel()
	b := start(t)
	require.JSONEq(t, `{"refund_events":"both","webhook_retries":"test","webhook_time":"real","webhook_in_flight":1,
		"webhook_timeout_ms":10000,"webhooks_paused":false}`, b.get("/_sim/settings").text)
	require.Equal(t, 200, b.control("/settings", `{"webhook_in_flight":4}`).status)
	for _, bad := range []string{
		`{"refund_events":"none"}`, `{"webhook_retries":"always"}`, `{"webhook_time":"mine"}`, `{"webhook_in_flight":0}`,
		`{"webhook_in_flight":33}`, `{"webhook_timeout_ms":0}`, `{"webhook_timeout_ms":60001}`, `{"colour":"red"}`, `{`,
	} {
		require.Equal(t, 400, b.control("/settings", bad).status, bad)
	}
	require.EqualValues(t, 4, b.get("/_sim/settings").at("webhook_in_flight"))
	require.Equal(t, "both", b.get("/_sim/settings").at("refund_events"))
}
