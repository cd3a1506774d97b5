//go:build unix

package localpg

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	// lasting holds what cannot be in the project. Unlike /tmp it survives a restart of the machine.
	lasting = "/var/tmp"
	// socketLimit is what the smallest system takes for a socket's path, with a margin; the name of the file counts.
	socketLimit = 100
	socketFile  = ".s.PGSQL.5432"
)

// folder is where one server lives.
type folder struct {
	dir     string // locks and logs; belongs to this process's account
	data    string // the cluster; belongs to the server's account
	run     string // the socket; belongs to the server's account, and only that one and root can enter
	account account
}

// openFolder finds or makes the folder for a server whose user asked for dir.
//
// It moves out of the project only when it must: as root, in a checkout that other accounts cannot enter, such as one in
// root's home. The place outside is named after the project's path, so the data are found again at every start.
func openFolder(dir string) (folder, error) {
	who, err := chooseAccount()
	if err != nil {
		return folder{}, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return folder{}, fmt.Errorf("database folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // the server's account passes through; data and socket are 0700
		return folder{}, fmt.Errorf("database folder: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil { // one server has one path, or its process is not recognised
		return folder{}, fmt.Errorf("database folder: %w", err)
	}
	if os.Geteuid() == 0 {
		err = os.Chmod(dir, 0o755) //nolint:gosec // whatever the umask says
	} else {
		err = ownFolder(dir)
	}
	if err != nil {
		return folder{}, err
	}
	outside := filepath.Join(lastingFolder(), "payonce-"+strconv.Itoa(os.Geteuid())+"-"+shortHash(dir))
	f := folder{dir: dir, account: who}
	switch here, there := exists(filepath.Join(dir, "data")), exists(filepath.Join(outside, "data")); {
	case here && !who.canEnter(dir):
		return folder{}, fmt.Errorf("the database in %s cannot be entered by the account that must run it (uid %d): open the folders above it (chmod o+x), or delete it", dir, who.uid)
	case !here && (there || !who.canEnter(dir)):
		f.dir = outside
		if err := ownFolder(outside); err != nil {
			return folder{}, err
		}
	}
	f.data, f.run = filepath.Join(f.dir, "data"), filepath.Join(f.dir, "run")
	if len(f.run)+1+len(socketFile) > socketLimit || strings.Contains(f.run, ",") { // clients read a comma as "and another host"
		if err := ownFolder(outside); err != nil {
			return folder{}, err
		}
		f.run = filepath.Join(outside, "run")
	}
	if info, err := os.Stat(f.data); err == nil && who.switches {
		if owner, ok := ownerOf(info); ok {
			f.account = owner
		}
	}
	return f, nil
}

func lastingFolder() string {
	if info, err := os.Stat(lasting); err == nil && info.IsDir() {
		return lasting
	}
	return os.TempDir()
}

// ownFolder makes a folder, or checks that an existing one belongs to this process's account. Anybody may make folders in
// the lasting place; one that was put there by somebody else must not get our data.
func ownFolder(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) { //nolint:gosec // as in openFolder
		return fmt.Errorf("database folder: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("database folder: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another account than this process's (uid %d): run as its owner, or delete it", dir, os.Geteuid())
	}
	return os.Chmod(dir, 0o755) //nolint:gosec // whatever the umask says, the server's account must pass
}

func (f folder) path(name string) string { return filepath.Join(f.dir, name) }

// halfMade is where a new cluster grows until it is complete.
func (f folder) halfMade() string { return f.path("data.new") }

// major is the major version of PostgreSQL that made the data, and 0 when there are none.
func (f folder) major() (int, error) {
	text, err := os.ReadFile(filepath.Join(f.data, "PG_VERSION"))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("version of the data: %w", err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("version of the data in %s: %w", f.data, err)
	}
	return major, nil
}

// postmaster is the process id of the server that serves this folder, and 0 when there is none. The file alone proves
// nothing: after a crash the id in it may belong to a stranger, or to a dead process that nobody has reaped.
func (f folder) postmaster() int {
	text, err := os.ReadFile(filepath.Join(f.data, "postmaster.pid"))
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || pid <= 1 || !serves(pid, f.data) {
		return 0
	}
	return pid
}

// removeStale deletes what a killed server left. PostgreSQL would believe its pid files as long as any process has that
// id, even a zombie's, and never start again in a container whose first process reaps nothing. Backends that outlived
// their server are still found: PostgreSQL also looks at the shared memory they hold.
func (f folder) removeStale() error {
	for _, path := range []string{
		filepath.Join(f.data, "postmaster.pid"),
		filepath.Join(f.run, socketFile+".lock"),
		filepath.Join(f.run, socketFile),
	} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remains of a killed server: %w", err)
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}
