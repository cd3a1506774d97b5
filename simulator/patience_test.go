package simulator_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The server that answers is asked for 100 Continue, which it says when somebody begins to read the body: from then on the
// request is inside its handler.
func (b *bench) sendHalf(path string) {
	b.t.Helper()
	conn, err := net.Dial("tcp", b.server.Listener.Addr().String())
	require.NoError(b.t, err)
	b.t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"+
		"Expect: 100-continue\r\nContent-Length: 10\r\n\r\n", path)
	require.NoError(b.t, err)
	require.NoError(b.t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
	line, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(b.t, err)
	require.Contains(b.t, line, "100 Continue")
}

func TestClientThatSendsHalfABody_HoldsNobodyUp(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"/_sim/settings", "/_sim/clock", "/_sim/reset", "/_sim/rules", "/_sim/profile", "/_sim/page", "/_sim/disputes",
		"/_sim/payment_intents/pi_none/action", "/_sim/payment_intents/pi_none/settle",
		"/_sim/payment_intents/pi_none/authenticate", "/_sim/webhook_endpoints/we_none/roll_secret", "/v1/customers",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			b.sendHalf(path)
			b.http.Timeout = 10 * time.Second
			require.Equal(t, 200, b.get("/v1/payment_intents").status)
		})
	}
}

// limited is a bench whose server gives up soon.
func limited(t *testing.T, config *http.Server) *bench {
	t.Helper()
	b := start(t)
	server := httptest.NewUnstartedServer(b.sim.Handler())
	server.Config = config
	config.Handler = b.sim.Handler()
	server.Start()
	b.server.Close()
	b.server = server
	return b
}

func TestAnswerThatTakesLongerThanTheServersLimit_Arrives(t *testing.T) {
	t.Parallel()
	b := limited(t, &http.Server{WriteTimeout: time.Millisecond})
	r, err := b.faulty("delay;ms=50", "k", "/v1/payment_intents", card()...)
	require.NoError(t, err)
	require.Equal(t, 200, r.status)
	waited, err := b.trySend("GET", "/_sim/barriers/gate?wait=50ms", "")
	require.NoError(t, err)
	require.EqualValues(t, 0, waited.at("waiting"))
}

func TestClock_CannotBeAdvancedBeyondWhatTimesCanHold(t *testing.T) {
	t.Parallel()
	for _, freeze := range []string{"false", "true"} {
		b := start(t)
		b.control("/clock", `{"freeze":`+freeze+`}`)
		b.post("k", "/v1/payment_intents", card()...)
		reached := b.control("/clock", `{"advance":"1500000h"}`)
		require.Equal(t, 200, reached.status, reached.text)
		for range 3 {
			r := b.control("/clock", `{"advance":"1500000h","freeze":true}`)
			require.Equal(t, 400, r.status)
			require.Contains(t, r.at("error", "message"), "2200-01-01")
			require.Equal(t, reached.text, b.get("/_sim/clock").text, "a refusal changes nothing")
		}
		require.EqualValues(t, reached.at("now"), b.get("/v1/payment_intents/"+b.intent()).at("created"))
		require.Equal(t, 200, b.get("/_sim/journal").status)
		require.Equal(t, 200, b.control("/clock", `{"freeze":true,"advance":"1h"}`).status, "less is still possible")
	}
}

func TestKey_IsRememberedForADayAfterItsAnswerWasStored(t *testing.T) {
	t.Parallel()
	b := start(t)
	first := make(chan reply)
	go func() {
		r, _ := b.faulty("hold;barrier=gate", "k", "/v1/payment_intents", card()...)
		first <- r
	}()
	b.held("gate")
	b.control("/clock", `{"advance":"25h"}`)
	b.control("/barriers/gate/release", "")
	held := <-first
	require.Equal(t, 200, held.status)
	b.control("/clock", `{"advance":"23h"}`)
	require.Equal(t, held.text, b.post("k", "/v1/payment_intents", card()...).text)
	b.control("/clock", `{"advance":"1h"}`)
	require.NotEqual(t, held.id(), b.post("k", "/v1/payment_intents", card()...).id())
}
