package edge_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/provider"
	"payonce/provider/edge"
)

func TestEveryCall_PassesThroughWithItsClass(t *testing.T) {
	t.Parallel()
	q := provider.Query{After: "x"}
	for want, c := range map[string]struct {
		class edge.Class
		call  func(context.Context, *edge.Edge) provider.Result
	}{
		"create k d": {edge.Work, func(ctx context.Context, e *edge.Edge) provider.Result {
			return e.CreateIntent(ctx, "k", provider.IntentParams{Description: "d"})
		}},
		confirmed: {edge.Work, func(ctx context.Context, e *edge.Edge) provider.Result { return confirm(ctx, e) }},
		"capture k pi 7": {edge.Work, func(ctx context.Context, e *edge.Edge) provider.Result {
			return e.CaptureIntent(ctx, "k", "pi", 7)
		}},
		"refund k pi": {edge.Work, func(ctx context.Context, e *edge.Edge) provider.Result {
			return e.CreateRefund(ctx, "k", refundParams())
		}},
		fenced:       {edge.Fence, func(ctx context.Context, e *edge.Edge) provider.Result { return fence(ctx, e) }},
		looked:       {edge.Read, func(ctx context.Context, e *edge.Edge) provider.Result { return look(ctx, e) }},
		"refund re":  {edge.Read, func(ctx context.Context, e *edge.Edge) provider.Result { return e.Refund(ctx, "re") }},
		"dispute dp": {edge.Read, func(ctx context.Context, e *edge.Edge) provider.Result { return e.Dispute(ctx, "dp") }},
		"intents x": {edge.Read, func(ctx context.Context, e *edge.Edge) provider.Result {
			return listed(t)(e.ListIntents(ctx, q))
		}},
		"refunds pi x": {edge.Read, func(ctx context.Context, e *edge.Edge) provider.Result {
			return listed(t)(e.ListRefunds(ctx, "pi", q))
		}},
		"entries po x": {edge.Read, func(ctx context.Context, e *edge.Edge) provider.Result {
			return listed(t)(e.ListBalanceTransactions(ctx, "po", q))
		}},
		"payouts x":  {edge.Read, func(ctx context.Context, e *edge.Edge) provider.Result { return listed(t)(e.ListPayouts(ctx, q)) }},
		"disputes x": {edge.Read, func(ctx context.Context, e *edge.Edge) provider.Result { return listed(t)(e.ListDisputes(ctx, q)) }},
		"events x":   {edge.Read, func(ctx context.Context, e *edge.Edge) provider.Result { return listed(t)(e.ListEvents(ctx, q)) }},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			classes := &classes{}
			bubble(t, func(o *edge.Options) { o.Limiter = classes }, func(t *testing.T, e *edge.Edge, d *double) {
				require.Equal(t, well, c.call(t.Context(), e))
				require.Equal(t, []string{want}, d.seen())
				require.Equal(t, []edge.Class{c.class}, classes.asked)
			})
		})
	}
	bubble(t, nil, func(t *testing.T, e *edge.Edge, _ *double) {
		require.Equal(t, "double", e.Name())
		event, err := e.VerifyEvent([]byte("body"), "signature", nil, time.Now())
		require.NoError(t, err)
		require.Equal(t, provider.Event{Reference: "body", Type: "signature"}, event)
	})
}

// classes is a limiter that notes the classes of calls.
type classes struct{ asked []edge.Class }

func (c *classes) Take(_ context.Context, class edge.Class, _ time.Duration) (time.Duration, error) {
	c.asked = append(c.asked, class)
	return 0, nil
}

func listed(t *testing.T) func(page any, result provider.Result) provider.Result {
	t.Helper()
	return func(page any, result provider.Result) provider.Result {
		require.Contains(t, []any{
			provider.Page[provider.Intent]{Items: make([]provider.Intent, 1), Next: "next"},
			provider.Page[provider.Refund]{Items: make([]provider.Refund, 1), Next: "next"},
			provider.Page[provider.BalanceTransaction]{Items: make([]provider.BalanceTransaction, 1), Next: "next"},
			provider.Page[provider.Payout]{Items: make([]provider.Payout, 1), Next: "next"},
			provider.Page[provider.Dispute]{Items: make([]provider.Dispute, 1), Next: "next"},
			provider.Page[provider.Event]{Items: make([]provider.Event, 1), Next: "next"},
		}, page)
		return result
	}
}

func TestOptions_ImpossibleLimitsAreRefused(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*edge.Options){
		"NoPlace":               func(o *edge.Options) { o.Places, o.Reserved = 0, 0 },
		"NothingReserved":       func(o *edge.Options) { o.Reserved = 0 },
		"EverythingReserved":    func(o *edge.Options) { o.Reserved = o.Places },
		"NoWait":                func(o *edge.Options) { o.Wait = 0 },
		"NoTimeForAnAttempt":    func(o *edge.Options) { o.Attempt = 0 },
		"OpensByItself":         func(o *edge.Options) { o.Breaker.Failures = 0 },
		"OpenForNoTime":         func(o *edge.Options) { o.Breaker.OpenFor = 0 },
		"NegativeTimeIsNoLimit": func(o *edge.Options) { o.Attempt = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := edge.Options{Places: 2, Reserved: 1, Wait: 1, Attempt: 1, Breaker: edge.BreakerOptions{Failures: 1, OpenFor: 1}}
			_, err := edge.New(&double{}, o)
			require.NoError(t, err)
			spoil(&o)
			_, err = edge.New(&double{}, o)
			require.Error(t, err)
		})
	}
}

// stuck fills the edge with calls that stay at the provider until they are released.
func stuck(t *testing.T, e *edge.Edge, d *double, n int, call func(context.Context, provider.Provider) provider.Result) (release func()) {
	t.Helper()
	free := make(chan struct{})
	d.does(func(context.Context, string) provider.Result { <-free; return well })
	var callers sync.WaitGroup
	for range n {
		callers.Go(func() { call(context.WithoutCancel(t.Context()), e) })
	}
	synctest.Wait()
	require.Len(t, d.seen(), n)
	d.comesTo(well)
	return func() { close(free); callers.Wait() }
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	t.Run("WorkFillsItsPlaces_MoreWorkIsNotSentAfterTheWait", func(t *testing.T) {
		t.Parallel()
		bubble(t, nil, func(t *testing.T, e *edge.Edge, d *double) {
			release := stuck(t, e, d, 3, confirm)
			began := time.Now()
			refused(t, confirm(t.Context(), e), "no free place", time.Second)
			require.Equal(t, time.Second, time.Since(began))
			require.Empty(t, d.seen())
			require.Equal(t, uint64(1), e.Stats().NoPlace)
			release()
		})
	})
	t.Run("WorkFillsItsPlaces_ReadsAndFencesPassAtOnce", func(t *testing.T) {
		t.Parallel()
		bubble(t, nil, func(t *testing.T, e *edge.Edge, d *double) {
			release := stuck(t, e, d, 3, confirm)
			began := time.Now()
			require.Equal(t, well, look(t.Context(), e))
			require.Equal(t, well, fence(t.Context(), e))
			require.Zero(t, time.Since(began))
			require.Equal(t, []string{looked, fenced}, d.seen())
			release()
		})
	})
	t.Run("EverythingIsTaken_ReadsAreRefusedToo", func(t *testing.T) {
		t.Parallel()
		bubble(t, nil, func(t *testing.T, e *edge.Edge, d *double) {
			release := stuck(t, e, d, 4, look)
			refused(t, look(t.Context(), e), "no free place", time.Second)
			for range 4 {
				refused(t, confirm(t.Context(), e), "no free place", time.Second)
			}
			require.Empty(t, d.seen())
			release()
			require.Equal(t, well, confirm(t.Context(), e), "a refused call must not keep the place of work that it did get")
		})
	})
	t.Run("PlaceGetsFreeWithinTheWait_Sent", func(t *testing.T) {
		t.Parallel()
		bubble(t, nil, func(t *testing.T, e *edge.Edge, d *double) {
			release := stuck(t, e, d, 3, confirm)
			time.AfterFunc(900*time.Millisecond, release)
			require.Equal(t, well, confirm(t.Context(), e))
			require.Equal(t, []string{confirmed}, d.seen())
		})
	})
	t.Run("CallerGoesWhileWaiting_NotSentAndNotWaitedFor", func(t *testing.T) {
		t.Parallel()
		bubble(t, nil, func(t *testing.T, e *edge.Edge, d *double) {
			release := stuck(t, e, d, 3, confirm)
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			got := confirm(ctx, e)
			require.Equal(t, provider.NotSent, got.Outcome)
			require.ErrorIs(t, got.Err, context.DeadlineExceeded)
			require.Empty(t, d.seen())
			release()
		})
	})
	t.Run("FloodOfASlowProvider_NeverMoreThanThePlacesAndAllAreAnswered", func(t *testing.T) {
		t.Parallel()
		bubble(t, nil, func(t *testing.T, e *edge.Edge, d *double) {
			d.does(func(ctx context.Context, _ string) provider.Result { <-ctx.Done(); return silent(ctx.Err()) })
			began := time.Now()
			var callers sync.WaitGroup
			for n := range 500 {
				callers.Go(func() {
					if n%2 == 0 {
						confirm(t.Context(), e)
					} else {
						look(t.Context(), e)
					}
				})
			}
			synctest.Wait()
			require.Equal(t, 4, e.Stats().AtWork)
			callers.Wait()
			require.Equal(t, 4, d.most)
			require.LessOrEqual(t, time.Since(began), 11*time.Second, "a wait and an attempt")
			require.Zero(t, e.Stats().AtWork)
		})
	})
	t.Run("ProviderPanics_PlaceAndCircuitAreGivenBack", func(t *testing.T) {
		t.Parallel()
		bubble(t, nil, func(t *testing.T, e *edge.Edge, d *double) {
			for range 10 {
				d.does(func(context.Context, string) provider.Result { panic("boom") })
				require.PanicsWithValue(t, "boom", func() { look(t.Context(), e) })
			}
			d.comesTo(well)
			require.Equal(t, well, confirm(t.Context(), e))
			require.Equal(t, "closed", e.Stats().Circuit)
		})
	})
}

func TestAttempt_CutOffByItsOwnTimeAndNotByTheCallers(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, e *edge.Edge, d *double) {
		began := time.Now()
		d.does(func(ctx context.Context, _ string) provider.Result { <-ctx.Done(); return silent(ctx.Err()) })
		got := confirm(t.Context(), e)
		require.Equal(t, provider.Unknown, got.Outcome, "what was sent and not answered stays unknown")
		require.ErrorIs(t, got.Err, context.DeadlineExceeded)
		require.Equal(t, 10*time.Second, time.Since(began))
		require.NoError(t, t.Context().Err())
	})
}

func TestStats_CountWhatCallsCameTo(t *testing.T) {
	t.Parallel()
	bubble(t, nil, func(t *testing.T, e *edge.Edge, d *double) {
		confirm(t.Context(), e)
		d.comesTo(provider.Result{Outcome: provider.Declined, HTTPStatus: 402})
		confirm(t.Context(), e)
		d.comesTo(silent(nil))
		for range 4 {
			confirm(t.Context(), e)
		}
		require.Equal(t, edge.Stats{
			Circuit: "open", Opened: 1, NoCircuit: 1,
			Outcomes: map[provider.Outcome]uint64{
				provider.Succeeded: 1, provider.Pending: 0, provider.Declined: 1, provider.Rejected: 0, provider.NotSent: 1, provider.Unknown: 3,
			},
		}, e.Stats())
	})
}
