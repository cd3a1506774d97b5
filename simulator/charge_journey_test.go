package simulator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"
)

func createParams(amount int64) *stripe.PaymentIntentParams {
	p := &stripe.PaymentIntentParams{
		Amount: stripe.Int64(amount), Currency: stripe.String("eur"), PaymentMethodTypes: stripe.StringSlice([]string{"card"}),
	}
	p.AddMetadata("order_id", "order_1")
	return p
}

func confirmParams(method string) *stripe.PaymentIntentConfirmParams {
	return &stripe.PaymentIntentConfirmParams{PaymentMethod: stripe.String(method)}
}

func TestCreateThenConfirm_TakesTheMoneyOnce(t *testing.T) {
	t.Parallel()
	b := start(t)

	created, err := b.stripe.PaymentIntents.New(createParams(1250))
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusRequiresPaymentMethod, created.Status)
	require.Regexp(t, `^pi_[0-9A-Za-z]{24}$`, created.ID)
	require.Regexp(t, `^`+created.ID+`_secret_[0-9A-Za-z]{24}$`, created.ClientSecret)
	require.Equal(t, stripe.PaymentIntentCaptureMethodAutomaticAsync, created.CaptureMethod, "the default of this version")
	require.Equal(t, noon.Unix(), created.Created)
	require.False(t, created.Livemode)

	p := confirmParams("pm_card_visa")
	p.AddExpand("latest_charge.payment_intent.payment_method")
	paid, err := b.stripe.PaymentIntents.Confirm(created.ID, p)
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusSucceeded, paid.Status)
	require.EqualValues(t, 1250, paid.AmountReceived)
	require.Regexp(t, `^pm_[0-9A-Za-z]{24}$`, paid.PaymentMethod.ID, "a token is a factory")

	ch := paid.LatestCharge
	require.NotNil(t, ch.BillingDetails, "there always are some, if empty")
	require.Equal(t, stripe.ChargeStatusSucceeded, ch.Status)
	require.True(t, ch.Paid && ch.Captured)
	require.EqualValues(t, 1250, ch.AmountCaptured)
	require.Equal(t, map[string]string{"order_id": "order_1"}, ch.Metadata, "copied at the time of the charge")
	require.Equal(t, "4242", ch.PaymentMethodDetails.Card.Last4)
	require.Equal(t, "4242", ch.PaymentIntent.PaymentMethod.Card.Last4, "expanded three levels deep")
	require.Len(t, b.charges(created.ID), 1)
}

func TestEveryDecliningToken_AnswersItsCodesAndTakesNothing(t *testing.T) {
	t.Parallel()
	for token, want := range map[string][2]string{
		"pm_card_visa_chargeDeclined":                      {"card_declined", "generic_decline"},
		"pm_card_chargeDeclined":                           {"card_declined", "generic_decline"},
		"pm_card_visa_chargeDeclinedInsufficientFunds":     {"card_declined", "insufficient_funds"},
		"pm_card_chargeDeclinedInsufficientFunds":          {"card_declined", "insufficient_funds"},
		"pm_card_visa_chargeDeclinedLostCard":              {"card_declined", "lost_card"},
		"pm_card_visa_chargeDeclinedStolenCard":            {"card_declined", "stolen_card"},
		"pm_card_chargeDeclinedExpiredCard":                {"expired_card", ""},
		"pm_card_chargeDeclinedIncorrectCvc":               {"incorrect_cvc", ""},
		"pm_card_chargeDeclinedProcessingError":            {"processing_error", ""},
		"pm_card_visa_chargeDeclinedVelocityLimitExceeded": {"card_declined", "card_velocity_exceeded"},
		"pm_card_chargeCustomerFail":                       {"card_declined", "generic_decline"},
		"pm_card_radarBlock":                               {"card_declined", "fraudulent"},
		"pm_card_threeDSecureRequiredProcessingError":      {"processing_error", ""},
	} {
		t.Run(token, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			id := b.intent()
			_, err := b.stripe.PaymentIntents.Confirm(id, confirmParams(token))
			e := stripeError(t, err)
			require.Equal(t, 402, e.HTTPStatusCode)
			require.Equal(t, stripe.ErrorTypeCard, e.Type)
			require.Equal(t, want, [2]string{string(e.Code), string(e.DeclineCode)})
			require.Equal(t, id, e.PaymentIntent.ID)
			require.NotNil(t, e.PaymentMethod)

			pi, err := b.stripe.PaymentIntents.Get(id, nil)
			require.NoError(t, err)
			require.Equal(t, stripe.PaymentIntentStatusRequiresPaymentMethod, pi.Status)
			require.Nil(t, pi.PaymentMethod)
			require.Equal(t, e.Code, pi.LastPaymentError.Code)
			require.Equal(t, e.ChargeID, pi.LatestCharge.ID)
			require.Zero(t, pi.AmountReceived)

			ch, err := b.stripe.Charges.Get(e.ChargeID, nil)
			require.NoError(t, err)
			require.Equal(t, stripe.ChargeStatusFailed, ch.Status)
			require.Equal(t, want[0], ch.FailureCode)
			require.False(t, ch.Paid || ch.Captured)
		})
	}
}

func TestDeclineThenAnotherCard_Succeeds(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent()
	declined := b.post("k:1", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa_chargeDeclined")
	require.Equal(t, 402, declined.status)

	paid := b.post("k:2", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_mastercard")
	require.Equal(t, "succeeded", paid.at("status"))
	require.Nil(t, paid.at("last_payment_error"), "cleared by the attempt that worked")
	require.Len(t, b.charges(id), 2, "both attempts can be seen")
}

func TestConfirmOnCreateDeclined_LeavesTheIntentBehind(t *testing.T) {
	t.Parallel()
	b := start(t)
	r := b.post("k", "/v1/payment_intents", card("confirm=true", "payment_method=pm_card_visa_chargeDeclined")...)
	require.Equal(t, 402, r.status)
	id, _ := r.at("error", "payment_intent", "id").(string)
	require.Equal(t, "requires_payment_method", b.get("/v1/payment_intents/"+id).at("status"))
}

func TestUsedPaymentMethod_CannotBeUsedAgain(t *testing.T) {
	t.Parallel()
	b := start(t)
	first, second := b.intent("payment_method=pm_card_visa_chargeDeclined"), b.intent()
	pm, _ := b.get("/v1/payment_intents/" + first).at("payment_method").(string)
	require.Equal(t, 402, b.post("k:1", "/v1/payment_intents/"+first+"/confirm").status)

	for _, id := range []string{first, second} {
		r := b.post("again:"+id, "/v1/payment_intents/"+id+"/confirm", "payment_method="+pm)
		require.Equal(t, 400, r.status)
		require.Equal(t, "invalid_request_error", r.at("error", "type"))
	}
}

func TestManualCapture_HoldsThenTakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		params   *stripe.PaymentIntentCaptureParams
		captured int64
	}{
		{"all of it", nil, 1250},
		{"a part, the rest is released", &stripe.PaymentIntentCaptureParams{AmountToCapture: stripe.Int64(1000)}, 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			id := b.intentIn("requires_capture")
			held, err := b.stripe.PaymentIntents.Get(id, &stripe.PaymentIntentParams{Expand: []*string{stripe.String("latest_charge")}})
			require.NoError(t, err)
			require.EqualValues(t, 1250, held.AmountCapturable)
			require.Zero(t, held.AmountReceived)
			require.False(t, held.LatestCharge.Captured)
			require.Equal(t, noon.Unix()+7*24*3600, held.LatestCharge.PaymentMethodDetails.Card.CaptureBefore)

			pi, err := b.stripe.PaymentIntents.Capture(id, c.params)
			require.NoError(t, err)
			require.Equal(t, stripe.PaymentIntentStatusSucceeded, pi.Status)
			require.Equal(t, c.captured, pi.AmountReceived)
			require.Zero(t, pi.AmountCapturable)
			require.EqualValues(t, c.captured, b.sim.Audit().References[0].Captured)
		})
	}
}

func TestCaptureOfMoreThanIsHeld_IsRefused(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intentIn("requires_capture")
	r := b.post("k", "/v1/payment_intents/"+id+"/capture", "amount_to_capture=1251")
	require.Equal(t, 400, r.status)
	require.Equal(t, "amount_too_large", r.at("error", "code"))
	require.Equal(t, "requires_capture", b.get("/v1/payment_intents/"+id).at("status"))
}

func TestCancelOfAnAuthorization_ReleasesTheHold(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intentIn("requires_capture")
	pi, err := b.stripe.PaymentIntents.Cancel(id, &stripe.PaymentIntentCancelParams{CancellationReason: stripe.String("abandoned")})
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusCanceled, pi.Status)
	require.Equal(t, noon.Unix(), pi.CanceledAt)
	require.Equal(t, stripe.PaymentIntentCancellationReasonAbandoned, pi.CancellationReason)
	ch, err := b.stripe.Charges.Get(pi.LatestCharge.ID, nil)
	require.NoError(t, err)
	require.True(t, ch.Refunded)
	require.False(t, ch.Captured)
	require.Zero(t, b.sim.Audit().References[0].Succeeded)
}

func TestProcessing_EndsAsTheBankSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ token, settle, status string }{
		{"pm_sim_processing_then_success", `{}`, "succeeded"},
		{"pm_sim_processing_then_fail", `{}`, "requires_payment_method"},
		{"pm_sim_processing_then_success", `{"outcome":"fail"}`, "requires_payment_method"},
		{"pm_sim_processing_then_fail", `{"outcome":"succeed"}`, "succeeded"},
	} {
		t.Run(c.token+c.settle, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			pi, err := b.stripe.PaymentIntents.Confirm(b.intent(), confirmParams(c.token))
			require.NoError(t, err)
			require.Equal(t, stripe.PaymentIntentStatusProcessing, pi.Status)
			require.Equal(t, "pending", b.get("/v1/charges/"+pi.LatestCharge.ID).at("status"))

			require.Equal(t, c.status, b.control("/payment_intents/"+pi.ID+"/settle", c.settle).at("status"))
			require.Len(t, b.charges(pi.ID), 1, "the pending charge is the one that settles")
			require.Equal(t, 400, b.control("/payment_intents/"+pi.ID+"/settle", c.settle).status, "only once")
		})
	}
}
