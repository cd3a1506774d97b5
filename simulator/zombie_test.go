package simulator_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"
)

// A zombie is a request that is still on its way after its sender gave up.

func TestZombieConfirmAfterCancel_TakesNothing(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"accept", "before_effect"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			id := b.intent()
			zombie := make(chan reply)
			go func() {
				r, _ := b.faulty("hold;barrier=gate;point="+point, "k", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa")
				zombie <- r
			}()
			b.held("gate")
			require.Equal(t, "canceled", b.post("fence", "/v1/payment_intents/"+id+"/cancel").at("status"))

			require.EqualValues(t, 1, b.control("/barriers/gate/release", "").at("released"))
			r := <-zombie
			require.Equal(t, 400, r.status)
			require.Equal(t, "payment_intent_unexpected_state", r.at("error", "code"))
			require.Equal(t, "canceled", r.at("error", "payment_intent", "status"))
			require.Empty(t, b.charges(id))
			require.Equal(t, 1, b.sim.Audit().References[0].FencedConfirms)
			_, executed := b.executions("k")
			require.Zero(t, executed)
		})
	}
}

func TestZombieConfirmPastItsKeysLife_StillTakesNothing(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent()
	b.post("fence", "/v1/payment_intents/"+id+"/cancel")
	b.control("/clock", `{"advance":"720h"}`)
	require.Equal(t, 400, b.post("k", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa").status)
	require.Empty(t, b.charges(id))
}

func TestCancelWhileTheAnswerIsHeldBack_SaysThatItWasPaid(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent()
	done := make(chan reply)
	go func() {
		r, _ := b.faulty("hold;barrier=gate;point=before_response", "k", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa")
		done <- r
	}()
	b.held("gate")
	r := b.post("fence", "/v1/payment_intents/"+id+"/cancel")
	require.Equal(t, 400, r.status)
	require.Equal(t, "succeeded", r.at("error", "payment_intent", "status"))
	b.control("/barriers/gate/release", "")
	require.Equal(t, "succeeded", (<-done).at("status"))
}

func TestClientThatGivesUp_DoesNotStopTheServer(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent()
	ctx, giveUp := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		p := confirmParams("pm_card_visa")
		p.Context = ctx
		p.SetIdempotencyKey("k")
		p.Headers = map[string][]string{"X-Sim-Fault": {"hold;barrier=gate"}}
		_, err := b.stripe.PaymentIntents.Confirm(id, p)
		gone <- err
	}()
	b.held("gate")
	giveUp()
	require.ErrorIs(t, <-gone, context.Canceled)

	b.control("/barriers/gate/release", "")
	p := confirmParams("pm_card_visa")
	p.SetIdempotencyKey("k")
	require.Eventually(t, func() bool { // until then the twin is still running: 409
		pi, err := b.stripe.PaymentIntents.Confirm(id, p)
		return err == nil && pi.Status == stripe.PaymentIntentStatusSucceeded
	}, 10*time.Second, time.Millisecond)
	_, executed := b.executions("k")
	require.Equal(t, 1, executed, "it was the abandoned request that took the money, once")
}
