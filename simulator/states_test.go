package simulator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// every state a payment intent can be in, in the order of a life.
var states = []string{
	"requires_payment_method", "requires_confirmation", "requires_action", "processing", "requires_capture", "succeeded", "canceled",
}

// The whole state machine: what each call does in each state. A refusal is 400 payment_intent_unexpected_state with the
// intent inside, and changes nothing.
func TestEveryMoveInEveryState(t *testing.T) {
	t.Parallel()
	moves := []struct {
		name, path, params string
		becomes            map[string]string // by state; where one is missing the call is refused
	}{
		{"confirm with a card", "/confirm", "payment_method=pm_card_visa", map[string]string{
			"requires_payment_method": "succeeded", "requires_confirmation": "succeeded", "requires_action": "succeeded",
		}},
		{"confirm without a card", "/confirm", "", map[string]string{
			"requires_confirmation": "succeeded", "requires_action": "requires_action",
		}},
		{"capture", "/capture", "", map[string]string{"requires_capture": "succeeded"}},
		{"cancel", "/cancel", "", map[string]string{
			"requires_payment_method": "canceled", "requires_confirmation": "canceled", "requires_action": "canceled",
			"requires_capture": "canceled",
		}},
		{"change the amount", "", "amount=999", map[string]string{
			"requires_payment_method": "requires_payment_method", "requires_confirmation": "requires_confirmation",
			"requires_action": "requires_confirmation",
		}},
		{"change the card", "", "payment_method=pm_card_amex", map[string]string{
			"requires_payment_method": "requires_confirmation", "requires_confirmation": "requires_confirmation",
			"requires_action": "requires_confirmation", "requires_capture": "requires_capture",
		}},
		{"change the metadata", "", "metadata[a]=b", map[string]string{
			"requires_payment_method": "requires_payment_method", "requires_confirmation": "requires_confirmation",
			"requires_action": "requires_action", "processing": "processing", "requires_capture": "requires_capture",
			"succeeded": "succeeded", "canceled": "canceled",
		}},
	}
	for _, m := range moves {
		for _, state := range states {
			t.Run(m.name+" in "+state, func(t *testing.T) {
				t.Parallel()
				b := start(t)
				id := b.intentIn(state)
				r := b.post("k", "/v1/payment_intents/"+id+m.path, m.params)
				want := m.becomes[state]
				if want == "" {
					require.Equal(t, 400, r.status, r.text)
					require.Equal(t, "invalid_request_error", r.at("error", "type"))
					require.Equal(t, "payment_intent_unexpected_state", r.at("error", "code"))
					require.Equal(t, id, r.at("error", "payment_intent", "id"))
					require.Equal(t, state, r.at("error", "payment_intent", "status"))
					want = state
				} else {
					require.Equal(t, 200, r.status, r.text)
				}
				require.Equal(t, want, b.get("/v1/payment_intents/"+id).at("status"))
				require.LessOrEqual(t, len(b.charges(id)), 1)
			})
		}
	}
}

func TestChangeOfTheMoney_NeverMovesMoneyByItself(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intentIn("requires_confirmation")
	b.post("k:1", "/v1/payment_intents/"+id, "amount=2000", "description=two")
	require.Empty(t, b.charges(id))
	paid := b.post("k:2", "/v1/payment_intents/"+id+"/confirm")
	require.EqualValues(t, 2000, paid.at("amount_received"))
	require.Equal(t, "two", paid.at("description"))
}
