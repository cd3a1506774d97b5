package simulator_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// press sends a form of the overview as a browser on the same page does.
func (b *bench) press(pairs ...string) reply {
	b.t.Helper()
	form := url.Values{}
	for n := 0; n < len(pairs); n += 2 {
		form.Set(pairs[n], pairs[n+1])
	}
	return b.send("POST", "/_sim/page", form.Encode(), "Origin", b.server.URL, "Sec-Fetch-Site", "same-origin")
}

func TestPage_ShowsWebhooksFaultsAndMoney(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen()
	shop.answers(503)
	paid := b.pay("pay:1")
	b.post("r", "/v1/refunds", "payment_intent="+paid, "amount=100")
	b.post("d", "/v1/payment_intents", card("confirm=true", "payment_method=pm_card_createDispute")...)
	b.control("/clock", `{"advance":"10s"}`)
	b.rule(t, `{"id":"mine","match":{"event":"charge.*"},"fault":{"name":"duplicate","n":3}}`)
	b.control("/profile", `{"name":"calm","seed":5}`)
	asking := b.intentIn("requires_action")
	shop.all()
	text := b.get("/_sim").text
	for _, want := range []string{
		"payment_intent.succeeded", "503", "pending", "/webhooks</code>", "Refunds", "1.00 EUR", "Disputes", "needs_response",
		"mine", "n=3", "charge.*", "calm, seed 5", "drop_after_effect 1 %", "/_sim/payment_intents/" + asking + "/authenticate", "pay:1",
		"2025-03-01 12:00:10 UTC",
	} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "http-equiv")
	require.Contains(t, b.get("/_sim?live").text, `http-equiv="refresh"`)
}

func TestPage_WorksTheControls(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen("payment_intent.succeeded")
	does := func(pairs ...string) {
		t.Helper()
		r := b.press(pairs...)
		require.Equal(t, 303, r.status, r.text)
		require.Equal(t, "/_sim", r.header.Get("Location"))
	}
	does("do", "advance", "by", "25h")
	require.EqualValues(t, noon.Unix()+25*3600, b.get("/_sim/clock").at("now"))
	does("do", "freeze")
	require.Equal(t, true, b.get("/_sim/clock").at("frozen"))
	does("do", "thaw")
	require.Equal(t, false, b.get("/_sim/clock").at("frozen"))

	does("do", "pause")
	b.pay("k")
	require.Empty(t, shop.all())
	does("do", "flush")
	require.Len(t, shop.all(), 1)
	does("do", "resume")
	does("do", "redeliver", "id", b.eventOf("payment_intent.succeeded"))
	require.Len(t, shop.all(), 2)
	slow := b.intentIn("processing")
	does("do", "settle", "id", slow, "outcome", "fail")
	require.Equal(t, "requires_payment_method", b.get("/v1/payment_intents/"+slow).at("status"))

	does("do", "profile", "name", "rough", "seed", "9")
	require.EqualValues(t, 9, b.get("/_sim/profile").at("seed"))
	does("do", "profile", "name", "", "seed", "")
	require.Equal(t, "", b.get("/_sim/profile").at("name"))

	does("do", "add rule", "fault", "html_error", "params", "status=503", "path", "/v1/charges", "times", "9", "percent", "100")
	require.Equal(t, 503, b.get("/v1/charges").status)
	does("do", "switch rule", "id", "rule_1")
	require.Equal(t, 200, b.get("/v1/charges").status)
	require.Contains(t, b.get("/_sim").text, "Turn on")
	does("do", "switch rule", "id", "rule_1")
	require.Equal(t, 503, b.get("/v1/charges").status)
	does("do", "remove rule", "id", "rule_1")
	require.Equal(t, 200, b.get("/v1/charges").status)
	does("do", "add rule", "fault", "lose", "params", "")
	b.pay("k:2")
	require.Len(t, shop.all(), 2)
}

func TestPage_ReleasesWhatIsHeld(t *testing.T) {
	t.Parallel()
	b := start(t)
	done := make(chan reply)
	go func() {
		r, _ := b.faulty("hold;barrier=gate", "k", "/v1/payment_intents", card()...)
		done <- r
	}()
	b.held("gate")
	require.Contains(t, b.get("/_sim").text, "<code>gate</code> holds 1")
	b.press("do", "release", "name", "gate")
	require.Equal(t, 200, (<-done).status)
}

func TestPage_RefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	b := start(t)
	for _, form := range [][]string{
		{}, {"do", "reset everything"}, {"do", "advance", "by", "-1h"}, {"do", "profile", "name", "hurricane"},
		{"do", "profile", "name", "calm", "seed", "x"}, {"do", "redeliver", "id", "evt_none"}, {"do", "settle", "id", "pi_none"},
		{"do", "switch rule", "id", "none"}, {"do", "add rule", "fault", "explode"},
		{"do", "add rule", "fault", "lose", "path", "/v1/charges"}, {"do", "add rule", "fault", "delay"},
		{"do", "add rule", "fault", "empty_200", "times", "x"}, {"do", "add rule", "fault", "empty_200", "times", "-1"},
		{"do", "add rule", "fault", "empty_200", "percent", "x"}, {"do", "add rule", "fault", "empty_200", "percent", "101"},
		{"do", "add rule", "fault", "empty_200", "percent", "NaN"}, {"do", "add rule", "fault", "empty_200", "params", "a=b"},
		{"do", "add rule", "fault", "empty_200", "params", ",html_error"},
	} {
		require.Equal(t, 400, b.press(form...).status, "%q", form)
	}
	require.Empty(t, b.get("/_sim/rules").at("rules"))
}

func TestPage_CannotBeWorkedFromAnotherSite(t *testing.T) {
	t.Parallel()
	b := start(t)
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"},
	} {
		r := b.send("POST", "/_sim/page", "do=advance&by=25h", headers...)
		require.Equal(t, 403, r.status, headers)
	}
	require.EqualValues(t, noon.Unix(), b.get("/_sim/clock").at("now"))
}

func TestPage_OfAnIsolatedWorldWorksThatWorld(t *testing.T) {
	t.Parallel()
	b := start(t)
	require.Contains(t, b.get("/scn/one/_sim").text, `action="/scn/one/_sim/page"`)
	r := b.send("POST", "/scn/one/_sim/page", "do=advance&by=1h")
	require.Equal(t, "/scn/one/_sim", r.header.Get("Location"))
	require.EqualValues(t, noon.Unix()+3600, b.get("/scn/one/_sim/clock").at("now"))
	require.EqualValues(t, noon.Unix(), b.get("/_sim/clock").at("now"))
}
