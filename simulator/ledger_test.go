package simulator_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"
)

// ledger lists balance transactions, newest first, as lines of type, amount, fee and net.
func (b *bench) ledger(query string) (lines []string) {
	b.t.Helper()
	r := b.get("/v1/balance_transactions?" + query)
	require.Equal(b.t, 200, r.status, r.text)
	data, _ := r.at("data").([]any)
	for _, item := range data {
		m, _ := item.(map[string]any)
		lines = append(lines, fmt.Sprint(m["type"], "/", m["reporting_category"], " ", m["amount"], " ", m["fee"], " ", m["net"]))
	}
	return lines
}

func TestFee_IsAShareAndAFixedPart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amount   int
		currency string
		fee      int
	}{
		{1250, "eur", 66}, // 36.25 + 30
		{50, "eur", 31},   // 1.45 + 30
		{1000, "eur", 59}, // 29 + 30
		{500, "eur", 45},  // 14.5 rounds up, + 30
		{99999999, "usd", 2900030},
		{1250, "jpy", 66},
		{10000, "kwd", 590}, // 0.300 dinars and 2.9 %
	} {
		t.Run(fmt.Sprint(c.amount, c.currency), func(t *testing.T) {
			t.Parallel()
			b := start(t)
			p := &stripe.PaymentIntentParams{
				Amount: stripe.Int64(int64(c.amount)), Currency: stripe.String(c.currency), Confirm: stripe.Bool(true),
				PaymentMethod: stripe.String("pm_card_visa"), PaymentMethodTypes: stripe.StringSlice([]string{"card"}),
				CaptureMethod: stripe.String("automatic"),
			}
			p.AddExpand("latest_charge.balance_transaction.source")
			pi, err := b.stripe.PaymentIntents.New(p)
			require.NoError(t, err)
			line := pi.LatestCharge.BalanceTransaction
			require.Regexp(t, `^txn_[0-9A-Za-z]{24}$`, line.ID)
			require.EqualValues(t, c.amount, line.Amount)
			require.EqualValues(t, c.fee, line.Fee)
			require.Equal(t, line.Amount-line.Fee, line.Net)
			require.Len(t, line.FeeDetails, 1)
			require.Equal(t, []any{line.Fee, "stripe_fee", stripe.Currency(c.currency)},
				[]any{line.FeeDetails[0].Amount, line.FeeDetails[0].Type, line.FeeDetails[0].Currency})
			require.Equal(t, stripe.BalanceTransactionSourceTypeCharge, line.Source.Type)
			require.Equal(t, pi.LatestCharge.ID, line.Source.Charge.ID)
		})
	}
}

func TestAsynchronousCapture_HasItsBalanceTransactionLater(t *testing.T) {
	t.Parallel()
	b := start(t)
	_, charge := b.paid("pm_card_visa")
	require.Nil(t, b.get("/v1/charges/"+charge).at("balance_transaction"))
	require.Empty(t, b.ledger(""))
	b.passes("5s")
	line, _ := b.get("/v1/charges/" + charge).at("balance_transaction").(string)
	require.Equal(t, []string{"charge/charge 1250 66 1184"}, b.ledger("source="+charge))

	got, err := b.stripe.BalanceTransactions.Get(line, nil)
	require.NoError(t, err)
	require.Equal(t, noon.Unix()+5, got.Created)
	require.Equal(t, noon.Unix()+5+2*24*3600, got.AvailableOn)
	require.Equal(t, stripe.BalanceTransactionStatusPending, got.Status)
	b.passes("48h")
	require.Equal(t, "available", b.get("/v1/balance_transactions/"+line).at("status"))
	require.Equal(t, 404, b.get("/v1/balance_transactions/txn_none").status)
}

func TestOneCapture_HasOneBalanceTransaction(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intentIn("requires_capture")
	b.passes("1m")
	require.Empty(t, b.ledger(""), "nothing has moved")
	b.post("k", "/v1/payment_intents/"+id+"/capture", "amount_to_capture=1000")
	b.passes("1m")
	require.Equal(t, []string{"charge/charge 1000 59 941"}, b.ledger(""))

	declined := b.post("d", "/v1/payment_intents", card("confirm=true", "payment_method=pm_card_visa_chargeDeclined")...)
	require.Equal(t, 402, declined.status)
	b.intent("confirm=true", "payment_method=pm_sim_processing_then_success")
	b.passes("1m")
	require.Len(t, b.ledger(""), 1, "neither an attempt that failed nor one that is undecided is in the ledger")
}

func TestBypassPending_IsAvailableAtOnce(t *testing.T) {
	t.Parallel()
	b := start(t)
	_, charge := b.paid("pm_card_bypassPending", "capture_method=automatic")
	r := b.get("/v1/charges/" + charge + "?expand[]=balance_transaction")
	require.Equal(t, "available", r.at("balance_transaction", "status"))
}

func TestLedger_SaysWhatBecameOfTheMoney(t *testing.T) {
	t.Parallel()
	b := start(t)
	intent, charge := b.paid("pm_card_refundFail", "capture_method=automatic")
	refund := b.refund(intent, "amount=500").id()
	b.passes("2h")
	dispute := b.control("/disputes", `{"charge":"`+charge+`"}`).id()
	b.control("/disputes/"+dispute+"/win", "")
	lines := []string{
		"adjustment/dispute_reversal 1250 -1500 2750",
		"adjustment/dispute -1250 1500 -2750",
		"refund_failure/refund_failure 500 0 500",
		"refund/refund -500 0 -500",
		"charge/charge 1250 66 1184",
	}
	require.Equal(t, lines, b.ledger(""))
	for query, want := range map[string][]string{
		"source=" + refund:               lines[2:4],
		"source=" + dispute:              lines[:2],
		"type=refund":                    lines[3:4],
		"type=adjustment&limit=1":        lines[:1],
		"currency=EUR":                   lines,
		"currency=usd":                   nil,
		"created=1740830400":             lines[3:],
		"created[gt]=1740830400":         lines[:3],
		"source=re_none":                 nil,
		"type=charge&source=" + refund:   nil,
		"created[lt]=1740830400&limit=1": nil,
	} {
		require.Equal(t, want, b.ledger(query), query)
	}
	r := b.get("/v1/balance_transactions?expand[]=data.source&expand[]=data.source.charge")
	for n, object := range []string{"dispute", "dispute", "refund", "refund", "charge"} {
		m, _ := r.at("data").([]any)[n].(map[string]any)
		require.Equal(t, object, reply{body: m}.at("source", "object"))
		if object != "charge" {
			require.Equal(t, charge, reply{body: m}.at("source", "charge", "id"))
		}
	}
	require.Equal(t, "expand", b.get("/v1/balance_transactions?expand[]=data.source.colour").at("error", "param"))
}

func TestEveryBalanceTransaction_AddsUp(t *testing.T) {
	t.Parallel()
	b := start(t)
	intent, charge := b.paid("pm_card_visa")
	b.refund(intent, "amount=333")
	b.control("/disputes", `{"charge":"`+charge+`"}`)
	b.passes("72h")
	b.control("/payouts/run", "")
	it := b.stripe.BalanceTransactions.List(&stripe.BalanceTransactionListParams{})
	n := 0
	for ; it.Next(); n++ {
		line := it.BalanceTransaction()
		require.Equal(t, line.Amount-line.Fee, line.Net)
		sum := int64(0)
		for _, fee := range line.FeeDetails {
			sum += fee.Amount
		}
		require.Equal(t, line.Fee, sum)
	}
	require.NoError(t, it.Err())
	require.Equal(t, 3, n, "a balance below zero is not paid out")
}
