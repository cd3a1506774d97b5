package repository

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"
)

// guardedDialer gives lib/pq connections that cannot hang and cannot lie. It closes two measured holes:
//
//   - lib/pq does not look at a context while it waits for a silent network. A reply that never comes would block a
//     transaction for ever, COMMIT included. Every read and write here has a deadline of its own.
//   - lib/pq turns an EOF into driver.ErrBadConn, and database/sql takes that as leave to run the statement again on
//     another connection, although the server may have executed it. Here an EOF becomes a plain network error, unless
//     nothing was asked yet but to begin: then repeating is harmless, and it is how a stale idle connection is replaced.
//
// The second rule reads the bytes of the protocol. Under TLS it cannot, and then treats every EOF as a network error: a
// stale connection costs one failed request instead of none, and safety is the same.
type guardedDialer struct {
	net.Dialer
	limit time.Duration // longest silence; must exceed statement_timeout, or a slow statement looks like a dead network
}

func newGuardedDialer(limit time.Duration) *guardedDialer {
	return &guardedDialer{
		Dialer: net.Dialer{
			Timeout:         3 * time.Second,
			KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3},
		},
		limit: limit,
	}
}

// Dial implements pq.Dialer.
func (d *guardedDialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// DialTimeout implements pq.Dialer.
func (d *guardedDialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

// DialContext implements pq.DialerContext.
func (d *guardedDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &guardedConn{Conn: conn, limit: d.limit, harmless: true}, nil
}

type guardedConn struct {
	net.Conn
	limit    time.Duration
	harmless bool // nothing was sent since the connection was opened or last idle but the start-up messages or to begin
	started  bool // the start-up exchange is over
}

func (c *guardedConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.limit)); err != nil { //nolint:forbidigo // a socket deadline is wall-clock time by definition
		return 0, err
	}
	n, err := c.Conn.Read(p)
	if errors.Is(err, io.EOF) && !c.harmless {
		err = &net.OpError{Op: "read", Net: "postgresql", Addr: c.RemoteAddr(), Err: io.ErrUnexpectedEOF}
	}
	return n, err
}

func (c *guardedConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.limit)); err != nil { //nolint:forbidigo // as in Read
		return 0, err
	}
	c.observe(p)
	return c.Conn.Write(p)
}

// observe remembers whether the last thing asked was harmless. The start-up packet has no type byte; password messages
// have type 'p'; a simple query has 'Q', its length, its text and a zero byte.
func (c *guardedConn) observe(p []byte) {
	switch {
	case len(p) > 0 && !c.started && (p[0] == 0 || p[0] == 'p'):
		return
	default:
		c.started = true
		c.harmless = isBegin(p)
	}
}

// isBegin recognises the one simple-query message by which a transaction is opened and given its scope. Anything more,
// in the same query or as a second message behind it, is not harmless.
func isBegin(p []byte) bool {
	const head = 5                                                                               // type and length
	if len(p) <= head || p[0] != 'Q' || binary.BigEndian.Uint32(p[1:head]) != uint32(len(p)-1) { //nolint:gosec // a message is never that long
		return false
	}
	return p[len(p)-1] == 0 && beginningMessage.Match(p[head:len(p)-1])
}
