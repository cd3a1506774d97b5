package simulator_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/simulator"
)

func TestAudit_CountsRefundsByTheirReference(t *testing.T) {
	t.Parallel()
	b := start(t)
	intent, _ := b.paid("pm_card_pendingRefund")
	failed := b.refund(intent, "amount=100", "metadata[refund_id]=refund_failed").id()
	b.control("/refunds/"+failed+"/fail", "")
	b.refund(intent, "amount=200", "metadata[refund_id]=refund_pending")
	done := b.refund(intent, "amount=300", "metadata[refund_id]=refund_done", "metadata[order_id]=order_1").id()
	b.control("/refunds/"+done+"/succeed", "")
	b.refund(intent, "amount=50")
	require.JSONEq(t, `{"references":[
		{"reference":"order_1","payment_intents":1,"succeeded":1,"captured":1250,"refunded":550,"fenced_confirms":0}
	],"refunds":[
		{"reference":"refund_done","count":1,"succeeded":1,"amount":300},
		{"reference":"refund_failed","count":1,"succeeded":0,"amount":0},
		{"reference":"refund_pending","count":1,"succeeded":0,"amount":200}
	],"alarms":[]}`, b.get("/_sim/audit").text)
}

func TestAudit_RaisesTheAlarmWhenOneRefundIsMadeTwice(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "sim.jsonl")
	b := startWith(t, simulator.Options{Seed: 1, Data: data})
	intent, _ := b.paid("pm_card_visa")
	for _, key := range []string{"refund:1", "refund:1", "refund:1:2"} {
		b.post(key, "/v1/refunds", "amount=100", "metadata[refund_id]=refund_1", "payment_intent="+intent)
	}
	b.refund(intent, "amount=100", "metadata[refund_id]=refund_2")
	for range 2 {
		audit := b.sim.Audit()
		require.Equal(t, 2, audit.Refunds[0].Count, "a repeated key is one refund, another key is another")
		require.Len(t, audit.Alarms, 1)
		require.Contains(t, audit.Alarms[0], "refund_1 was refunded 2 times: re_")
		b = b.restart(data)
	}
}

func TestMoney_SurvivesARestartAndGoesOn(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "sim.jsonl")
	b := startWith(t, simulator.Options{Seed: 1, Data: data})
	owner := b.customer("email=ada@example.com", "payment_method=pm_card_visa")
	intent, charge := b.paid("pm_card_pendingRefund", "customer="+owner)
	b.passes("1m")
	refund := b.refund(intent, "amount=500", "metadata[refund_id]=refund_1").id()
	_, disputed := b.paid("pm_card_createDispute", "metadata[order_id]=order_2")
	b.paid("pm_card_bypassPending", "capture_method=automatic", "metadata[order_id]=order_3")
	payout := idsOf(b.payOut())[0]
	held := b.intent("confirm=true", "payment_method=pm_card_visa", "capture_method=manual", "metadata[order_id]=order_4")
	b.passes("10s")
	paths := []string{
		"/v1/refunds", "/v1/balance_transactions?expand[]=data.source", "/v1/disputes", "/v1/payouts", "/v1/customers",
		"/v1/customers/" + owner + "/payment_methods", "/v1/payment_intents", "/v1/charges", "/v1/events?limit=100", "/_sim/audit",
	}
	before := map[string]string{}
	for _, path := range paths {
		before[path] = b.get(path).text
	}
	for range 2 { // the second restart reads what the first one compacted
		b = b.restart(data)
		for _, path := range paths {
			require.Equal(t, before[path], b.get(path).text, path)
		}
	}
	dispute, _ := b.get("/v1/disputes?charge=" + disputed).at("data").([]any)
	b.passes("1h")
	require.Equal(t, "succeeded", b.get("/v1/refunds/"+refund).at("status"), "what was due is still due")
	b.passes("168h")
	require.Equal(t, "lost", b.get("/v1/disputes/"+idsOf(dispute)[0]).at("status"))
	require.Equal(t, "paid", b.get("/v1/payouts/"+payout).at("status"))
	require.Equal(t, "canceled", b.get("/v1/payment_intents/"+held).at("status"))
	require.EqualValues(t, 500, b.get("/v1/charges/"+charge).at("amount_refunded"))
	require.NotContains(t, before["/v1/refunds"], b.refund(intent, "amount=1").id(), "new ids are new")
}

func TestMoneyOfIsolatedWorlds_IsTheirOwn(t *testing.T) {
	t.Parallel()
	b := start(t)
	intent, charge := b.paid("pm_card_bypassPending", "capture_method=automatic")
	owner := b.customer()
	refund := b.refund(intent, "amount=100").id()
	dispute := b.control("/disputes", `{"charge":"`+charge+`"}`).id()
	line := b.get("/v1/charges/" + charge).at("balance_transaction").(string)
	for _, path := range []string{"customers/" + owner, "refunds/" + refund, "disputes/" + dispute, "balance_transactions/" + line} {
		require.Equal(t, 200, b.get("/v1/"+path).status, path)
		require.Equal(t, 404, b.get("/scn/other/v1/"+path).status, path)
		kind, _, _ := strings.Cut(path, "/")
		require.Empty(t, b.get("/scn/other/v1/"+kind).at("data"), kind)
	}
	require.Equal(t, 400, b.send("POST", "/scn/other/v1/refunds", "charge="+charge).status)
	require.Equal(t, 400, b.send("POST", "/scn/other/_sim/disputes", `{"charge":"`+charge+`"}`).status)
	require.Empty(t, b.send("POST", "/scn/other/_sim/payouts/run", "").at("payouts"))
	require.Equal(t, 404, b.send("POST", "/scn/other/_sim/refunds/"+refund+"/fail", "").status)
}

func TestSameSeedSameMoney(t *testing.T) {
	t.Parallel()
	life := func(seed uint64) string {
		b := startWith(t, simulator.Options{Seed: seed})
		var said strings.Builder
		for _, token := range []string{"pm_card_createMultipleDisputes", "pm_card_refundFail", "pm_card_bypassPending"} {
			id := b.post("create:"+token, "/v1/payment_intents", card("confirm=true", "payment_method="+token)...).id()
			b.post("refund:"+token, "/v1/refunds", "amount=50", "payment_intent="+id)
		}
		b.passes("4h")
		b.payOut()
		for _, path := range []string{"/v1/refunds", "/v1/disputes", "/v1/balance_transactions", "/v1/payouts", "/v1/events?limit=100"} {
			said.WriteString(b.get(path).text)
		}
		return said.String()
	}
	require.Equal(t, life(7), life(7))
	require.NotEqual(t, life(7), life(8))
}
