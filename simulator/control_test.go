package simulator_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"

	"payonce/simulator"
)

func TestClock_AdvancesFreezesAndNeverGoesBack(t *testing.T) {
	t.Parallel()
	b := start(t)
	require.EqualValues(t, noon.Unix(), b.get("/_sim/clock").at("now"))
	r := b.control("/clock", `{"advance":"25h"}`)
	require.EqualValues(t, noon.Unix()+25*3600, r.at("now"))
	require.Equal(t, "25h0m0s", r.at("ahead"))
	require.EqualValues(t, noon.Unix()+25*3600, b.get("/v1/payment_intents/"+b.intent()).at("created"))

	frozen := b.control("/clock", `{"freeze":true,"advance":"1h"}`)
	require.Equal(t, true, frozen.at("frozen"))
	require.EqualValues(t, noon.Unix()+26*3600, frozen.at("now"))
	require.EqualValues(t, noon.Unix()+27*3600, b.control("/clock", `{"advance":"1h"}`).at("now"))
	thawed := b.control("/clock", `{"freeze":false}`)
	require.Equal(t, false, thawed.at("frozen"))
	require.EqualValues(t, noon.Unix()+27*3600, thawed.at("now"), "it runs on from where it stood")

	for _, bad := range []string{`{"advance":"-1h"}`, `{"advance":"soon"}`, `{"back":"1h"}`, `{`} {
		require.Equal(t, 400, b.control("/clock", bad).status, bad)
	}
}

func TestJournal_HasOneLinePerArrival(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.post("k", "/v1/payment_intents", card()...)
	b.post("k", "/v1/payment_intents", card()...)
	_, err := b.faulty("drop_after_effect", "d", "/v1/payment_intents", card()...)
	require.Error(t, err)
	b.send("GET", "/v1/charges", "", "Authorization", "")

	r := b.get("/_sim/journal")
	lines, _ := r.at("arrivals").([]any)
	require.Len(t, lines, 4)
	line := func(n int) map[string]any { m, _ := lines[n].(map[string]any); return m }
	require.ElementsMatch(t, []string{
		"n", "connection", "method", "path", "key", "hash", "faults", "executed", "replayed", "status", "request_id", "at",
	}, keysOf(line(0)))
	require.Equal(t, "2025-03-01T12:00:00Z", line(0)["at"])
	require.Equal(t, line(0)["hash"], line(1)["hash"])
	for n, want := range []struct {
		key                string
		executed, replayed bool
		status             float64
		faults             []any
	}{
		{"k", true, false, 200, []any{}},
		{"k", false, true, 200, []any{}},
		{"d", true, false, 0, []any{"drop_after_effect"}},
		{"", false, false, 401, []any{}},
	} {
		got := line(n)
		require.EqualValues(t, n+1, got["n"])
		require.Equal(t, want.key, got["key"])
		require.Equal(t, []any{want.executed, want.replayed, want.status}, []any{got["executed"], got["replayed"], got["status"]}, "line %d", n+1)
		require.Equal(t, want.faults, got["faults"])
	}
}

func keysOf(m map[string]any) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	return names
}

func TestAudit_CountsByReferenceAndRaisesTheAlarm(t *testing.T) {
	t.Parallel()
	b := start(t)
	pay := func(pairs ...string) {
		t.Helper()
		form := append([]string{"amount=1000", "currency=eur", "payment_method_types[]=card", "confirm=true", "metadata[merchant_id]=m"}, pairs...)
		b.send("POST", "/v1/payment_intents", strings.Join(form, "&"))
	}
	pay("payment_method=pm_card_visa", "metadata[order_id]=order_1", "metadata[charge_id]=ch_1")
	pay("payment_method=pm_card_visa_chargeDeclined", "metadata[order_id]=order_1", "metadata[charge_id]=ch_2")
	pay("payment_method=pm_card_visa", "metadata[order_id]=order_2", "metadata[payment_id]=order_2")
	require.JSONEq(t, `{"references":[
		{"reference":"ch_1","payment_intents":1,"succeeded":1,"captured":1000,"refunded":0,"fenced_confirms":0},
		{"reference":"ch_2","payment_intents":1,"succeeded":0,"captured":0,"refunded":0,"fenced_confirms":0},
		{"reference":"order_1","payment_intents":2,"succeeded":1,"captured":1000,"refunded":0,"fenced_confirms":0},
		{"reference":"order_2","payment_intents":1,"succeeded":1,"captured":1000,"refunded":0,"fenced_confirms":0}
	],"refunds":[],"alarms":[]}`, b.get("/_sim/audit").text)

	pay("payment_method=pm_card_visa", "metadata[order_id]=order_1", "metadata[charge_id]=ch_3")
	audit := b.sim.Audit()
	require.Len(t, audit.Alarms, 1, "one merchant, paid many times, is no alarm")
	require.Contains(t, audit.Alarms[0], "order_1 was paid 2 times")
	require.Contains(t, b.get("/_sim").text, "Money taken twice")
}

func TestIsolatedWorlds_ShareNothing(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent()
	one, two := b.clientAt("/scn/one", 0, &http.Transport{}), b.clientAt("/scn/two", 0, &http.Transport{})
	p := createParams(1250)
	p.SetIdempotencyKey("k")
	first, err := one.PaymentIntents.New(p)
	require.NoError(t, err)
	second, err := two.PaymentIntents.New(p)
	require.NoError(t, err)
	require.NotEqual(t, first.ID, second.ID, "every world has its own seed")

	_, err = one.PaymentIntents.Get(id, nil)
	require.Equal(t, 404, stripeError(t, err).HTTPStatusCode)
	b.send("POST", "/scn/one/_sim/clock", `{"advance":"48h"}`)
	b.send("POST", "/scn/one/_sim/rules", `{"fault":{"name":"html_error"}}`)
	_, err = one.PaymentIntents.Get(first.ID, nil)
	require.Error(t, err)
	_, err = two.PaymentIntents.Get(second.ID, nil)
	require.NoError(t, err)
	require.EqualValues(t, noon.Unix(), b.get("/scn/two/_sim/clock").at("now"))
	require.Len(t, b.get("/scn/one/_sim/journal").at("arrivals"), 3)
	require.Len(t, b.sim.Journal(), 1)
	require.Equal(t, 404, b.get("/scn/no%20good/v1/charges").status)

	asking := confirmParams("pm_card_authenticationRequired")
	asking.ReturnURL = stripe.String("https://shop.example/")
	pi, err := two.PaymentIntents.Confirm(second.ID, asking)
	require.NoError(t, err)
	require.Contains(t, pi.NextAction.RedirectToURL.URL, b.server.URL+"/scn/two/_sim/")
	require.Contains(t, b.get(pi.NextAction.RedirectToURL.URL[len(b.server.URL):]).text, `action="/scn/two/_sim/`)
}

func TestReset_EmptiesTheWorldAndCutsWhoWaits(t *testing.T) {
	t.Parallel()
	b := start(t)
	first := b.post("k", "/v1/payment_intents", card()...)
	waiting := make(chan error)
	go func() {
		_, err := b.faulty("hold;barrier=gate", "c", "/v1/payment_intents/"+first.id()+"/confirm", "payment_method=pm_card_visa")
		waiting <- err
	}()
	b.held("gate")
	require.Equal(t, 200, b.control("/reset", "").status)
	require.Error(t, <-waiting)

	require.Empty(t, b.sim.Journal())
	require.Equal(t, 404, b.get("/v1/payment_intents/"+first.id()).status)
	require.Equal(t, first.id(), b.post("k", "/v1/payment_intents", card()...).id(), "the same seed gives the same ids again")
	b.control("/reset", `{"seed":2}`)
	require.NotEqual(t, first.id(), b.post("k", "/v1/payment_intents", card()...).id())
}

func TestSameSeedSameCalls_SameIdsAndAnswers(t *testing.T) {
	t.Parallel()
	life := func(seed uint64) string {
		b := startWith(t, simulator.Options{Seed: seed, PublicURL: "http://sim.example"})
		var said strings.Builder
		say := func(r reply) reply { said.WriteString(r.header.Get("Request-Id") + r.text); return r }
		id := say(b.post("k:1", "/v1/payment_intents", card("payment_method=pm_card_visa")...)).id()
		say(b.post("", "/v1/payment_intents", card()...))
		say(b.post("k:2", "/v1/payment_intents/"+id+"/confirm", "expand[]=latest_charge"))
		say(b.post("k:3", "/v1/payment_intents", card("confirm=true", "payment_method=pm_card_authenticationRequired")...))
		say(b.get("/v1/charges"))
		return said.String()
	}
	require.Equal(t, life(7), life(7))
	require.NotEqual(t, life(7), life(8))
}

func TestKeyedIds_DoNotDependOnTheOrderOfArrival(t *testing.T) {
	t.Parallel()
	ids := func(keys ...string) map[string]string {
		b := start(t)
		byKey := map[string]string{}
		for _, k := range keys {
			byKey[k] = b.post(k, "/v1/payment_intents", card()...).id()
		}
		return byKey
	}
	require.Equal(t, ids("a", "b", "c"), ids("c", "a", "b"))
}

func TestOverview_ShowsEverythingAndRunsNothing(t *testing.T) {
	t.Parallel()
	b := start(t)
	require.Contains(t, b.get("/_sim").text, "Nothing has arrived")
	b.post("pay:1:create:1", "/v1/payment_intents", card("metadata[note]=<script>alert(1)</script>", "confirm=true", "payment_method=pm_card_visa")...)
	b.control("/rules", `{"id":"lost","match":{"key_glob":"x"},"fault":{"name":"empty_200"}}`)
	b.send("POST", "/scn/other/v1/payment_intents", "")

	r := b.get("/_sim")
	require.Equal(t, 200, r.status)
	for _, want := range []string{"succeeded", "12.50 EUR", "order_id=order_1", "pay:1:create:1", "POST /v1/payment_intents", "lost", "/scn/other/_sim"} {
		require.Contains(t, r.text, want)
	}
	require.NotContains(t, r.text, "<script")
	require.Equal(t, "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
		r.header.Get("Content-Security-Policy"))
	require.Contains(t, b.get("/_sim/style.css").header.Get("Content-Type"), "text/css")
}

func TestPageOfAnotherSite_MayNotWorkTheControls(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.intent()
	r := b.send("POST", "/_sim/reset", "", "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site")
	require.Equal(t, 403, r.status)
	require.Len(t, b.sim.Journal(), 1)
	require.Equal(t, 404, b.control("/nothing", "").status)
	require.Equal(t, 404, b.control("/payment_intents/pi_none/action", `{"outcome":"succeed"}`).status)
	require.Equal(t, 400, b.control("/payment_intents/"+b.intentIn("requires_action")+"/action", `{"outcome":"sulk"}`).status)
}

func TestJournalAccessor_IsACopy(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.intent()
	b.sim.Journal()[0].Key = "changed"
	text, err := json.Marshal(b.sim.Journal())
	require.NoError(t, err)
	require.NotContains(t, string(text), "changed")
}
