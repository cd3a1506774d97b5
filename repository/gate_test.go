package repository_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/repository"
	"payonce/repository/repositorytest"
)

// full makes a store of two connections, both taken until the returned function is called.
func full(t *testing.T, wait time.Duration, queue int) (db *repositorytest.DB, release func()) {
	t.Helper()
	db = repositorytest.New(t, func(o *repository.Options) {
		o.MaxConns, o.MaxWait, o.MaxWaiting = 2, wait, queue
		o.URL += "&idle_in_transaction_session_timeout=0"
	})
	held, done := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 2)
	for range 2 {
		go func() {
			ended <- db.Store.InTx(repository.AsSystem(context.WithoutCancel(t.Context())), func(*repository.Tx) error {
				held <- struct{}{}
				<-done
				return nil
			})
		}()
	}
	for range 2 {
		select {
		case <-held:
		case err := <-ended:
			require.NoError(t, err)
		}
	}
	return db, func() {
		close(done)
		require.NoError(t, errors.Join(<-ended, <-ended))
	}
}

func read(ctx context.Context, s *repository.Store) error {
	_, err := s.CallerBySecret(ctx, "sk_test_nobody")
	return err
}

func TestFullPool_TurnsAwayWhoWaitsTooLong_AndWritesNothing(t *testing.T) {
	t.Parallel()
	db, release := full(t, time.Millisecond, 10)
	require.ErrorIs(t, read(repository.AsSystem(t.Context()), db.Store), repository.ErrBusy)
	err := db.Store.InTx(repository.AsSystem(t.Context()), func(*repository.Tx) error { panic("must not run") })
	require.ErrorIs(t, err, repository.ErrBusy)
	require.True(t, repository.Unavailable(err))
	require.Equal(t, repository.PoolStats{Places: 2, InUse: 2, Refused: 2}, db.Store.Stats())
	release()
	require.NotErrorIs(t, read(repository.AsSystem(t.Context()), db.Store), repository.ErrBusy)
	require.Equal(t, repository.PoolStats{Places: 2, Refused: 2}, db.Store.Stats())
}

func TestFullPool_TurnsAwayAtOnceWhenTheQueueIsFull(t *testing.T) {
	t.Parallel()
	db, release := full(t, time.Hour, 1)
	served := make(chan error, 1)
	go func() { served <- read(repository.AsSystem(t.Context()), db.Store) }()
	require.Eventually(t, func() bool { return db.Store.Stats().Waiting == 1 }, 10*time.Second, time.Millisecond)
	require.ErrorIs(t, read(repository.AsSystem(t.Context()), db.Store), repository.ErrBusy) // or it would wait for an hour
	release()
	require.NotErrorIs(t, <-served, repository.ErrBusy, "who has waited is served")
}

func TestFullPool_LetsThePatientWait(t *testing.T) {
	t.Parallel()
	db, release := full(t, time.Nanosecond, 1)
	served := make(chan error, 2)
	for range 2 {
		go func() {
			served <- db.Store.InTx(repository.Patient(repository.AsSystem(t.Context())), func(*repository.Tx) error { return nil })
		}()
	}
	require.Eventually(t, func() bool { return db.Store.Stats().Waiting == 2 }, 10*time.Second, time.Millisecond, "more of them than the queue has places")
	release()
	require.NoError(t, errors.Join(<-served, <-served))
}

func TestFullPool_WaitEndsWithTheContext(t *testing.T) {
	t.Parallel()
	db, release := full(t, time.Hour, 1)
	defer release()
	for _, ctx := range []context.Context{repository.AsSystem(t.Context()), repository.Patient(repository.AsSystem(t.Context()))} {
		gone, cancel := context.WithCancel(ctx)
		cancel()
		require.ErrorIs(t, read(gone, db.Store), context.Canceled)
	}
	require.Zero(t, db.Store.Stats().Waiting)
}

func TestFullPool_LeavesOneConnectionForTheReadinessCheck(t *testing.T) {
	t.Parallel()
	db, release := full(t, time.Hour, 1)
	defer release()
	version := uint(db.Count(t, `SELECT version FROM schema_migrations`))
	require.NoError(t, db.Store.Ready(repository.AsSystem(t.Context()), version))
}
