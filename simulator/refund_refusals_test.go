package simulator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRefundsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name              string
		prepare           func(b *bench) (params string)
		status            int
		kind, code, param any
	}{
		{"more than was paid", func(b *bench) string {
			intent, _ := b.paid("pm_card_visa")
			return "amount=1251&payment_intent=" + intent
		}, 400, "invalid_request_error", nil, "amount"},
		{"more than is left", func(b *bench) string {
			intent, _ := b.paid("pm_card_visa")
			b.refund(intent, "amount=1000")
			return "amount=251&payment_intent=" + intent
		}, 400, "invalid_request_error", nil, "amount"},
		{"all of it a second time", func(b *bench) string {
			intent, _ := b.paid("pm_card_visa")
			b.refund(intent)
			return "payment_intent=" + intent
		}, 400, "invalid_request_error", "charge_already_refunded", nil},
		{"a part when nothing is left", func(b *bench) string {
			intent, _ := b.paid("pm_card_visa")
			b.refund(intent, "amount=1250")
			return "amount=1&payment_intent=" + intent
		}, 400, "invalid_request_error", "charge_already_refunded", nil},
		{"a disputed charge", func(b *bench) string {
			intent, charge := b.paid("pm_card_visa")
			b.control("/disputes", `{"charge":"`+charge+`","reason":"fraudulent"}`)
			return "payment_intent=" + intent
		}, 400, "invalid_request_error", "charge_disputed", nil},
		{"an intent that was never confirmed", func(b *bench) string {
			return "payment_intent=" + b.intent()
		}, 400, "invalid_request_error", nil, "payment_intent"},
		{"an intent that was declined", func(b *bench) string {
			id := b.intent()
			b.post("k", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa_chargeDeclined")
			return "payment_intent=" + id
		}, 400, "invalid_request_error", nil, "payment_intent"},
		{"an intent that is processing", func(b *bench) string {
			return "payment_intent=" + b.intentIn("processing")
		}, 400, "invalid_request_error", nil, "payment_intent"},
		{"money that is only held", func(b *bench) string {
			return "payment_intent=" + b.intentIn("requires_capture")
		}, 400, "invalid_request_error", nil, "payment_intent"},
		{"money that was held and let go", func(b *bench) string {
			id := b.intentIn("requires_capture")
			b.post("k", "/v1/payment_intents/"+id+"/cancel")
			return "payment_intent=" + id
		}, 400, "invalid_request_error", nil, "payment_intent"},
		{"a charge that failed", func(b *bench) string {
			r := b.post("k", "/v1/payment_intents", card("confirm=true", "payment_method=pm_card_visa_chargeDeclined")...)
			charge, _ := r.at("error", "charge").(string)
			return "charge=" + charge
		}, 400, "invalid_request_error", nil, "charge"},
		{"nothing named", func(*bench) string { return "amount=100" }, 400, "invalid_request_error", "parameter_missing", nil},
		{"both named", func(b *bench) string {
			intent, charge := b.paid("pm_card_visa")
			return "payment_intent=" + intent + "&charge=" + charge
		}, 400, "invalid_request_error", nil, nil},
		{"an unknown intent", func(*bench) string { return "payment_intent=pi_none" }, 400, "invalid_request_error", "resource_missing", "payment_intent"},
		{"an unknown charge", func(*bench) string { return "charge=ch_none" }, 400, "invalid_request_error", "resource_missing", "charge"},
		{"an unknown reason", func(b *bench) string {
			intent, _ := b.paid("pm_card_visa")
			return "reason=bored&payment_intent=" + intent
		}, 400, "invalid_request_error", nil, "reason"},
		{"nothing", func(b *bench) string {
			intent, _ := b.paid("pm_card_visa")
			return "amount=0&payment_intent=" + intent
		}, 400, "invalid_request_error", "parameter_invalid_integer", "amount"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			form := c.prepare(b)
			before, _ := b.get("/v1/refunds").at("data").([]any)
			r := b.send("POST", "/v1/refunds", form)
			require.Equal(t, []any{c.status, c.kind, c.code, c.param},
				[]any{r.status, r.at("error", "type"), r.at("error", "code"), r.at("error", "param")}, r.text)
			require.Len(t, b.get("/v1/refunds").at("data"), len(before), "a refused refund leaves nothing behind")
		})
	}
}
