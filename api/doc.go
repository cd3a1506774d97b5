// Package api is the HTTP interface: routes, authentication, strict decoding, problem+json. Its handlers are thin: they
// read a typed command, call one use case and write one answer. It knows no SQL and no provider.
//
// Start with routes.go, the table of everything that can be asked. problem.go is the one table from a refusal's code to
// its HTTP status; commands.go says how bodies become commands.
package api
