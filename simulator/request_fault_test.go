package simulator_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"

	"payonce/simulator"
)

// What the unmodified client makes of the faults that answer, or fail to, without going through the motions.
func TestAnswersThatAreNotWhatHappened(t *testing.T) {
	t.Parallel()
	isError := func(status int, code stripe.ErrorCode) func(*stripe.PaymentIntent, error) bool {
		return func(_ *stripe.PaymentIntent, err error) bool {
			var e *stripe.Error
			return errors.As(err, &e) && e.HTTPStatusCode == status && e.Code == code && e.Type == stripe.ErrorTypeInvalidRequest
		}
	}
	isCut := func(_ *stripe.PaymentIntent, err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }
	isUnreadable := func(pi *stripe.PaymentIntent, err error) bool {
		return err != nil && !errors.As(err, new(*stripe.Error)) && !errors.Is(err, io.ErrUnexpectedEOF) && pi.ID == "" && pi.LastResponse.StatusCode == http.StatusOK
	}
	declined := func(code stripe.ErrorCode, reason stripe.DeclineCode) func(*stripe.PaymentIntent, error) bool {
		return func(_ *stripe.PaymentIntent, err error) bool {
			var e *stripe.Error
			return errors.As(err, &e) && e.HTTPStatusCode == 402 && e.Code == code && e.DeclineCode == reason
		}
	}
	becomes := func(status stripe.PaymentIntentStatus) func(*stripe.PaymentIntent, error) bool {
		return func(pi *stripe.PaymentIntent, err error) bool { return err == nil && pi.Status == status }
	}
	for _, c := range []struct {
		fault    string
		seen     func(*stripe.PaymentIntent, error) bool
		executed int
		again    int    // the status of the same request sent once more without a fault
		becomes  string // the intent, after the faulty request
	}{
		{"truncate", isCut, 1, 200, "succeeded"},
		{"truncate;mode=short_length;bytes=0", isCut, 1, 200, "succeeded"},
		{"truncate;mode=clean_json_cut;bytes=100", isUnreadable, 1, 200, "succeeded"},
		{"ok_should_retry", becomes("succeeded"), 1, 200, "succeeded"},
		{"rate_limit;reason=endpoint-rate", isError(429, "rate_limit"), 0, 200, "requires_payment_method"},
		{"lock_timeout", isError(429, "lock_timeout"), 0, 200, "requires_payment_method"},
		{"key_in_use", isError(409, "idempotency_key_in_use"), 0, 200, "requires_payment_method"},
		{"decline", declined("card_declined", "generic_decline"), 1, 402, "requires_payment_method"},
		{"decline;code=expired_card", declined("expired_card", ""), 1, 402, "requires_payment_method"},
		{"decline;decline_code=do_not_honor", declined("card_declined", "do_not_honor"), 1, 402, "requires_payment_method"},
		{"require_action", becomes("requires_action"), 1, 200, "requires_action"},
		{"processing", becomes("processing"), 1, 200, "processing"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			id := b.intent()
			api := b.clientAt("", 0, &http.Transport{DisableKeepAlives: true})
			pi, err := confirmWith(api, id, c.fault)
			require.True(t, c.seen(pi, err), "%T %v", err, err)
			arrivals, executed := b.executions("k")
			require.Equal(t, [2]int{1, c.executed}, [2]int{arrivals, executed})
			require.Equal(t, c.becomes, b.get("/v1/payment_intents/"+id).at("status"))

			again := b.post("k", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa")
			require.Equal(t, c.again, again.status, again.text)
			require.LessOrEqual(t, len(b.charges(id)), 1)
		})
	}
}

func TestRateLimit_SaysWhy(t *testing.T) {
	t.Parallel()
	b := start(t)
	r, err := b.faulty("rate_limit", "k", "/v1/payment_intents", card()...)
	require.NoError(t, err)
	require.Equal(t, "global-rate", r.header.Get("Stripe-Rate-Limited-Reason"))
	require.Empty(t, r.header.Get("Retry-After"))
	r, err = b.faulty("rate_limit;reason=resource-specific;retry_after=7", "k", "/v1/payment_intents", card("amount=nonsense")...)
	require.NoError(t, err)
	require.Equal(t, 429, r.status, "before anything is looked at")
	require.Equal(t, "resource-specific", r.header.Get("Stripe-Rate-Limited-Reason"))
	require.Equal(t, "7", r.header.Get("Retry-After"))
}

// The library repeats a success that it is told to repeat, and a lock that is busy; not a rate limit.
func TestHeaderDecidesWhatTheLibraryRepeats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault    string
		arrivals int
		fails    bool
	}{
		{"ok_should_retry", 3, false}, {"lock_timeout", 3, true}, {"key_in_use", 3, true}, {"rate_limit", 1, true},
		{"truncate", 3, true}, {"truncate;mode=clean_json_cut", 1, true},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			_, err := confirmWith(b.clientAt("", stripe.DefaultMaxNetworkRetries, &http.Transport{DisableKeepAlives: true}), b.intent(), c.fault)
			require.Equal(t, c.fails, err != nil, "%v", err)
			arrivals, executed := b.executions("k")
			require.Equal(t, c.arrivals, arrivals)
			require.LessOrEqual(t, executed, 1)
		})
	}
}

func TestStalledAnswer_LastsAsLongAsTheClientWaits(t *testing.T) {
	t.Parallel()
	b := start(t)
	shop := b.listen("payment_intent.succeeded")
	id := b.intent()
	hasty := &http.Client{Timeout: 50 * time.Millisecond, Transport: &http.Transport{DisableKeepAlives: true}}
	b.http = hasty
	_, err := b.faulty("drop_after_effect;mode=stall", "k", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa")
	require.ErrorContains(t, err, "Client.Timeout")
	hasty.Timeout = 0
	require.Len(t, shop.all(), 1, "it has happened, and others hear of it")
	_, executed := b.executions("k")
	require.Equal(t, 1, executed)
	r := b.post("k", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa")
	require.Equal(t, "true", r.header.Get("Idempotent-Replayed"))
}

func TestBankFaults_LeaveTheCardAsItIs(t *testing.T) {
	t.Parallel()
	b := start(t)
	customer := b.send("POST", "/v1/customers", "").id()
	pm := b.send("POST", "/v1/payment_methods/pm_card_visa/attach", "customer="+customer).id()
	confirm := func(fault, key string) reply {
		id := b.intent("customer=" + customer)
		r, err := b.faulty(fault, key, "/v1/payment_intents/"+id+"/confirm", "payment_method="+pm)
		require.NoError(t, err)
		return r
	}
	require.Equal(t, "requires_action", confirm("require_action", "k:1").at("status"))
	require.Equal(t, "succeeded", confirm("", "k:2").at("status"))
	require.Equal(t, 402, confirm("decline", "k:3").status)
	require.Equal(t, "succeeded", confirm("", "k:4").at("status"))

	asked := b.intent("customer="+customer, "confirmation_method=manual", "setup_future_usage=off_session")
	confirmAgain := func(key string) any {
		r, err := b.faulty("require_action", key, "/v1/payment_intents/"+asked+"/confirm", "payment_method="+pm)
		require.NoError(t, err)
		return r.at("status")
	}
	require.Equal(t, "requires_action", confirmAgain("a:1"))
	b.control("/payment_intents/"+asked+"/action", `{"outcome":"succeed"}`)
	require.Equal(t, "succeeded", confirmAgain("a:2"), "the buyer has answered, and the card is kept for later")
	require.Equal(t, "succeeded", confirm("", "k:6").at("status"))

	slow := confirm("processing", "k:5")
	require.Equal(t, "processing", slow.at("status"))
	require.Equal(t, "succeeded", b.control("/payment_intents/"+slow.id()+"/settle", "").at("status"))
}

func TestPrunedKey_IsExecutedAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault, key string
		again      bool // the request was executed as a new one
	}{
		{"prune_key", "k", true},
		{"prune_key;key=k", "k", true},
		{"prune_key;key=other*", "k", false},
		{"prune_key;age=2h", "k", true},
		{"prune_key;age=4h", "k", false},
	} {
		b := start(t)
		first := b.post("k", "/v1/payment_intents", card()...)
		b.control("/clock", `{"advance":"3h"}`)
		r, err := b.faulty(c.fault, c.key, "/v1/payment_intents", card()...)
		require.NoError(t, err)
		require.Equal(t, c.again, first.id() != r.id(), c.fault)
		require.Equal(t, c.again, r.header.Get("Idempotent-Replayed") == "", c.fault)
	}
}

func TestPruning_IsKept(t *testing.T) {
	t.Parallel()
	data := t.TempDir() + "/sim.jsonl"
	b := startWith(t, simulator.Options{Seed: 1, Data: data})
	first := b.post("k", "/v1/payment_intents", card()...)
	_, err := b.trySend("GET", "/v1/charges", "", "X-Sim-Fault", "prune_key;key=k")
	require.NoError(t, err)
	b = b.restart(data)
	require.NotEqual(t, first.id(), b.post("k", "/v1/payment_intents", card()...).id())
}

// stale reads with a fault header.
func (b *bench) stale(fault, path string) reply {
	b.t.Helper()
	return b.send("GET", path, "", "X-Sim-Fault", fault)
}

func TestStaleReads_ShowTheWorldAsItWas(t *testing.T) {
	t.Parallel()
	b := start(t)
	old := b.intent()
	b.control("/clock", `{"advance":"1h"}`)
	b.post("k", "/v1/payment_intents/"+old+"/confirm", "payment_method=pm_card_visa")
	fresh := b.intent()
	b.control("/clock", `{"advance":"1s"}`)

	ids := func(r reply) (ids []any) {
		list, _ := r.at("data").([]any)
		for _, item := range list {
			ids = append(ids, item.(map[string]any)["id"], item.(map[string]any)["status"])
		}
		return ids
	}
	const path = "/v1/payment_intents"
	require.Equal(t, []any{fresh, "requires_payment_method", old, "succeeded"}, ids(b.get(path)))
	require.Equal(t, []any{old, "requires_payment_method"}, ids(b.stale("stale_list", path)), "two seconds ago")
	require.Equal(t, []any{fresh, "requires_payment_method", old, "succeeded"}, ids(b.stale("stale_list;lag_ms=500", path)))
	require.Empty(t, ids(b.stale("stale_list;lag_ms=600000", "/v1/charges")))
	require.Empty(t, ids(b.stale("stale_list;until=2025-03-01T11:59:00Z", path)))
	require.Equal(t, []any{old, "requires_payment_method"}, ids(b.stale("stale_list;until=2025-03-01T12:30:00Z", path)))

	require.Equal(t, "succeeded", b.get(path+"/"+old).at("status"))
	require.Equal(t, "requires_payment_method", b.stale("stale_get", path+"/"+old).at("status"))
	require.Equal(t, 404, b.stale("stale_get", path+"/"+fresh).status)
	require.Equal(t, "succeeded", b.stale("stale_list", path+"/"+old).at("status"), "a list fault is about lists")

	found := path + "/search?query=" + "status:%27succeeded%27"
	b.control("/clock", `{"advance":"1m"}`)
	require.Len(t, ids(b.get(found)), 2)
	require.Empty(t, ids(b.stale("stale_search;lag_ms=60000", found)))
	require.Equal(t, "succeeded", b.get(path+"/"+old).at("status"), "a look back changes nothing")
}

func TestStaleRead_OfATokenMakesNothing(t *testing.T) {
	t.Parallel()
	b := start(t)
	shown := b.stale("stale_get", "/v1/payment_methods/pm_card_visa")
	require.Equal(t, 200, shown.status)
	require.Equal(t, 404, b.get("/v1/payment_methods/"+shown.id()).status)
}

func TestRules_MatchTheIntentThatARefundIsOf(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.pay("k")
	charge, _ := b.get("/v1/payment_intents/" + id).at("latest_charge").(string)
	refund := b.post("r:0", "/v1/refunds", "payment_intent="+id, "amount=100").id()
	b.rule(t, `{"match":{"metadata":{"order_id":"order_1"},"pm":"pm_card_visa","method":"POST"},"fault":{"name":"html_error"}}`)
	for n, try := range [][2]string{
		{"/v1/refunds", "payment_intent=" + id}, {"/v1/refunds", "charge=" + charge}, {"/v1/refunds/" + refund, "metadata[a]=b"},
	} {
		require.Equal(t, 502, b.post(fmt.Sprint("r:", n+1), try[0], try[1]).status, try)
	}
	other := b.send("POST", "/v1/payment_intents", "amount=1250&currency=eur")
	require.Equal(t, 200, other.status)
}

func TestProbabilityOfReads_IsDrawnForEachObject(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.rule(t, `{"match":{"method":"GET","probability":0.5},"fault":{"name":"html_error"}}`)
	struck := 0
	for range 20 {
		if b.get("/v1/payment_intents/"+b.intent()).status == 502 {
			struck++
		}
	}
	require.InDelta(t, 10, struck, 8)
}
