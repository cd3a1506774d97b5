package stripe_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/provider/stripe"
)

// peer is a server below HTTP. It reads whole requests and then does with the connection what its script says for the
// n-th arrival; the last act goes on for ever.
type peer struct {
	URL      string
	listener net.Listener

	mu   sync.Mutex
	keys []string // of the arrivals, in order
}

// act does something with a connection that a request was read from, and says whether to read on.
type act func(net.Conn) (goOn bool)

func listen(t *testing.T, script ...act) *peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &peer{URL: "http://" + l.Addr().String(), listener: l}
	var handlers sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); handlers.Wait() })
	handlers.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
			handlers.Go(func() { p.play(conn, script) })
		}
	})
	return p
}

func (p *peer) play(conn net.Conn, script []act) {
	from := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(from)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		p.mu.Lock()
		n := len(p.keys)
		p.keys = append(p.keys, req.Header.Get("Idempotency-Key"))
		p.mu.Unlock()
		if !script[min(n, len(script)-1)](conn) {
			return
		}
	}
}

func (p *peer) arrived() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.keys...)
}

func fin(c net.Conn) bool   { _ = c.Close(); return false }
func stall(net.Conn) bool   { return true }
func reset(c net.Conn) bool { _ = c.(*net.TCPConn).SetLinger(0); return fin(c) }

// writes sends text and closes.
func writes(text string) act {
	return func(c net.Conn) bool { _, _ = io.WriteString(c, text); return fin(c) }
}

// sends sends text and keeps the connection.
func sends(text string) act {
	return func(c net.Conn) bool { _, _ = io.WriteString(c, text); return true }
}

// answers sends a whole answer.
func answers(status int, body string) act {
	return sends(answerText(status, body, len(body)))
}

func answerText(status int, body string, length int) string {
	return fmt.Sprintf("HTTP/1.1 %d OK\r\nRequest-Id: req_1\r\nContent-Length: %d\r\n\r\n%s", status, length, body)
}

// impatient is long enough to connect on a busy machine; what is waited for never comes.
func impatient(o *stripe.Options) { o.Timeout = 500 * time.Millisecond }
