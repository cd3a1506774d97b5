package repository_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/repository"
	"payonce/repository/repositorytest"
)

func take(t *testing.T, store *repository.Store, p repository.Pace, patience time.Duration) (wait time.Duration, taken bool) {
	t.Helper()
	ctx := repository.AsSystem(t.Context())
	require.NoError(t, store.InTx(ctx, func(tx *repository.Tx) error {
		var err error
		wait, taken, err = tx.TakeToken(ctx, p, patience)
		return err
	}))
	return wait, taken
}

func TestTakeToken_AFewAtOnceThenOnePerInterval(t *testing.T) {
	t.Parallel()
	db := repositorytest.New(t)
	p := repository.Pace{Provider: "x", Share: "work", Interval: time.Hour, Depth: 3 * time.Hour}
	for range 3 {
		wait, taken := take(t, db.Store, p, 0)
		require.True(t, taken)
		require.Zero(t, wait)
	}
	wait, taken := take(t, db.Store, p, 0)
	require.False(t, taken, "nobody waits longer than he wants")
	require.Greater(t, wait, 59*time.Minute)
	wait, taken = take(t, db.Store, p, 2*time.Hour)
	require.True(t, taken, "a token that comes in time is taken now")
	require.Greater(t, wait, 59*time.Minute)
	wait, taken = take(t, db.Store, p, 90*time.Minute)
	require.False(t, taken)
	require.Greater(t, wait, 119*time.Minute, "and nobody else gets it")

	kept := p
	kept.Share = "kept"
	_, taken = take(t, db.Store, kept, 0)
	require.True(t, taken, "the other share is untouched")
	db.Exec(t, `UPDATE provider_pace SET full_at = full_at - interval '1 day'`)
	_, taken = take(t, db.Store, p, 0)
	require.True(t, taken, "time brings tokens back")
}

func TestTakeToken_ManyProcessesAtOnce_KeepTheRateTogether(t *testing.T) {
	t.Parallel()
	db := repositorytest.New(t)
	p := repository.Pace{Provider: "x", Share: "work", Interval: time.Hour, Depth: 10 * time.Hour}
	var mu sync.Mutex
	var all sync.WaitGroup
	got := 0
	for range 50 {
		all.Go(func() {
			if _, taken := take(t, db.Store, p, 0); taken {
				mu.Lock()
				defer mu.Unlock()
				got++
			}
		})
	}
	all.Wait()
	require.Equal(t, 10, got)
}
