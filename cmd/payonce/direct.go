package main

import (
	"bytes"
	"io"
	"net/http"
)

// direct calls a handler of this process as if it were far away: the web shop is a client of the API like any other, and
// in one process its requests need no socket.
type direct struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := &buffered{header: http.Header{}, status: http.StatusOK}
	inner := r.Clone(r.Context())
	inner.RequestURI = r.URL.RequestURI()
	if inner.Body == nil {
		inner.Body = http.NoBody
	}
	d.handler.ServeHTTP(answer, inner)
	return &http.Response{
		StatusCode: answer.status, Status: http.StatusText(answer.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: answer.header, Body: io.NopCloser(&answer.body), ContentLength: int64(answer.body.Len()), Request: r,
	}, nil
}

// buffered keeps a whole answer.
type buffered struct {
	header http.Header
	status int
	wrote  bool
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (b *buffered) Header() http.Header { return b.header }

// WriteHeader implements http.ResponseWriter. Only the first status counts, as in net/http.
func (b *buffered) WriteHeader(status int) {
	if !b.wrote {
		b.status, b.wrote = status, true
	}
}

// Write implements http.ResponseWriter.
func (b *buffered) Write(p []byte) (int, error) {
	b.wrote = true
	return b.body.Write(p)
}
