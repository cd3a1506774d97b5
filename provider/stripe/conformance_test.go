package stripe_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/provider"
	"payonce/provider/edge"
	"payonce/provider/providertest"
	"payonce/provider/stripe"
	"payonce/simulator"
	"payonce/simulator/stripemocktest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, openAccount)
}

// With limits in front of it that do not bite, an adapter behaves as it does without them.
func TestConformance_BehindTheEdge(t *testing.T) {
	t.Parallel()
	providertest.Run(t, func(t *testing.T) providertest.Account {
		account := openAccount(t)
		bucket, err := edge.NewBucket(1000, 0.5)
		require.NoError(t, err)
		account.Provider, err = edge.New(account.Provider, edge.Options{
			Places: 32, Reserved: 8, Wait: 10 * time.Second, Attempt: 10 * time.Second, Limiter: bucket,
			Breaker: edge.BreakerOptions{Failures: 5, OpenFor: time.Second},
		})
		require.NoError(t, err)
		return account
	})
}

// openAccount starts a simulated Stripe of the test's own.
func openAccount(t *testing.T) providertest.Account {
	sim, err := simulator.New(simulator.Options{Seed: 1})
	require.NoError(t, err)
	hs := httptest.NewServer(stripemocktest.Watch(t, sim.Handler()))
	t.Cleanup(func() {
		require.NoError(t, sim.Close()) // first, so that a call that still waits at a barrier does not keep the server open
		hs.Close()
	})
	books := books{t, sim}
	faults := &faulty{next: stripe.NewTransport()}
	return providertest.Account{
		Provider: adapter(t, hs.URL, func(o *stripe.Options) { o.Transport = faults }),
		Methods: providertest.Methods{
			Approved:      "pm_card_visa",
			Declined:      "pm_card_visa_chargeDeclinedInsufficientFunds",
			DeclinedAs:    provider.Failure{Code: "card_declined", DeclineCode: "insufficient_funds"},
			Authenticates: "pm_card_authenticationRequired",
			RefundsLater:  "pm_card_pendingRefund",
		},
		Break: func(f providertest.Fault) {
			faults.once(map[providertest.Fault]string{
				providertest.LostBefore:  "reset_before_effect",
				providertest.LostAfter:   "drop_after_effect;mode=fin",
				providertest.FailedAfter: "error_after_effect;status=500",
			}[f])
		},
		Hold: func(p providertest.Place) providertest.Barrier {
			point := map[providertest.Place]string{providertest.Queued: "before_effect", providertest.Executing: "locked"}[p]
			faults.once("hold;barrier=b;point=" + point)
			return providertest.Barrier{
				Await:   func() { books.control("GET", "/_sim/barriers/b?wait=10s", "") },
				Release: func() { books.control("POST", "/_sim/barriers/b/release", "") },
			}
		},
		Authenticate: func(reference string, well bool) {
			outcome := map[bool]string{true: "succeed", false: "fail"}[well]
			books.control("POST", "/_sim/payment_intents/"+reference+"/action", `{"outcome":"`+outcome+`"}`)
		},
		Arrived: func(key string) int {
			return books.arrivals(key, func(simulator.Arrival) bool { return true })
		},
		Executed: func(key string) int {
			return books.arrivals(key, func(a simulator.Arrival) bool { return a.Executed })
		},
		Taken:    books.taken,
		Returned: books.returned,
		SettleRefund: func(reference string, well bool) {
			books.control("POST", "/_sim/refunds/"+reference+"/"+map[bool]string{true: "succeed", false: "fail"}[well], "")
		},
		Dispute: func(attempt string) { books.control("POST", "/_sim/disputes", `{"charge":"`+attempt+`"}`) },
		PayOut: func() {
			books.control("POST", "/_sim/clock", `{"advance":"336h"}`)
			books.control("POST", "/_sim/payouts/run", "")
			books.control("POST", "/_sim/clock", `{"advance":"336h"}`)
		},
	}
}

// faulty asks the simulator, by a header, to do something wrong with the next request.
type faulty struct {
	next  http.RoundTripper
	fault atomic.Pointer[string]
}

func (f *faulty) once(fault string) { f.fault.Store(&fault) }

func (f *faulty) RoundTrip(req *http.Request) (*http.Response, error) {
	if fault := f.fault.Swap(nil); fault != nil {
		req = req.Clone(req.Context())
		req.Header.Set("X-Sim-Fault", *fault)
	}
	return f.next.RoundTrip(req)
}

// books are the simulator's own, and its controls.
type books struct {
	t   *testing.T
	sim *simulator.Simulator
}

// control works the simulator past the network.
func (b books) control(method, path, body string) {
	b.t.Helper()
	answer := httptest.NewRecorder()
	b.sim.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(b.t.Context(), method, path, strings.NewReader(body)))
	require.Equal(b.t, http.StatusOK, answer.Code, "%s %s: %s", method, path, answer.Body)
}

func (b books) arrivals(key string, counts func(simulator.Arrival) bool) int {
	n := 0
	for _, a := range b.sim.Journal() {
		if a.Method == http.MethodPost && a.Key == key && counts(a) {
			n++
		}
	}
	return n
}

func (b books) taken(chargeID string) providertest.Taken {
	b.t.Helper()
	audit := b.sim.Audit()
	require.Empty(b.t, audit.Alarms)
	for _, r := range audit.References {
		if r.Reference == chargeID {
			return providertest.Taken{Intents: r.PaymentIntents, Payments: r.Succeeded, Amount: r.Captured}
		}
	}
	return providertest.Taken{}
}

func (b books) returned(refundID string) providertest.Returned {
	b.t.Helper()
	for _, r := range b.sim.Audit().Refunds {
		if r.Reference == refundID {
			return providertest.Returned{Refunds: r.Count, Amount: r.Amount}
		}
	}
	return providertest.Returned{}
}
