package simulator_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/simulator"
)

// restart stops a bench and starts a simulator on the same file.
func (b *bench) restart(data string) *bench {
	b.t.Helper()
	b.stop()
	return startWith(b.t, simulator.Options{Seed: 99, Data: data})
}

func TestRestart_KeepsEverything(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "sim.jsonl")
	b := startWith(t, simulator.Options{Seed: 1, Data: data})
	b.control("/clock", `{"advance":"3h"}`)
	created := b.post("create", "/v1/payment_intents", card()...)
	id := created.id()
	declined := b.post("declined", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa_chargeDeclined")
	paid := b.post("paid", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa")
	_, err := b.faulty("drop_after_effect", "lost", "/v1/payment_intents", card("metadata[order_id]=order_2", "confirm=true", "payment_method=pm_card_visa")...)
	require.Error(t, err)
	_, err = b.faulty("error_after_effect;status=500;store=true", "broken", "/v1/payment_intents", card("metadata[order_id]=order_3")...)
	require.NoError(t, err)
	asking := b.intentIn("requires_action")
	b.send("POST", "/scn/other/v1/payment_intents", "amount=1250&currency=eur", "Idempotency-Key", "create")
	intents, charges, audit := b.get("/v1/payment_intents").text, b.get("/v1/charges").text, b.get("/_sim/audit").text
	journal := b.sim.Journal()

	for range 2 { // the second restart reads what the first one compacted
		b = b.restart(data)
		require.Equal(t, journal, b.sim.Journal())
		require.EqualValues(t, noon.Unix()+3*3600, b.get("/_sim/clock").at("now"))
		require.Equal(t, intents, b.get("/v1/payment_intents").text)
		require.Equal(t, charges, b.get("/v1/charges").text)
		require.Equal(t, audit, b.get("/_sim/audit").text)

		for _, again := range []struct {
			first, replayed reply
		}{
			{created, b.post("create", "/v1/payment_intents", card()...)},
			{declined, b.post("declined", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa_chargeDeclined")},
			{paid, b.post("paid", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa")},
		} {
			require.Equal(t, again.first.text, again.replayed.text)
			require.Equal(t, "true", again.replayed.header.Get("Idempotent-Replayed"))
			require.Equal(t, again.first.header.Get("Request-Id"), again.replayed.header.Get("Original-Request"))
		}
		lost := b.post("lost", "/v1/payment_intents", card("metadata[order_id]=order_2", "confirm=true", "payment_method=pm_card_visa")...)
		require.Equal(t, "succeeded", lost.at("status"))
		require.Equal(t, 500, b.post("broken", "/v1/payment_intents", card("metadata[order_id]=order_3")...).status)
		require.Equal(t, "idempotency_error", b.post("create", "/v1/payment_intents", card("description=x")...).at("error", "type"))
		other, _ := b.get("/scn/other/v1/payment_intents").at("data").([]any)
		require.Len(t, other, 1)
		journal = b.sim.Journal()
		require.Empty(t, b.sim.Audit().Alarms)
	}
	require.Equal(t, "succeeded", b.control("/payment_intents/"+asking+"/action", `{"outcome":"succeed"}`).at("status"))
	fresh := b.post("fresh", "/v1/payment_intents", card()...)
	require.NotContains(t, intents, fresh.id())
	require.NotEqual(t, created.header.Get("Request-Id"), fresh.header.Get("Request-Id"), "the journal goes on counting")
}

func TestTornLastLine_IsForgotten(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "sim.jsonl")
	b := startWith(t, simulator.Options{Data: data})
	id := b.intent()
	b.stop()
	appendTo(t, data, `{"intents":[{"id":"pi_torn","object":"pay`)

	b = startWith(t, simulator.Options{Data: data})
	require.Equal(t, 200, b.get("/v1/payment_intents/"+id).status)
	b.intent()
	b = b.restart(data)
	require.Len(t, b.get("/v1/payment_intents").at("data"), 2, "what was written after the torn line can be read")
}

func TestDamagedLineInTheMiddle_StopsTheStart(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "sim.jsonl")
	b := startWith(t, simulator.Options{Data: data})
	b.intent()
	b.stop()
	appendTo(t, data, "half a li\n{}\n")
	_, err := simulator.New(simulator.Options{Data: data})
	require.ErrorContains(t, err, "line ")
	_, err = simulator.New(simulator.Options{Data: data})
	require.ErrorContains(t, err, "line ", "the lock was given back and the file left alone")
}

func TestSecondSimulatorOnOneFile_IsRefused(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "sim.jsonl")
	b := startWith(t, simulator.Options{Data: data})
	_, err := simulator.New(simulator.Options{Data: data})
	require.ErrorContains(t, err, "in use")
	b.restart(data)
}

func TestReset_IsKeptToo(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "sim.jsonl")
	b := startWith(t, simulator.Options{Data: data})
	b.intent()
	b.control("/reset", "")
	id := b.intent()
	b = b.restart(data)
	listed, _ := b.listed("")
	require.Equal(t, []string{id}, listed)
}

func TestCompaction_ForgetsWhatExpired(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "sim.jsonl")
	b := startWith(t, simulator.Options{Data: data})
	b.post("old", "/v1/payment_intents", card()...)
	b.control("/clock", `{"advance":"24h"}`)
	b.post("new", "/v1/payment_intents", card()...)
	b.restart(data)
	text, err := os.ReadFile(data)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), `"records":`), string(text))
}

func TestAfterClose_NothingIsExecuted(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "sim.jsonl")
	b := startWith(t, simulator.Options{Data: data})
	require.NoError(t, b.sim.Close())
	require.Equal(t, 500, b.post("k", "/v1/payment_intents", card()...).status)
	require.Equal(t, 500, b.send("GET", "/scn/new/v1/charges", "").status)
	require.Empty(t, b.sim.Audit().References)
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}
