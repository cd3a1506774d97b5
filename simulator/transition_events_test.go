package simulator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// told lists the events there are, oldest first, in the order they were made.
func (b *bench) told() (kinds []string, events []reply) {
	b.t.Helper()
	r := b.get("/v1/events?limit=100")
	require.Equal(b.t, 200, r.status, r.text)
	data, _ := r.at("data").([]any)
	for _, item := range slices.Backward(data) {
		m, _ := item.(map[string]any)
		ev := reply{body: m}
		events = append(events, ev)
		kind, _ := ev.at("type").(string)
		kinds = append(kinds, kind)
	}
	return kinds, events
}

// Every transition and the events that tell of it, in causal order. Both families of refund events are made.
func TestEventsOfEveryTransition(t *testing.T) {
	t.Parallel()
	const created = "payment_intent.created"
	paid := []string{created, "charge.succeeded", "payment_intent.succeeded"}
	held := []string{created, "charge.succeeded", "payment_intent.amount_capturable_updated"}
	booked := "charge.updated"
	post := func(b *bench, id, path string, pairs ...string) {
		b.send("POST", "/v1/payment_intents/"+id+path, strings.Join(pairs, "&"))
	}
	for _, c := range []struct {
		name   string
		happen func(b *bench)
		events []string
	}{
		{"create", func(b *bench) { b.intent() }, []string{created}},
		{"confirm, approved", func(b *bench) { b.paid("pm_card_visa"); b.passes("5s") }, append(slices.Clone(paid), booked)},
		{"confirm, approved, synchronous", func(b *bench) { b.paid("pm_card_visa", "capture_method=automatic"); b.passes("5s") }, paid},
		{"confirm, held", func(b *bench) { b.intentIn("requires_capture") }, held},
		{"capture", func(b *bench) { post(b, b.intentIn("requires_capture"), "/capture"); b.passes("5s") },
			append(slices.Clone(held), "charge.captured", "payment_intent.succeeded", booked)},
		{"declined", func(b *bench) { post(b, b.intent(), "/confirm", "payment_method=pm_card_visa_chargeDeclined") },
			[]string{created, "charge.failed", "payment_intent.payment_failed"}},
		{"3DS needed", func(b *bench) { b.intentIn("requires_action") }, []string{created, "payment_intent.requires_action"}},
		{"3DS failed", func(b *bench) {
			b.control("/payment_intents/"+b.intentIn("requires_action")+"/action", `{"outcome":"fail"}`)
		},
			[]string{created, "payment_intent.requires_action", "payment_intent.payment_failed"}},
		{"3DS done", func(b *bench) {
			b.control("/payment_intents/"+b.intentIn("requires_action")+"/action", `{"outcome":"succeed"}`)
		},
			[]string{created, "payment_intent.requires_action", "charge.succeeded", "payment_intent.succeeded"}},
		{"processing, then paid", func(b *bench) { b.control("/payment_intents/"+b.intentIn("processing")+"/settle", `{}`) },
			[]string{created, "payment_intent.processing", "charge.pending", "charge.succeeded", "payment_intent.succeeded"}},
		{"processing, then failed", func(b *bench) {
			b.control("/payment_intents/"+b.intentIn("processing")+"/settle", `{"outcome":"fail"}`)
		},
			[]string{created, "payment_intent.processing", "charge.pending", "charge.failed", "payment_intent.payment_failed"}},
		{"cancel", func(b *bench) { post(b, b.intent(), "/cancel") }, []string{created, "payment_intent.canceled"}},
		{"cancel of what is held", func(b *bench) { post(b, b.intentIn("requires_capture"), "/cancel") },
			append(slices.Clone(held), "charge.refunded", "payment_intent.canceled")},
		{"authorization expired", func(b *bench) { b.intentIn("requires_capture"); b.passes("168h") },
			append(slices.Clone(held), "charge.expired", "payment_intent.canceled")},
		{"a change of words", func(b *bench) { post(b, b.intent(), "", "description=x", "amount=99") }, []string{created}},
		{"a refusal", func(b *bench) { post(b, b.intent(), "/capture") }, []string{created}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			c.happen(b)
			kinds, _ := b.told()
			require.Equal(t, c.events, kinds)
		})
	}
}

func TestEventsOfMoneyThatGoesBack(t *testing.T) {
	t.Parallel()
	refunded := []string{"charge.refunded", "refund.created"}
	updated := []string{"charge.refund.updated", "refund.updated"}
	opened := []string{"charge.dispute.created", "charge.dispute.funds_withdrawn"}
	refund := func(b *bench, token string) string {
		intent, _ := b.paid(token, "capture_method=automatic")
		return b.refund(intent).id()
	}
	dispute := func(b *bench, token string) string {
		_, charge := b.paid(token, "capture_method=automatic")
		b.passes("10s")
		data, _ := b.get("/v1/disputes?charge=" + charge).at("data").([]any)
		return idsOf(data)[0]
	}
	for _, c := range []struct {
		name   string
		happen func(b *bench)
		events [][]string
	}{
		{"refund", func(b *bench) { refund(b, "pm_card_visa") }, [][]string{refunded}},
		{"refund, pending first", func(b *bench) { refund(b, "pm_card_pendingRefund"); b.passes("1h") }, [][]string{refunded, updated}},
		{"refund that fails", func(b *bench) { refund(b, "pm_card_refundFail"); b.passes("1h") }, [][]string{refunded, updated, {"refund.failed"}}},
		{"refund renamed", func(b *bench) { b.post("", "/v1/refunds/"+refund(b, "pm_card_visa"), "metadata[a]=b") }, [][]string{refunded, updated}},
		{"dispute", func(b *bench) { dispute(b, "pm_card_createDispute") }, [][]string{opened}},
		{"inquiry", func(b *bench) { dispute(b, "pm_card_createDisputeInquiry") }, [][]string{opened[:1]}},
		{"dispute won", func(b *bench) {
			b.post("", "/v1/disputes/"+dispute(b, "pm_card_createDispute"), "evidence[uncategorized_text]=winning_evidence")
			b.passes("10s")
		}, [][]string{opened, {"charge.dispute.updated", "charge.dispute.closed", "charge.dispute.funds_reinstated"}}},
		{"dispute lost", func(b *bench) { b.control("/disputes/"+dispute(b, "pm_card_createDispute")+"/lose", "") },
			[][]string{opened, {"charge.dispute.closed"}}},
		{"dispute accepted", func(b *bench) { b.post("", "/v1/disputes/"+dispute(b, "pm_card_createDispute")+"/close") },
			[][]string{opened, {"charge.dispute.closed"}}},
		{"payout", func(b *bench) {
			b.paid("pm_card_bypassPending", "capture_method=automatic")
			b.payOut()
			b.passes("48h")
		},
			[][]string{{"payout.created", "payout.updated", "payout.updated", "payout.reconciliation_completed", "payout.paid"}}},
		{"payout that fails", func(b *bench) {
			b.paid("pm_card_bypassPending", "capture_method=automatic")
			b.control("/payouts/"+idsOf(b.payOut())[0]+"/fail", "")
		}, [][]string{{"payout.created", "payout.failed"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			c.happen(b)
			kinds, _ := b.told()
			require.Equal(t, slices.Concat(c.events...), kinds[3:])
		})
	}
}

// What the events show: the object as it was, and what it was before.
func TestEvents_ShowTheirObjectsAsTheyWere(t *testing.T) {
	t.Parallel()
	b := start(t)
	intent, charge := b.paid("pm_card_refundFail")
	b.passes("5s")
	b.refund(intent, "amount=500")
	b.passes("1h")
	b.control("/disputes", `{"charge":"`+charge+`"}`)
	_, events := b.told()
	shown := map[string]string{}
	for _, ev := range events {
		kind, _ := ev.at("type").(string)
		object := func(name string) any { return ev.at("data", "object", name) }
		line := fmt.Sprint(object("object"), " ", object("status"))
		switch object("object") {
		case "charge":
			line += fmt.Sprint(" ", object("balance_transaction") != nil, " ", object("amount_refunded"))
		case "dispute":
			lines, _ := object("balance_transactions").([]any)
			line += fmt.Sprint(" ", len(lines))
		}
		shown[kind] = line + fmt.Sprint(" ", ev.at("data", "previous_attributes"))
	}
	require.Equal(t, map[string]string{
		"payment_intent.created":         "payment_intent requires_payment_method <nil>",
		"charge.succeeded":               "charge succeeded false 0 <nil>",
		"payment_intent.succeeded":       "payment_intent succeeded <nil>",
		"charge.updated":                 "charge succeeded true 0 map[balance_transaction:<nil>]",
		"charge.refunded":                "charge succeeded true 500 map[amount_refunded:0]",
		"refund.created":                 "refund succeeded <nil>",
		"charge.refund.updated":          "refund failed map[status:succeeded]",
		"refund.updated":                 "refund failed map[status:succeeded]",
		"refund.failed":                  "refund failed map[status:succeeded]",
		"charge.dispute.created":         "dispute needs_response 0 <nil>",
		"charge.dispute.funds_withdrawn": "dispute needs_response 1 <nil>",
	}, shown)
}

func TestEventsOfCustomers(t *testing.T) {
	t.Parallel()
	b := start(t)
	owner := b.customer("payment_method=pm_card_visa")
	b.post("", "/v1/customers/"+owner, "name=Ada")
	b.send("DELETE", "/v1/customers/"+owner, "")
	kinds, _ := b.told()
	require.Equal(t, []string{"customer.created", "payment_method.attached", "customer.updated", "payment_method.detached", "customer.deleted"}, kinds)
}
