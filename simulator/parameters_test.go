package simulator_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var long = strings.Repeat("x", 501)

// createRows is what a create with these parameters is answered: status, error code and param, "" for none.
var createRows = []struct {
	form        string
	status      int
	code, param string
}{
	{"amount=1250&currency=eur", 200, "", ""},
	{"amount=1250&currency=EUR&expand[]=latest_charge", 200, "", ""},
	{"amount=1250&currency=eur&expand[0]=latest_charge&expand[1]=payment_method", 200, "", ""},
	{"currency=eur", 400, "parameter_missing", "amount"},
	{"amount=1250", 400, "parameter_missing", "currency"},
	{"", 400, "parameter_missing", "amount"},
	{"amount=1250&currency=eur&colour=red", 400, "parameter_unknown", "colour"},
	{"amount=1250&currency=eur&automatic_payment_methods[colour]=red&automatic_payment_methods[enabled]=true", 400, "parameter_unknown", "automatic_payment_methods[colour]"},
	{"amount=1250&currency=eur&metadata[a=b", 400, "parameter_unknown", "metadata[a"},
	{"amount=&currency=eur", 400, "parameter_invalid_empty", "amount"},
	{"amount=12.50&currency=eur", 400, "parameter_invalid_integer", "amount"},
	{"amount=0&currency=eur", 400, "parameter_invalid_integer", "amount"},
	{"amount=-5&currency=eur", 400, "parameter_invalid_integer", "amount"},
	{"amount=99999999999999999999&currency=eur", 400, "parameter_invalid_integer", "amount"},
	{"amount[x]=1&currency=eur", 400, "", "amount"},
	{"amount=49&currency=eur", 400, "amount_too_small", "amount"},
	{"amount=50&currency=eur", 200, "", ""},
	{"amount=99999999&currency=eur", 200, "", ""},
	{"amount=100000000&currency=eur", 400, "amount_too_large", "amount"},
	{"amount=49&currency=jpy", 400, "amount_too_small", "amount"},
	{"amount=50&currency=jpy", 200, "", ""},
	{"amount=5120&currency=kwd", 200, "", ""},
	{"amount=5123&currency=kwd", 400, "parameter_invalid_integer", "amount"},
	{"amount=1000&currency=xyz", 400, "", "currency"},
	{"amount=1250&currency=eur&capture_method=later", 400, "", "capture_method"},
	{"amount=1250&currency=eur&confirm=yes", 400, "", "confirm"},
	{"amount=1250&currency=eur&payment_method=pm_nothing", 400, "resource_missing", "payment_method"},
	{"amount=1250&currency=eur&payment_method=pm_card_createIssuerFraudRecord", 400, "", "payment_method"},
	{"amount=1250&currency=eur&customer=cus_1", 400, "resource_missing", "customer"},
	{"amount=1250&currency=eur&return_url=https://a.example", 400, "", "return_url"},
	{"amount=1250&currency=eur&off_session=true", 400, "", "off_session"},
	{"amount=1250&currency=eur&payment_method_types[]=sepa_debit", 400, "", "payment_method_types"},
	{"amount=1250&currency=eur&payment_method_types=card", 400, "", "payment_method_types"},
	{"amount=1250&currency=eur&payment_method_types[]=card&automatic_payment_methods[enabled]=true", 400, "", "automatic_payment_methods"},
	{"amount=1250&currency=eur&confirmation_method=manual&automatic_payment_methods[enabled]=true", 400, "", "automatic_payment_methods"},
	{"amount=1250&currency=eur&automatic_payment_methods[allow_redirects]=never", 400, "parameter_missing", "automatic_payment_methods[enabled]"},
	{"amount=1250&currency=eur&confirm=true&payment_method=pm_card_visa", 400, "", "return_url"},
	{"amount=1250&currency=eur&confirm=true&payment_method=pm_card_visa&return_url=https://a.example/x", 200, "", ""},
	{"amount=1250&currency=eur&confirm=true&payment_method=pm_card_visa&return_url=app-shop:back", 200, "", ""},
	{"amount=1250&currency=eur&confirm=true&payment_method=pm_card_visa&return_url=javascript:alert(1)", 400, "url_invalid", "return_url"},
	{"amount=1250&currency=eur&confirm=true&payment_method=pm_card_visa&return_url=nowhere", 400, "url_invalid", "return_url"},
	{"amount=1250&currency=eur&confirm=true&payment_method=pm_card_visa&automatic_payment_methods[enabled]=true&automatic_payment_methods[allow_redirects]=never", 200, "", ""},
	{"amount=1250&currency=eur&expand[]=charges", 400, "", "expand"},
	{"amount=1250&currency=eur&expand[]=latest_charge.payment_intent.latest_charge.payment_intent", 200, "", ""},
	{"amount=1250&currency=eur&expand[]=latest_charge.payment_intent.latest_charge.payment_intent.latest_charge", 400, "", "expand"},
	{"amount=1250&currency=eur&expand=latest_charge", 400, "", "expand"},
	{"amount=1250&currency=eur&metadata=text", 400, "", "metadata"},
	{"amount=1250&currency=eur&metadata[a][b]=c", 400, "", "metadata[a]"},
	{"amount=1250&currency=eur&metadata[a]=" + long, 400, "", "metadata[a]"},
	{"amount=1250&currency=eur&metadata[a]=" + long[1:], 200, "", ""},
	{"amount=1250&currency=eur&metadata[" + long[:41] + "]=c", 400, "", "metadata"},
	{"amount=1250&currency=eur&metadata[" + long[:40] + "]=c", 200, "", ""},
	{"amount=1250&currency=eur&description=%ff", 400, "", ""},
	{"amount=1250&currency=eur&description=%zz", 400, "", ""},
	{"amount=1&amount=1250&currency=eur", 200, "", ""}, // the last one counts
	{"amount=1250&currency=eur&payment_method_data[card][number]=4242424242424242", 400, "", "payment_method_data[card][number]"},
	{"amount=1250&currency=eur&card[number]=4242424242424242&card[cvc]=123", 400, "", "card[cvc]"},
}

func TestCreateParameters(t *testing.T) {
	t.Parallel()
	for _, c := range createRows {
		t.Run(c.form[:min(len(c.form), 150)], func(t *testing.T) {
			t.Parallel()
			b := start(t)
			r := b.send("POST", "/v1/payment_intents", c.form)
			require.Equal(t, c.status, r.status, r.text)
			if c.status == 200 {
				return
			}
			require.Equal(t, "invalid_request_error", r.at("error", "type"))
			require.Equal(t, nilIfEmpty(c.code), r.at("error", "code"))
			require.Equal(t, nilIfEmpty(c.param), r.at("error", "param"))
			require.Empty(t, b.get("/v1/payment_intents").at("data"), "a refused request leaves nothing behind")
		})
	}
}

func nilIfEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func TestOtherRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent()
	anyMethod := b.send("POST", "/v1/payment_intents", "amount=1250&currency=eur").id()
	for _, c := range []struct {
		method, path, form string
		status             int
		code, param        string
	}{
		{"GET", "/v1/payment_intents/pi_none", "", 404, "resource_missing", "intent"},
		{"POST", "/v1/payment_intents/pi_none/confirm", "", 404, "resource_missing", "intent"},
		{"POST", "/v1/payment_intents/pi_none/cancel", "", 404, "resource_missing", "intent"},
		{"GET", "/v1/charges/ch_none", "", 404, "resource_missing", "id"},
		{"GET", "/v1/payment_methods/pm_none", "", 404, "resource_missing", "payment_method"},
		{"GET", "/v1/nothing", "", 404, "", ""},
		{"DELETE", "/v1/payment_intents", "", 404, "", ""},
		{"GET", "/v1/payment_intents?limit=0", "", 400, "parameter_invalid_integer", "limit"},
		{"GET", "/v1/payment_intents?limit=101", "", 400, "parameter_invalid_integer", "limit"},
		{"GET", "/v1/payment_intents?starting_after=pi_none", "", 400, "resource_missing", "starting_after"},
		{"GET", "/v1/payment_intents?ending_before=pi_none", "", 400, "resource_missing", "ending_before"},
		{"GET", "/v1/payment_intents?metadata[order_id]=1", "", 400, "parameter_unknown", "metadata"},
		{"GET", "/v1/payment_intents?created[after]=1", "", 400, "parameter_unknown", "created[after]"},
		{"GET", "/v1/payment_intents?expand[]=latest_charge", "", 400, "", "expand"},
		{"GET", "/v1/charges?payment_intent=pi_none", "", 400, "resource_missing", "payment_intent"},
		{"POST", "/v1/payment_intents/" + id + "/cancel", "cancellation_reason=bored", 400, "", "cancellation_reason"},
		{"POST", "/v1/payment_intents/" + id + "/capture", "amount_to_capture=0", 400, "parameter_invalid_integer", "amount_to_capture"},
		{"POST", "/v1/payment_intents/" + id + "/capture", "final_capture=false", 400, "", "final_capture"},
		{"POST", "/v1/payment_intents/" + anyMethod + "/confirm", "payment_method=pm_card_visa", 400, "", "return_url"},
		{"POST", "/v1/payment_intents/" + id, "amount=20", 400, "amount_too_small", "amount"},
		{"POST", "/v1/payment_intents/" + id, "currency=usd", 400, "parameter_unknown", "currency"},
		{"DELETE", "/v1/customers/" + b.customer() + "?expand[]=default_source", "", 400, "parameter_unknown", "expand"},
	} {
		r := b.send(c.method, c.path, c.form)
		require.Equal(t, c.status, r.status, "%s %s: %s", c.method, c.path, r.text)
		require.Equal(t, nilIfEmpty(c.code), r.at("error", "code"), "%s %s", c.method, c.path)
		require.Equal(t, nilIfEmpty(c.param), r.at("error", "param"), "%s %s", c.method, c.path)
	}
}

func TestBodyThatIsNoForm_IsRefused(t *testing.T) {
	t.Parallel()
	b := start(t)
	r := b.send("POST", "/v1/payment_intents", `{"amount":1}`, "Content-Type", "application/json")
	require.Equal(t, 400, r.status)
	require.Equal(t, 413, b.send("POST", "/v1/payment_intents", "description="+strings.Repeat("x", 1<<20)).status)
}

func TestRawCardData_LeavesNoTrace(t *testing.T) {
	t.Parallel()
	b := start(t)
	r := b.post("k", "/v1/payment_intents", "amount=1250", "currency=eur", "payment_method_data[card][number]=4242424242424242")
	require.Equal(t, 400, r.status)
	require.NotContains(t, r.text, "4242424242424242")
	require.Empty(t, b.sim.Journal()[0].Hash, "a card number is easily guessed from its hash")
}

func TestMetadata_MergesRemovesAndClears(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent("metadata[a]=1", "metadata[b]=2")
	update := func(form string) any {
		return b.send("POST", "/v1/payment_intents/"+id, form).at("metadata")
	}
	require.Equal(t, map[string]any{"order_id": "order_1", "a": "1", "c": "3"}, update("metadata[b]=&metadata[c]=3"))
	require.Equal(t, map[string]any{}, update("metadata="))

	var fifty []string
	for n := range 50 {
		fifty = append(fifty, fmt.Sprintf("metadata[k%d]=v", n))
	}
	require.Len(t, update(strings.Join(fifty, "&")), 50)
	r := b.send("POST", "/v1/payment_intents/"+id, "metadata[one_more]=v")
	require.Equal(t, 400, r.status)
	require.Equal(t, "metadata", r.at("error", "param"))
}

func TestAuthentication(t *testing.T) {
	t.Parallel()
	b := start(t)
	for _, c := range []struct {
		authorization string
		status        int
		says          string
	}{
		{"Bearer sk_test_anything", 200, ""},
		{"bearer sk_test_anything", 200, ""},
		{"Basic c2tfdGVzdF94Og==", 200, ""}, // sk_test_x:
		{"", 401, "did not provide"},
		{"Bearer ", 401, "did not provide"},
		{"Bearer pk_test_x", 401, "secret keys"},
		{"Bearer sk_test_", 401, "secret keys"},
		{"Bearer sk_live_abcdef", 401, "test keys (sk_test_...) only"},
		{"Basic c2tfbGl2ZV94Og==", 401, "test keys (sk_test_...) only"}, // sk_live_x:
	} {
		r := b.send("GET", "/v1/payment_intents", "", "Authorization", c.authorization)
		require.Equal(t, c.status, r.status, c.authorization)
		if c.says != "" {
			require.Equal(t, "invalid_request_error", r.at("error", "type"))
			require.Contains(t, r.at("error", "message"), c.says)
			require.NotContains(t, r.text, "abcdef")
		}
	}
	unknown := b.send("POST", "/v1/payment_intents", "colour=red", "Authorization", "")
	require.Equal(t, 401, unknown.status, "the key is checked before the parameters")
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	t.Parallel()
	b := start(t)
	r := b.post("k", "/v1/payment_intents", card()...)
	require.Regexp(t, `^req_[0-9A-Za-z]{24}$`, r.header.Get("Request-Id"))
	require.Equal(t, "2024-06-20", r.header.Get("Stripe-Version"))
	require.Equal(t, "k", r.header.Get("Idempotency-Key"))
	require.Equal(t, r.header.Get("Request-Id"), r.header.Get("Original-Request"))
	require.Equal(t, "application/json", r.header.Get("Content-Type"))
	require.Empty(t, r.header.Get("Idempotent-Replayed"))

	read := b.get("/v1/payment_intents/" + r.id() + "?expand[]=" + url.QueryEscape("payment_method"))
	require.Equal(t, 200, read.status)
	require.NotEqual(t, r.header.Get("Request-Id"), read.header.Get("Request-Id"))
}
