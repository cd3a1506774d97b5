// Package domain holds the nouns of Payonce, their money, their states and the moves that are legal between them.
// It imports the standard library only and does no I/O: no database, no network, no clock, no randomness. A time or
// an id always comes in as an argument, so every rule here can be tested with plain values.
//
// # The words, one per thing
//
//   - merchant: the tenant. Everything belongs to exactly one.
//   - order: what a buyer owes. It owns the total, with its prices frozen when it was placed.
//   - charge: one intention to collect the money of one order. An order has at most one charge that is open or paid.
//   - attempt: one call to the provider for a charge.
//   - intent: the provider's object for a charge (Stripe: PaymentIntent); its id is the charge's provider reference.
//   - idempotency key: the caller's name for one business intent. Its scope is merchant + operation.
//   - fingerprint: the hash of the normalised command that came with a key.
//   - recovery point: the last step of a keyed operation that is known to be durable.
//   - lease: who may advance a running key, until when (by the database's clock), under which generation.
//   - answer: the exact bytes the first caller was told; every replay repeats them.
//   - outcome: what a provider call came to, including "unknown".
//   - capture, authorise, void: take money, hold it, let it go.
//   - fence: cancelling an intent at the provider, so that nothing in flight can take money any more.
//   - refund: money back by us. dispute: money back by the bank. settlement: what the provider paid out to us.
//
// # How a charge moves
//
//	created ──► unknown ──► requires_action ──► processing ──► authorized ──► succeeded
//	   │           │               │                 │              │
//	   └───────────┴───────────────┴─────────────────┴──────────────┴──► failed | canceled
//
// Every arrow may be skipped to the right; none goes back. succeeded, failed and canceled are final. The exact set is
// in [ChargeStatus.CanBecome], and the database holds the same rule in a trigger.
package domain
