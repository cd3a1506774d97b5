package edge_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"payonce/provider/edge"
)

// inBubble runs a test with a bucket of 100 tokens a second, 20 of them kept for reads, in virtual time.
func inBubble(t *testing.T, test func(t *testing.T, take func(edge.Class, time.Duration) time.Duration)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		bucket, err := edge.NewBucket(100, 0.2)
		require.NoError(t, err)
		test(t, func(class edge.Class, patience time.Duration) time.Duration {
			wait, err := bucket.Take(t.Context(), class, patience)
			require.NoError(t, err)
			return wait
		})
	})
}

// taken takes tokens without any patience until there is none.
func taken(take func(edge.Class, time.Duration) time.Duration, class edge.Class) (n int) {
	for take(class, 0) == 0 {
		n++
	}
	return n
}

func TestBucket(t *testing.T) {
	t.Parallel()
	t.Run("Full_AQuarterOfASecondAtOnce", func(t *testing.T) {
		t.Parallel()
		inBubble(t, func(t *testing.T, take func(edge.Class, time.Duration) time.Duration) {
			require.Equal(t, 20, taken(take, edge.Work))
			require.Equal(t, 5, taken(take, edge.Read), "what is kept, work could not take")
			require.Zero(t, taken(take, edge.Work))
		})
	})
	t.Run("WorkIsQuiet_ReadsAndFencesHaveTheWholeRate", func(t *testing.T) {
		t.Parallel()
		inBubble(t, func(t *testing.T, take func(edge.Class, time.Duration) time.Duration) {
			require.Equal(t, 25, taken(take, edge.Fence))
			n := 0
			for range 1000 {
				<-time.After(10 * time.Millisecond)
				n += taken(take, edge.Read)
			}
			require.InDelta(t, 1000, n, 2, "in ten seconds")
		})
	})
	t.Run("WorkAlwaysWantsMore_ReadsStillHaveTheirShare", func(t *testing.T) {
		t.Parallel()
		inBubble(t, func(t *testing.T, take func(edge.Class, time.Duration) time.Duration) {
			work, reads := taken(take, edge.Work), taken(take, edge.Read)
			for range 1000 {
				<-time.After(10 * time.Millisecond)
				work += taken(take, edge.Work) // work is quicker every time
				reads += taken(take, edge.Read)
			}
			require.InDelta(t, 820, work, 2)
			require.InDelta(t, 205, reads, 2)
		})
	})
	t.Run("TokenOfTheFuture_TakenWithinThePatienceOnly", func(t *testing.T) {
		t.Parallel()
		inBubble(t, func(t *testing.T, take func(edge.Class, time.Duration) time.Duration) {
			taken(take, edge.Work)
			interval := time.Second / 80
			for n := range 3 {
				require.Equal(t, time.Duration(n+1)*interval, take(edge.Work, 3*interval), "each a place further back")
			}
			for range 2 {
				require.Equal(t, 4*interval, take(edge.Work, 3*interval), "what is refused takes nothing")
			}
			<-time.After(2 * interval)
			require.Equal(t, 2*interval, take(edge.Work, 3*interval))
		})
	})
	t.Run("LongPause_NoMoreThanFull", func(t *testing.T) {
		t.Parallel()
		inBubble(t, func(t *testing.T, take func(edge.Class, time.Duration) time.Duration) {
			<-time.After(time.Hour)
			require.Equal(t, 25, taken(take, edge.Read))
		})
	})
	t.Run("SlowRate_OneAtATime", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			bucket, err := edge.NewBucket(1, 0.5)
			require.NoError(t, err)
			for _, want := range []time.Duration{0, 2 * time.Second} {
				wait, err := bucket.Take(context.Background(), edge.Work, time.Minute)
				require.NoError(t, err)
				require.Equal(t, want, wait)
			}
		})
	})
}

func TestBucket_ImpossibleRatesAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rate, share float64 }{{0, 0.2}, {-1, 0.2}, {math.NaN(), 0.2}, {80, 0}, {80, 1}, {80, -1}, {80, math.NaN()}} {
		_, err := edge.NewBucket(c.rate, c.share)
		require.Error(t, err, "%v", c)
	}
}

// Whatever is taken in whatever order and with whatever patience: in no window are more tokens used than the rate and one
// burst allow.
func TestBucket_NeverAboveTheRate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			return step{
				after:    time.Duration(rapid.IntRange(0, 30).Draw(rt, "ms")) * time.Millisecond,
				class:    rapid.SampledFrom([]edge.Class{edge.Work, edge.Fence, edge.Read}).Draw(rt, "class"),
				patience: time.Duration(rapid.IntRange(0, 500).Draw(rt, "patience")) * time.Millisecond,
			}
		}), 1, 200).Draw(rt, "steps")
		inBubble(t, func(t *testing.T, take func(edge.Class, time.Duration) time.Duration) {
			began, last := time.Now(), time.Duration(0)
			var now time.Duration
			used, work := 0, 0
			for _, s := range steps {
				<-time.After(s.after)
				now = time.Since(began)
				wait := take(s.class, s.patience)
				if wait > s.patience {
					continue
				}
				used++
				if s.class == edge.Work {
					work++
				}
				last = max(last, now+wait)
			}
			require.LessOrEqual(t, float64(used), 100*last.Seconds()+25+0.01)
			require.LessOrEqual(t, float64(work), 80*last.Seconds()+20+0.01)
		})
	})
}

type step struct {
	after    time.Duration
	class    edge.Class
	patience time.Duration
}

// asked is a limiter that answers as it is told.
type asked struct {
	wait time.Duration
	err  error
}

func (a asked) Take(context.Context, edge.Class, time.Duration) (time.Duration, error) {
	return a.wait, a.err
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	limited := func(a asked) func(*edge.Options) { return func(o *edge.Options) { o.Limiter = a } }
	t.Run("TokenSoon_SentWhenItIsThere", func(t *testing.T) {
		t.Parallel()
		bubble(t, limited(asked{wait: time.Second}), func(t *testing.T, e *edge.Edge, _ *double) {
			began := time.Now()
			require.Equal(t, well, confirm(t.Context(), e))
			require.Equal(t, time.Second, time.Since(began))
		})
	})
	t.Run("TokenTooFarAway_NotSentAndToldWhen", func(t *testing.T) {
		t.Parallel()
		bubble(t, limited(asked{wait: 1001 * time.Millisecond}), func(t *testing.T, e *edge.Edge, d *double) {
			began := time.Now()
			refused(t, confirm(t.Context(), e), "rate limit", 1001*time.Millisecond)
			require.Zero(t, time.Since(began))
			require.Empty(t, d.seen())
			require.Equal(t, uint64(1), e.Stats().NoToken)
			require.Zero(t, e.Stats().AtWork)
		})
	})
	t.Run("LimiterCannotTell_NotSent", func(t *testing.T) {
		t.Parallel()
		bubble(t, limited(asked{err: errors.New("database is down")}), func(t *testing.T, e *edge.Edge, d *double) {
			refused(t, look(t.Context(), e), "database is down", time.Second)
			require.Empty(t, d.seen())
		})
	})
	t.Run("CallerGoesWhileWaitingForTheToken_NotSent", func(t *testing.T) {
		t.Parallel()
		bubble(t, limited(asked{wait: time.Second}), func(t *testing.T, e *edge.Edge, d *double) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			refused(t, confirm(ctx, e), "deadline exceeded", time.Second)
			require.Empty(t, d.seen())
		})
	})
	t.Run("CallsWithoutAPlace_TakeNoToken", func(t *testing.T) {
		t.Parallel()
		classes := &classes{}
		bubble(t, func(o *edge.Options) { o.Limiter = classes }, func(t *testing.T, e *edge.Edge, d *double) {
			release := stuck(t, e, d, 3, confirm)
			refused(t, confirm(t.Context(), e), "no free place", time.Second)
			require.Len(t, classes.asked, 3)
			release()
		})
	})
}
