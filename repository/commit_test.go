package repository_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/repository"
	"payonce/repository/repositorytest"
)

func TestInTx_CommitWhoseAnswerIsLost_IsUnknownAndNeverRepeated(t *testing.T) {
	t.Parallel()
	for _, cut := range repositorytest.Cuts() {
		t.Run(cut.String(), func(t *testing.T) {
			t.Parallel()
			db := repositorytest.New(t)
			proxy := repositorytest.NewProxy(t, db)
			// A black hole keeps the transaction open at the server, too, until that has heard nothing for long enough.
			settings := url.Values{"idle_in_transaction_session_timeout": {"500"}}
			store, err := repository.Open(repository.Options{URL: proxy.URL(t, db, settings), Silence: time.Second})
			require.NoError(t, err)
			defer store.Close()
			proxy.Cut(cut, repositorytest.Nth(1))
			runs := 0
			err = store.InTx(repository.AsSystem(t.Context()), func(tx *repository.Tx) error {
				runs++
				return tx.EnsureMerchant(t.Context(), "mrc_once", "Once")
			})
			require.ErrorIs(t, err, repository.ErrCommitUnknown)
			require.Equal(t, 1, runs, "an unknown commit is not a failed one: nothing may repeat it blindly")
			commits, cuts := proxy.Seen()
			require.Equal(t, 1, commits)
			require.Equal(t, 1, cuts)
			require.NoError(t, store.InTx(repository.AsSystem(t.Context()), func(tx *repository.Tx) error { // waits for the transaction in doubt
				return tx.EnsureMerchant(t.Context(), "mrc_once", "Twice")
			}))
			committed := map[repositorytest.Moment]int{repositorytest.BeforeCommit: 0, repositorytest.AfterCommit: 1}[cut.Moment]
			require.Equal(t, committed, db.Count(t, `SELECT count(*) FROM merchants WHERE name = 'Once'`))
			require.Equal(t, 1, db.Count(t, `SELECT count(*) FROM merchants`))
		})
	}
}

func TestInTx_RefusedCommit_IsRolledBackAndNotUnknown(t *testing.T) {
	t.Parallel()
	db := repositorytest.New(t)
	db.Exec(t, `CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$`)
	db.Exec(t, `CREATE CONSTRAINT TRIGGER no AFTER INSERT ON merchants DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION no()`)
	err := db.Store.InTx(repository.AsSystem(t.Context()), func(tx *repository.Tx) error { return tx.EnsureMerchant(t.Context(), "mrc_1", "One") })
	require.Error(t, err)
	require.NotErrorIs(t, err, repository.ErrCommitUnknown)
}

func TestInTx_ConnectionsThatDiedInThePool_AreReplaced(t *testing.T) {
	t.Parallel()
	db := repositorytest.New(t)
	var warm, open sync.WaitGroup
	open.Add(5)
	for range 5 {
		warm.Go(func() {
			require.NoError(t, db.Store.InTx(repository.AsSystem(t.Context()), func(*repository.Tx) error {
				open.Done()
				open.Wait() // all five hold a connection at the same moment
				return nil
			}))
		})
	}
	warm.Wait()
	db.Exec(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'payonce'`)
	require.NoError(t, db.Store.InTx(repository.AsSystem(t.Context()), func(tx *repository.Tx) error { return tx.EnsureMerchant(t.Context(), "mrc_2", "Two") }))
}

func TestInTx_SilentServer_DoesNotHoldForEver(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go io.Copy(io.Discard, conn) // reads everything, answers nothing
		}
	}()
	store, err := repository.Open(repository.Options{URL: "postgres://x@" + listener.Addr().String() + "/x?sslmode=disable", Silence: 50 * time.Millisecond})
	require.NoError(t, err)
	defer store.Close()
	err = store.InTx(repository.AsSystem(context.WithoutCancel(t.Context())), func(*repository.Tx) error { return nil })
	var timeout net.Error
	require.ErrorAs(t, err, &timeout)
	require.True(t, repository.Unavailable(err))
}

func TestInTx_Panic_RollsBackAndGoesOn(t *testing.T) {
	t.Parallel()
	db := repositorytest.New(t)
	require.PanicsWithValue(t, "bug", func() {
		_ = db.Store.InTx(repository.AsSystem(t.Context()), func(tx *repository.Tx) error {
			require.NoError(t, tx.EnsureMerchant(t.Context(), "mrc_1", "One"))
			panic("bug")
		})
	})
	require.Zero(t, db.Count(t, `SELECT count(*) FROM merchants`))
	require.Zero(t, db.Store.InUse())
}

func TestInTx_Deadlock_IsRunAgain(t *testing.T) {
	t.Parallel()
	db := repositorytest.New(t)
	for _, id := range []string{"mrc_1", "mrc_2"} {
		require.NoError(t, db.Store.InTx(repository.AsSystem(t.Context()), func(tx *repository.Tx) error { return tx.EnsureMerchant(t.Context(), id, id) }))
		db.Exec(t, `INSERT INTO products SELECT $1, 'prd_x', 'x', 'x', '', '', true, '{}', now(), now()`, id)
		db.Exec(t, `INSERT INTO stock VALUES ($1, 'prd_x', 0, 0)`, id)
	}
	var met sync.WaitGroup
	met.Add(2)
	var all sync.WaitGroup
	for _, pair := range [][2]string{{"mrc_1", "mrc_2"}, {"mrc_2", "mrc_1"}} {
		all.Go(func() {
			first := true
			require.NoError(t, db.Store.InTx(repository.AsSystem(t.Context()), func(tx *repository.Tx) error {
				if _, err := tx.ProductForUpdate(t.Context(), pair[0], "prd_x"); err != nil {
					return err
				}
				if first {
					first = false
					met.Done()
					met.Wait()
				}
				_, err := tx.ProductForUpdate(t.Context(), pair[1], "prd_x")
				return err
			}))
		})
	}
	all.Wait()
}
