package stripemocktest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// variable switches the outsider on.
const variable = "PAYONCE_STRIPE_MOCK"

// startLimit is how long stripe-mock may take to be built, from nothing and on a slow machine.
const startLimit = 5 * time.Minute

// judging is the outsider of this test binary; nil while nothing is watched.
var judging *outsider

// Main runs the tests of a package, with the outsider when it is switched on. It is what TestMain calls, and returns the
// code to exit with.
func Main(m *testing.M) (code int) {
	if os.Getenv(variable) == "" {
		return m.Run()
	}
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	o, err := begin(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, variable+" is set, and stripe-mock cannot be asked:", err)
		return 1
	}
	defer func() {
		if err := o.end(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	judging = o
	code = m.Run()
	fmt.Fprintf(os.Stdout, "stripe-mock was asked about %d requests, its description about %d answers\n", len(o.asked), o.answers)
	if code == 0 && (len(o.asked) == 0 || o.answers == 0) {
		fmt.Fprintln(os.Stderr, "nothing was watched: no test served its handler through Watch")
		return 1
	}
	return code
}

// Watch returns a handler that does what h does. With the outsider switched on, it also remembers every exchange with
// the API under /v1, with or without /scn/{name} in front, and fails t in the end for each that the outsider objects to.
// Register what closes the server after calling it, so that no exchange comes later than the end.
func Watch(t testing.TB, h http.Handler) http.Handler {
	t.Helper()
	if judging == nil {
		return h
	}
	return judging.watch(t, h)
}

func (o *outsider) watch(t testing.TB, h http.Handler) http.Handler {
	t.Helper()
	w := &watcher{next: h}
	t.Cleanup(func() {
		for _, e := range w.all() {
			// Not the test's context: that has ended before its clean-up begins.
			complaints, err := o.judge(context.Background(), e)
			for _, complaint := range complaints {
				t.Error(complaint)
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	return w
}

// shape is what stripe-mock looks at of a request.
type shape struct{ method, path, query, form string }

func (s shape) target() string {
	if s.query == "" {
		return s.path
	}
	return s.path + "?" + s.query
}

func (s shape) String() string { return strings.TrimSpace(s.method + " " + s.target() + "\n" + s.form) }

// exchange is one request and its whole answer.
type exchange struct {
	shape
	status int    // 0 when it cannot be known what the client got
	answer []byte // JSON; nil when none was sent, or something else
}

// watcher remembers what passes.
type watcher struct {
	next http.Handler

	mu   sync.Mutex
	seen []exchange
}

func (w *watcher) all() []exchange {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen)
}

var scenario = regexp.MustCompile(`^/scn/[^/]+`)

// ServeHTTP implements http.Handler.
func (w *watcher) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	path := scenario.ReplaceAllString(r.URL.Path, "")
	if !strings.HasPrefix(path, "/v1/") {
		w.next.ServeHTTP(rw, r)
		return
	}
	var form bytes.Buffer
	inner := *r
	inner.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(r.Body, &form), r.Body}
	answer := &copied{ResponseWriter: rw}
	w.next.ServeHTTP(answer, &inner)
	e := exchange{shape{r.Method, path, r.URL.RawQuery, form.String()}, answer.status, answer.whole()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, e)
}

// copied keeps a copy of the answer that it passes on.
type copied struct {
	http.ResponseWriter
	status int // 0 when nothing was written, or it may not have arrived since the connection was taken over
	body   bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (c *copied) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (c *copied) Write(p []byte) (int, error) {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	c.body.Write(p)
	return c.ResponseWriter.Write(p)
}

// Hijack implements http.Hijacker.
func (c *copied) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c.status = 0
	return http.NewResponseController(c.ResponseWriter).Hijack()
}

// Unwrap lets an http.ResponseController reach the rest.
func (c *copied) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// whole is the answer when it is complete JSON: a simulator cuts some on purpose.
func (c *copied) whole() []byte {
	if c.status == 0 || !json.Valid(c.body.Bytes()) {
		return nil
	}
	return c.body.Bytes()
}
