package simulator_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"
)

func TestSameKeySameRequest_ReplaysTheFirstAnswer(t *testing.T) {
	t.Parallel()
	b := start(t)
	first := b.post("k", "/v1/payment_intents", card()...)
	require.Equal(t, 200, b.post("c", "/v1/payment_intents/"+first.id()+"/confirm", "payment_method=pm_card_visa").status)

	// Another order of the same parameters is the same request.
	again := b.post("k", "/v1/payment_intents", "metadata[order_id]=order_1", "payment_method_types[0]=card", "currency=eur", "amount=1250")
	require.Equal(t, first.text, again.text, "a snapshot: it still says requires_payment_method")
	require.Equal(t, 200, again.status)
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	require.Equal(t, first.header.Get("Request-Id"), again.header.Get("Original-Request"))
	require.NotEqual(t, first.header.Get("Request-Id"), again.header.Get("Request-Id"))
	require.Len(t, b.get("/v1/payment_intents").at("data"), 1)
}

func TestDecline_IsReplayedToo(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent()
	p := confirmParams("pm_card_visa_chargeDeclined")
	p.SetIdempotencyKey("k")
	for range 3 {
		_, err := b.stripe.PaymentIntents.Confirm(id, p)
		require.Equal(t, stripe.ErrorCodeCardDeclined, stripeError(t, err).Code)
	}
	require.Len(t, b.charges(id), 1, "one attempt")
	arrivals, executed := b.executions("k")
	require.Equal(t, [2]int{3, 1}, [2]int{arrivals, executed})
	last := b.post("k", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa_chargeDeclined")
	require.Equal(t, 402, last.status)
	require.Equal(t, "true", last.header.Get("Idempotent-Replayed"))
	require.Equal(t, "false", last.header.Get("Stripe-Should-Retry"), "asking again changes nothing")
}

func TestStateConflict_IsReplayedAlthoughTheStateMovedOn(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent()
	require.Equal(t, 400, b.post("k", "/v1/payment_intents/"+id+"/capture").status)
	b.post("c", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa", "capture_method=manual")

	stale := b.post("k", "/v1/payment_intents/"+id+"/capture")
	require.Equal(t, 400, stale.status)
	require.Equal(t, "requires_payment_method", stale.at("error", "payment_intent", "status"))
	require.Equal(t, "succeeded", b.post("k:2", "/v1/payment_intents/"+id+"/capture").at("status"))
}

func TestSameKeyOtherQuestion_IsAnErrorAndLeavesTheFirstAlone(t *testing.T) {
	t.Parallel()
	b := start(t)
	first := b.post("k", "/v1/payment_intents", card()...)
	for name, r := range map[string]reply{
		"other parameters": b.post("k", "/v1/payment_intents", card("description=x")...),
		"other path":       b.post("k", "/v1/payment_intents/"+first.id()+"/cancel"),
		"other expansion":  b.post("k", "/v1/payment_intents", card("expand[]=latest_charge")...),
	} {
		require.Equal(t, 400, r.status, name)
		require.Equal(t, "idempotency_error", r.at("error", "type"), name)
		require.Nil(t, r.at("error", "code"), name)
		require.Empty(t, r.header.Get("Idempotent-Replayed"), name)
	}
	require.Equal(t, "requires_payment_method", b.get("/v1/payment_intents/"+first.id()).at("status"), "nothing was executed")
	require.Equal(t, first.text, b.post("k", "/v1/payment_intents", card()...).text)
}

func TestRefusedBeforeExecution_LeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	b := start(t)
	require.Equal(t, 400, b.post("k", "/v1/payment_intents", "amount=1", "currency=eur").status)
	require.Equal(t, 404, b.post("k", "/v1/payment_intents/pi_none/confirm").status)
	require.Equal(t, 401, b.send("POST", "/v1/payment_intents", "amount=2", "Idempotency-Key", "k", "Authorization", "").status)
	require.Equal(t, 200, b.post("k", "/v1/payment_intents", card()...).status, "corrected, under the same key")

	invalid := b.post("k", "/v1/payment_intents", "amount=1", "currency=eur")
	require.Equal(t, "amount_too_small", invalid.at("error", "code"), "parameters are checked before the key is looked up")
}

func TestKeyBeyondItsLimits(t *testing.T) {
	t.Parallel()
	b := start(t)
	long := fmt.Sprintf("%0255d", 7)
	require.Equal(t, 200, b.post(long, "/v1/payment_intents", card()...).status)
	require.Equal(t, 400, b.post(long+"x", "/v1/payment_intents", card()...).status)
	one, two := b.post("", "/v1/payment_intents", card()...), b.post("", "/v1/payment_intents", card()...)
	require.NotEqual(t, one.id(), two.id(), "an empty key protects from nothing")
}

func TestFiftyAtOnce_OneExecution(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent()
	var ok, inUse atomic.Int32
	together(50, func(int) {
		r, err := b.trySend("POST", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa", "Idempotency-Key", "k")
		switch {
		case err == nil && r.status == 200:
			ok.Add(1)
		case err == nil && r.status == 409:
			inUse.Add(1)
		}
	})
	require.EqualValues(t, 50, ok.Load()+inUse.Load())
	require.Positive(t, ok.Load())
	arrivals, executed := b.executions("k")
	require.Equal(t, [2]int{50, 1}, [2]int{arrivals, executed})
	require.Len(t, b.charges(id), 1)
}

func TestFiftyKeysOneIntent_OneCharge(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent()
	var succeeded atomic.Int32
	together(50, func(n int) {
		r, err := b.trySend("POST", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa", "Idempotency-Key", fmt.Sprint("k:", n))
		if err == nil && r.status == 200 {
			succeeded.Add(1)
		}
	})
	require.EqualValues(t, 1, succeeded.Load())
	require.Len(t, b.charges(id), 1)
}

func TestKeyInUse_AnswersConflictUntilTheFirstIsDone(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent()
	confirm := "/v1/payment_intents/" + id + "/confirm"
	done := make(chan reply)
	go func() {
		r, _ := b.faulty("hold;barrier=gate", "k", confirm, "payment_method=pm_card_visa")
		done <- r
	}()
	b.held("gate")

	twin := b.post("k", confirm, "payment_method=pm_card_visa")
	require.Equal(t, 409, twin.status)
	require.Equal(t, "idempotency_key_in_use", twin.at("error", "code"))
	require.Equal(t, "invalid_request_error", twin.at("error", "type"))
	other := b.post("k", confirm, "payment_method=pm_card_amex")
	require.Equal(t, "idempotency_error", other.at("error", "type"))

	b.control("/barriers/gate/release", "")
	first := <-done
	require.Equal(t, "succeeded", first.at("status"))
	require.Equal(t, first.text, b.post("k", confirm, "payment_method=pm_card_visa").text)
}

func TestBusyObject_AnswersLockTimeoutWhichIsNotStored(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent()
	done := make(chan reply)
	go func() {
		r, _ := b.faulty("hold;barrier=gate;point=locked", "k", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa")
		done <- r
	}()
	b.held("gate")

	busy := b.post("cancel", "/v1/payment_intents/"+id+"/cancel")
	require.Equal(t, 429, busy.status)
	require.Equal(t, "lock_timeout", busy.at("error", "code"))
	require.Equal(t, "invalid_request_error", busy.at("error", "type"))
	require.Empty(t, busy.header.Get("Stripe-Rate-Limited-Reason"))
	require.Equal(t, 429, b.control("/payment_intents/"+id+"/action", `{"outcome":"succeed"}`).status, "the lock holds for everybody")
	require.Equal(t, "requires_payment_method", b.get("/v1/payment_intents/"+id).at("status"), "reads wait for nobody")

	b.control("/barriers/gate/release", "")
	require.Equal(t, "succeeded", (<-done).at("status"))
	after := b.post("cancel", "/v1/payment_intents/"+id+"/cancel")
	require.Equal(t, "payment_intent_unexpected_state", after.at("error", "code"), "executed now: the 429 was not stored")
}

func TestKeyOlderThanADay_IsForgotten(t *testing.T) {
	t.Parallel()
	b := start(t)
	first := b.post("k", "/v1/payment_intents", card()...)
	b.control("/clock", `{"advance":"23h59m"}`)
	require.Equal(t, first.text, b.post("k", "/v1/payment_intents", card()...).text)
	b.control("/clock", `{"advance":"1m"}`)

	second := b.post("k", "/v1/payment_intents", card()...)
	require.Equal(t, 200, second.status)
	require.NotEqual(t, first.id(), second.id(), "executed as new")
	require.Equal(t, second.text, b.post("k", "/v1/payment_intents", card()...).text, "and remembered anew")
	require.Equal(t, 200, b.post("k:1", "/v1/payment_intents/"+first.id()+"/cancel").status)
}
