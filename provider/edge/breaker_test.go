package edge_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/provider"
	"payonce/provider/edge"
)

func TestCircuit_OpensOnSilenceOnly(t *testing.T) {
	t.Parallel()
	unknown := func(status int, err error) provider.Result {
		return provider.Result{Outcome: provider.Unknown, HTTPStatus: status, Err: err}
	}
	errAny := errors.New("any")
	for name, c := range map[string]struct {
		result provider.Result
		opens  bool
	}{
		"NoAnswer":                      {unknown(0, errAny), true},
		"Timeout":                       {unknown(0, context.DeadlineExceeded), true},
		"ServerError":                   {unknown(500, errAny), true},
		"BadGateway":                    {unknown(502, errAny), true},
		"Unavailable":                   {unknown(503, errAny), true},
		"GatewayTimeout":                {unknown(504, errAny), true},
		"BodyThatBrokeOff":              {unknown(200, errCut), true},
		"BodyThatStalled":               {unknown(200, fmt.Errorf("unreadable answer: %w", context.DeadlineExceeded)), true},
		"BodyThatStalledByTheSocket":    {unknown(200, fmt.Errorf("unreadable answer: %w", os.ErrDeadlineExceeded)), true},
		"ObjectThatWeDoNotUnderstand":   {unknown(200, errAny), false},
		"KeyReused":                     {unknown(400, errAny), false},
		"KeyInUse":                      {unknown(409, errAny), false},
		"TooManyRequestsOfAnotherKind":  {unknown(429, errAny), false},
		"RateLimited":                   {provider.Result{Outcome: provider.NotSent, HTTPStatus: 429}, false},
		"ConnectionRefused":             {provider.Result{Outcome: provider.NotSent, Err: errAny}, false},
		"Rejected":                      {provider.Result{Outcome: provider.Rejected, HTTPStatus: 400}, false},
		"KeyNotAccepted":                {provider.Result{Outcome: provider.Rejected, HTTPStatus: 401}, false},
		"Declined":                      {provider.Result{Outcome: provider.Declined, HTTPStatus: 402}, false},
		"Pending":                       {provider.Result{Outcome: provider.Pending, HTTPStatus: 200}, false},
		"Succeeded":                     {well, false},
		"RefusalThatTimedOutInItsWords": {provider.Result{Outcome: provider.Rejected, HTTPStatus: 400, Err: context.DeadlineExceeded}, false},
		"NeitherAnAnswerNorAnError":     {unknown(0, nil), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, nil, func(t *testing.T, e *edge.Edge, d *double) {
				d.comesTo(c.result)
				for range 3 {
					require.Equal(t, c.result, confirm(t.Context(), e))
				}
				require.Len(t, d.seen(), 3)
				got := confirm(t.Context(), e)
				if c.opens {
					refused(t, got, "circuit is open", 20*time.Second)
					require.Empty(t, d.seen())
					return
				}
				require.Equal(t, c.result, got)
				require.Len(t, d.seen(), 1)
			})
		})
	}
}

func TestCircuit_CallerWhoWentAway_SaysNothing(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, e *edge.Edge, d *double) {
		d.does(func(ctx context.Context, _ string) provider.Result { <-ctx.Done(); return silent(ctx.Err()) })
		for range 10 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Millisecond, cancel)
			require.Equal(t, provider.Unknown, confirm(ctx, e).Outcome)
		}
		require.Equal(t, "closed", e.Stats().Circuit)
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			require.Equal(t, provider.Unknown, confirm(ctx, e).Outcome)
			cancel()
		}
		require.Equal(t, "open", e.Stats().Circuit, "a provider that is too slow for the caller's time is too slow")
	})
}

func TestCircuit_FailuresMustBeInARowOrHalfOfMany(t *testing.T) {
	t.Parallel()
	fails := func(t *testing.T, e *edge.Edge, d *double, pattern string) {
		t.Helper()
		for _, p := range pattern {
			d.comesTo(well)
			if p == 'x' {
				d.comesTo(silent(nil))
			}
			confirm(t.Context(), e)
		}
	}
	for pattern, want := range map[string]string{
		"xx.xx.":                       "closed",
		"..xxx":                        "open",
		"x.x.x.x.x.x.x.x.x":            "closed", // too few to tell
		".x.x.x.x.x.x.x.x.x.x":         "open",
		"...x..x..x..x..x..x..x..x..x": "closed", // a third
	} {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()
			bubble(t, nil, func(t *testing.T, e *edge.Edge, d *double) {
				fails(t, e, d, pattern)
				require.Equal(t, want, e.Stats().Circuit)
			})
		})
	}
	t.Run("OldFailuresAreForgotten", func(t *testing.T) {
		t.Parallel()
		bubble(t, nil, func(t *testing.T, e *edge.Edge, d *double) {
			fails(t, e, d, "x.x.x.x.x.x.x.x.")
			<-time.After(11 * time.Second)
			fails(t, e, d, ".x.x")
			require.Equal(t, "closed", e.Stats().Circuit)
		})
	})
}

// opened opens the circuit.
func opened(t *testing.T, e *edge.Edge, d *double) {
	t.Helper()
	d.comesTo(silent(nil))
	for range 3 {
		look(t.Context(), e)
	}
	require.Equal(t, "open", e.Stats().Circuit)
	d.seen()
}

func TestCircuit_Open_EverythingIsRefusedAtOnceAndToldForHowLong(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, e *edge.Edge, d *double) {
		opened(t, e, d)
		<-time.After(5 * time.Second)
		began := time.Now()
		refused(t, confirm(t.Context(), e), "circuit is open", 15*time.Second)
		refused(t, fence(t.Context(), e), "circuit is open", 15*time.Second)
		refused(t, look(t.Context(), e), "circuit is open", 15*time.Second)
		require.Zero(t, time.Since(began))
		require.Empty(t, d.seen())
		require.Equal(t, uint64(3), e.Stats().NoCircuit)
	})
}

func TestCircuit_HalfOpen(t *testing.T) {
	t.Parallel()
	halfOpen := func(t *testing.T, test func(*testing.T, *edge.Edge, *double)) {
		t.Parallel()
		bubble(t, nil, func(t *testing.T, e *edge.Edge, d *double) {
			opened(t, e, d)
			<-time.After(20*time.Second + 1)
			test(t, e, d)
		})
	}
	t.Run("ReadGoesWell_TriesItOutAndCloses", func(t *testing.T) {
		halfOpen(t, func(t *testing.T, e *edge.Edge, d *double) {
			d.comesTo(well)
			require.Equal(t, well, look(t.Context(), e))
			require.Equal(t, well, confirm(t.Context(), e))
			require.Equal(t, []string{looked, confirmed}, d.seen())
		})
	})
	t.Run("ReadFails_OpenAgain", func(t *testing.T) {
		halfOpen(t, func(t *testing.T, e *edge.Edge, d *double) {
			require.Equal(t, provider.Unknown, look(t.Context(), e).Outcome)
			refused(t, confirm(t.Context(), e), "circuit is open", 20*time.Second)
			require.Equal(t, []string{looked}, d.seen())
			require.Equal(t, uint64(2), e.Stats().Opened)
		})
	})
	for name, call := range map[string]func(context.Context, provider.Provider) provider.Result{confirmed: confirm, fenced: fence} {
		t.Run(name+"_SentOnlyAfterAReadOfOurOwnWentWell", func(t *testing.T) {
			halfOpen(t, func(t *testing.T, e *edge.Edge, d *double) {
				d.comesTo(well)
				require.Equal(t, well, call(t.Context(), e))
				require.Equal(t, []string{probed, name}, d.seen())
				require.Equal(t, "closed", e.Stats().Circuit)
			})
		})
		t.Run(name+"_NotSentWhenTheReadFails", func(t *testing.T) {
			halfOpen(t, func(t *testing.T, e *edge.Edge, d *double) {
				refused(t, call(t.Context(), e), "circuit is not closed", 20*time.Second)
				require.Equal(t, []string{probed}, d.seen())
			})
		})
		t.Run(name+"_NotSentWhenTheReadFindsNoConnection", func(t *testing.T) {
			halfOpen(t, func(t *testing.T, e *edge.Edge, d *double) {
				d.comesTo(provider.Result{Outcome: provider.NotSent, Err: errors.New("connection refused")})
				refused(t, call(t.Context(), e), "not found well", time.Second)
				require.Equal(t, []string{probed}, d.seen())
				require.Equal(t, "half-open", e.Stats().Circuit, "nothing was found out")
			})
		})
	}
	t.Run("ReadIsRefusedByTheProvider_AnAnswerIsAnAnswer", func(t *testing.T) {
		halfOpen(t, func(t *testing.T, e *edge.Edge, d *double) {
			forbidden := provider.Result{Outcome: provider.Rejected, HTTPStatus: 403}
			d.comesTo(forbidden)
			require.Equal(t, forbidden, confirm(t.Context(), e))
			require.Equal(t, []string{probed, confirmed}, d.seen())
		})
	})
	t.Run("OneTriesItOut_OthersAreRefusedMeanwhile", func(t *testing.T) {
		halfOpen(t, func(t *testing.T, e *edge.Edge, d *double) {
			free := make(chan struct{})
			d.does(func(context.Context, string) provider.Result { <-free; return well })
			first := make(chan provider.Result)
			go func() { first <- look(t.Context(), e) }()
			synctest.Wait()
			refused(t, look(t.Context(), e), "circuit is not closed", time.Second)
			refused(t, confirm(t.Context(), e), "half open", time.Second)
			require.Equal(t, []string{looked}, d.seen())
			close(free)
			require.Equal(t, well, <-first)
			require.Equal(t, well, confirm(t.Context(), e))
		})
	})
	t.Run("ProbePanics_TheNextOneMayProbe", func(t *testing.T) {
		halfOpen(t, func(t *testing.T, e *edge.Edge, d *double) {
			d.does(func(context.Context, string) provider.Result { panic("boom") })
			require.Panics(t, func() { look(t.Context(), e) })
			d.comesTo(well)
			require.Equal(t, well, look(t.Context(), e))
		})
	})
}
