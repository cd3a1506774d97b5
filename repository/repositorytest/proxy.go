package repositorytest

import (
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"
)

// Proxy stands in front of PostgreSQL, reads the protocol as it passes, and breaks connections at COMMIT: that is the one
// moment at which a broken connection leaves open what has happened, and no cable can be pulled that precisely. It knows
// COMMIT as a simple query, which is how lib/pq sends it; TLS it does not speak.
type Proxy struct {
	listener net.Listener
	network  string // of the server
	server   string
	done     chan struct{} // closed when the test is over

	mu      sync.Mutex
	cut     Cut
	when    func(n int) bool // nil: no COMMIT is cut
	commits int
	cuts    int
}

// Cut says how a connection breaks.
type Cut struct {
	Moment Moment
	Way    Way
}

// String names the cut in a test.
func (c Cut) String() string { return string(c.Way) + " " + string(c.Moment) }

// Moment is what the server knows of the transaction when the connection breaks.
type Moment string

// The moments.
const (
	BeforeCommit Moment = "before the server got COMMIT"
	AfterCommit  Moment = "after the server had answered COMMIT"
)

// Way is what the client sees of it.
type Way string

// The ways.
const (
	FIN       Way = "closed"     // the end of the stream
	RST       Way = "reset"      // an error of the network
	BlackHole Way = "black hole" // nothing at all, to either side: the connection stays open, and what is sent is lost
)

// Cuts are all of them: two moments, three ways.
func Cuts() (all []Cut) {
	for _, moment := range []Moment{BeforeCommit, AfterCommit} {
		for _, way := range []Way{FIN, RST, BlackHole} {
			all = append(all, Cut{moment, way})
		}
	}
	return all
}

// NewProxy puts a proxy in front of the database, for as long as the test runs. It cuts nothing before Cut is called.
func NewProxy(t testing.TB, db *DB) *Proxy {
	t.Helper()
	config, err := pq.NewConfig(db.URL)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // opening a loopback socket does not wait
	require.NoError(t, err)
	p := &Proxy{listener: listener, network: "tcp", server: net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))), done: make(chan struct{})}
	if filepath.IsAbs(config.Host) {
		p.network, p.server = "unix", filepath.Join(config.Host, ".s.PGSQL."+strconv.Itoa(int(config.Port)))
	}
	t.Cleanup(func() {
		close(p.done)
		require.NoError(t, listener.Close())
	})
	go p.accept()
	return p
}

// URL is the address of the same database by way of the proxy. settings are settings of its sessions.
func (p *Proxy) URL(t testing.TB, db *DB, settings url.Values) string {
	t.Helper()
	config, err := pq.NewConfig(db.URL)
	require.NoError(t, err)
	query := url.Values{"sslmode": {"disable"}}
	for name, values := range settings {
		query[name] = values
	}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(config.User, config.Password), Host: p.listener.Addr().String(), Path: "/" + config.Database, RawQuery: query.Encode()}
	return u.String()
}

// Cut breaks the connection at every COMMIT for which when says so. COMMITs are counted over all connections, from 1 for
// the first one after this call; those of reads count, too. A nil when mends the network for new connections.
func (p *Proxy) Cut(cut Cut, when func(n int) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut, p.when, p.commits, p.cuts = cut, when, 0, 0
}

// Nth is the n-th COMMIT and no other.
func Nth(n int) func(int) bool { return func(at int) bool { return at == n } }

// Seen is how many COMMITs have come since the last call of Cut, and how many of them were cut.
func (p *Proxy) Seen() (commits, cuts int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.commits, p.cuts
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(p.network, p.server) //nolint:noctx // opening a loopback socket does not wait
		if err != nil {
			client.Close() //nolint:errcheck // the connection is to end anyway
			continue
		}
		go p.carry(client, server)
	}
}

// carry passes on what the client says until one side ends or the connection is cut.
func (p *Proxy) carry(client, server net.Conn) {
	defer client.Close()        //nolint:errcheck // the connection is to end anyway
	defer server.Close()        //nolint:errcheck // the connection is to end anyway
	deaf := make(chan struct{}) // closed when the client is to hear nothing more
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		answers(client, server, deaf)
	}()
	buffer := make([]byte, 32<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		cut, now := p.take(buffer[:n])
		if now {
			close(deaf)
		}
		if !now || cut.Moment == AfterCommit {
			if _, err := server.Write(buffer[:n]); err != nil {
				return
			}
		}
		if now {
			p.end(cut, client, answered)
			return
		}
	}
}

// answers passes on what the server says. Once the client is deaf, the next answer is read and thrown away.
func answers(client, server net.Conn, deaf <-chan struct{}) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := server.Read(buffer)
		select {
		case <-deaf:
			return
		default:
		}
		if err != nil {
			client.Close() //nolint:errcheck // the connection is to end anyway
			return
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// take counts a COMMIT and says whether, and how, it is cut.
func (p *Proxy) take(message []byte) (Cut, bool) {
	if !strings.Contains(string(message), "COMMIT\x00") {
		return Cut{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commits++
	if p.when == nil || !p.when(p.commits) {
		return Cut{}, false
	}
	p.cuts++
	return p.cut, true
}

// end keeps the client's end of a cut connection as the cut says; both ends are closed after it.
func (p *Proxy) end(cut Cut, client net.Conn, answered <-chan struct{}) {
	if cut.Moment == AfterCommit {
		<-answered
	}
	switch cut.Way {
	case FIN: // closing does it
	case RST:
		if tcp, ok := client.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) //nolint:errcheck // the connection is to end anyway
		}
	case BlackHole:
		<-p.done // the server does not learn either that the client is gone: it must end the transaction by itself
	}
}
