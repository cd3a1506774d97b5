// Package simulator is a stateful stand-in for Stripe's card payments API (API version 2024-06-20, test mode, one
// account). It speaks the real protocol to an unmodified stripe-go client and to curl, remembers what it was asked,
// breaks on demand, and can say afterwards what really happened.
//
// # The words
//
//   - world: the state of one account. The root world answers under /v1, an isolated one under /scn/{name}/v1.
//   - call: one request on its way through the pipeline. Its line in the journal is its arrival.
//   - operation: what a call asks for, after its parameters were found good.
//   - effect: the work of one operation. It collects a change and touches nothing else.
//   - change: the new versions of everything one effect touched. It is committed whole: objects, idempotency record
//     and journal line together, in memory and on disk.
//   - record: the stored answer of an idempotency key.
//   - fault: something that goes wrong on purpose at a named point of the pipeline. A rule says when.
//   - reference: one of the caller's own ids in an object's metadata; the audit counts by reference.
//
// # How a call runs
//
//	accept, auth, ratelimit, validate, idem_lookup, before_effect, locked, effect, after_effect, before_response
//
// The order is Stripe's: a parameter error is answered before the idempotency key is looked at, and so is never
// stored; the key is claimed before the object is locked; and the answer is stored before it is sent. A call that
// waits at before_effect has claimed its key and nothing else, like a request that is stuck in a queue: a cancel
// still passes it. One that waits at locked also holds the object.
//
// A call never looks at its connection's context. A client that hangs up changes nothing about the effect: that is
// the very case this package exists to show.
//
// # The control interface
//
//	GET    /_sim                                       what happened, for people
//	GET    /_sim/journal, /_sim/audit                  what happened, for tests
//	POST   /_sim/clock      {"advance":"25h"}, {"freeze":true|false};  GET shows it
//	POST   /_sim/reset      {"seed":7}, or nothing to keep the seed
//	POST   /_sim/rules      a rule;  GET lists them, DELETE /_sim/rules[/{id}] removes them
//	GET    /_sim/barriers/{name}?wait=10s              waits until a call is held there
//	POST   /_sim/barriers/{name}/release
//	POST   /_sim/payment_intents/{id}/action           {"outcome":"succeed|fail|abandon"}: the buyer authenticates
//	POST   /_sim/payment_intents/{id}/settle           {"outcome":"succeed|fail"}: the bank's late word
//
// A single request can ask for a fault of its own with X-Sim-Fault: name;param=value, a comma between two.
//
// # Locks
//
// Each world has one mutex. It is held for short, non-waiting sections only (and for the write to disk that commits a
// change); a call that sleeps or waits at a barrier holds a claimed key or a busy object, never the mutex.
//
// # What it must not know
//
// It imports the standard library only and knows nothing of the service it is used to test, not even its names for
// things, beyond the metadata names that count as references. It holds no card data: parameters that carry card
// numbers are refused before anything about them is written down.
package simulator
