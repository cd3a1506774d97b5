package simulator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"
)

func (b *bench) customer(pairs ...string) string {
	b.t.Helper()
	r := b.post("", "/v1/customers", pairs...)
	require.Equal(b.t, 200, r.status, r.text)
	return r.id()
}

// kept attaches a card to a customer and returns its id.
func (b *bench) kept(token, customer string) string {
	b.t.Helper()
	m, err := b.stripe.PaymentMethods.Attach(token, &stripe.PaymentMethodAttachParams{Customer: stripe.String(customer)})
	require.NoError(b.t, err)
	require.Equal(b.t, customer, m.Customer.ID)
	return m.ID
}

func TestCustomer_IsMadeChangedListedAndDeleted(t *testing.T) {
	t.Parallel()
	b := start(t)
	p := &stripe.CustomerParams{Email: stripe.String("ada@example.com"), Name: stripe.String("Ada")}
	p.AddMetadata("shop", "7")
	cu, err := b.stripe.Customers.New(p)
	require.NoError(t, err)
	require.Regexp(t, `^cus_[0-9A-Za-z]{24}$`, cu.ID)
	require.Equal(t, noon.Unix(), cu.Created)

	cu, err = b.stripe.Customers.Update(cu.ID, &stripe.CustomerParams{Name: stripe.String(""), Phone: stripe.String("1")})
	require.NoError(t, err)
	require.Equal(t, []string{"ada@example.com", "", "1", "7"}, []string{cu.Email, cu.Name, cu.Phone, cu.Metadata["shop"]})
	other := b.customer("email=bob@example.com")
	all, _ := b.get("/v1/customers").at("data").([]any)
	require.Equal(t, []string{other, cu.ID}, idsOf(all))
	ada, _ := b.get("/v1/customers?email=ada@example.com").at("data").([]any)
	require.Equal(t, []string{cu.ID}, idsOf(ada))

	kept := b.kept("pm_card_visa", cu.ID)
	_, err = b.stripe.Customers.Del(cu.ID, nil)
	require.NoError(t, err)
	gone, err := b.stripe.Customers.Get(cu.ID, nil)
	require.NoError(t, err)
	require.True(t, gone.Deleted, "its id can still be asked for")
	require.Equal(t, "customer", b.send("POST", "/v1/payment_intents", "amount=100&currency=eur&customer="+cu.ID).at("error", "param"))
	require.Equal(t, 404, b.send("POST", "/v1/customers/"+cu.ID, "name=x").status)
	require.Equal(t, 404, b.send("DELETE", "/v1/customers/"+cu.ID, "").status)
	require.Equal(t, 404, b.get("/v1/customers/cus_none").status)
	require.Equal(t, 400, b.post("", "/v1/payment_intents/"+b.intent()+"/confirm", "payment_method="+kept).status, "and its cards are gone")
	left, _ := b.get("/v1/customers").at("data").([]any)
	require.Equal(t, []string{other}, idsOf(left))
}

func TestDecliningCard_CannotBeAttached(t *testing.T) {
	t.Parallel()
	for token, code := range map[string][2]any{
		"pm_card_visa_chargeDeclined":                      {"card_declined", "generic_decline"},
		"pm_card_chargeDeclined":                           {"card_declined", "generic_decline"},
		"pm_card_visa_chargeDeclinedInsufficientFunds":     {"card_declined", "insufficient_funds"},
		"pm_card_visa_chargeDeclinedLostCard":              {"card_declined", "lost_card"},
		"pm_card_visa_chargeDeclinedStolenCard":            {"card_declined", "stolen_card"},
		"pm_card_visa_chargeDeclinedVelocityLimitExceeded": {"card_declined", "card_velocity_exceeded"},
		"pm_card_chargeDeclinedExpiredCard":                {"expired_card", nil},
		"pm_card_chargeDeclinedIncorrectCvc":               {"incorrect_cvc", nil},
		"pm_card_chargeDeclinedProcessingError":            {"processing_error", nil},
	} {
		t.Run(token, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			owner := b.customer()
			r := b.post("k", "/v1/payment_methods/"+token+"/attach", "customer="+owner)
			require.Equal(t, []any{402, "card_error", code[0], code[1]},
				[]any{r.status, r.at("error", "type"), r.at("error", "code"), r.at("error", "decline_code")})
			require.Empty(t, b.get("/v1/customers/"+owner+"/payment_methods").at("data"))
			require.Equal(t, 402, b.post("c", "/v1/customers", "payment_method="+token).status)
			require.Len(t, b.get("/v1/customers").at("data"), 1, "a customer whose card is declined is not made")
		})
	}
}

func TestCustomerFail_AttachesAndDeclinesEveryCharge(t *testing.T) {
	t.Parallel()
	b := start(t)
	owner := b.customer()
	kept := b.kept("pm_card_chargeCustomerFail", owner)
	for _, order := range []string{"order_1", "order_2"} {
		id := b.intent("customer="+owner, "metadata[order_id]="+order)
		require.Equal(t, 402, b.post("k:"+order, "/v1/payment_intents/"+id+"/confirm", "payment_method="+kept).status)
	}
}

func TestAttachedCard_PaysManyTimesForItsCustomerOnly(t *testing.T) {
	t.Parallel()
	b := start(t)
	owner, stranger := b.customer(), b.customer()
	kept := b.kept("pm_card_visa", owner)
	for _, order := range []string{"order_1", "order_2"} {
		p := confirmParams(kept)
		p.AddExpand("latest_charge.customer")
		pi, err := b.stripe.PaymentIntents.Confirm(b.intent("customer="+owner, "metadata[order_id]="+order), p)
		require.NoError(t, err)
		require.Equal(t, stripe.PaymentIntentStatusSucceeded, pi.Status)
		require.Equal(t, []string{kept, owner, owner}, []string{pi.PaymentMethod.ID, pi.Customer.ID, pi.LatestCharge.Customer.ID})
	}
	for name, id := range map[string]string{"nobody's": b.intent(), "another's": b.intent("customer=" + stranger)} {
		r := b.post("", "/v1/payment_intents/"+id+"/confirm", "payment_method="+kept)
		require.Equal(t, []any{400, "payment_method"}, []any{r.status, r.at("error", "param")}, name)
		require.Equal(t, 400, b.post("", "/v1/payment_intents/"+id, "payment_method="+kept).status, name)
		require.Equal(t, 200, b.post("", "/v1/payment_intents/"+id, "customer="+owner, "payment_method="+kept).status, name)
	}
	require.Equal(t, 400, b.send("POST", "/v1/payment_intents", "amount=100&currency=eur&payment_method="+kept).status)
	require.Equal(t, 400, b.post("", "/v1/payment_methods/"+kept+"/attach", "customer="+stranger).status)
	require.Equal(t, 200, b.post("", "/v1/payment_methods/"+kept+"/attach", "customer="+owner).status, "it is there already")

	listed, _ := b.get("/v1/payment_intents?limit=100&customer=" + owner).at("data").([]any)
	require.Len(t, listed, 4)
	charged, _ := b.get("/v1/charges?customer=" + owner).at("data").([]any)
	require.Len(t, charged, 2)
	shown := b.get("/v1/payment_methods?type=card&expand[]=data.customer&customer=" + owner)
	require.Equal(t, owner, reply{body: shown.at("data").([]any)[0].(map[string]any)}.at("customer", "id"))
	require.Equal(t, "parameter_missing", b.get("/v1/payment_methods").at("error", "code"))
	require.Equal(t, 404, b.get("/v1/customers/cus_none/payment_methods").status)
}

func TestUnattachedCard_IsUsedUpByItsFirstIntent(t *testing.T) {
	t.Parallel()
	b := start(t)
	pm := b.get("/v1/payment_methods/pm_card_visa").id()
	first, second := b.intent("payment_method="+pm), b.intent("payment_method="+pm)
	require.Equal(t, 200, b.post("", "/v1/payment_intents/"+first+"/confirm").status)
	require.Equal(t, 400, b.post("", "/v1/payment_intents/"+second+"/confirm").status, "though it was attached to both before")
	require.Equal(t, 400, b.post("", "/v1/payment_methods/"+pm+"/attach", "customer="+b.customer()).status)
	require.Empty(t, b.charges(second))
}

func TestDetachedCard_IsOfNoUse(t *testing.T) {
	t.Parallel()
	b := start(t)
	owner := b.customer()
	kept := b.kept("pm_card_visa", owner)
	require.Nil(t, b.post("", "/v1/payment_methods/"+kept+"/detach").at("customer"))
	require.Equal(t, 400, b.post("", "/v1/payment_methods/"+kept+"/detach").status)
	require.Equal(t, 400, b.post("", "/v1/payment_methods/"+kept+"/attach", "customer="+owner).status)
	require.Equal(t, 400, b.post("", "/v1/payment_intents/"+b.intent("customer="+owner)+"/confirm", "payment_method="+kept).status)
	require.Equal(t, 404, b.post("", "/v1/payment_methods/pm_none/attach", "customer="+owner).status)
	require.Equal(t, "customer", b.post("", "/v1/payment_methods/pm_card_visa/attach", "customer=cus_none").at("error", "param"))
	require.Equal(t, "parameter_missing", b.post("", "/v1/payment_methods/pm_card_visa/attach").at("error", "code"))
}

func TestCardThatWasSetUp_NeedsNoBuyerThere(t *testing.T) {
	t.Parallel()
	for usage, setUp := range map[string]bool{"": false, "setup_future_usage=on_session": false, "setup_future_usage=off_session": true} {
		b := start(t)
		owner := b.customer()
		kept := b.kept("pm_card_authenticationRequiredOnSetup", owner)
		pairs := []string{"customer=" + owner, "confirm=true", "payment_method=" + kept}
		if usage != "" {
			pairs = append(pairs, usage)
		}
		first := b.intent(pairs...)
		b.control("/payment_intents/"+first+"/action", `{"outcome":"succeed"}`)
		require.Equal(t, "succeeded", b.get("/v1/payment_intents/"+first).at("status"))

		away := b.post("k", "/v1/payment_intents/"+b.intent("customer="+owner, "metadata[order_id]=order_2")+"/confirm",
			"off_session=true", "payment_method="+kept)
		if setUp {
			require.Equal(t, "succeeded", away.at("status"))
		} else {
			require.Equal(t, "authentication_required", away.at("error", "code"))
		}
	}
}

func TestSetupFutureUsage_KeepsTheCardOfAPaymentThatSucceeds(t *testing.T) {
	t.Parallel()
	b := start(t)
	owner := b.customer()
	b.intent("customer="+owner, "confirm=true", "payment_method=pm_card_visa")
	require.Empty(t, b.get("/v1/customers/"+owner+"/payment_methods").at("data"), "without it nothing is kept")
	id := b.intent("customer="+owner, "confirm=true", "payment_method=pm_card_visa", "setup_future_usage=on_session")
	kept, _ := b.get("/v1/customers/" + owner + "/payment_methods").at("data").([]any)
	require.Equal(t, []string{b.get("/v1/payment_intents/" + id).at("payment_method").(string)}, idsOf(kept))
}
