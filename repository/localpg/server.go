//go:build unix

package localpg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// lockPause is how often a lock that somebody else holds is tried again.
const lockPause = 5 * time.Millisecond

// Server is this process's share in a running server.
type Server struct {
	folder  folder
	options Options
	log     *slog.Logger
	users   *flock.Flock // held shared from Start to Stop

	mu   sync.Mutex
	left bool
}

// Start makes the server of a folder run and joins its users. Without a server it starts one, without data it makes an
// empty cluster first, and without PostgreSQL's programs it fetches them (see Options.Offline). It waits while another
// process starts or stops the same server.
//
// A server that was left behind by a killed process is taken over as it runs. One whose process lives but does not
// answer is stopped and started again.
func Start(ctx context.Context, o Options) (*Server, error) {
	o = o.withDefaults()
	f, err := openFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	s := &Server{folder: f, options: o, log: o.Log.With("postgres", f.dir), users: flock.New(f.path("users.lock"))}
	gate, err := f.enterGate(ctx)
	if err != nil {
		return nil, err
	}
	defer gate.Unlock() //nolint:errcheck // closing the file releases the lock as well
	if joined, err := s.users.TryRLock(); err != nil || !joined {
		return nil, fmt.Errorf("join the users of %s: %w", f.dir, errors.Join(err, ctx.Err()))
	}
	if err := s.ensureRunning(ctx); err != nil {
		s.users.Unlock() //nolint:errcheck // as above
		return nil, err
	}
	return s, nil
}

// ensureRunning is called with the gate held.
func (s *Server) ensureRunning(ctx context.Context) error {
	adopted, err := s.adopt(ctx)
	if err != nil {
		return err
	}
	if adopted {
		s.log.DebugContext(ctx, "PostgreSQL runs already")
	} else if err := s.start(ctx); err != nil {
		return err
	}
	return s.equip(ctx)
}

// Stop leaves the server; the last user to leave stops it and returns when its process is gone. Connections that are
// still open are cut. A second call does nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left {
		return nil
	}
	s.left = true
	gate, err := s.folder.enterGate(ctx)
	if err != nil {
		return errors.Join(err, s.users.Unlock())
	}
	defer gate.Unlock() //nolint:errcheck // closing the file releases the lock as well
	if err := s.users.Unlock(); err != nil {
		return fmt.Errorf("leave %s: %w", s.folder.dir, err)
	}
	last := flock.New(s.folder.path("users.lock"))
	alone, err := last.TryLock()
	if err != nil {
		return fmt.Errorf("look for other users of %s: %w", s.folder.dir, err)
	}
	if !alone {
		return nil
	}
	defer last.Unlock() //nolint:errcheck // as above
	pid := s.folder.postmaster()
	if pid == 0 {
		return nil
	}
	s.log.DebugContext(ctx, "stopping PostgreSQL", "pid", pid)
	return s.folder.end(ctx, pid, stopPatience)
}

// ErrInUse says that data cannot be deleted because a living process uses it.
var ErrInUse = errors.New("the database is in use")

// Reset deletes the data of a folder. It refuses with ErrInUse while somebody uses the server, and stops one that was left
// behind.
func Reset(dir string) error {
	f, err := openFolder(dir)
	if err != nil {
		return err
	}
	gate, users := flock.New(f.path("gate.lock")), flock.New(f.path("users.lock"))
	for _, lock := range []*flock.Flock{gate, users} {
		free, err := lock.TryLock()
		if err != nil {
			return fmt.Errorf("lock %s: %w", f.dir, err)
		}
		if !free {
			return fmt.Errorf("%w: stop the program that uses %s first", ErrInUse, f.dir)
		}
		defer lock.Unlock() //nolint:errcheck // closing the file releases the lock as well
	}
	if pid := f.postmaster(); pid != 0 {
		if err := f.end(context.Background(), pid, frozenPatience); err != nil {
			return err
		}
	}
	// The lock files stay: a process that waits for a deleted lock file would lock something nobody else can see.
	for _, path := range []string{f.data, f.halfMade(), f.run, f.path("postgres.log"), f.path("postgres.log.1")} {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("delete the database: %w", err)
		}
	}
	return nil
}

// enterGate waits until nobody else starts or stops the folder's server.
func (f folder) enterGate(ctx context.Context) (*flock.Flock, error) {
	gate := flock.New(f.path("gate.lock"))
	if _, err := gate.TryLockContext(ctx, lockPause); err != nil {
		return nil, fmt.Errorf("wait for whoever starts or stops the server in %s: %w", f.dir, err)
	}
	return gate, nil
}

// end stops a server and returns when its process is gone: SIGINT cuts the clients and writes everything down; SIGQUIT
// and at last SIGKILL follow when that takes longer than the patience, and the next start then recovers from the log.
func (f folder) end(ctx context.Context, pid int, patience time.Duration) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL} {
		if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop the server in %s: %w", f.dir, err)
		}
		enough := time.NewTimer(patience)
		defer enough.Stop()
		for waiting := true; waiting; {
			if !serves(pid, f.data) {
				return nil
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("stop the server in %s: %w", f.dir, ctx.Err())
			case <-enough.C:
				waiting = false
			case <-tick.C:
			}
		}
	}
	return fmt.Errorf("stop the server in %s: process %d survives SIGKILL", f.dir, pid)
}
