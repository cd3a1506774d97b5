package api

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"payonce/domain"
)

// Guard prepares a server and its listener for the open network. It caps the connections: those beyond it wait in the
// kernel's queue instead of taking memory here. And it gives the form of every other refusal to those that net/http
// writes by itself, before any handler is asked: a request line or a header that cannot be read.
//
// It is to be called once, before the server serves what is returned.
func (a *API) Guard(server *http.Server, listener net.Listener, connections int) net.Listener {
	handler := server.Handler
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn, ok := r.Context().Value(connectionKey{}).(*connection); ok {
			conn.handled.Store(true)
		}
		handler.ServeHTTP(w, r)
	})
	server.DisableGeneralOptionsHandler = true // "OPTIONS *" would be answered by net/http, too
	server.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connectionKey{}, conn)
	}
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		if conn, ok := conn.(*connection); ok && state == http.StateIdle {
			conn.handled.Store(false) // the last answer is written in full
		}
	}
	return &guardedListener{Listener: listener, places: make(chan struct{}, connections), closed: make(chan struct{}), refused: a.refuseUnread}
}

type connectionKey struct{}

// guardedListener accepts as many connections as it has places.
type guardedListener struct {
	net.Listener
	places  chan struct{}
	closing sync.Once
	closed  chan struct{}
	refused func(client net.Addr, status int) []byte
}

// Accept implements net.Listener.
func (l *guardedListener) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &connection{Conn: conn, leave: sync.OnceFunc(func() { <-l.places }), refused: l.refused}, nil
}

// Close implements net.Listener.
func (l *guardedListener) Close() error {
	l.closing.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// connection knows whether what is written on it comes from a handler.
type connection struct {
	net.Conn
	leave   func()
	handled atomic.Bool // from the call of a handler until its answer is written
	refused func(client net.Addr, status int) []byte
}

// Write implements net.Conn. Whatever is written while no handler is at work is a whole refusal of net/http's own.
func (c *connection) Write(p []byte) (int, error) {
	if c.handled.Load() {
		return c.Conn.Write(p)
	}
	status, ok := refusalStatus(p)
	if !ok {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(c.refused(c.RemoteAddr(), status)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// refusalStatus reads the status of an answer.
func refusalStatus(answer []byte) (status int, ok bool) {
	rest, ok := bytes.CutPrefix(answer, []byte("HTTP/1.1 "))
	if !ok || len(rest) < 3 {
		return 0, false
	}
	status, err := strconv.Atoi(string(rest[:3]))
	return status, err == nil && status >= http.StatusBadRequest
}

// Close implements net.Conn.
func (c *connection) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// CloseWrite lets net/http say that nothing more will come, and wait until the refusal is read, before it closes.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// refuseUnread writes the refusal of a request that could not be read. Most of these have no type of their own: the
// status says all there is to say (RFC 9457, section 4.2.1).
func (a *API) refuseUnread(client net.Addr, status int) []byte {
	id := a.newID("req")
	title := http.StatusText(status)
	members := map[string]any{
		"type": "about:blank", "title": title, "status": status, "request_id": id,
		"detail": "the request is not one that HTTP/1.1 allows; nothing of it was looked at",
	}
	if status == http.StatusRequestHeaderFieldsTooLarge {
		members["type"], members["title"] = "/problems/"+string(domain.CodeHeadersTooLarge), problems[domain.CodeHeadersTooLarge].title
		members["detail"] = fmt.Sprintf("the request line and headers may have at most %d bytes together", maxHeaders)
	}
	body := encode(members)
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\nRequest-Id: %s\r\n", status, title, problemJSON, len(body), id)
	for _, header := range securityHeaders {
		fmt.Fprintf(&out, "%s: %s\r\n", header[0], header[1])
	}
	out.WriteString("\r\n")
	out.Write(body)
	a.log.Info("request that cannot be read", "request_id", id, "peer", client.String(), "status", status)
	a.observer(Observation{Status: status})
	return out.Bytes()
}
