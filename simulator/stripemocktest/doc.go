// Package stripemocktest lets an outsider judge what a simulated Stripe takes and says. The outsider is stripe-mock, which
// Stripe makes out of its own description of its API: it keeps no state, but it knows every parameter and every field.
//
// A test serves its handler through [Watch] and runs under [Main]. Nothing is watched unless PAYONCE_STRIPE_MOCK is set:
//
//	PAYONCE_STRIPE_MOCK=1 go test ./simulator ./provider/stripe
//
// Then each exchange is judged twice when its test has ended, and fails that test:
//
//   - A request that was accepted is sent to stripe-mock as well. What stripe-mock refuses there, the handler should have
//     refused too: it takes a parameter that does not exist, or a value that cannot be. The reverse is expected, since
//     stripe-mock looks at shapes only.
//   - An answer is held to the schema that the same description has for it. Fields that the schema does not know are wrong
//     as well: they are misspelt or made up.
//
// stripe-mock is the program of the module in tools/go.mod, built by the go tool, and listens on loopback only. The
// description is read from that module's folder.
//
// It describes a newer version of the API than the one that is simulated. What changed in between is a list with reasons,
// see tolerances.go; an entry that is not needed is an error.
//
// It must not know the simulator: a handler is all it looks at.
package stripemocktest
