package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/simulator"
)

func TestSimulator_ListensToThisMachineUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "example.com:0"} {
		_, err := listenSimulator(config{SimAddr: address})
		require.ErrorIs(t, err, errUsage, address)
		require.ErrorContains(t, err, "PAYONCE_SIM_PUBLIC=true", address)
	}
	listener, err := listenSimulator(config{SimAddr: "127.0.0.1:0"})
	require.NoError(t, err)
	require.NoError(t, listener.Close())
}

func TestSimulatorControls_AreServedUnderTheirOwnNameOnly(t *testing.T) {
	t.Parallel()
	sim, err := simulator.New(simulator.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = sim.Close() })
	ask := func(c config, host, path string) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		r.Host = host
		answer := httptest.NewRecorder()
		simulatorHandler(c, sim).ServeHTTP(answer, r)
		return answer.Code
	}
	for _, path := range []string{"/_sim", "/_sim/journal", "/scn/one/_sim"} {
		for _, host := range []string{"127.0.0.1:12110", "localhost:12110", "[::1]:12110", "localhost"} {
			require.Equal(t, http.StatusOK, ask(config{}, host, path), host)
		}
		require.Equal(t, http.StatusMisdirectedRequest, ask(config{}, "rebound.example:12110", path), "a page whose name leads here")
		require.Equal(t, http.StatusOK, ask(config{SimPublic: true}, "simulator:12110", path))
	}
}
