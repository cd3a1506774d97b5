//go:build unix

package localpg

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// account is who PostgreSQL's programs run as. They refuse to run as root, and containers run as root more often than
// not, so root's children become somebody else.
type account struct {
	uid, gid uint32
	switches bool // whether that is another account than this process's
}

// ownerOf makes root act as the account that made the data, so that installing PostgreSQL later, which adds a better
// account, does not lock the folder that nobody made.
func ownerOf(info os.FileInfo) (account, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Uid == 0 {
		return account{}, false
	}
	return account{uid: stat.Uid, gid: stat.Gid, switches: true}, true
}

func chooseAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())}, nil //nolint:gosec // ids are 32 bits wide
	}
	chosen := account{uid: 65534, gid: 65534, switches: true} // "nobody" on every system, whether it has the name or not
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseInt(found.Uid, 10, 64) // macOS says -2 for nobody
		gid, errGID := strconv.ParseInt(found.Gid, 10, 64)
		if errors.Join(errUID, errGID) == nil && uid != 0 {
			chosen.uid, chosen.gid = uint32(uid), uint32(gid) //nolint:gosec // ids are 32 bits wide
			break
		}
	}
	for _, file := range []struct {
		path string
		id   uint32
	}{{"/proc/self/uid_map", chosen.uid}, {"/proc/self/gid_map", chosen.gid}} {
		text, err := os.ReadFile(file.path)
		if err == nil && !maps(string(text), file.id) {
			return account{}, fmt.Errorf("PostgreSQL refuses to run as root, and this container knows no other account (id %d is not in %s):"+
				" run as an ordinary user, map more ids into the container, or set DATABASE_URL to a running server", file.id, file.path)
		}
	}
	return chosen, nil
}

// maps reports whether a user namespace has an id. Each line of its table is "first id inside, first id outside, count".
func maps(table string, id uint32) bool {
	for line := range strings.Lines(table) {
		var first, outside, count uint64
		if n, _ := fmt.Sscan(line, &first, &outside, &count); n == 3 && uint64(id) >= first && uint64(id)-first < count { //nolint:errcheck // the count says whether the line was read
			return true
		}
	}
	return false
}

// attributes starts a child in its own session, so that a Ctrl-C in the terminal reaches only the program that decides
// what stops when, and as the account.
func (a account) attributes() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setsid: true}
	if a.switches {
		attributes.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
	return attributes
}

// canEnter reports whether the account may reach what is in a folder, which takes the right to pass each folder above.
func (a account) canEnter(dir string) bool {
	if !a.switches {
		return true
	}
	for {
		info, err := os.Stat(dir)
		if err != nil || !a.canPass(info) {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
		dir = filepath.Dir(dir)
	}
}

func (a account) canPass(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return false
	case stat.Uid == a.uid:
		return info.Mode()&0o100 != 0
	case stat.Gid == a.gid:
		return info.Mode()&0o010 != 0
	default:
		return info.Mode()&0o001 != 0
	}
}

// give makes a folder that only the account may enter.
func (a account) give(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if a.switches {
		if err := os.Chown(dir, int(a.uid), int(a.gid)); err != nil {
			return err
		}
	}
	return os.Chmod(dir, 0o700) //nolint:gosec // a folder needs x
}
