//go:build unix

package localpg

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// oldest is the oldest major version that the schema works on.
const oldest = 15

// programs is a folder with PostgreSQL's initdb and postgres of one version.
type programs struct {
	dir          string
	major, minor int
}

// usualPlaces is where packagers put the programs; most of them are not on PATH.
var usualPlaces = []string{
	"/usr/lib/postgresql/*/bin",                                           // Debian, Ubuntu and their PGDG packages
	"/usr/pgsql-*/bin",                                                    // PGDG packages for Red Hat's family
	"/usr/libexec/postgresql*",                                            // Alpine
	"/usr/lib/postgresql*/bin",                                            // SUSE, older Alpine
	"/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin", // Homebrew on ARM and Intel
	"/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",     // Homebrew on Linux
	"/Applications/Postgres.app/Contents/Versions/*/bin", // Postgres.app
	"/opt/local/lib/postgresql*/bin",                     // MacPorts
	"/Library/PostgreSQL/*/bin", "/opt/PostgreSQL/*/bin", // EDB's installers
	"/usr/local/pgsql/bin", // built from source
}

// findPrograms returns the newest programs that can open data of the given major version, or the newest at all when
// there are no data yet (0). It looks at PGBIN alone when that is set. Nothing but a clear no leads to fetching.
func (s *Server) findPrograms(ctx context.Context, dataMajor int) (programs, error) {
	if dir := s.options.Getenv("PGBIN"); dir != "" {
		found, ok := s.ask(ctx, dir)
		if !ok || found.major < oldest {
			return programs{}, fmt.Errorf("PGBIN=%s is no folder with initdb and postgres of version %d or newer", dir, oldest)
		}
		return fitting([]programs{found}, dataMajor, s.folder.data)
	}
	var found []programs
	tooOld := ""
	for _, dir := range s.candidates(ctx) {
		switch one, ok := s.ask(ctx, dir); {
		case ok && one.major >= oldest:
			found = append(found, one)
		case ok:
			tooOld = fmt.Sprintf("; version %d in %s is too old", one.major, one.dir)
		}
	}
	if len(found) == 0 {
		fetched, err := s.fetchPrograms(ctx)
		if err != nil {
			return programs{}, fmt.Errorf("no PostgreSQL %d or newer found%s (%w): type \"%s\", or set DATABASE_URL to a running server, or PGBIN to the folder of initdb and postgres",
				oldest, tooOld, err, installHint(runtime.GOOS, osRelease(), os.Geteuid() == 0))
		}
		found = []programs{fetched}
	}
	return fitting(found, dataMajor, s.folder.data)
}

// fitting picks the newest of the programs that can open the data. Another major version cannot.
func fitting(found []programs, dataMajor int, data string) (programs, error) {
	slices.SortFunc(found, func(a, b programs) int { return (b.major-a.major)*1000 + b.minor - a.minor })
	for _, one := range found {
		if dataMajor == 0 || one.major == dataMajor {
			return one, nil
		}
	}
	return programs{}, fmt.Errorf("the data in %s were made by PostgreSQL %d, and only %d was found (%s): set PGBIN to the folder of PostgreSQL %d's programs, or delete the data",
		data, dataMajor, found[0].major, found[0].dir, dataMajor)
}

// candidates are the folders that may hold programs. On PATH a link may stand alone: what it leads to has the rest.
func (s *Server) candidates(ctx context.Context) []string {
	var dirs []string
	for _, path := range s.onPath("postgres") {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(target))
		}
	}
	for _, path := range s.onPath("pg_config") {
		if out, err := s.command(ctx, path, "--bindir").Output(); err == nil {
			dirs = append(dirs, strings.TrimSpace(string(out)))
		}
	}
	places := s.options.places
	if places == nil {
		places = usualPlaces
	}
	for _, pattern := range places {
		matches, _ := filepath.Glob(pattern) //nolint:errcheck // fails only for a malformed pattern
		dirs = append(dirs, matches...)
	}
	if cache, err := s.cacheFolder(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "bin")) // fetched at an earlier start
	}
	for i, dir := range dirs {
		if target, err := filepath.EvalSymlinks(dir); err == nil {
			dirs[i] = target
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

func (s *Server) onPath(name string) []string {
	var found []string
	for _, dir := range filepath.SplitList(s.options.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && filepath.IsAbs(path) && info.Mode()&0o111 != 0 && !info.IsDir() {
			found = append(found, path)
		}
	}
	return found
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) (\d+)(?:\.(\d+))?`)

// ask runs the programs of a folder for their version, as the account that will run them: what it cannot reach or what
// was built for another system is not found.
func (s *Server) ask(ctx context.Context, dir string) (programs, bool) {
	if !exists(filepath.Join(dir, "initdb")) || !exists(filepath.Join(dir, "postgres")) {
		return programs{}, false
	}
	out, err := s.command(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	match := versionLine.FindSubmatch(out)
	if err != nil || match == nil {
		return programs{}, false
	}
	major, _ := strconv.Atoi(string(match[1])) //nolint:errcheck // digits
	minor, _ := strconv.Atoi(string(match[2])) //nolint:errcheck // digits, or none in a beta
	return programs{dir: dir, major: major, minor: minor}, true
}

// command prepares a child. It gets a fresh environment: one empty PGPORT is enough to make initdb fail, and the keys in
// ours are not PostgreSQL's business. Its working folder is one that every account can read.
func (s *Server) command(ctx context.Context, program string, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, arguments...) //nolint:gosec // a program that was found, not one that was sent
	cmd.Dir = "/"
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC"}
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"} {
		if value := s.options.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.SysProcAttr = s.folder.account.attributes()
	cmd.WaitDelay = frozenPatience // a grandchild that holds the output open must not hold us
	return cmd
}

func osRelease() string {
	text, _ := os.ReadFile("/etc/os-release") //nolint:errcheck // absent on some systems, which the hint then covers generally
	return string(text)
}

var distributionLine = regexp.MustCompile(`(?m)^ID(?:_LIKE)?="?([^"\n]*)`)

// installHint is the line that installs PostgreSQL on this system.
func installHint(goos, release string, root bool) string {
	if goos == "darwin" {
		return "brew install postgresql@17"
	}
	lines := map[string]string{
		"debian": "apt-get install -y postgresql", "ubuntu": "apt-get install -y postgresql",
		"alpine": "apk add postgresql", "arch": "pacman -S postgresql",
		"fedora": "dnf install -y postgresql-server", "rhel": "dnf install -y postgresql-server",
		"suse": "zypper install postgresql-server", "opensuse": "zypper install postgresql-server",
	}
	for _, match := range distributionLine.FindAllStringSubmatch(release, -1) {
		for name := range strings.FieldsSeq(match[1]) {
			line, known := lines[name]
			switch {
			case known && root:
				return line
			case known:
				return "sudo " + line
			}
		}
	}
	return "install the package postgresql-server"
}
