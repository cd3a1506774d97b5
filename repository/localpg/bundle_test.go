//go:build unix

package localpg

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"
)

// ownerFolder names the folder that a copy of this test binary shall start a server in, and then be killed.
const ownerFolder = "PAYONCE_TEST_OWNER_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(ownerFolder); dir != "" {
		beOwner(dir)
	}
	os.Exit(m.Run())
}

// beOwner starts a server, says so and waits for the end.
func beOwner(dir string) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	if _, err := Start(context.Background(), Options{Dir: dir}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("running")
	<-ended
	os.Exit(0)
}

// openDir is a folder that every account can enter, unlike t.TempDir: the tests may run as root, and the server then
// does not.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(lastingFolder(), "pg")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// start joins the server of a folder until the test ends.
func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	require.NoError(t, s.Stop(ctx))
}

// query reads one value over a connection of its own.
func query(t *testing.T, s *Server, text string) string {
	t.Helper()
	db := open(t, s)
	defer db.Close()
	var value string
	require.NoError(t, db.QueryRowContext(t.Context(), text).Scan(&value))
	return value
}

func run(t *testing.T, s *Server, text string) {
	t.Helper()
	db := open(t, s)
	defer db.Close()
	_, err := db.ExecContext(t.Context(), text)
	require.NoError(t, err)
}

func open(t *testing.T, s *Server) *sql.DB {
	t.Helper()
	connector, err := pq.NewConnector(s.URL("postgres"))
	require.NoError(t, err)
	return sql.OpenDB(connector)
}

// kill ends a process as the kernel would, and waits until it serves nothing.
func kill(t *testing.T, f folder, pid int) {
	t.Helper()
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	require.Eventually(t, func() bool { return !serves(pid, f.data) }, 10*time.Second, poll)
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), mode))
}
