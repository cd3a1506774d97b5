package simulator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"
)

// payOut runs the payouts and returns those that were made.
func (b *bench) payOut() []any {
	b.t.Helper()
	r := b.control("/payouts/run", "")
	require.Equal(b.t, 200, r.status, r.text)
	made, _ := r.at("payouts").([]any)
	return made
}

func TestPayout_TakesWhatIsAvailableAndNoMore(t *testing.T) {
	t.Parallel()
	b := start(t)
	intent, _ := b.paid("pm_card_visa", "capture_method=automatic")
	require.Empty(t, b.payOut(), "the money is pending")
	b.passes("24h")
	b.paid("pm_card_visa", "capture_method=automatic", "metadata[order_id]=order_2")
	b.refund(intent, "amount=250")
	b.passes("24h")
	require.Len(t, b.payOut(), 1)
	require.Empty(t, b.payOut(), "nothing is paid out twice")

	it := b.stripe.Payouts.List(&stripe.PayoutListParams{})
	require.True(t, it.Next())
	po := it.Payout()
	require.False(t, it.Next())
	require.Regexp(t, `^po_[0-9A-Za-z]{24}$`, po.ID)
	require.EqualValues(t, 1184-250, po.Amount)
	require.True(t, po.Automatic)
	require.Equal(t, stripe.PayoutStatusPending, po.Status)
	require.Equal(t, stripe.PayoutReconciliationStatusInProgress, po.ReconciliationStatus)
	require.Equal(t, noon.Unix()+4*24*3600, po.ArrivalDate)

	b.passes("24h")
	require.EqualValues(t, 1184, reply{body: b.payOut()[0].(map[string]any)}.at("amount"), "the second payment's day has come")
}

func TestPayout_CanBeTakenApartOnceItIsReconciled(t *testing.T) {
	t.Parallel()
	b := start(t)
	intent, _ := b.paid("pm_card_bypassPending", "capture_method=automatic")
	b.refund(intent, "amount=250")
	id := idsOf(b.payOut())[0]
	require.Equal(t, "payout", b.get("/v1/balance_transactions?payout="+id).at("error", "param"), "not known yet")
	b.passes("3h")
	require.Equal(t, "completed", b.get("/v1/payouts/"+id).at("reconciliation_status"))
	require.Equal(t, []string{"payout/payout -934 0 -934", "refund/refund -250 0 -250", "charge/charge 1250 66 1184"},
		b.ledger("payout="+id))

	it := b.stripe.BalanceTransactions.List(&stripe.BalanceTransactionListParams{Payout: stripe.String(id)})
	sum := int64(0)
	for it.Next() {
		sum += it.BalanceTransaction().Net
	}
	require.NoError(t, it.Err())
	require.Zero(t, sum, "what was paid out is what came in")
	require.Equal(t, "resource_missing", b.get("/v1/balance_transactions?payout=po_none").at("error", "code"))

	b.paid("pm_card_bypassPending", "capture_method=automatic", "metadata[order_id]=order_2")
	next := idsOf(b.payOut())[0]
	b.passes("3h")
	require.Equal(t, []string{"payout/payout -1184 0 -1184", "charge/charge 1250 66 1184"}, b.ledger("payout="+next))
	require.Len(t, b.ledger("payout="+id), 3, "a later payout takes nothing from an earlier one")
}

func TestPayout_IsSubmittedReconciledAndPaid(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.paid("pm_card_bypassPending", "capture_method=automatic")
	id := idsOf(b.payOut())[0]
	state := func() []any {
		r := b.get("/v1/payouts/" + id + "?expand[]=balance_transaction")
		return []any{r.at("status"), r.at("reconciliation_status"), r.at("balance_transaction", "type")}
	}
	require.Equal(t, []any{"pending", "in_progress", "payout"}, state())
	b.passes("1h")
	require.Equal(t, []any{"in_transit", "in_progress", "payout"}, state())
	b.passes("2h")
	require.Equal(t, []any{"in_transit", "completed", "payout"}, state())
	b.passes("45h")
	require.Equal(t, []any{"paid", "completed", "payout"}, state())

	paid, _ := b.get("/v1/payouts?status=paid").at("data").([]any)
	require.Equal(t, []string{id}, idsOf(paid))
	require.Empty(t, b.get("/v1/payouts?status=pending").at("data"))
	require.Empty(t, b.get("/v1/payouts?arrival_date[lt]=1741003200").at("data"))
	require.Len(t, b.get("/v1/payouts?arrival_date=1741003200").at("data"), 1)
	require.Equal(t, "status", b.get("/v1/payouts?status=lost").at("error", "param"))
	require.Equal(t, "payout", b.get("/v1/payouts/po_none").at("error", "param"))
}

func TestPaidPayout_CanFailAndBePaidOutAgain(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.paid("pm_card_bypassPending", "capture_method=automatic")
	id := idsOf(b.payOut())[0]
	b.passes("48h")
	require.Equal(t, "paid", b.get("/v1/payouts/"+id).at("status"))
	failed := b.control("/payouts/"+id+"/fail", "")
	require.Equal(t, []any{"failed", "account_closed"}, []any{failed.at("status"), failed.at("failure_code")})
	require.NotNil(t, failed.at("failure_balance_transaction"))
	require.Equal(t, 400, b.control("/payouts/"+id+"/fail", "").status)
	require.Equal(t, 404, b.control("/payouts/po_none/fail", "").status)
	require.Equal(t, "payout_failure/payout_reversal 1184 0 1184", b.ledger("source=" + id)[0])
	b.passes("72h")
	require.Equal(t, "failed", b.get("/v1/payouts/"+id).at("status"))
	require.EqualValues(t, 1184, reply{body: b.payOut()[0].(map[string]any)}.at("amount"))
}

func TestPayoutThatFailsOnItsWay_NeverArrives(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.paid("pm_card_bypassPending", "capture_method=automatic")
	id := idsOf(b.payOut())[0]
	require.Equal(t, "failed", b.control("/payouts/"+id+"/fail", "").at("status"))
	b.passes("72h")
	require.Equal(t, "failed", b.get("/v1/payouts/"+id).at("status"))
}

func TestPayouts_AreOfOneCurrencyEach(t *testing.T) {
	t.Parallel()
	b := start(t)
	for _, currency := range []string{"usd", "eur"} {
		b.send("POST", "/v1/payment_intents", "amount=1000&payment_method_types[]=card&confirm=true&payment_method=pm_card_bypassPending"+
			"&capture_method=automatic&currency="+currency)
	}
	made := b.payOut()
	require.Len(t, made, 2)
	for n, currency := range []string{"eur", "usd"} {
		m, _ := made[n].(map[string]any)
		require.Equal(t, []any{currency, 941.0}, []any{m["currency"], m["amount"]})
	}
}

func TestBalanceBelowZero_WaitsForLaterCharges(t *testing.T) {
	t.Parallel()
	b := start(t)
	_, charge := b.paid("pm_card_bypassPending", "capture_method=automatic")
	b.control("/disputes", `{"charge":"`+charge+`"}`)
	require.Empty(t, b.payOut(), "1184 - 2750")
	for range 2 {
		b.intent("confirm=true", "payment_method=pm_card_bypassPending", "capture_method=automatic")
	}
	require.EqualValues(t, 3*1184-2750, reply{body: b.payOut()[0].(map[string]any)}.at("amount"))
}
