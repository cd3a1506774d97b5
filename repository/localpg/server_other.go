//go:build !unix

package localpg

import (
	"context"
	"errors"
)

// errNoUnix is why nothing starts here: the server needs file locks, Unix sockets and accounts.
var errNoUnix = errors.New("a private PostgreSQL server needs Linux, macOS or another Unix: set DATABASE_URL to a running server, or use WSL")

// Server is this process's share in a running server; there is none on this system.
type Server struct{}

// Start says what to do instead.
func Start(context.Context, Options) (*Server, error) { return nil, errNoUnix }

// Reset says what to do instead.
func Reset(string) error { return errNoUnix }

// URL is the address of a database.
func (*Server) URL(string) string { return "" }

// PSQL is the line that opens a database for a person.
func (*Server) PSQL(string) string { return "" }

// Stop does nothing.
func (*Server) Stop(context.Context) error { return nil }
