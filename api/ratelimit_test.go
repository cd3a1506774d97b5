package api

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// stopped is a clock that somebody moves.
type stopped struct{ at time.Time }

func (s *stopped) now() time.Time { return s.at }

func TestLimiter_LetsABurstPassAndThenTheRate(t *testing.T) {
	t.Parallel()
	clock := &stopped{time.Unix(0, 0)}
	l := newLimiter[string](Rate{PerSecond: 10, Burst: 3}, clock.now)
	for range 3 {
		require.Zero(t, l.take("a"))
	}
	require.Equal(t, 100*time.Millisecond, l.take("a"))
	require.Equal(t, 100*time.Millisecond, l.take("a"), "a refusal takes nothing")
	require.Zero(t, l.take("b"), "others are not affected")
	clock.at = clock.at.Add(100 * time.Millisecond)
	require.Zero(t, l.take("a"))
	require.Positive(t, l.take("a"))
	clock.at = clock.at.Add(time.Hour)
	for range 3 {
		require.Zero(t, l.take("a"), "waiting longer gives a full bucket and no more")
	}
	require.Positive(t, l.take("a"))
}

func TestLimiter_NoRateIsNoLimit(t *testing.T) {
	t.Parallel()
	l := newLimiter[string](Rate{}, nil)
	for range 1000 {
		require.Zero(t, l.take("a"))
		require.Zero(t, l.wait("a"))
		l.charge("a")
	}
}

func TestLimiter_ADebtIsPaidOff_AndBounded(t *testing.T) {
	t.Parallel()
	clock := &stopped{time.Unix(0, 0)}
	l := newLimiter[string](Rate{PerSecond: 1, Burst: 5}, clock.now)
	require.Zero(t, l.wait("a"))
	for range 1000 { // they had all looked before the first one failed
		l.charge("a")
	}
	require.Equal(t, 6*time.Second, l.wait("a"), "a whole bucket of debt, and the token")
	clock.at = clock.at.Add(6 * time.Second)
	require.Zero(t, l.wait("a"))
}

// In every stretch of time no more passes than the burst and what comes in meanwhile, and who waits as long as he was
// told passes.
func TestLimiter_NeverMoreThanPromised_AndWaitingHelps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		clock := &stopped{time.Unix(0, 0)}
		rate := Rate{PerSecond: float64(rapid.IntRange(1, 1000).Draw(t, "rate")), Burst: rapid.IntRange(1, 20).Draw(t, "burst")}
		l := newLimiter[string](rate, clock.now)
		var passed []time.Time
		for _, pause := range rapid.SliceOfN(rapid.IntRange(0, 50), 1, 200).Draw(t, "pauses in milliseconds") {
			clock.at = clock.at.Add(time.Duration(pause) * time.Millisecond)
			wait := l.take("a")
			if wait > 0 && rapid.Bool().Draw(t, "wait") {
				clock.at = clock.at.Add(wait)
				require.Zero(t, l.take("a"))
				wait = 0
			}
			if wait == 0 {
				passed = append(passed, clock.at)
			}
		}
		for i, from := range passed {
			for n, until := range passed[i:] {
				most := float64(rate.Burst) + until.Sub(from).Seconds()*rate.PerSecond
				require.LessOrEqual(t, float64(n+1), most+0.001, "from %s to %s", from, until)
			}
		}
	})
}

func TestLimiter_ForgetsThoseWhoseBucketIsFullAgain(t *testing.T) {
	t.Parallel()
	clock := &stopped{time.Unix(0, 0)}
	l := newLimiter[string](Rate{PerSecond: 1, Burst: 1}, clock.now)
	for i := range 1000 {
		l.take(strconv.Itoa(i))
	}
	require.Len(t, l.fullAt, 1000)
	clock.at = clock.at.Add(sweepEvery)
	l.take("a")
	require.Len(t, l.fullAt, 1)
}

func TestLimiter_KeepsNoMoreBucketsThanItHasRoomFor(t *testing.T) {
	t.Parallel()
	clock := &stopped{time.Unix(0, 0)}
	l := newLimiter[string](Rate{PerSecond: 1, Burst: 1}, clock.now)
	for i := range maxBuckets {
		require.Zero(t, l.take(strconv.Itoa(i)))
	}
	require.Zero(t, l.take("newcomer"))
	require.Positive(t, l.take("another newcomer"), "they share one bucket")
	require.LessOrEqual(t, len(l.fullAt), maxBuckets+1)
}
