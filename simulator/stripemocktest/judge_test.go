package stripemocktest

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// asked is the outsider with an empty memory, to be asked directly.
func asked(t *testing.T) *outsider {
	t.Helper()
	if judging == nil {
		t.Skip("set " + variable + "=1 to ask stripe-mock")
	}
	return &outsider{mock: judging.mock, spec: judging.spec, asked: map[shape]bool{}, told: map[string]bool{}}
}

const (
	intent = `{"id": "pi_1", "object": "payment_intent", "amount": 1250, "created": 1740830400, "currency": "eur",
		"livemode": false, "latest_charge": null, "metadata": {}, "status": "succeeded"}`
	expanded = `{"id": "ch_1", "object": "charge", "amount": 1250, "amount_captured": 0, "amount_refunded": 0,
		"billing_details": {}, "captured": false, "created": 1740830400, "currency": "eur", "disputed": false,
		"livemode": false, "metadata": {}, "paid": true, "refunded": false, "status": "succeeded"}`
	event = `{"id": "evt_1", "object": "event", "created": 1740830400, "data": {"object": ` + intent + `},
		"livemode": false, "pending_webhooks": 0, "type": "payment_intent.succeeded"}`
	create = "amount=1250&currency=eur"
)

// with is a text with a change.
func with(text, old, changed string) string { return strings.Replace(text, old, changed, 1) }

func list(item string) string {
	return `{"object": "list", "data": [` + item + `], "has_more": false, "url": "/v1/payment_intents"}`
}

func TestJudge_RequestsThatShouldHaveBeenRefused(t *testing.T) {
	t.Parallel()
	o := asked(t)
	for _, row := range []struct {
		situation string
		shape     shape
		status    int
		says      string // "" when there is nothing to say
	}{
		{"in order", shape{"POST", "/v1/payment_intents", "", create}, 200, ""},
		{"in order, arrays as stripe-go writes them", shape{"POST", "/v1/payment_intents", "", create + "&payment_method_types[0]=card&expand[0]=latest_charge"}, 200, ""},
		{"an unknown parameter", shape{"POST", "/v1/payment_intents", "", create + "&colour=red"}, 200, "colour"},
		{"and one inside another", shape{"POST", "/v1/payment_intents", "", create + "&automatic_payment_methods[enabled]=true&automatic_payment_methods[colour]=red"}, 200, "automatic_payment_methods"},
		{"in a range", shape{"GET", "/v1/refunds", "created[gte]=1&created[about]=2", ""}, 200, "created"},
		{"in a request whose card was declined", shape{"POST", "/v1/payment_intents/pi_1/confirm", "", "colour=red"}, 402, "colour"},
		{"in a query", shape{"GET", "/v1/refunds", "colour=red", ""}, 200, "colour"},
		{"but it was refused", shape{"POST", "/v1/payment_intents", "", create + "&colour=blue"}, 400, ""},
		{"a parameter is missing", shape{"POST", "/v1/payment_intents", "", "amount=1250"}, 200, "currency"},
		{"an amount that is no number", shape{"POST", "/v1/payment_intents", "", "amount=much&currency=eur"}, 200, "amount"},
		{"a word that is no choice", shape{"POST", "/v1/payment_intents/pi_1/cancel", "", "cancellation_reason=boredom"}, 200, "boredom"},
		{"a path that does not exist", shape{"POST", "/v1/payment_intents/pi_1/undo", "", ""}, 200, "404"},
	} {
		complaints, err := o.judge(t.Context(), exchange{row.shape, row.status, nil})
		require.NoError(t, err)
		if row.says == "" {
			require.Empty(t, complaints, row.situation)
			continue
		}
		require.Len(t, complaints, 1, row.situation)
		require.Contains(t, complaints[0], row.says, row.situation)
		require.Contains(t, complaints[0], row.shape.String(), row.situation)
	}
}

func TestJudge_AnswersThatAreNotAsDescribed(t *testing.T) {
	t.Parallel()
	o := asked(t)
	for _, row := range []struct {
		situation, method, path string
		status                  int
		answer, says            string
	}{
		{"as described", "GET", "/v1/payment_intents/pi_1", 200, intent, ""},
		{"a wrong type", "GET", "/v1/payment_intents/pi_1", 200, with(intent, "1250", `"1250"`), "amount: got string, want integer"},
		{"null where there is always something", "GET", "/v1/payment_intents/pi_1", 200, with(intent, "1250", "null"), "amount: got null, want integer"},
		{"a state that does not exist", "GET", "/v1/payment_intents/pi_1", 200, with(intent, `"succeeded"`, `"paid"`), "status: value must be one of"},
		{"a field is missing", "GET", "/v1/payment_intents/pi_1", 200, with(intent, `"livemode": false,`, ""), "livemode"},
		{"a field is made up", "GET", "/v1/payment_intents/pi_1", 200, with(intent, `"amount"`, `"paid": true, "amount"`), "'paid' not allowed"},
		{"metadata that are no texts", "GET", "/v1/payment_intents/pi_1", 200, with(intent, `{}`, `{"n": 1}`), "metadata.n: got number, want string"},
		{"another object", "GET", "/v1/payment_intents/pi_1", 200, expanded, "object: value must be 'payment_intent'"},
		{"a field that was removed later", "GET", "/v1/payment_intents/pi_1", 200, with(intent, `"amount"`, `"invoice": null, "amount"`), ""},
		{"an expanded object", "GET", "/v1/payment_intents/pi_1", 200, with(intent, `"latest_charge": null`, `"latest_charge": `+expanded), ""},
		{"an expanded object with a wrong type", "GET", "/v1/payment_intents/pi_1", 200,
			with(intent, `"latest_charge": null`, `"latest_charge": `+with(expanded, "true", `"yes"`)), "latest_charge.paid: got string, want boolean"},
		{"a list", "GET", "/v1/payment_intents", 200, list(intent), ""},
		{"a list with a wrong item", "GET", "/v1/payment_intents", 200, list(with(intent, `"pi_1"`, "7")), "data.0.id: got number, want string"},
		{"a list that says too little", "GET", "/v1/payment_intents", 200, with(list(intent), `"has_more": false,`, ""), "has_more"},
		{"a search, whose path could be an intent's", "GET", "/v1/payment_intents/search?query=x", 200, list(intent), "object: value must be 'search_result'"},
		{"an event", "GET", "/v1/events/evt_1", 200, event, ""},
		{"an event of something else than it holds", "GET", "/v1/events/evt_1", 200, with(event, `"eur"`, "7"), "in the event: currency: got number, want string"},
		{"an event in a list", "GET", "/v1/events", 200, with(list(with(event, `"livemode": false`, `"livemode": 0`)), "/v1/payment_intents", "/v1/events"), "in the event: livemode"},
		{"an error", "POST", "/v1/refunds", 400, `{"error": {"type": "invalid_request_error", "message": "No.", "payment_intent": ` + intent + `}}`, ""},
		{"an error of no known type", "POST", "/v1/refunds", 400, `{"error": {"type": "mistake"}}`, "error.type"},
		{"an error with a wrong object", "POST", "/v1/refunds", 400,
			`{"error": {"type": "invalid_request_error", "payment_intent": ` + with(intent, "1250", "true") + `}}`, "error.payment_intent.amount"},
		{"an error where there is no such path", "POST", "/v1/nothing", 404, `{"error": {"type": "mistake"}}`, ""},
	} {
		o.told = map[string]bool{}
		path, query, _ := strings.Cut(row.path, "?")
		complaints, err := o.judge(t.Context(), exchange{shape{row.method, path, query, ""}, row.status, []byte(row.answer)})
		require.NoError(t, err)
		if row.says == "" {
			require.Empty(t, complaints, row.situation)
			continue
		}
		require.Len(t, complaints, 1, row.situation)
		require.Contains(t, complaints[0], row.says, row.situation)
		require.Contains(t, complaints[0], row.answer, row.situation)
	}
}

func TestJudge_TellsTheSameOnce(t *testing.T) {
	t.Parallel()
	o := asked(t)
	wrong := with(intent, "1250", "true")
	complaints, err := o.judge(t.Context(), exchange{shape{"POST", "/v1/payment_intents", "", "colour=red"}, 200, []byte(wrong)})
	require.NoError(t, err)
	require.Len(t, complaints, 2)
	complaints, err = o.judge(t.Context(), exchange{shape{"POST", "/v1/payment_intents", "", "colour=red"}, 200, []byte(wrong)})
	require.NoError(t, err)
	require.Empty(t, complaints)
}
