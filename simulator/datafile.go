package simulator

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
)

// dataFile is the simulator's memory on disk: one JSON line per committed change. A line is written before its change
// becomes visible and, unless it holds nothing but journal lines, forced to the disk. So whatever anybody was told
// survives the end of the process and of the machine. At every start the file is written anew, as short as it can be.
type dataFile struct {
	mu     sync.Mutex
	file   *os.File
	unlock func() error
	failed error // the first write error; nothing is written after it, since the file may end in half a line
}

// openDataFile takes the file for this process, gives every change in it to restore, and replaces it by the shorter
// form that snapshot yields afterwards.
func openDataFile(path string, restore func(change) error, snapshot iter.Seq[change]) (*dataFile, error) {
	// The lock is on a file of its own because the data file is replaced by renaming.
	unlock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	d := &dataFile{unlock: unlock}
	if err := readChanges(path, restore); err != nil {
		return nil, errors.Join(err, unlock())
	}
	if err := d.compact(path, snapshot); err != nil {
		return nil, errors.Join(err, unlock())
	}
	return d, nil
}

// readChanges reads the lines of the file; one that does not exist has none. The last line may be torn: its change was
// never visible, because a line is written whole first.
func readChanges(path string, restore func(change) error) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	in := bufio.NewReaderSize(file, 1<<16)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // what is left without a line end is the torn line
		}
		if err != nil {
			return err
		}
		var c change
		if err := json.Unmarshal(line, &c); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := restore(c); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
}

// compact writes the snapshot beside the file and puts it in its place; at every moment one complete file exists.
func (d *dataFile) compact(path string, snapshot iter.Seq[change]) error {
	next, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(next, 1<<16)
	encoder := json.NewEncoder(out) // ends every value with a line end
	for c := range snapshot {
		if err := encoder.Encode(c); err != nil {
			return errors.Join(err, next.Close())
		}
	}
	if err := errors.Join(out.Flush(), next.Sync()); err != nil {
		return errors.Join(err, next.Close())
	}
	if err := errors.Join(os.Rename(path+".new", path), syncDirectory(filepath.Dir(path))); err != nil {
		return errors.Join(err, next.Close())
	}
	d.file = next
	return nil
}

// syncDirectory makes a rename lasting.
func syncDirectory(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// append writes one change. After an error it may be on the disk or not; nobody was told that it happened.
func (d *dataFile) append(c change) error {
	var line bytes.Buffer
	if err := json.NewEncoder(&line).Encode(c); err != nil {
		return fmt.Errorf("encode change: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed != nil {
		return d.failed
	}
	_, err := d.file.Write(line.Bytes())
	if err == nil && c.lasting() {
		err = d.file.Sync()
	}
	if err != nil {
		d.failed = fmt.Errorf("append to data file: %w", err)
	}
	return d.failed
}

func (d *dataFile) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if errors.Is(d.failed, errClosed) {
		return nil
	}
	d.failed = errClosed
	return errors.Join(d.file.Close(), d.unlock())
}
