package simulator_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"
	"github.com/stripe/stripe-go/v79/client"
)

// confirmWith confirms under a key, asking for a fault by header.
func confirmWith(api *client.API, id, fault string) (*stripe.PaymentIntent, error) {
	p := confirmParams("pm_card_visa")
	p.SetIdempotencyKey("k")
	p.Headers = http.Header{"X-Sim-Fault": {fault}}
	return api.PaymentIntents.Confirm(id, p)
}

// What the unmodified client makes of each fault, without retries of its own, and what really happened.
func TestFaultsAsTheClientSeesThem(t *testing.T) {
	t.Parallel()
	isReset := func(err error) bool { return errors.Is(err, syscall.ECONNRESET) }
	isEOF := func(err error) bool { return errors.Is(err, io.EOF) }
	isPlain := func(err error) bool { return err != nil && !errors.As(err, new(*stripe.Error)) }
	hasStatus := func(status int) func(error) bool {
		return func(err error) bool {
			var e *stripe.Error
			return errors.As(err, &e) && e.HTTPStatusCode == status && e.Type == stripe.ErrorTypeAPI
		}
	}
	for _, c := range []struct {
		fault    string
		seen     func(error) bool
		executed int
		again    int // the status of the same request sent once more without a fault
	}{
		{"drop_after_effect;mode=fin", isEOF, 1, 200},
		{"drop_after_effect;mode=rst", isReset, 1, 200},
		{"drop_after_effect", isEOF, 1, 200},
		{"reset_before_effect", isReset, 0, 200},
		{"error_after_effect", hasStatus(500), 1, 500},
		{"error_after_effect;status=503;store=true", hasStatus(503), 1, 503},
		{"error_after_effect;status=500;store=false", hasStatus(500), 1, 400}, // unexpected_state: it has succeeded
		{"error_before_effect", hasStatus(500), 0, 200},
		{"error_before_effect;status=500;store=true", hasStatus(500), 0, 500},
		{"error_before_effect;status=502;store=false", hasStatus(502), 0, 200},
		{"empty_200", isPlain, 1, 200},
		{"html_error;status=400", isPlain, 0, 200},
		{"html_error", isPlain, 0, 200},
		{"delay;ms=1", func(err error) bool { return err == nil }, 1, 200},
		{"delay;ms=1;point=before_response, drop_after_effect;mode=rst", isReset, 1, 200},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			id := b.intent()
			// A fresh connection: on a kept one, net/http would repeat the request by itself.
			api := b.clientAt("", 0, &http.Transport{DisableKeepAlives: true})
			_, err := confirmWith(api, id, c.fault)
			require.True(t, c.seen(err), "%T %v", err, err)
			_, executed := b.executions("k")
			require.Equal(t, c.executed, executed)

			again := b.post("k", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa")
			require.Equal(t, c.again, again.status, again.text)
			require.LessOrEqual(t, len(b.charges(id)), 1)
		})
	}
}

// The client's own retries, at their default number, against rules that strike only some arrivals. They wait half a
// second and more between two attempts, in real time.
func TestDefaultRetries_ArriveUnderOneKeyAndExecuteOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, rule string
		arrivals   int
		fails      bool
	}{
		{"answer of the first lost", `{"match":{"key_glob":"k","nth":1},"fault":{"name":"drop_after_effect","mode":"rst"}}`, 2, false},
		{"every answer lost", `{"match":{"key_glob":"k"},"fault":{"name":"drop_after_effect","mode":"fin"}}`, 3, true},
		{"edge trouble, then fine", `{"match":{"key_glob":"k"},"fault":{"name":"html_error","status":502},"times":2}`, 3, false},
		{"stored 500 is final", `{"match":{"key_glob":"k"},"fault":{"name":"error_after_effect","status":500,"store":true}}`, 1, true},
		{"unstored 500 without effect", `{"match":{"key_glob":"k","nth":1},"fault":{"name":"error_before_effect"}}`, 2, false},
		{"empty body is not repeated", `{"match":{"key_glob":"k"},"fault":{"name":"empty_200"}}`, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			id := b.intent()
			require.Equal(t, 201, b.control("/rules", c.rule).status)
			api := b.clientAt("", stripe.DefaultMaxNetworkRetries, &http.Transport{DisableKeepAlives: true})
			pi, err := confirmWith(api, id, "")
			require.Equal(t, c.fails, err != nil, "%v", err)
			if !c.fails {
				require.Equal(t, stripe.PaymentIntentStatusSucceeded, pi.Status)
			}
			arrivals, executed := b.executions("k")
			require.Equal(t, [2]int{c.arrivals, 1}, [2]int{arrivals, executed})
		})
	}
}

// net/http repeats a request with an Idempotency-Key header when a kept connection dies under it, unseen by its caller.
func TestWarmConnectionThatDies_IsRepeatedByTheTransport(t *testing.T) {
	t.Parallel()
	b := start(t)
	api := b.client(0)
	created, err := api.PaymentIntents.New(createParams(1250)) // warms one connection
	require.NoError(t, err)
	_, err = confirmWith(api, created.ID, "drop_after_effect;mode=fin")
	require.Error(t, err)
	arrivals, executed := b.executions("k")
	require.Equal(t, [2]int{2, 1}, [2]int{arrivals, executed}, "two arrivals although the client was told not to retry")
}

func TestFaultHeaderThatMakesNoSense_FailsTheRequest(t *testing.T) {
	t.Parallel()
	b := start(t)
	for _, fault := range []string{
		"explode", "drop_after_effect;mode=melt", "lose", "delay", "delay;ms=-1", "delay;ms=1;point=after_effect", "hold",
		"error_before_effect;status=200", "empty_200;status=200", "error_after_effect;store=maybe",
	} {
		r, err := b.faulty(fault, "k", "/v1/payment_intents", card()...)
		require.NoError(t, err)
		require.Equal(t, 400, r.status, fault)
	}
	require.Empty(t, b.get("/v1/payment_intents").at("data"))
}

func TestRules_MatchWhatTheySay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		match string
		hits  bool
	}{
		{`{}`, true},
		{`{"method":"POST"}`, true},
		{`{"method":"GET"}`, false},
		{`{"path_glob":"/v1/payment_intents/*/confirm"}`, true},
		{`{"path_glob":"/v1/**"}`, true},
		{`{"path_glob":"/**/confirm"}`, true},
		{`{"path_glob":"/v1/payment_intents/*"}`, false},
		{`{"path_glob":"/v1/payment_intents"}`, false},
		{`{"key_glob":"pay:*:confirm:*"}`, true},
		{`{"key_glob":"pay:*:cancel:*"}`, false},
		{`{"metadata":{"order_id":"order_1"}}`, true},
		{`{"metadata":{"order_id":"order_2"}}`, false},
		{`{"metadata":{"order_id":"order_1","more":"x"}}`, false},
		{`{"pm":"pm_card_visa"}`, true},
		{`{"pm":"pm_card_amex"}`, false},
		{`{"nth":1}`, true},
		{`{"nth":2}`, false},
		{`{"from_nth":1}`, true},
		{`{"from_nth":2}`, false},
		{`{"probability":1}`, true},
		{`{"probability":0}`, false},
	} {
		t.Run(c.match, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			id := b.intent("payment_method=pm_card_visa")
			r := b.control("/rules", `{"match":`+c.match+`,"fault":{"name":"html_error","status":502}}`)
			require.Equal(t, 201, r.status, r.text)
			want := 200
			if c.hits {
				want = 502
			}
			require.Equal(t, want, b.post("pay:ch/1:confirm:1", "/v1/payment_intents/"+id+"/confirm").status)
		})
	}
}

func TestRules_FirstWinsTimesRunOutAndTheyCanBeRemoved(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.control("/rules", `{"id":"one","match":{"path_glob":"/v1/charges"},"fault":{"name":"html_error","status":501},"times":1}`)
	b.control("/rules", `{"match":{},"fault":{"name":"html_error","status":502}}`)
	require.Equal(t, 501, b.get("/v1/charges").status)
	require.Equal(t, 502, b.get("/v1/charges").status)

	rules, _ := b.get("/_sim/rules").at("rules").([]any)
	require.Len(t, rules, 2)
	require.Equal(t, map[string]any{
		"id": "one", "match": map[string]any{"path_glob": "/v1/charges"}, "times": 1.0, "hits": 1.0,
		"fault": map[string]any{"name": "html_error", "status": "501"},
	}, rules[0])

	require.Equal(t, 200, b.send("DELETE", "/_sim/rules/rule_2", "").status)
	require.Equal(t, 200, b.get("/v1/charges").status)
	require.Equal(t, 404, b.send("DELETE", "/_sim/rules/rule_2", "").status)
	b.send("DELETE", "/_sim/rules", "")
	require.Empty(t, b.get("/_sim/rules").at("rules"))
}

func TestRuleThatMakesNoSense_IsRefused(t *testing.T) {
	t.Parallel()
	b := start(t)
	for _, rule := range []string{
		``, `{}`, `{"match":{}}`, `{"fault":{"name":"explode"}}`, `{"match":{"path":"/v1"},"fault":{"name":"empty_200"}}`,
		`{"match":{"probability":2},"fault":{"name":"empty_200"}}`, `{"fault":{"name":"delay"}}`, `{"fault":{"name":"empty_200"}} {}`,
		`{"fault":{"name":"empty_200"},"times":-1}`,
	} {
		require.Equal(t, 400, b.control("/rules", rule).status, rule)
	}
}

func TestProbability_DependsOnTheSeedAndTheRequestOnly(t *testing.T) {
	t.Parallel()
	hits := func(parallel bool) []byte {
		b := start(t)
		b.control("/rules", `{"id":"r","match":{"probability":0.3},"fault":{"name":"html_error","status":502}}`)
		struck := bytes.Repeat([]byte("."), 60)
		try := func(n int) {
			r, err := b.trySend("POST", "/v1/payment_intents", "amount=1250&currency=eur", "Idempotency-Key", string(rune('A'+n)))
			if err == nil && r.status == 502 {
				struck[n] = 'X'
			}
		}
		if parallel {
			together(len(struck), try)
			return struck
		}
		for n := range struck {
			try(n)
		}
		return struck
	}
	one := hits(false)
	require.Equal(t, string(one), string(hits(true)), "concurrency changes nothing")
	require.InDelta(t, 18, bytes.Count(one, []byte("X")), 12)
}
