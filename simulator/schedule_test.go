package simulator_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/simulator"
)

func TestWorkThatIsDue_IsDoneAtItsOwnTimeWhileTheClockIsAdvanced(t *testing.T) {
	t.Parallel()
	b := start(t)
	held := b.intentIn("requires_capture")
	b.control("/clock", `{"advance":"1h"}`)
	later := b.intentIn("requires_capture")
	b.control("/clock", `{"advance":"720h"}`)
	for n, id := range []string{held, later} {
		at := noon.Add(7*24*time.Hour + time.Duration(n)*time.Hour)
		require.EqualValues(t, at.Unix(), b.get("/v1/payment_intents/"+id).at("canceled_at"))
	}
	require.EqualValues(t, noon.Add(721*time.Hour).Unix(), b.get("/_sim/clock").at("now"))
}

func TestWorkOnAnObjectInUse_WaitsUntilItIsFree(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intentIn("requires_capture")
	done := make(chan reply)
	go func() {
		r, _ := b.faulty("hold;barrier=gate;point=locked", "k", "/v1/payment_intents/"+id, "description=slow")
		done <- r
	}()
	b.held("gate")
	b.control("/clock", `{"advance":"168h"}`)
	require.Equal(t, "requires_capture", b.get("/v1/payment_intents/"+id).at("status"))
	b.control("/barriers/gate/release", "")
	require.Equal(t, 200, (<-done).status)
	require.Eventually(t, func() bool {
		return b.get("/v1/payment_intents/"+id).at("status") == "canceled"
	}, 10*time.Second, time.Millisecond)
	require.Equal(t, "slow", b.get("/v1/payment_intents/"+id).at("description"))
}

func TestTime_PassesByItself(t *testing.T) {
	t.Parallel()
	b := startNow(t)
	shop := b.listen("charge.succeeded")
	arrived := make(chan struct{})
	shop.asks(func(received) int { close(arrived); return 200 })
	b.rule(t, `{"match":{"event":"*"},"fault":{"name":"delay","ms":50}}`)
	b.pay("k")
	<-arrived
	require.Equal(t, []string{"charge.succeeded delivered 200"}, b.deliveries(""))
}

func TestFrozenClock_LetsNothingBecomeDue(t *testing.T) {
	t.Parallel()
	b := startNow(t)
	shop := b.listen("charge.succeeded")
	arrived := make(chan struct{})
	shop.asks(func(received) int { close(arrived); return 200 })
	b.control("/clock", `{"freeze":true}`)
	b.rule(t, `{"match":{"event":"*"},"fault":{"name":"delay","ms":1}}`)
	b.pay("k")
	require.Empty(t, shop.all())
	b.control("/clock", `{"freeze":false}`)
	<-arrived
}

func TestWorkThatBecameDueWhileTheSimulatorWasAway_IsDoneWhenItComesBack(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "sim.jsonl")
	b := startWith(t, simulator.Options{Seed: 1, Data: data})
	id := b.intentIn("requires_capture")
	b = b.restart(data)
	require.Equal(t, "requires_capture", b.get("/v1/payment_intents/"+id).at("status"))
	b.stop()
	b = startWith(t, simulator.Options{Data: data, Now: func() time.Time { return noon.Add(8 * 24 * time.Hour) }})
	require.Eventually(t, func() bool {
		return b.get("/v1/payment_intents/"+id).at("status") == "canceled"
	}, 10*time.Second, time.Millisecond)
	b = b.restart(data)
	require.Equal(t, []string{"payment_intent.canceled"}, b.events("type=payment_intent.canceled"), "once")
	text, err := os.ReadFile(data)
	require.NoError(t, err)
	require.NotContains(t, string(text), `"tasks":`, "nothing is left to do")
}
