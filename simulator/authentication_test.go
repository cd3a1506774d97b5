package simulator_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"
)

func TestCardThatAsks_WaitsForTheBuyer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ token, outcome, status, code string }{
		{"pm_card_authenticationRequired", "succeed", "succeeded", ""},
		{"pm_card_authenticationRequired", "fail", "requires_payment_method", "payment_intent_authentication_failure"},
		{"pm_card_authenticationRequired", "abandon", "requires_action", ""},
		{"pm_card_threeDSecure2Required", "succeed", "succeeded", ""},
		{"pm_card_authenticationRequiredOnSetup", "succeed", "succeeded", ""},
		{"pm_card_authenticationRequiredSetupForOffSession", "succeed", "succeeded", ""},
		{"pm_card_threeDSecureRequiredChargeDeclined", "succeed", "requires_payment_method", "card_declined"},
		{"pm_card_authenticationRequiredChargeDeclinedInsufficientFunds", "succeed", "requires_payment_method", "card_declined"},
	} {
		t.Run(c.token+" "+c.outcome, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			p := confirmParams(c.token)
			p.ReturnURL = stripe.String("https://shop.example/back")
			pi, err := b.stripe.PaymentIntents.Confirm(b.intent(), p)
			require.NoError(t, err)
			require.Equal(t, stripe.PaymentIntentStatusRequiresAction, pi.Status)
			require.Equal(t, stripe.PaymentIntentNextActionTypeRedirectToURL, pi.NextAction.Type)
			require.Equal(t, "https://shop.example/back", pi.NextAction.RedirectToURL.ReturnURL)
			require.Nil(t, pi.LatestCharge, "nothing was charged yet")

			r := b.control("/payment_intents/"+pi.ID+"/action", `{"outcome":"`+c.outcome+`"}`)
			require.Equal(t, c.status, r.at("status"), r.text)
			if c.code != "" {
				require.Equal(t, c.code, r.at("last_payment_error", "code"))
				require.Nil(t, r.at("next_action"))
			}
		})
	}
}

func TestAuthenticatedCharge_ShowsIt(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intentIn("requires_action")
	b.control("/payment_intents/"+id+"/action", `{"outcome":"succeed"}`)
	ch, _ := b.charges(id)[0].(map[string]any)
	require.Equal(t, "authenticated", reply{body: ch}.at("payment_method_details", "card", "three_d_secure", "result"))
}

func TestBuyerIsAway_AuthenticationIsADecline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, token, param, declineCode string
		charges                         int
	}{
		{"off session", "pm_card_authenticationRequired", "off_session=true", "authentication_required", 1},
		{"off session, one-off", "pm_card_threeDSecure2Required", "off_session=one_off", "authentication_required", 1},
		{"error instead of action", "pm_card_authenticationRequired", "error_on_requires_action=true", "authentication_not_handled", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			id := b.intent()
			r := b.post("k", "/v1/payment_intents/"+id+"/confirm", "payment_method="+c.token, c.param)
			require.Equal(t, 402, r.status)
			require.Equal(t, "authentication_required", r.at("error", "code"))
			require.Equal(t, c.declineCode, r.at("error", "decline_code"))
			require.Equal(t, "requires_payment_method", r.at("error", "payment_intent", "status"))
			require.Len(t, b.charges(id), c.charges)
		})
	}
}

func TestSetUpForOffSession_NeedsNoBuyerThere(t *testing.T) {
	t.Parallel()
	b := start(t)
	r := b.post("k", "/v1/payment_intents/"+b.intent()+"/confirm", "off_session=true",
		"payment_method=pm_card_authenticationRequiredSetupForOffSession")
	require.Equal(t, "succeeded", r.at("status"))
}

func TestManualConfirmation_NeedsOneMoreConfirm(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent("confirmation_method=manual", "confirm=true", "payment_method=pm_card_authenticationRequired")
	require.Equal(t, "requires_confirmation", b.control("/payment_intents/"+id+"/action", `{"outcome":"succeed"}`).at("status"))
	require.Empty(t, b.charges(id))
	require.Equal(t, "succeeded", b.post("k", "/v1/payment_intents/"+id+"/confirm").at("status"), "the buyer is not asked again")
}

func TestNewCardWhileAsking_AbandonsTheQuestion(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intentIn("requires_action")
	r := b.post("k", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa")
	require.Equal(t, "succeeded", r.at("status"))
	require.Equal(t, 400, b.control("/payment_intents/"+id+"/action", `{"outcome":"succeed"}`).status)
	require.Len(t, b.charges(id), 1)
}

func TestWithoutReturnURL_TheBrowserScriptIsAsked(t *testing.T) {
	t.Parallel()
	b := start(t)
	r := b.get("/v1/payment_intents/" + b.intentIn("requires_action"))
	require.Equal(t, "use_stripe_sdk", r.at("next_action", "type"))
}

func TestAuthenticationPage_SendsTheBuyerBackToTheShop(t *testing.T) {
	t.Parallel()
	for outcome, redirectStatus := range map[string]string{"succeed": "succeeded", "fail": "failed"} {
		t.Run(outcome, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			r := b.post("k", "/v1/payment_intents/"+b.intent()+"/confirm", "payment_method=pm_card_authenticationRequired",
				"return_url="+url.QueryEscape("https://shop.example/back?cart=7#pay"))
			page, _ := r.at("next_action", "redirect_to_url", "url").(string)
			require.Contains(t, page, b.server.URL)
			path := page[len(b.server.URL):]

			shown := b.get(path)
			require.Equal(t, 200, shown.status)
			require.Contains(t, shown.text, "12.50 EUR")
			policy := shown.header.Get("Content-Security-Policy")
			require.Contains(t, policy, "form-action 'self' https://shop.example;", "or browsers stop the redirect after the form")
			require.Contains(t, policy, "default-src 'none'")
			require.NotContains(t, shown.text, "<script")

			done := b.send("POST", path, "outcome="+outcome)
			require.Equal(t, 303, done.status)
			back, err := url.Parse(done.header.Get("Location"))
			require.NoError(t, err)
			require.Equal(t, "shop.example", back.Host)
			require.Equal(t, "pay", back.Fragment)
			require.Equal(t, url.Values{
				"cart": {"7"}, "payment_intent": {r.id()}, "redirect_status": {redirectStatus},
				"payment_intent_client_secret": {r.at("client_secret").(string)},
			}, back.Query())

			again := b.send("POST", path, "outcome="+outcome)
			require.Equal(t, path, again.header.Get("Location"), "a second answer changes nothing and shows the state")
			require.Contains(t, b.get(path).text, "nothing to approve")
		})
	}
}
