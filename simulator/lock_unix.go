//go:build unix

package simulator

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockPatience is how long a start waits for the file. A process that was killed keeps its lock until the write it was
// in is done, and whoever killed it starts the next one at once.
const lockPatience = 2 * time.Second

// lockFile takes a lock that the kernel gives back when the process ends, however it ends.
func lockFile(path string) (unlock func() error, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	const pause = 20 * time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file.Close, nil
		}
		if waited >= lockPatience {
			return nil, errors.Join(fmt.Errorf("in use by another simulator: %w", err), file.Close())
		}
		time.Sleep(pause)
	}
}
