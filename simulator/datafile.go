package simulator

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
)

// dataFile is the simulator's memory on disk: one line per committed change, a checksum and JSON. A line is written before
// its change becomes visible and, unless it holds nothing but journal lines, forced to the disk. So whatever anybody was
// told survives the end of the process and of the machine. At every start the file is written anew, as short as it can be.
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
// never visible, because a line is written whole first. A line that is damaged is never left out or believed: money that
// was taken would be forgotten, or be another sum.
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
		torn := errors.Is(err, io.EOF) // what is left has no line end
		if err != nil && !torn {
			return err
		}
		if torn && !onlyEndMissing(line) {
			return nil
		}
		c, err := decodeChange(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := restore(c); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if torn {
			return nil
		}
	}
}

// onlyEndMissing tells a last line that is complete but for its end, or whose end is damaged, from a torn one.
func onlyEndMissing(line []byte) bool {
	_, whole := splitLine(line)
	_, damagedEnd := splitLine(line[:max(0, len(line)-1)])
	return whole || damagedEnd
}

// checksumLength is that of a CRC-32C in hexadecimal; a blank follows it.
const checksumLength = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encodeChange writes a line with its end.
func encodeChange(c change) ([]byte, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode change: %w", err)
	}
	line := fmt.Appendf(nil, "%0*x ", checksumLength, crc32.Checksum(text, castagnoli))
	return append(append(line, text...), '\n'), nil
}

// splitLine takes the checksum off a line, and reports whether it is the right one.
func splitLine(line []byte) (text []byte, good bool) {
	sum, text, _ := bytes.Cut(line, []byte(" "))
	return text, string(sum) == fmt.Sprintf("%0*x", checksumLength, crc32.Checksum(text, castagnoli))
}

func decodeChange(line []byte) (change, error) {
	text, good := splitLine(line)
	switch {
	case !good && bytes.HasPrefix(line, []byte("{")):
		return change{}, errors.New("it has no checksum: an older version wrote this file. Move it away to begin anew")
	case !good:
		return change{}, errors.New("it is damaged. Restore the file from a copy, or move it away to begin anew")
	}
	var c change
	return c, strictJSON(text, &c)
}

// compact writes the snapshot beside the file and puts it in its place; at every moment one complete file exists.
func (d *dataFile) compact(path string, snapshot iter.Seq[change]) error {
	next, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(next, 1<<16)
	for c := range snapshot {
		line, err := encodeChange(c)
		if err != nil {
			return errors.Join(err, next.Close())
		}
		_, _ = out.Write(line) //nolint:errcheck // a writer that failed says so when it is flushed
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
	line, err := encodeChange(c)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed != nil {
		return d.failed
	}
	_, err = d.file.Write(line)
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
