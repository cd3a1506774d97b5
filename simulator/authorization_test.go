package simulator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"
)

func TestAuthorizationNobodyCaptures_Expires(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intentIn("requires_capture")
	b.passes("167h59m59s")
	require.Equal(t, "requires_capture", b.get("/v1/payment_intents/"+id).at("status"))
	b.passes("1s")
	pi, err := b.stripe.PaymentIntents.Get(id, nil)
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentIntentStatusCanceled, pi.Status)
	require.Equal(t, stripe.PaymentIntentCancellationReasonAutomatic, pi.CancellationReason)
	require.Equal(t, noon.Unix()+7*24*3600, pi.CanceledAt)
	require.Zero(t, pi.AmountCapturable+pi.AmountReceived)
	ch := b.get("/v1/charges/" + pi.LatestCharge.ID)
	require.Equal(t, []any{"succeeded", false, true, 1250.0, nil},
		[]any{ch.at("status"), ch.at("captured"), ch.at("refunded"), ch.at("amount_refunded"), ch.at("balance_transaction")})
	require.Empty(t, b.ledger(""))

	late := b.post("k", "/v1/payment_intents/"+id+"/capture")
	require.Equal(t, []any{400, "payment_intent_unexpected_state"}, []any{late.status, late.at("error", "code")})
	require.Zero(t, b.sim.Audit().References[0].Succeeded)
}

func TestCapturedInTime_DoesNotExpire(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intentIn("requires_capture")
	b.passes("167h")
	b.post("k", "/v1/payment_intents/"+id+"/capture", "amount_to_capture=1000", "metadata[note]=late")
	b.passes("24h")
	r := b.get("/v1/payment_intents/" + id + "?expand[]=latest_charge")
	require.Equal(t, []any{"succeeded", 1000.0, 0.0, "late"},
		[]any{r.at("status"), r.at("amount_received"), r.at("amount_capturable"), r.at("metadata", "note")})
	require.Equal(t, []any{true, 1000.0, 1250.0},
		[]any{r.at("latest_charge", "captured"), r.at("latest_charge", "amount_captured"), r.at("latest_charge", "amount")})
	require.Equal(t, 400, b.post("again", "/v1/payment_intents/"+id+"/capture").status, "the rest is released")
}

func TestCaptureThatIsRunningWhenTheAuthorizationExpires_StillTakesTheMoney(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intentIn("requires_capture")
	capture := make(chan reply)
	go func() {
		r, _ := b.faulty("hold;barrier=gate;point=locked", "k", "/v1/payment_intents/"+id+"/capture")
		capture <- r
	}()
	b.held("gate")
	b.passes("168h")
	require.Equal(t, "requires_capture", b.get("/v1/payment_intents/"+id).at("status"))
	b.control("/barriers/gate/release", "")
	require.Equal(t, "succeeded", (<-capture).at("status"))
	b.passes("1h")
	require.Equal(t, "succeeded", b.get("/v1/payment_intents/"+id).at("status"))
}

func TestCanceledAuthorization_LeavesNoLineInTheLedger(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intentIn("requires_capture")
	b.post("k", "/v1/payment_intents/"+id+"/cancel")
	b.passes("200h")
	require.Empty(t, b.ledger(""))
	require.Nil(t, b.get("/v1/payment_intents/"+id).at("cancellation_reason"), "it was canceled before it could expire")
	require.Zero(t, b.sim.Audit().References[0].Refunded)
}

func TestSlowCard_HoldsItsIntentWhileTheBankThinks(t *testing.T) {
	t.Parallel()
	b := start(t)
	require.Equal(t, "succeeded", b.post("k:1", "/v1/payment_intents/"+b.intent()+"/confirm", "payment_method=pm_sim_slow_1").at("status"))
	id := b.intent("payment_method=pm_sim_slow_600000", "metadata[order_id]=order_2")
	answer := make(chan error)
	go func() {
		_, err := b.trySend("POST", "/v1/payment_intents/"+id+"/confirm", "")
		answer <- err
	}()
	for b.send("POST", "/v1/payment_intents/"+id, "metadata[note]=x").status != 429 {
		select {
		case <-answer:
			require.Fail(t, "the bank did not think")
		default: // the confirm is not there yet
		}
	}
	require.Empty(t, b.charges(id))
	b.control("/reset", "")
	require.Error(t, <-answer, "nobody waits longer than the world lasts")
	require.Equal(t, 400, b.send("POST", "/v1/payment_intents", "amount=100&currency=eur&payment_method=pm_sim_slow_x").status)
}
