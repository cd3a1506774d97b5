package simulator_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"
	"github.com/stripe/stripe-go/v79/webhook"

	"payonce/simulator"
)

var paidEvents = []string{"payment_intent.created", "charge.succeeded", "payment_intent.succeeded"}

func TestPayment_IsToldOfInOrderSignedAndWithWhoAsked(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen()
	id := b.pay("pay:1")
	require.Equal(t, paidEvents, shop.types())
	for _, one := range shop.all() {
		require.NoError(t, shop.verify(one))
		require.Equal(t, "2024-06-20", one.APIVersion)
		require.EqualValues(t, 1, one.PendingWebhooks)
		require.False(t, one.Livemode)
		require.Equal(t, "pay:1", one.Request.IdempotencyKey)
		require.Equal(t, b.sim.Journal()[1].RequestID, one.Request.ID)
		require.Equal(t, noon.Unix(), one.Created)
	}
	var about stripe.PaymentIntent
	last := shop.all()[2]
	require.NoError(t, json.Unmarshal(last.Data.Raw, &about))
	require.Equal(t, id, about.ID)
	require.Equal(t, stripe.PaymentIntentStatusSucceeded, about.Status)

	shown, err := b.stripe.Events.Get(last.ID, nil)
	require.NoError(t, err)
	require.Zero(t, shown.PendingWebhooks, "it was taken")
	require.JSONEq(t, string(last.Data.Raw), string(shown.Data.Raw))
	require.Equal(t, []string{"payment_intent.created delivered 200", "charge.succeeded delivered 200",
		"payment_intent.succeeded delivered 200"}, b.deliveries(""))
}

func TestBuyersAndBanksEvents_NameNoRequest(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen("payment_intent.payment_failed")
	b.control("/payment_intents/"+b.intentIn("requires_action")+"/action", `{"outcome":"fail"}`)
	got := shop.all()
	require.Len(t, got, 1)
	require.Contains(t, string(got[0].body), `"request": {
    "id": null,
    "idempotency_key": null
  }`)
}

func TestEndpoints_HearWhatTheyAskedFor(t *testing.T) {
	t.Parallel()
	b := start(t)
	all, some, off, gone := b.listen(), b.listen("charge.succeeded", "payment_intent.canceled"), b.listen(), b.listen()
	require.Equal(t, "disabled", b.send("POST", "/v1/webhook_endpoints/"+off.id, "disabled=true").at("status"))
	require.Equal(t, true, b.send("DELETE", "/v1/webhook_endpoints/"+gone.id, "").at("deleted"))
	b.pay("k")
	require.Equal(t, paidEvents, all.types())
	require.Equal(t, []string{"charge.succeeded"}, some.types())
	require.Empty(t, off.all())
	require.Empty(t, gone.all())
	require.Len(t, b.deliveries(""), 4, "nothing is owed to the others")
	require.NotEqual(t, all.secret, some.secret)
	require.Error(t, some.verify(all.all()[0]), "each endpoint has a secret of its own")
}

func TestSignature_IsOverTheRawBodyAndFreshForEachAttempt(t *testing.T) {
	t.Parallel()
	b := startWith(t, simulator.Options{Seed: 1})
	shop := b.listen("charge.succeeded")
	shop.answers(500)
	b.pay("k")
	b.control("/settings", `{"webhook_time":"virtual"}`)
	b.control("/clock", `{"advance":"1m"}`)
	got := shop.all()
	require.Len(t, got, 2)
	require.True(t, strings.HasPrefix(got[0].signature, "t=1740830400,v1="), got[0].signature)
	require.True(t, strings.HasPrefix(got[1].signature, "t=1740830460,v1="), got[1].signature)
	require.Regexp(t, `^t=\d+,v1=[0-9a-f]{64},v0=[0-9a-f]{64}$`, got[1].signature)
	require.NoError(t, shop.verify(got[1]))
	changed := got[1]
	changed.body = append([]byte(" "), changed.body...)
	require.ErrorIs(t, shop.verify(changed), webhook.ErrNoValidSignature)
}

func TestSignature_IsDatedByRealTimeWhateverTheVirtualClockSays(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.control("/clock", `{"advance":"48h"}`)
	shop := b.listen("charge.succeeded")
	b.pay("k")
	require.True(t, strings.HasPrefix(shop.all()[0].signature, "t=1740830400,"), "the receiver's clock is a real one")
}

func TestRolledSecret_SignsBesideTheOldOneUntilThatEnds(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen("charge.succeeded")
	rolled := b.control("/webhook_endpoints/"+shop.id+"/roll_secret", `{"expires_in":"1h"}`)
	fresh, _ := rolled.at("secret").(string)
	require.Regexp(t, `^whsec_\w{32}$`, fresh)
	require.NotEqual(t, shop.secret, fresh)

	require.NotEqual(t, fresh, b.control("/webhook_endpoints/"+b.listen("charge.failed").id+"/roll_secret", "").at("secret"))

	b.pay("k:1")
	b.control("/clock", `{"advance":"1h"}`)
	b.pay("k:2")
	got := shop.all()
	require.Equal(t, 2, strings.Count(got[0].signature, ",v1="))
	require.NoError(t, shop.verify(got[0]), "the old one")
	require.Equal(t, 1, strings.Count(got[1].signature, ",v1="))
	require.ErrorIs(t, shop.verify(got[1]), webhook.ErrNoValidSignature)
	shop.secret = fresh
	require.NoError(t, shop.verify(got[0]))
	require.NoError(t, shop.verify(got[1]))

	for _, bad := range []string{`{"expires_in":"soon"}`, `{"expires_in":"-1h"}`, `{"secret":"mine"}`} {
		require.Equal(t, 400, b.control("/webhook_endpoints/"+shop.id+"/roll_secret", bad).status, bad)
	}
	require.Equal(t, 404, b.control("/webhook_endpoints/we_none/roll_secret", "").status)
}

func TestOnlyA2xxIsASuccess(t *testing.T) {
	t.Parallel()
	for status, taken := range map[int]bool{200: true, 204: true, 299: true, 302: false, 400: false, 410: false, 500: false, 503: false} {
		b := start(t)
		shop := b.listen("charge.succeeded")
		shop.answers(status)
		b.pay("k")
		require.Len(t, shop.all(), 1, "%d: no redirect is followed", status)
		state := map[bool]string{true: "delivered", false: "pending"}[taken]
		require.Equal(t, state, b.get("/_sim/deliveries").at("deliveries").([]any)[0].(map[string]any)["state"], "%d", status)
	}
}

func TestRetries_OfTestModeEndAfterThree(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen("charge.succeeded")
	shop.answers(503)
	b.pay("k")
	require.Len(t, shop.all(), 1)
	for n, step := range []string{"59s", "1s", "59m59s", "1s", "2h59m59s", "1s", "1000h"} {
		b.control("/clock", `{"advance":"`+step+`"}`)
		require.Len(t, shop.all(), []int{1, 2, 2, 3, 3, 4, 4}[n], "after %s more", step)
	}
	require.Equal(t, []string{"charge.succeeded failed 503 503 503 503"}, b.deliveries(""))
}

func TestAdvance_PlaysTheTimeInOneGo(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen("charge.succeeded")
	shop.answers(500)
	b.pay("k")
	b.control("/clock", `{"advance":"25h"}`)
	require.Len(t, shop.all(), 4)
	list, _ := b.get("/_sim/deliveries").at("deliveries").([]any)
	attempts, _ := list[0].(map[string]any)["attempts"].([]any)
	for n, at := range []string{"2025-03-01T12:00:00Z", "2025-03-01T12:01:00Z", "2025-03-01T13:01:00Z", "2025-03-01T16:01:00Z"} {
		require.Equal(t, at, attempts[n].(map[string]any)["at"])
	}
}

func TestRetries_OfLiveModeGoOnForThreeDays(t *testing.T) {
	t.Parallel()
	b := start(t)
	require.Equal(t, 200, b.control("/settings", `{"webhook_retries":"live"}`).status)
	shop := b.listen("charge.succeeded")
	shop.answers(500)
	b.pay("k")
	b.control("/clock", `{"advance":"720h"}`)
	list, _ := b.get("/_sim/deliveries").at("deliveries").([]any)
	require.Equal(t, "failed", list[0].(map[string]any)["state"])
	attempts, _ := list[0].(map[string]any)["attempts"].([]any)
	var before time.Time
	var pauses []string
	for n, made := range attempts {
		at, err := time.Parse(time.RFC3339, made.(map[string]any)["at"].(string))
		require.NoError(t, err)
		if n > 0 {
			pauses = append(pauses, at.Sub(before).String())
		}
		before = at
	}
	require.Equal(t, []string{"5m0s", "10m0s", "20m0s", "40m0s", "1h20m0s", "2h40m0s", "5h20m0s", "10h40m0s",
		"12h0m0s", "12h0m0s", "12h0m0s", "12h0m0s"}, pauses)
	require.LessOrEqual(t, before.Sub(noon), 72*time.Hour)
}

func TestEndpointThatNeverAnswers_IsLeftAfterTheTimeout(t *testing.T) {
	t.Parallel()
	b := start(t)
	require.Equal(t, 200, b.control("/settings", `{"webhook_timeout_ms":20}`).status)
	shop := b.listen("charge.succeeded")
	leave := make(chan struct{})
	shop.asks(func(received) int { <-leave; return 200 })
	b.pay("k")
	require.Equal(t, []string{"charge.succeeded pending 0"}, b.deliveries(""))
	require.Contains(t, b.get("/_sim/deliveries").text, "no answer within 20ms")
	close(leave)
	b.control("/settings", `{"webhook_timeout_ms":10000}`)
	b.control("/clock", `{"advance":"1m"}`)
	require.Equal(t, []string{"charge.succeeded delivered 0 200"}, b.deliveries(""))
}

func TestEndpointThatIsNotThere_IsTriedAgain(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.send("POST", "/v1/webhook_endpoints", "url=http://127.0.0.1:1/&enabled_events[]=charge.succeeded")
	b.pay("k")
	require.Equal(t, []string{"charge.succeeded pending 0"}, b.deliveries(""))
	require.Contains(t, b.get("/_sim/deliveries").text, "connection refused")
}

// A handler that asks the API back while it is called, as good ones do, is answered: nobody holds the world meanwhile.
func TestReceiver_MayAskTheAPIBack(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen("payment_intent.succeeded")
	shop.asks(func(one received) int {
		id, _ := one.Data.Object["id"].(string)
		r, err := b.trySend("POST", "/v1/payment_intents/"+id, "metadata[seen]=yes")
		if err != nil {
			return 500
		}
		return r.status
	})
	id := b.pay("k")
	require.Len(t, shop.all(), 1)
	require.Equal(t, "yes", b.get("/v1/payment_intents/"+id).at("metadata", "seen"))
}

func TestEndpointThatIsDisabled_HearsNothingThatWasStillOwed(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen("charge.succeeded")
	shop.answers(500)
	b.pay("k")
	shop.all()
	b.send("POST", "/v1/webhook_endpoints/"+shop.id, "disabled=true")
	b.control("/clock", `{"advance":"1m"}`)
	require.Equal(t, []string{"charge.succeeded failed 500"}, b.deliveries(""))
}

func TestPause_HoldsBackAndResumeSendsInOrder(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen()
	require.Equal(t, true, b.control("/webhooks/pause", "").at("webhooks_paused"))
	b.pay("k")
	b.control("/clock", `{"advance":"5h"}`)
	require.Empty(t, shop.all())
	require.EqualValues(t, 1, b.get("/v1/events").at("data").([]any)[0].(map[string]any)["pending_webhooks"])
	arrived := make(chan struct{}, 9)
	shop.asks(func(received) int { arrived <- struct{}{}; return 200 })
	require.Equal(t, false, b.control("/webhooks/resume", "").at("webhooks_paused"))
	for range paidEvents {
		<-arrived // without anybody asking for it
	}
	require.Equal(t, paidEvents, shop.types())
}

func TestFlush_SendsWhateverTheClockAndEvenWhilePaused(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen("charge.succeeded")
	shop.answers(500)
	b.pay("k:1")
	shop.all()
	b.control("/webhooks/pause", "")
	b.pay("k:2")
	shop.answers(200)
	require.EqualValues(t, 2, b.control("/webhooks/flush", "").at("sent"))
	require.Equal(t, []string{"charge.succeeded delivered 500 200", "charge.succeeded delivered 200"}, b.deliveries(""))
	require.EqualValues(t, 0, b.control("/webhooks/flush", "").at("sent"))
	b.pay("k:3")
	require.Len(t, shop.all(), 3, "still paused")
}

func TestRedelivery_RepeatsTheSameEventOnce(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen("charge.succeeded")
	shop.answers(500)
	b.pay("k")
	b.control("/clock", `{"advance":"25h"}`)
	event := shop.all()[0]
	require.Equal(t, []string{"charge.succeeded"}, b.events("delivery_success=false&type=charge.succeeded"))

	r := b.control("/events/"+event.ID+"/redeliver", "")
	require.Equal(t, "failed", r.at("deliveries").([]any)[0].(map[string]any)["state"], "who asks by hand may ask again")
	shop.answers(200)
	r = b.control("/events/"+event.ID+"/redeliver", "")
	require.Equal(t, "delivered", r.at("deliveries").([]any)[0].(map[string]any)["state"])
	got := shop.all()
	require.Equal(t, event.ID, got[len(got)-1].ID)
	require.Empty(t, b.events("delivery_success=false&type=charge.succeeded"))
	require.Equal(t, 404, b.control("/events/evt_none/redeliver", "").status)
}

// What was owed when the simulator was killed is sent by the one that comes back, at its time.
func TestRestart_GoesOnWithWhatIsOwed(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "sim.jsonl")
	b := startWith(t, simulator.Options{Seed: 1, Data: data})
	shop := b.listen("charge.succeeded")
	shop.answers(500)
	b.pay("k:1")
	shop.all()
	b.control("/webhooks/pause", "")
	b.pay("k:2")
	log := b.get("/_sim/deliveries").text

	for range 2 {
		b = b.restart(data)
		shop.b = b
		require.Equal(t, log, b.get("/_sim/deliveries").text)
		require.Equal(t, true, b.get("/_sim/settings").at("webhooks_paused"))
	}
	shop.answers(200)
	b.control("/webhooks/resume", "")
	require.Equal(t, []string{"charge.succeeded pending 500", "charge.succeeded delivered 200"}, b.deliveries(""))
	b.control("/clock", `{"advance":"1m"}`)
	require.Equal(t, []string{"charge.succeeded delivered 500 200", "charge.succeeded delivered 200"}, b.deliveries(""))
	got := shop.all()
	require.NoError(t, shop.verify(got[len(got)-1]), "with the secret of before")
	ids := map[string]bool{}
	for _, one := range got {
		ids[one.ID] = true
	}
	require.Len(t, ids, 2)
}

func TestConcurrentDeliveries_AreBounded(t *testing.T) {
	t.Parallel()
	b := start(t)
	require.Equal(t, 200, b.control("/settings", `{"webhook_in_flight":3}`).status)
	shop := b.listen()
	arrived, leave := make(chan struct{}, 9), make(chan struct{})
	var here, most atomic.Int64
	shop.asks(func(received) int {
		n := here.Add(1)
		defer here.Add(-1)
		for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
		}
		arrived <- struct{}{}
		<-leave
		return 200
	})
	for _, key := range []string{"a", "b", "c"} {
		b.pay(key)
	}
	for range 3 {
		<-arrived
	}
	close(leave)
	require.Len(t, shop.all(), 9)
	require.EqualValues(t, 3, most.Load())
}
