package simulator_test

import (
	"fmt"
	"net/url"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
)

// bankLife lets the buyer, the bank and the clock act on payments, in parallel or one after the other, and returns the ids
// of all that came of it by payment, and which events a rule struck.
func bankLife(t *testing.T, parallel bool) []string {
	t.Helper()
	b := startNow(t)
	b.listen("*")
	b.rule(t, `{"id":"half","match":{"event":"*","probability":0.5},"fault":{"name":"lose"}}`)
	const payments = 12
	ids := make([]string, payments)
	live := func(n int) {
		r := b.post(fmt.Sprint("asks:", n), "/v1/payment_intents", card("confirm=true", "payment_method=pm_card_authenticationRequired")...)
		ids[n] = r.id()
		b.control("/payment_intents/"+r.id()+"/action", `{"outcome":"fail"}`)
		b.post(fmt.Sprint("again:", n), "/v1/payment_intents/"+r.id()+"/confirm", "payment_method=pm_card_authenticationRequired")
		paid := b.send("POST", "/_sim/payment_intents/"+r.id()+"/authenticate", url.Values{"outcome": {"succeed"}}.Encode())
		require.Equal(t, 303, paid.status)
		charge, _ := b.get("/v1/payment_intents/" + r.id()).at("latest_charge").(string)
		d := b.control("/disputes", `{"charge":"`+charge+`"}`)
		require.Equal(t, 200, b.control("/disputes/"+d.id()+"/win", "").status)
		refund := b.post(fmt.Sprint("refund:", n), "/v1/refunds", "charge="+charge)
		require.Equal(t, 200, b.control("/refunds/"+refund.id()+"/fail", "").status)

		slow := b.post(fmt.Sprint("slow:", n), "/v1/payment_intents", card("confirm=true", "payment_method=pm_sim_processing_then_success")...)
		require.Equal(t, 200, b.control("/payment_intents/"+slow.id()+"/settle", `{"outcome":"succeed"}`).status)
	}
	if parallel {
		together(payments, live)
	} else {
		for n := range payments {
			live(n)
		}
	}
	b.control("/clock", `{"advance":"96h"}`)
	b.control("/payouts/run", "")
	b.control("/clock", `{"advance":"96h"}`)
	var lines []string
	for _, d := range b.get("/_sim/deliveries?wait=10s").at("deliveries").([]any) {
		d, _ := d.(map[string]any)
		lines = append(lines, fmt.Sprint(d["event"], d["type"], d["object"], d["state"]))
	}
	for _, path := range []string{"/v1/charges", "/v1/disputes", "/v1/payouts", "/v1/balance_transactions"} {
		for _, o := range b.get(path + "?limit=100").at("data").([]any) {
			lines = append(lines, path+fmt.Sprint(o.(map[string]any)["id"]))
		}
	}
	sort.Strings(lines)
	return append(ids, lines...)
}

func TestBuyersBankAndClock_AreTheSameInEveryOrder(t *testing.T) {
	t.Parallel()
	first := bankLife(t, false)
	require.Greater(t, len(first), 200)
	require.Equal(t, first, bankLife(t, true))
}
