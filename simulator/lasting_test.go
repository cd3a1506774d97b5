package simulator_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/simulator"
)

func TestKeyThatIsNotText_IsRefusedBeforeAnything(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "sim.jsonl")
	b := startWith(t, simulator.Options{Data: data})
	pay := card("confirm=true", "payment_method=pm_card_visa")
	for _, key := range []string{"pay:caf\xe9", "\xff", "pay:\xed\xa0\x80"} {
		r := b.post(key, "/v1/payment_intents", pay...)
		require.Equal(t, 400, r.status, r.text)
		require.Equal(t, "invalid_request_error", r.at("error", "type"))
	}
	require.Empty(t, b.get("/v1/payment_intents").at("data"))
	paid := b.post("pay:café \ufffd", "/v1/payment_intents", pay...)
	require.Equal(t, 200, paid.status, "any text is a key")
	b = b.restart(data)
	require.Equal(t, paid.text, b.post("pay:café \ufffd", "/v1/payment_intents", pay...).text)
	require.Equal(t, 404, b.post("k", "/v1/payment_intents/pi_%ff/confirm").status)
}

func TestDamagedByte_IsNeverBelievedAndNeverDropped(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "sim.jsonl")
	b := startWith(t, simulator.Options{Data: data})
	b.intentIn("succeeded")
	b.stop()
	whole, err := os.ReadFile(data)
	require.NoError(t, err)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	untilPaid := 0
	for n, line := range lines {
		if bytes.Contains(line, []byte(`"amount_received":1250`)) {
			untilPaid = n + 1
		}
	}
	require.NotZero(t, untilPaid)
	paid := bytes.Join(lines[:untilPaid], nil)

	for name, damaged := range map[string][]byte{
		"a digit":                    bytes.Replace(whole, []byte(`"amount_received":1250`), []byte(`"amount_received":9250`), 1),
		"the name of a member":       bytes.Replace(whole, []byte(`"charges":`), []byte(`"chargez":`), 1),
		"the checksum":               bytes.Replace(whole, whole[:2], []byte("zz"), 1),
		"a line end in the middle":   bytes.Replace(whole, []byte("\n"), []byte("x"), 1),
		"the end of the last line":   append(bytes.TrimSuffix(bytes.Clone(paid), []byte("\n")), 'x'),
		"a line that is not JSON":    append(bytes.Clone(whole), "\x00\n"...),
		"a line without a checksum":  append(bytes.Clone(whole), "{}\n"...),
		"a file of an older version": regexp.MustCompile(`(?m)^[0-9a-f]{8} `).ReplaceAll(whole, nil),
	} {
		require.NoError(t, os.WriteFile(data, damaged, 0o600))
		_, err := simulator.New(simulator.Options{Data: data})
		require.ErrorContains(t, err, "line ", name)
		kept, err := os.ReadFile(data)
		require.NoError(t, err)
		require.Equal(t, damaged, kept, "the evidence is left alone")
	}

	require.NoError(t, os.WriteFile(data, bytes.TrimSuffix(paid, []byte("\n")), 0o600))
	b = startWith(t, simulator.Options{Data: data})
	require.Equal(t, 1, b.sim.Audit().References[0].Succeeded, "only the line end was lost")
}

func TestAlarms_OutliveTheReferencesTheyAreAbout(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "sim.jsonl")
	b := startWith(t, simulator.Options{Data: data})
	first := b.intentIn("succeeded")
	b.intentIn("succeeded")
	for range 2 {
		b.post("", "/v1/refunds", "payment_intent="+first, "amount=100", "metadata[refund_id]=refund_1")
	}
	alarms := b.sim.Audit().Alarms
	require.Len(t, alarms, 2)
	b.post("", "/v1/payment_intents/"+first, "metadata[order_id]=")
	refund := b.get("/v1/refunds?limit=1").at("data").([]any)[0].(map[string]any)["id"].(string)
	b.post("", "/v1/refunds/"+refund, "metadata[refund_id]=")
	b.control("/clock", `{"advance":"1h"}`)
	b.post("", "/v1/payment_intents/"+first, "description=x")
	for range 2 {
		b = b.restart(data)
		require.Equal(t, alarms, b.sim.Audit().Alarms)
	}
	b.intentIn("succeeded")
	require.Len(t, b.sim.Audit().Alarms, 3, "and the detector goes on counting")
}

func TestEventId_IsNeverUsedTwice(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "k"} {
		data := filepath.Join(t.TempDir(), "sim.jsonl")
		b := startWith(t, simulator.Options{Data: data})
		updated := b.post("customer", "/v1/customers").id()
		seen := map[string]bool{}
		for range 3 {
			b.post(key, "/v1/payment_intents", card()...)
			b.post(key+"u", "/v1/customers/"+updated, "name=x")
			events, _ := b.get("/v1/events?limit=100").at("data").([]any)
			for _, ev := range events {
				id, _ := ev.(map[string]any)["id"].(string)
				require.False(t, seen[id], id)
				seen[id] = true
			}
			b.control("/clock", `{"advance":"750h"}`)
			b = b.restart(data).restart(data) // the first one writes the file without what has expired
			require.Empty(t, b.get("/v1/events").at("data"))
		}
		require.Len(t, seen, 7)
	}
}

func TestNthEvent_IsCountedThroughExpiryAndRestart(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "sim.jsonl")
	b := startWith(t, simulator.Options{Data: data})
	id := b.post("c", "/v1/customers").id()
	b.listen("customer.updated")
	b.rule(t, `{"match":{"event":"customer.updated","nth":2},"fault":{"name":"lose"}}`)
	b.post("1", "/v1/customers/"+id, "name=x")
	b.control("/clock", `{"advance":"750h"}`)
	b = b.restart(data).restart(data) // the first one writes the file without what has expired
	b.post("2", "/v1/customers/"+id, "name=y")
	require.Equal(t, []string{"customer.updated lost"}, b.deliveries(""))
}
