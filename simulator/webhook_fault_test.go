package simulator_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stripe/stripe-go/v79/webhook"

	"payonce/simulator"
)

func simOptions(seed uint64) simulator.Options { return simulator.Options{Seed: seed} }

func TestLostEvent_IsNeverSentAndStillListed(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen()
	b.rule(t, `{"match":{"event":"payment_intent.succeeded"},"fault":{"name":"lose"}}`)
	b.pay("k")
	b.control("/clock", `{"advance":"100h"}`)
	require.NotContains(t, shop.types(), "payment_intent.succeeded")
	require.Equal(t, paidEvents, b.events("type=*")[:3], "a sweep finds it")
	require.Equal(t, []string{"payment_intent.succeeded"}, b.events("delivery_success=false"))
}

func TestDuplicateEvent_ComesAgainUnderItsId(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen()
	b.rule(t, `{"match":{"event":"charge.*"},"fault":{"name":"duplicate","n":3}}`)
	b.pay("k")
	require.Equal(t, []string{"payment_intent.created", "charge.succeeded", "charge.succeeded", "charge.succeeded",
		"payment_intent.succeeded"}, shop.types())
	got := shop.all()
	require.Equal(t, got[1].ID, got[2].ID)
	require.Equal(t, got[1].ID, got[3].ID)
	require.EqualValues(t, 1, got[1].PendingWebhooks, "for the API it is one")
	require.Equal(t, paidEvents, b.events(""))
}

func TestTwinEvent_TellsOfOneChangeUnderTwoIds(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen()
	b.rule(t, `{"match":{"event":"charge.succeeded"},"fault":{"name":"twin_event"}}`)
	b.pay("k")
	got := shop.all()
	require.Equal(t, []string{"payment_intent.created", "charge.succeeded", "charge.succeeded", "payment_intent.succeeded"}, shop.types())
	require.NotEqual(t, got[1].ID, got[2].ID)
	require.JSONEq(t, string(got[1].Data.Raw), string(got[2].Data.Raw))
	require.Len(t, b.events("type=charge.succeeded"), 2)
}

func TestDelayedEvent_ComesAtItsTimeByTheVirtualClock(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen()
	b.rule(t, `{"match":{"event":"charge.succeeded"},"fault":{"name":"delay","ms":5000}}`)
	b.pay("k")
	require.Len(t, shop.all(), 2)
	b.control("/clock", `{"advance":"4999ms"}`)
	require.Len(t, shop.all(), 2)
	b.control("/clock", `{"advance":"1ms"}`)
	require.Equal(t, []string{"payment_intent.created", "payment_intent.succeeded", "charge.succeeded"}, shop.types())
}

func TestReorderedEvent_IsOvertakenByThoseThatFollow(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen()
	b.rule(t, `{"match":{"event":"payment_intent.created"},"fault":{"name":"reorder","window":2},"times":1}`)
	b.pay("k:1")
	require.Equal(t, []string{"charge.succeeded", "payment_intent.succeeded", "payment_intent.created"}, shop.types())

	b.rule(t, `{"match":{"event":"payment_intent.succeeded"},"fault":{"name":"reorder"},"times":1}`)
	b.pay("k:2")
	require.Len(t, shop.all(), 5, "nothing has overtaken the last one")
	b.control("/clock", `{"advance":"10s"}`)
	require.Equal(t, "payment_intent.succeeded", shop.types()[5], "it does not wait for ever")
}

func TestEarlyEvent_ComesBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen()
	b.rule(t, `{"match":{"event":"payment_intent.succeeded"},"fault":{"name":"early"}}`)
	answered := make(chan struct{})
	early := make(chan string, 9)
	shop.asks(func(one received) int {
		select {
		case <-answered:
		default:
			early <- string(one.Type)
		}
		return 200
	})
	b.pay("k")
	require.Equal(t, "payment_intent.succeeded", <-early, "it was told before the caller had its answer")
	close(answered)
	require.ElementsMatch(t, paidEvents, shop.types())
}

// An answer that is held up does not hold up its events: the shop may learn of a payment whose answer it never gets.
func TestEventsOfAnAnswerThatIsHeld_ComeMeanwhile(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen("payment_intent.succeeded")
	done := make(chan reply)
	go func() {
		r, _ := b.faulty("hold;barrier=gate;point=before_response", "k", "/v1/payment_intents", card("confirm=true", "payment_method=pm_card_visa")...)
		done <- r
	}()
	b.held("gate")
	require.Len(t, shop.all(), 1)
	b.control("/barriers/gate/release", "")
	require.Equal(t, 200, (<-done).status)
}

func TestBadSignatures_AreWhatALibraryRefuses(t *testing.T) {
	t.Parallel()
	check := func(r *receiver, one received) error {
		_, err := webhook.ConstructEvent(one.body, one.signature, r.secret)
		return err
	}
	for _, c := range []struct {
		fault string
		says  string
	}{
		{`{"name":"bad_signature"}`, webhook.ErrNoValidSignature.Error()},
		{`{"name":"old_timestamp"}`, webhook.ErrTooOld.Error()},
		{`{"name":"wrong_version"}`, "2020-08-27"},
		{`{"name":"wrong_version","version":"2025-01-27"}`, "2025-01-27"},
	} {
		b := startNow(t)
		shop := b.listen("charge.succeeded")
		b.rule(t, `{"match":{"event":"*"},"fault":`+c.fault+`,"times":1}`)
		b.rule(t, `{"match":{"event":"charge.succeeded"},"fault":`+c.fault+`,"times":1}`)
		b.pay("k:1")
		b.pay("k:2")
		got := shop.all()
		require.ErrorContains(t, check(shop, got[0]), c.says)
		require.NoError(t, check(shop, got[1]), "the next one is as it should be")
	}
}

func TestOldTimestamp_IsAsOldAsItSays(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen("charge.succeeded")
	b.rule(t, `{"match":{"event":"charge.succeeded"},"fault":{"name":"old_timestamp","seconds":301}}`)
	b.pay("k")
	require.True(t, strings.HasPrefix(shop.all()[0].signature, "t=1740830099,"), shop.all()[0].signature)
	require.NoError(t, shop.verify(shop.all()[0]))
}

func TestEventRules_MatchWhatTheySay(t *testing.T) {
	t.Parallel()
	for match, hits := range map[string]int{
		`{"event":"*"}`:                                   3,
		`{"event":"payment_intent.*"}`:                    2,
		`{"event":"charge.failed"}`:                       0,
		`{"event":"*","nth":1}`:                           3,
		`{"event":"*","nth":2}`:                           0,
		`{"event":"*","from_nth":2}`:                      0,
		`{"event":"*","key_glob":"pay:*"}`:                3,
		`{"event":"*","key_glob":"refund:*"}`:             0,
		`{"event":"*","metadata":{"order_id":"order_1"}}`: 3,
		`{"event":"*","metadata":{"order_id":"order_2"}}`: 0,
		`{"event":"*","probability":1}`:                   3,
		`{"event":"*","probability":0}`:                   0,
		`{"object":"pi_none"}`:                            0,
	} {
		b := start(t)
		b.listen()
		b.rule(t, `{"match":`+match+`,"fault":{"name":"lose"}}`)
		b.pay("pay:1")
		lost := strings.Count(strings.Join(b.deliveries(""), "\n"), " lost")
		require.Equal(t, hits, lost, match)
	}
}

func TestEventRule_CanBeAboutOneObject(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.listen("payment_intent.succeeded")
	one, two := b.intent(), b.intent()
	b.rule(t, `{"match":{"object":"`+one+`"},"fault":{"name":"lose"}}`)
	for _, id := range []string{one, two} {
		b.post("k:"+id, "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa")
	}
	require.Equal(t, []string{"payment_intent.succeeded lost"}, b.deliveries("object="+one))
	require.Equal(t, []string{"payment_intent.succeeded delivered 200"}, b.deliveries("object="+two))
}

func TestNthEvent_CountsThoseOfOneTypeAboutOneObject(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.listen("payment_intent.payment_failed")
	b.rule(t, `{"match":{"event":"payment_intent.payment_failed","nth":2},"fault":{"name":"lose"}}`)
	id := b.intent()
	for _, key := range []string{"k:1", "k:2", "k:3"} {
		require.Equal(t, 402, b.post(key, "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_chargeDeclined").status)
	}
	const failed = "payment_intent.payment_failed "
	require.Equal(t, []string{failed + "delivered 200", failed + "lost", failed + "delivered 200"}, b.deliveries(""))
}

func TestRulesOfEventsAndOfRequests_AreNotMixedUp(t *testing.T) {
	t.Parallel()
	b := start(t)
	for _, bad := range []string{
		`{"fault":{"name":"lose"}}`, `{"match":{"path_glob":"/v1/**"},"fault":{"name":"duplicate"}}`,
		`{"match":{"event":"*"},"fault":{"name":"html_error"}}`, `{"match":{"event":"*","method":"POST"},"fault":{"name":"lose"}}`,
		`{"match":{"event":"*","pm":"pm_card_visa"},"fault":{"name":"lose"}}`,
		`{"match":{"event":"*"},"fault":{"name":"delay","ms":1,"point":"accept"}}`,
		`{"match":{"event":"*"},"fault":{"name":"duplicate","n":1}}`, `{"match":{"event":"*"},"fault":{"name":"reorder","window":0}}`,
	} {
		require.Equal(t, 400, b.control("/rules", bad).status, bad)
	}
	b.rule(t, `{"match":{"event":"*"},"fault":{"name":"delay","ms":0}}`)
	b.pay("k")
	for _, a := range b.sim.Journal() {
		require.Empty(t, a.Faults)
	}
}

func TestSameSeed_LosesTheSameEvents(t *testing.T) {
	t.Parallel()
	fate := func(seed uint64, parallel bool) map[string]string {
		b := startWith(t, simOptions(seed))
		b.listen()
		b.rule(t, `{"id":"r","match":{"event":"*","probability":0.4},"fault":{"name":"lose"}}`)
		keys := strings.Split("abcdefghijkl", "")
		if parallel {
			together(len(keys), func(n int) { b.pay(keys[n]) })
		} else {
			for _, key := range keys {
				b.pay(key)
			}
		}
		states := map[string]string{}
		var log struct {
			Deliveries []struct{ ID, Event, State string }
		}
		require.NoError(t, json.Unmarshal([]byte(b.get("/_sim/deliveries?wait=10s").text), &log))
		for _, d := range log.Deliveries {
			states[d.Event] = d.State
		}
		require.Len(t, states, 3*len(keys))
		return states
	}
	require.Equal(t, fate(1, false), fate(1, true))
	require.NotEqual(t, fate(1, false), fate(2, false))
	lost := 0
	for _, state := range fate(1, false) {
		if state == "lost" {
			lost++
		}
	}
	require.InDelta(t, 14, lost, 10)
}
