//go:build unix

package localpg

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFreshFolder_RunsWithTheSettingsAskedForAndKeepsItsData(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		durable bool
		fsync   string
	}{"demo": {true, "on"}, "tests": {false, "off"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Dir: filepath.Join(openDir(t), "deep", "postgres"), Durable: row.durable}
			write(t, filepath.Join(o.Dir, "data.new", "half"), "left by a killed initdb", 0o600)
			s := start(t, o)
			require.Equal(t, row.fsync, query(t, s, `SHOW fsync`))
			require.Equal(t, row.fsync, query(t, s, `SHOW full_page_writes`))
			require.Equal(t, "UTC C UTF8", query(t, s, `SELECT concat_ws(' ', current_setting('timezone'), datcollate, pg_encoding_to_char(encoding))
				FROM pg_database WHERE datname = current_database()`))
			require.Equal(t, "payonce, no superuser", query(t, s, `SELECT rolname || CASE WHEN rolsuper THEN ', superuser' ELSE ', no superuser' END
				FROM pg_roles WHERE rolname = current_user AND rolcreatedb`))
			run(t, s, `CREATE DATABASE shop`)
			pid := s.folder.postmaster()
			stop(t, s)
			require.False(t, serves(pid, s.folder.data))

			s = start(t, o)
			require.Equal(t, "shop", query(t, s, `SELECT datname FROM pg_database WHERE datname = 'shop'`))
			require.NotEqual(t, pid, s.folder.postmaster())
		})
	}
}

func TestSeveralUsers_ShareOneServerAndTheLastStopsIt(t *testing.T) {
	t.Parallel()
	o := Options{Dir: openDir(t)}
	users := make([]*Server, 6)
	var starting sync.WaitGroup
	for i := range users {
		starting.Go(func() { users[i], _ = Start(t.Context(), o) })
	}
	starting.Wait()
	for _, user := range users {
		require.NotNil(t, user)
		t.Cleanup(func() { stop(t, user) })
	}
	pid := users[0].folder.postmaster()
	require.NotZero(t, pid)
	started := query(t, users[0], `SELECT pg_postmaster_start_time()`)
	for _, user := range users[1:] {
		require.Equal(t, started, query(t, user, `SELECT pg_postmaster_start_time()`))
		stop(t, user)
		stop(t, user) // leaving twice leaves once
	}
	require.ErrorContains(t, Reset(o.Dir), "is in use")
	require.Equal(t, pid, users[0].folder.postmaster())
	require.Equal(t, "1", query(t, users[0], `SELECT 1`))

	stop(t, users[0])
	require.False(t, serves(pid, users[0].folder.data))
}

func TestReset_DeletesTheDataAndStopsALeftServer(t *testing.T) {
	t.Parallel()
	o := Options{Dir: openDir(t)}
	f, pid := killedOwner(t, o.Dir)
	require.NoError(t, Reset(o.Dir))
	require.False(t, serves(pid, f.data))
	require.NoDirExists(t, f.data)

	s := start(t, o)
	require.Equal(t, "0", query(t, s, `SELECT count(*) FROM pg_database WHERE datname = 'mark'`))
}

// killedOwner starts a server in another process, gives it a database named mark, and kills that process without notice.
func killedOwner(t *testing.T, dir string) (folder, int) {
	t.Helper()
	owner := exec.CommandContext(t.Context(), os.Args[0])
	owner.Env = append(os.Environ(), ownerFolder+"="+dir)
	owner.Stderr = os.Stderr
	out, err := owner.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, owner.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "running\n", line)
	s := start(t, Options{Dir: dir})
	run(t, s, `CREATE DATABASE mark`)
	stop(t, s)
	require.NoError(t, owner.Process.Kill())
	require.Error(t, owner.Wait())
	pid := s.folder.postmaster()
	require.NotZero(t, pid, "the server must outlive its owner")
	return s.folder, pid
}

func TestKilledOwner_ServerIsTakenOverAsItRuns(t *testing.T) {
	t.Parallel()
	o := Options{Dir: openDir(t)}
	f, pid := killedOwner(t, o.Dir)
	s := start(t, o)
	require.Equal(t, pid, f.postmaster())
	require.Equal(t, "mark", query(t, s, `SELECT datname FROM pg_database WHERE datname = 'mark'`))
	stop(t, s)
	require.False(t, serves(pid, f.data))
}

func TestKilledServer_StartsAgainWithWhatWasCommitted(t *testing.T) {
	t.Parallel()
	o := Options{Dir: openDir(t), Durable: true}
	s := start(t, o)
	run(t, s, `CREATE DATABASE shop`)
	busy := open(t, s) // a backend that outlives its server for a moment
	defer busy.Close()
	var waiting sync.WaitGroup
	waiting.Go(func() {
		_, err := busy.Exec(`SELECT pg_sleep(600)`)
		if err == nil {
			t.Error("the server was killed, and its client has not noticed")
		}
	})
	require.Eventually(t, func() bool {
		return query(t, s, `SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'`) == "1"
	}, 10*time.Second, poll)
	pid := s.folder.postmaster()
	kill(t, s.folder, pid)
	require.FileExists(t, filepath.Join(s.folder.run, socketFile+".lock"))

	again := start(t, o)
	require.NotEqual(t, pid, again.folder.postmaster())
	require.Equal(t, "shop", query(t, again, `SELECT datname FROM pg_database WHERE datname = 'shop'`))
	waiting.Wait()
}

// After a crash the process id in PostgreSQL's files may have gone to somebody else, or to nobody but a zombie.
func TestStalePID_IsNotBelieved(t *testing.T) {
	t.Parallel()
	zombie := exec.Command("true") // it ends by itself
	require.NoError(t, zombie.Start())
	t.Cleanup(func() { require.NoError(t, zombie.Wait()) })
	stranger := exec.Command("sleep", "600") // it is killed below
	require.NoError(t, stranger.Start())
	t.Cleanup(func() {
		require.NoError(t, stranger.Process.Kill())
		require.Error(t, stranger.Wait())
	})
	o := Options{Dir: openDir(t)}
	s := start(t, o)
	stop(t, s)
	for _, pid := range []int{zombie.Process.Pid, stranger.Process.Pid, os.Getpid()} {
		for _, path := range []string{filepath.Join(s.folder.data, "postmaster.pid"), filepath.Join(s.folder.run, socketFile+".lock")} {
			write(t, path, strconv.Itoa(pid)+"\n"+s.folder.data+"\n0\n5432\n"+s.folder.run+"\n", 0o600)
			require.NoError(t, os.Chown(path, int(s.folder.account.uid), int(s.folder.account.gid)))
		}
		s := start(t, o)
		require.Equal(t, "1", query(t, s, `SELECT 1`))
		stop(t, s)
	}
	require.NoError(t, stranger.Process.Signal(syscall.Signal(0)), "a stranger must be left alone")
}

func TestServerThatDoesNotAnswer_IsStartedAgain(t *testing.T) {
	t.Parallel()
	for name, hurt := range map[string]func(t *testing.T, f folder){
		"frozen": func(t *testing.T, f folder) {
			t.Helper()
			require.NoError(t, syscall.Kill(f.postmaster(), syscall.SIGSTOP))
		},
		"its socket is gone": func(t *testing.T, f folder) {
			t.Helper()
			require.NoError(t, os.Remove(filepath.Join(f.run, socketFile)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Dir: openDir(t)}
			s := start(t, o)
			run(t, s, `CREATE DATABASE shop`)
			pid := s.folder.postmaster()
			hurt(t, s.folder)
			o.patience = time.Second
			again := start(t, o)
			require.NotEqual(t, pid, again.folder.postmaster())
			require.Equal(t, "shop", query(t, again, `SELECT datname FROM pg_database WHERE datname = 'shop'`))
		})
	}
}

func TestDemo_RefusesAServerThatDoesNotSync(t *testing.T) {
	t.Parallel()
	o := Options{Dir: openDir(t)}
	start(t, o)
	o.Durable = true
	_, err := Start(t.Context(), o)
	require.ErrorContains(t, err, "syncs nothing to disk")
}

func TestCancelled_LeavesNothingBehind(t *testing.T) {
	t.Parallel()
	o := Options{Dir: openDir(t)}
	held := start(t, o)
	gate, err := held.folder.enterGate(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = Start(ctx, o)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, gate.Unlock())

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	elsewhere := Options{Dir: openDir(t)}
	_, err = Start(cancelled, elsewhere)
	require.ErrorIs(t, err, context.Canceled)
	f, err := openFolder(elsewhere.Dir)
	require.NoError(t, err)
	require.Zero(t, f.postmaster())
	require.NoError(t, Reset(elsewhere.Dir), "a cancelled start must not count as a user")
}

// The junk is what a developer's shell may hold. It is set for the whole process, so this test cannot run beside others.
//
//nolint:paralleltest // see above
func TestEnvironmentFullOfPG_DisturbsNothing(t *testing.T) {
	for name, value := range map[string]string{
		"PGPORT": "", "PGDATA": "/nowhere", "PGHOST": "db.invalid", "PGHOSTADDR": "192.0.2.1", "PGUSER": "nobody", "PGOPTIONS": "-c nonsense=1",
		"PGSERVICE": "nonsense", "PGREQUIREPEER": "nobody", "PGTARGETSESSIONATTRS": "standby", "PGSSLMODE": "verify-full",
	} {
		t.Setenv(name, value)
	}
	s := start(t, Options{Dir: openDir(t)})
	UnsetEnv()
	require.Equal(t, "postgres", query(t, s, `SELECT current_database()`))
	for _, line := range os.Environ() {
		require.False(t, strings.HasPrefix(line, "PG"), line)
	}
}

func TestOlderData_GetTheRightsOfTheRoleThatTodaysMigrationsNeed(t *testing.T) {
	t.Parallel()
	o := Options{Dir: openDir(t)}
	s := start(t, o)
	db, err := s.asSuperuser()
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), `ALTER ROLE payonce NOCREATEROLE`) // as it was made once
	require.NoError(t, err)
	start(t, o)
	require.Equal(t, "true", query(t, s, `SELECT rolcreaterole FROM pg_roles WHERE rolname = current_user`))
}
