package simulator_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"
)

// paid takes 12.50 EUR with a card and returns the payment intent and its charge.
func (b *bench) paid(token string, pairs ...string) (intent, charge string) {
	b.t.Helper()
	id := b.intent(append(pairs, "confirm=true", "payment_method="+token)...)
	r := b.get("/v1/payment_intents/" + id)
	require.Equal(b.t, "succeeded", r.at("status"), r.text)
	charge, _ = r.at("latest_charge").(string)
	return id, charge
}

// passes lets virtual time pass.
func (b *bench) passes(d string) {
	b.t.Helper()
	require.Equal(b.t, 200, b.control("/clock", `{"advance":"`+d+`"}`).status)
}

// refund gives money of an intent back without an idempotency key.
func (b *bench) refund(intent string, pairs ...string) reply {
	b.t.Helper()
	return b.send("POST", "/v1/refunds", strings.Join(append(pairs, "payment_intent="+intent), "&"))
}

func refundParams(intent string, amount int64) *stripe.RefundParams {
	p := &stripe.RefundParams{PaymentIntent: stripe.String(intent)}
	if amount > 0 {
		p.Amount = stripe.Int64(amount)
	}
	return p
}

func TestFullRefund_GivesAllOfItBack(t *testing.T) {
	t.Parallel()
	b := start(t)
	intent, charge := b.paid("pm_card_visa")
	p := refundParams(intent, 0)
	p.Reason = stripe.String("requested_by_customer")
	p.AddMetadata("refund_id", "refund_1")
	p.AddExpand("charge.payment_intent")
	r, err := b.stripe.Refunds.New(p)
	require.NoError(t, err)
	require.Regexp(t, `^re_[0-9A-Za-z]{24}$`, r.ID)
	require.Equal(t, stripe.RefundStatusSucceeded, r.Status)
	require.EqualValues(t, 1250, r.Amount)
	require.Equal(t, stripe.CurrencyEUR, r.Currency)
	require.Equal(t, stripe.RefundReasonRequestedByCustomer, r.Reason)
	require.Equal(t, map[string]string{"refund_id": "refund_1"}, r.Metadata)
	require.Equal(t, []string{charge, intent, intent}, []string{r.Charge.ID, r.PaymentIntent.ID, r.Charge.PaymentIntent.ID})
	require.True(t, r.Charge.Refunded)
	require.EqualValues(t, 1250, r.Charge.AmountRefunded)
	require.Equal(t, stripe.PaymentIntentStatusSucceeded, r.Charge.PaymentIntent.Status, "an intent does not change with a refund")
	require.EqualValues(t, 1250, r.Charge.PaymentIntent.AmountReceived)
	require.NotContains(t, b.get("/v1/refunds/"+r.ID).text, "livemode")

	got, err := b.stripe.Refunds.Get(r.ID, nil)
	require.NoError(t, err)
	require.Equal(t, r.BalanceTransaction.ID, got.BalanceTransaction.ID)
}

func TestPartialRefunds_CanBeRepeatedWhileMoneyIsLeft(t *testing.T) {
	t.Parallel()
	b := start(t)
	intent, charge := b.paid("pm_card_visa")
	for n, amount := range []int64{500, 500, 250} {
		r, err := b.stripe.Refunds.New(refundParams(intent, amount))
		require.NoError(t, err, "refund %d", n+1)
		require.Equal(t, amount, r.Amount)
	}
	ch, err := b.stripe.Charges.Get(charge, nil)
	require.NoError(t, err)
	require.EqualValues(t, 1250, ch.AmountRefunded)
	require.True(t, ch.Refunded)
}

func TestRefundOfAPartialCapture_IsOfWhatWasTaken(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intentIn("requires_capture")
	b.post("k", "/v1/payment_intents/"+id+"/capture", "amount_to_capture=1000")
	require.Equal(t, "amount", b.refund(id, "amount=1001").at("error", "param"))
	require.EqualValues(t, 1000, b.refund(id).at("amount"))
}

func TestSameKeyTwice_RefundsOnce(t *testing.T) {
	t.Parallel()
	b := start(t)
	intent, charge := b.paid("pm_card_visa")
	_, err := b.faulty("drop_after_effect", "refund:1", "/v1/refunds", "amount=500", "payment_intent="+intent)
	require.Error(t, err, "the answer is lost")
	again := b.post("refund:1", "/v1/refunds", "amount=500", "payment_intent="+intent)
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	require.EqualValues(t, 500, b.get("/v1/charges/"+charge).at("amount_refunded"))
	require.Len(t, b.get("/v1/refunds?charge="+charge).at("data"), 1)
	refused := b.post("refund:2", "/v1/refunds", "amount=751", "payment_intent="+intent)
	require.Equal(t, "true", b.post("refund:2", "/v1/refunds", "amount=751", "payment_intent="+intent).header.Get("Idempotent-Replayed"),
		"a refusal that depends on the charge's state is stored")
	require.Equal(t, 400, refused.status)
}

func TestRacingRefunds_NeverGiveBackMoreThanWasTaken(t *testing.T) {
	t.Parallel()
	b := start(t)
	intent, charge := b.paid("pm_card_visa")
	together(8, func(int) { _, _ = b.trySend("POST", "/v1/refunds", "amount=300&payment_intent="+intent) })
	ch := b.get("/v1/charges/" + charge)
	refunds, _ := ch.at("amount_refunded").(float64)
	require.LessOrEqual(t, refunds, 1250.0)
	listed, _ := b.get("/v1/refunds?payment_intent=" + intent).at("data").([]any)
	require.EqualValues(t, refunds, 300*len(listed))
	require.Positive(t, refunds)
}

func TestWhileARefundRuns_ItsChargeIsLocked(t *testing.T) {
	t.Parallel()
	b := start(t)
	intent, charge := b.paid("pm_card_visa")
	other, _ := b.paid("pm_card_visa", "metadata[order_id]=order_2")
	first := make(chan reply)
	go func() {
		r, _ := b.faulty("hold;barrier=gate;point=locked", "first", "/v1/refunds", "amount=500", "payment_intent="+intent)
		first <- r
	}()
	b.held("gate")
	for _, params := range []string{"payment_intent=" + intent, "charge=" + charge} {
		r := b.send("POST", "/v1/refunds", params)
		require.Equal(t, []any{429, "lock_timeout"}, []any{r.status, r.at("error", "code")})
	}
	require.Equal(t, 200, b.refund(other).status, "another charge is free")
	require.Equal(t, 429, b.control("/disputes", `{"charge":"`+charge+`"}`).status)
	b.control("/barriers/gate/release", "")
	require.Equal(t, 200, (<-first).status)
	require.Equal(t, 200, b.refund(intent).status)
}

func TestDisputeWhileARefundIsOnItsWay_WinsTheRace(t *testing.T) {
	t.Parallel()
	b := start(t)
	intent, charge := b.paid("pm_card_visa")
	refund := make(chan reply)
	go func() {
		r, _ := b.faulty("hold;barrier=gate", "k", "/v1/refunds", "payment_intent="+intent)
		refund <- r
	}()
	b.held("gate")
	require.Equal(t, 200, b.control("/disputes", `{"charge":"`+charge+`"}`).status)
	b.control("/barriers/gate/release", "")
	require.Equal(t, "charge_disputed", (<-refund).at("error", "code"))
}

func TestPendingRefund_IsDecidedLater(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, status string
		decide       func(b *bench, id string)
		refunded     int
	}{
		{"by itself after an hour", "succeeded", func(b *bench, _ string) { b.passes("1h") }, 500},
		{"by a test", "succeeded", func(b *bench, id string) { b.control("/refunds/"+id+"/succeed", "") }, 500},
		{"against it", "failed", func(b *bench, id string) { b.control("/refunds/"+id+"/fail", "") }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			intent, charge := b.paid("pm_card_pendingRefund")
			r := b.refund(intent, "amount=500")
			require.Equal(t, []any{"pending", nil}, []any{r.at("status"), r.at("balance_transaction")})
			require.EqualValues(t, 500, b.get("/v1/charges/"+charge).at("amount_refunded"), "it counts from the start")
			b.passes("59m59s")
			require.Equal(t, "pending", b.get("/v1/refunds/"+r.id()).at("status"))

			c.decide(b, r.id())
			b.passes("2h")
			decided := b.get("/v1/refunds/" + r.id())
			require.Equal(t, c.status, decided.at("status"))
			require.EqualValues(t, c.refunded, b.get("/v1/charges/"+charge).at("amount_refunded"))
			require.Equal(t, c.status == "succeeded", decided.at("balance_transaction") != nil, "money that never left has no line in the ledger")
			require.Nil(t, decided.at("failure_balance_transaction"))
		})
	}
}

func TestSucceededRefund_CanFailLater(t *testing.T) {
	t.Parallel()
	b := start(t)
	intent, charge := b.paid("pm_card_refundFail")
	r, err := b.stripe.Refunds.New(refundParams(intent, 0))
	require.NoError(t, err)
	require.Equal(t, stripe.RefundStatusSucceeded, r.Status)
	require.Equal(t, true, b.get("/v1/charges/"+charge).at("refunded"))

	b.passes("1h")
	p := &stripe.RefundParams{}
	p.AddExpand("failure_balance_transaction")
	failed, err := b.stripe.Refunds.Get(r.ID, p)
	require.NoError(t, err)
	require.Equal(t, stripe.RefundStatusFailed, failed.Status)
	require.Equal(t, stripe.RefundFailureReasonExpiredOrCanceledCard, failed.FailureReason)
	require.Equal(t, stripe.BalanceTransactionTypeRefundFailure, failed.FailureBalanceTransaction.Type)
	require.EqualValues(t, 1250, failed.FailureBalanceTransaction.Net, "the money is back on the balance")
	ch := b.get("/v1/charges/" + charge)
	require.Equal(t, []any{false, 0.0}, []any{ch.at("refunded"), ch.at("amount_refunded")}, "and can be refunded once more")
	require.Equal(t, 200, b.refund(intent).status)
	require.Equal(t, 400, b.control("/refunds/"+r.ID+"/fail", "").status, "only once")
	require.Equal(t, 400, b.control("/refunds/"+r.ID+"/succeed", "").status)
	require.Equal(t, 404, b.control("/refunds/re_none/fail", "").status)
}

func TestRefundOfAnOrdinaryCard_CanBeMadeToFail(t *testing.T) {
	t.Parallel()
	b := start(t)
	intent, _ := b.paid("pm_card_visa")
	r := b.refund(intent)
	require.Equal(t, "failed", b.control("/refunds/"+r.id()+"/fail", "").at("status"))
}

func TestRefund_TakesNewMetadataAndNothingElse(t *testing.T) {
	t.Parallel()
	b := start(t)
	intent, _ := b.paid("pm_card_visa")
	r := b.refund(intent, "metadata[refund_id]=refund_1")
	updated := b.send("POST", "/v1/refunds/"+r.id(), "metadata[note]=late")
	require.Equal(t, map[string]any{"refund_id": "refund_1", "note": "late"}, updated.at("metadata"))
	require.Equal(t, "amount", b.send("POST", "/v1/refunds/"+r.id(), "amount=1").at("error", "param"))

	cancel := b.send("POST", "/v1/refunds/"+r.id()+"/cancel", "")
	require.Equal(t, []any{400, "invalid_request_error"}, []any{cancel.status, cancel.at("error", "type")})
	for _, path := range []string{"/v1/refunds/re_none", "/v1/refunds/re_none/cancel"} {
		missing := b.send("POST", path, "")
		require.Equal(t, []any{404, "resource_missing", "refund"}, []any{missing.status, missing.at("error", "code"), missing.at("error", "param")})
	}
}

func TestRefundsAreListed_ByIntentByChargeAndByTime(t *testing.T) {
	t.Parallel()
	b := start(t)
	one, charge := b.paid("pm_card_visa")
	two, _ := b.paid("pm_card_visa", "metadata[order_id]=order_2")
	first := b.refund(one, "amount=100").id()
	b.passes("1m")
	second, third := b.refund(one, "amount=200").id(), b.refund(two).id()
	for query, want := range map[string][]string{
		"":                              {third, second, first},
		"payment_intent=" + one:         {second, first},
		"charge=" + charge:              {second, first},
		"payment_intent=" + two:         {third},
		"limit=1&payment_intent=" + one: {second},
		"payment_intent=" + one + "&starting_after=" + second: {first},
		"created=1740830400":     {first},
		"created[gt]=1740830400": {third, second},
	} {
		data, _ := b.get("/v1/refunds?" + query).at("data").([]any)
		require.Equal(t, want, idsOf(data), query)
	}
	it := b.stripe.Refunds.List(&stripe.RefundListParams{PaymentIntent: stripe.String(one)})
	n := 0
	for ; it.Next(); n++ {
		require.Equal(t, charge, it.Refund().Charge.ID)
	}
	require.NoError(t, it.Err())
	require.Equal(t, 2, n)
	require.Equal(t, "resource_missing", b.get("/v1/refunds?payment_intent=pi_none").at("error", "code"))
	require.Equal(t, "metadata", b.get("/v1/refunds?metadata[refund_id]=x").at("error", "param"))

	shown := b.get("/v1/charges/" + charge + "?expand[]=refunds.data.balance_transaction")
	data, _ := shown.at("refunds", "data").([]any)
	require.Equal(t, []string{second, first}, idsOf(data))
	require.NotContains(t, b.get("/v1/charges/"+charge).text, `"refunds"`)
}

func idsOf(data []any) (ids []string) {
	for _, item := range data {
		m, _ := item.(map[string]any)
		ids = append(ids, reply{body: m}.id())
	}
	return ids
}
