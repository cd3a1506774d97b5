package edge_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/provider"
	"payonce/provider/edge"
)

// script gives prepared results, the last one for ever, and counts.
type script struct {
	results []provider.Result
	sent    int
	at      []time.Duration // since it was made
	began   time.Time
}

func (s *script) send(context.Context) provider.Result {
	r := s.results[min(s.sent, len(s.results)-1)]
	s.sent++
	s.at = append(s.at, time.Since(s.began))
	return r
}

var (
	shed       = provider.Result{Outcome: provider.NotSent, HTTPStatus: 429, Repeatable: true, Err: errors.New("shed")}
	keyInUse   = provider.Result{Outcome: provider.Unknown, HTTPStatus: 409, Repeatable: true, Err: errors.New("key in use")}
	lost       = provider.Result{Outcome: provider.Unknown, Err: errors.New("reset")}
	noAnswer   = provider.Result{Outcome: provider.Unknown, Repeatable: true, Err: errors.New("reset")} // of a read
	impossible = provider.Result{Outcome: provider.NotSent, Err: errors.New("no key")}
	rejected   = provider.Result{Outcome: provider.Rejected, HTTPStatus: 400, Failure: &provider.Failure{Code: "x"}, Err: errors.New("refused")}
)

func asking(r provider.Result, after time.Duration) provider.Result {
	r.RetryAfter = after
	return r
}

func retryOptions() edge.RetryOptions {
	return edge.RetryOptions{Tries: 4, Budget: 10 * time.Second, Base: 100 * time.Millisecond, Cap: time.Second, Rand: func() float64 { return 0.5 }}
}

// retrying runs a test in virtual time with a retrier and a script.
func retrying(t *testing.T, results []provider.Result, change func(*edge.RetryOptions), test func(*testing.T, *edge.Retrier, *script)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := retryOptions()
		if change != nil {
			change(&o)
		}
		r, err := edge.NewRetrier(o)
		require.NoError(t, err)
		test(t, r, &script{results: results, began: time.Now()})
	})
}

func TestRetry_RepeatsWhatMayBeRepeatedAndNothingElse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		class   edge.Class
		results []provider.Result
		sent    int
		want    provider.Outcome
	}{
		"Well_Once":                              {edge.Work, []provider.Result{well}, 1, provider.Succeeded},
		"ShedThenWell_Twice":                     {edge.Work, []provider.Result{shed, well}, 2, provider.Succeeded},
		"ShedForEver_AsOftenAsAllowed":           {edge.Work, []provider.Result{shed}, 4, provider.NotSent},
		"ShedThenLost_UnknownAndNotSentAgain":    {edge.Work, []provider.Result{shed, lost, well}, 2, provider.Unknown},
		"Lost_NeverSentAgain":                    {edge.Work, []provider.Result{lost, well}, 1, provider.Unknown},
		"LostFence_NeverSentAgain":               {edge.Fence, []provider.Result{lost, well}, 1, provider.Unknown},
		"ParametersAreImpossible_Once":           {edge.Work, []provider.Result{impossible, well}, 1, provider.NotSent},
		"Rejected_Once":                          {edge.Work, []provider.Result{rejected, well}, 1, provider.Rejected},
		"TwinAtWorkThenItsAnswer_Twice":          {edge.Work, []provider.Result{keyInUse, well}, 2, provider.Succeeded},
		"TwinAtWorkForEver_Unknown":              {edge.Work, []provider.Result{keyInUse}, 4, provider.Unknown},
		"TwinAtWorkThenShed_UnknownNotUnsent":    {edge.Work, []provider.Result{keyInUse, shed}, 4, provider.Unknown},
		"TwinAtWorkThenUnsent_UnknownNotUnsent":  {edge.Work, []provider.Result{keyInUse, impossible}, 2, provider.Unknown},
		"TwinAtWorkThenRejected_Unknown":         {edge.Work, []provider.Result{keyInUse, rejected}, 2, provider.Unknown},
		"TwinAtWorkThenShedThenWell_Succeeded":   {edge.Work, []provider.Result{keyInUse, shed, well}, 3, provider.Succeeded},
		"TwinAtWorkThenDeclined_Declined":        {edge.Work, []provider.Result{keyInUse, {Outcome: provider.Declined}}, 2, provider.Declined},
		"ReadWithoutAnswerThenWell_Twice":        {edge.Read, []provider.Result{noAnswer, well}, 2, provider.Succeeded},
		"ReadWithoutAnswerThenRejected_Rejected": {edge.Read, []provider.Result{noAnswer, rejected}, 2, provider.Rejected},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			retrying(t, c.results, nil, func(t *testing.T, r *edge.Retrier, s *script) {
				got := r.Do(t.Context(), c.class, s.send)
				require.Equal(t, c.want, got.Outcome)
				require.Equal(t, c.sent, s.sent)
				require.Equal(t, edge.RetryStats{Calls: 1, Repeats: uint64(c.sent - 1)}, r.Stats())
				if got.Outcome == provider.Unknown {
					require.Nil(t, got.Failure)
					require.Error(t, got.Err)
				}
			})
		})
	}
}

func TestRetry_Pauses(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		first  provider.Result
		change func(*edge.RetryOptions)
		at     []time.Duration
	}{
		"DoubleUpToTheCap":               {shed, func(o *edge.RetryOptions) { o.Tries, o.Cap = 6, 300*ms }, []time.Duration{0, 50 * ms, 150 * ms, 300 * ms, 450 * ms, 600 * ms}},
		"WholeRangeIsUsed_FromNothing":   {shed, func(o *edge.RetryOptions) { o.Rand = func() float64 { return 0 } }, []time.Duration{0, 0, 0, 0}},
		"WhatTheProviderAsksFor_IsAdded": {asking(shed, time.Second), nil, []time.Duration{0, 1050 * ms, 2150 * ms, 3350 * ms}},
		"BudgetIsOver_NotSentAgain":      {asking(shed, 4*time.Second), nil, []time.Duration{0, 4050 * ms, 8150 * ms}},
		"ProviderAsksForTooLong_Once":    {asking(shed, time.Minute), nil, []time.Duration{0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			retrying(t, []provider.Result{c.first}, c.change, func(t *testing.T, r *edge.Retrier, s *script) {
				require.Equal(t, c.first, r.Do(t.Context(), edge.Work, s.send))
				require.Equal(t, c.at, s.at)
			})
		})
	}
}

func TestRetry_Caller(t *testing.T) {
	t.Parallel()
	t.Run("DeadlineBeforeThePauseEnds_NotWaitedFor", func(t *testing.T) {
		t.Parallel()
		retrying(t, []provider.Result{shed}, nil, func(t *testing.T, r *edge.Retrier, s *script) {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			require.Equal(t, shed, r.Do(ctx, edge.Work, s.send))
			require.Equal(t, 1, s.sent)
			require.NoError(t, ctx.Err(), "the rest of the time is the caller's")
		})
	})
	t.Run("GoesDuringThePause_TheLastResult", func(t *testing.T) {
		t.Parallel()
		retrying(t, []provider.Result{asking(shed, time.Second)}, nil, func(t *testing.T, r *edge.Retrier, s *script) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Millisecond, cancel)
			began := time.Now()
			require.Equal(t, provider.NotSent, r.Do(ctx, edge.Work, s.send).Outcome)
			require.Equal(t, 1, s.sent)
			require.Equal(t, time.Millisecond, time.Since(began))
		})
	})
	t.Run("GoneDuringTheCall_NotRepeated", func(t *testing.T) {
		t.Parallel()
		retrying(t, []provider.Result{shed}, func(o *edge.RetryOptions) { o.Rand = func() float64 { return 0 } },
			func(t *testing.T, r *edge.Retrier, s *script) {
				ctx, cancel := context.WithCancel(t.Context())
				r.Do(ctx, edge.Work, func(ctx context.Context) provider.Result { cancel(); return s.send(ctx) })
				require.Equal(t, 1, s.sent)
			})
	})
}

func TestRetry_WhenEverythingFails_ATenthMoreAndNoMore(t *testing.T) {
	t.Parallel()
	retrying(t, []provider.Result{shed}, nil, func(t *testing.T, r *edge.Retrier, s *script) {
		const calls = 1000
		for range calls {
			r.Do(t.Context(), edge.Work, s.send)
		}
		stats := r.Stats()
		require.Equal(t, uint64(calls), stats.Calls)
		require.Equal(t, uint64(s.sent-calls), stats.Repeats)
		require.InDelta(t, 110, stats.Repeats, 1, "a tenth, and the ten that were saved up")
		require.Positive(t, stats.Withheld)
		s.results = []provider.Result{well}
		for range 2 * calls {
			r.Do(t.Context(), edge.Work, s.send)
		}
		s.results, s.sent = []provider.Result{shed}, 0
		for range 20 {
			r.Do(t.Context(), edge.Work, s.send)
		}
		require.InDelta(t, 20+11, s.sent, 1, "quiet times do not save up for a storm")
	})
}

func TestRetry_ImpossibleOptionsAreRefused(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*edge.RetryOptions){
		"NoTry":    func(o *edge.RetryOptions) { o.Tries = 0 },
		"NoBudget": func(o *edge.RetryOptions) { o.Budget = 0 },
		"NoBase":   func(o *edge.RetryOptions) { o.Base = 0 },
		"LowCap":   func(o *edge.RetryOptions) { o.Cap = o.Base - 1 },
		"NoRand":   func(o *edge.RetryOptions) { o.Rand = nil },
	} {
		o := retryOptions()
		spoil(&o)
		_, err := edge.NewRetrier(o)
		require.Error(t, err, name)
	}
}
