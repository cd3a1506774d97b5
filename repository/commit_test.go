package repository_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"payonce/repository"
	"payonce/repository/repositorytest"
)

// cutter is a proxy in front of PostgreSQL that breaks a connection at COMMIT: before the server gets it, or after the
// server has answered it and before the client gets the answer.
type cutter struct {
	listener net.Listener
	network  string
	server   string

	mu   sync.Mutex
	plan string // "", "before" or "after"
	rst  bool
	cuts int
}

func newCutter(t *testing.T, db *repositorytest.DB) *cutter {
	t.Helper()
	config, err := pq.NewConfig(db.URL)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &cutter{listener: listener, network: "tcp", server: net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))}
	if filepath.IsAbs(config.Host) {
		c.network, c.server = "unix", filepath.Join(config.Host, ".s.PGSQL."+strconv.Itoa(int(config.Port)))
	}
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	go c.accept()
	return c
}

// through is the URL of the same database by way of the proxy.
func (c *cutter) through(t *testing.T, db *repositorytest.DB) string {
	t.Helper()
	config, err := pq.NewConfig(db.URL)
	require.NoError(t, err)
	u := url.URL{Scheme: "postgres", User: url.User(config.User), Host: c.listener.Addr().String(), Path: "/" + config.Database, RawQuery: "sslmode=disable"}
	return u.String()
}

func (c *cutter) accept() {
	for {
		client, err := c.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(c.network, c.server)
		if err != nil {
			client.Close()
			continue
		}
		go c.carry(client, server)
	}
}

func (c *cutter) carry(client, server net.Conn) {
	defer client.Close()
	defer server.Close()
	committed := make(chan struct{})
	go func() { // server to client; after a cut the answer is read here and thrown away
		buffer := make([]byte, 32<<10)
		for {
			n, err := server.Read(buffer)
			select {
			case <-committed:
				client.Close()
				return
			default:
			}
			if err != nil {
				client.Close()
				return
			}
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
	}()
	buffer := make([]byte, 32<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		if strings.Contains(string(buffer[:n]), "COMMIT\x00") {
			switch c.take(client) {
			case "before":
				client.Close()
				return
			case "after":
				close(committed)
			}
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// take says what to do at this COMMIT, and prepares the client's connection to end as planned.
func (c *cutter) take(client net.Conn) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	plan := c.plan
	if plan == "" {
		return ""
	}
	if tcp, ok := client.(*net.TCPConn); ok && c.rst {
		_ = tcp.SetLinger(0) // close with RST instead of FIN
	}
	c.plan = ""
	c.cuts++
	return plan
}

func (c *cutter) next(plan string, rst bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.plan, c.rst = plan, rst
}

func (c *cutter) taken() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cuts
}

func TestInTx_CommitWhoseAnswerIsLost_IsUnknownAndNeverRepeated(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		situation string
		plan      string
		rst       bool
		committed int
	}{
		{"closed before the server got COMMIT", "before", false, 0},
		{"reset before the server got COMMIT", "before", true, 0},
		{"closed after the server committed", "after", false, 1},
		{"reset after the server committed", "after", true, 1},
	} {
		t.Run(row.situation, func(t *testing.T) {
			t.Parallel()
			db := repositorytest.New(t)
			proxy := newCutter(t, db)
			store, err := repository.Open(repository.Options{URL: proxy.through(t, db)})
			require.NoError(t, err)
			defer store.Close()
			proxy.next(row.plan, row.rst)
			runs := 0
			err = store.InTx(repository.AsSystem(t.Context()), func(tx *repository.Tx) error {
				runs++
				return tx.EnsureMerchant(t.Context(), "mrc_once", "Once")
			})
			require.ErrorIs(t, err, repository.ErrCommitUnknown)
			require.Equal(t, 1, runs, "an unknown commit is not a failed one: nothing may repeat it blindly")
			require.Equal(t, 1, proxy.taken())
			require.NoError(t, store.InTx(repository.AsSystem(t.Context()), func(tx *repository.Tx) error { // waits for the transaction in doubt
				return tx.EnsureMerchant(t.Context(), "mrc_once", "Twice")
			}))
			require.Equal(t, row.committed, db.Count(t, `SELECT count(*) FROM merchants WHERE name = 'Once'`))
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
