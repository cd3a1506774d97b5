package api_test

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/api"
)

// exchange is one request with its answer, as far as the document has something to say about them.
type exchange struct {
	method, path string // the path as it came, escaped
	query        url.Values
	request      http.Header
	sent         []byte
	status       int
	header       http.Header
	body         []byte
}

// document is parsed once for the whole suite.
var document = sync.OnceValues(func() (*contract, error) { return parseContract(api.OpenAPI()) })

// contracted holds every exchange with a handler against the document, whatever the test that caused it is about. What
// passes through this suite and is not described fails the test that has seen it.
func contracted(t testing.TB, next http.Handler) http.Handler {
	t.Helper()
	c, err := document()
	require.NoError(t, err)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := exchange{method: r.Method, path: r.URL.EscapedPath(), query: r.URL.Query(), request: r.Header.Clone()}
		var sent bytes.Buffer
		r = r.WithContext(r.Context()) // net/http looks at the body of its own request to see whether it was read
		r.Body = tee{io.TeeReader(r.Body, &sent), r.Body}
		answer := &recorder{ResponseWriter: w}
		next.ServeHTTP(answer, r)
		if answer.status == 0 {
			return // broken off on purpose: nothing was answered
		}
		seen.sent, seen.status, seen.header, seen.body = sent.Bytes(), answer.status, answer.header, answer.body.Bytes()
		for _, problem := range c.check(seen) {
			t.Errorf("not in openapi.yaml: %s %s -> %d: %s\n%s", seen.method, seen.path, seen.status, problem, seen.body)
		}
	})
}

type tee struct {
	io.Reader
	io.Closer
}

// recorder keeps a copy of what is answered.
type recorder struct {
	http.ResponseWriter
	status int
	header http.Header
	body   bytes.Buffer
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status, r.header = status, r.Header().Clone()
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	r.body.Write(p)
	return r.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController through.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
