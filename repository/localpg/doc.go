// Package localpg runs a private PostgreSQL server for the demo and for the tests, so that neither needs an installation
// step, a container, a port or a password.
//
// The server listens on one Unix socket in a folder that only its own account can enter. Its data live in a folder of
// the project. Any number of processes share it: each holds a lock while it uses the server, and the last one to leave
// stops it. A process that is killed leaves the server running; the next start takes it over.
//
// Two file locks make this safe between processes. gate.lock is exclusive and is held while a server is started or
// stopped, so two starters cannot both run initdb. users.lock is shared and is held by every living user; whoever can
// take it exclusively is the last one. The kernel drops both with the process, so a kill -9 leaves no stale lock behind.
//
// The package knows PostgreSQL's programs, processes and files. It knows nothing of the schema or of Payonce's data, and
// it must not be used for production data: trust authentication is right for a private socket and nothing else.
package localpg
