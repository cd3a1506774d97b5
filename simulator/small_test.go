package simulator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProcessing_EndsByItselfAfterAnHour(t *testing.T) {
	t.Parallel()
	for token, status := range map[string]string{
		"pm_sim_processing_then_success": "succeeded", "pm_sim_processing_then_fail": "requires_payment_method",
	} {
		b := start(t)
		id := b.intent("confirm=true", "payment_method="+token)
		b.control("/clock", `{"advance":"59m"}`)
		require.Equal(t, "processing", b.get("/v1/payment_intents/"+id).at("status"))
		b.control("/clock", `{"advance":"1m"}`)
		require.Equal(t, status, b.get("/v1/payment_intents/"+id).at("status"))
	}
}

func TestSecondAttempt_IsNotSettledByTheTimeOfTheFirst(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent("confirm=true", "payment_method=pm_sim_processing_then_fail")
	b.control("/payment_intents/"+id+"/settle", `{"outcome":"fail"}`)
	b.control("/clock", `{"advance":"30m"}`)
	b.post("k", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_sim_processing_then_success")
	b.control("/clock", `{"advance":"30m"}`)
	require.Equal(t, "processing", b.get("/v1/payment_intents/"+id).at("status"))
	b.control("/clock", `{"advance":"30m"}`)
	require.Equal(t, "succeeded", b.get("/v1/payment_intents/"+id).at("status"))
}

func TestManualCaptureAfterProcessing_StillNeedsTheCapture(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent("confirm=true", "payment_method=pm_sim_processing_then_success", "capture_method=manual")
	r := b.control("/payment_intents/"+id+"/settle", `{"outcome":"succeed"}`)
	require.Equal(t, "requires_capture", r.at("status"))
	require.EqualValues(t, 1250, r.at("amount_capturable"))
	require.Empty(t, b.get("/v1/balance_transactions").at("data"), "nothing was taken")
	require.Equal(t, "succeeded", b.post("c", "/v1/payment_intents/"+id+"/capture").at("status"))
}

func TestInquiry_TakesNoMoneySoADisputeMayFollow(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent("confirm=true", "payment_method=pm_card_createDisputeInquiry")
	b.control("/clock", `{"advance":"11s"}`)
	charge, _ := b.get("/v1/payment_intents/" + id).at("latest_charge").(string)
	require.Len(t, b.get("/v1/disputes?charge="+charge).at("data"), 1)
	r := b.control("/disputes", `{"charge":"`+charge+`"}`)
	require.Equal(t, 200, r.status, r.text)
	require.EqualValues(t, 1250, r.at("amount"))
	require.Equal(t, 400, b.control("/disputes", `{"charge":"`+charge+`"}`).status, "but no second one")
}

func TestReleasedAuthorization_IsToldOfWhateverFamilyRefundsAreToldOfIn(t *testing.T) {
	t.Parallel()
	for _, family := range []string{"legacy", "new", "both"} {
		b := start(t)
		b.control("/settings", `{"refund_events":"`+family+`"}`)
		b.post("k", "/v1/payment_intents/"+b.intentIn("requires_capture")+"/cancel")
		require.Equal(t, []string{"charge.refunded"}, b.events("type=charge.refunded"), family)
	}
}

func TestStaleSearch_FindsWhatASearchFoundThen(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent("description=first")
	b.control("/clock", `{"advance":"1m"}`)
	for _, text := range []string{"second", "third"} {
		b.post("", "/v1/payment_intents/"+id, "description="+text)
		b.control("/clock", `{"advance":"1m"}`)
	}
	for lag, text := range map[string]string{"0": "third", "60000": "second", "120000": "first"} {
		found, _ := b.stale("stale_search;lag_ms="+lag, "/v1/payment_intents/search?query=amount:1250").at("data").([]any)
		require.Len(t, found, 1)
		require.Equal(t, text, found[0].(map[string]any)["description"], lag)
	}
}

func TestNamesThatNoPathCanHold_AreRefused(t *testing.T) {
	t.Parallel()
	b := start(t)
	for _, id := range []string{"a/b", ".", ".."} {
		require.Equal(t, 400, b.control("/rules", `{"id":"`+id+`","fault":{"name":"html_error"}}`).status, id)
		r, err := b.faulty("hold;barrier="+id, "k", "/v1/payment_intents", card()...)
		require.NoError(t, err)
		require.Equal(t, 400, r.status, id)
	}
	require.Equal(t, 400, b.control("/rules", `{"match":{"method":"PSOT"},"fault":{"name":"html_error"}}`).status)
	require.Equal(t, 201, b.control("/rules", `{"id":"a","match":{"method":"post"},"fault":{"name":"html_error"}}`).status)
	require.Equal(t, 502, b.post("k", "/v1/customers").status, "a method is written as one likes")
	require.Equal(t, 404, b.send("DELETE", "/_sim/rules/", "").status, "an id is missing")
	require.Len(t, b.get("/_sim/rules").at("rules"), 1)
	require.Equal(t, 200, b.send("DELETE", "/_sim/rules", "").status)
	require.Empty(t, b.get("/_sim/rules").at("rules"))
	require.Equal(t, 404, b.get("/scn/%2e%2e/v1/charges").status)
}

func TestWorldThatIsOnlyLookedAt_IsNotKept(t *testing.T) {
	t.Parallel()
	b := start(t)
	require.Empty(t, b.get("/scn/looked/v1/payment_intents").at("data"))
	require.Equal(t, 200, b.get("/scn/looked/_sim").status)
	require.NotContains(t, b.get("/_sim").text, "looked")
	b.send("POST", "/scn/used/v1/customers", "")
	require.Contains(t, b.get("/_sim").text, "used")
}

func TestMetadataRemovals_DoNotCountAsNames(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent()
	form := []string{"metadata[new]=1"}
	for n := range 50 {
		form = append(form, "metadata[old"+string(rune('A'+n/26))+string(rune('a'+n%26))+"]=")
	}
	require.Equal(t, 200, b.post("k", "/v1/payment_intents/"+id, form...).status)
	r := b.get("/v1/payment_intents/" + id + "?expand[1]=customer&expand[]=latest_charge.nothing")
	require.Equal(t, 400, r.status, "both were read")
	r = b.get("/v1/payment_intents/" + id + "?expand[1]=latest_charge.nothing&expand[]=customer")
	require.Equal(t, 400, r.status, "both were read")
}

func TestCardNumberInAnyText_IsRefusedAndWrittenNowhere(t *testing.T) {
	t.Parallel()
	b := start(t)
	for _, param := range []string{
		"metadata[note]=4242424242424242", "description=card+4242+4242+4242+4242,+12/34", "payment_method=5555-5555-5555-4444",
		"metadata[a]=378282246310005",
	} {
		r := b.post("k", "/v1/payment_intents", card(param)...)
		require.Equal(t, 400, r.status, param)
		require.Contains(t, r.at("error", "message"), "card data", param)
	}
	for _, line := range b.sim.Journal() {
		require.Empty(t, line.Hash, "a hash of a card number is as good as the number")
	}
	for _, param := range []string{
		"metadata[number]=7", "metadata[at]=1740830400000000", "metadata[id]=4242424242424241", "metadata[id]=x-4242424242424242",
	} {
		require.Equal(t, 200, b.post(param, "/v1/payment_intents", card(param)...).status, param)
	}
}
