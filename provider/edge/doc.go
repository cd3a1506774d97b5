// Package edge stands between the use cases and a provider's adapter and keeps the two from hurting each other. It knows
// the port, package provider, and nothing of who calls or of what is on the other side.
//
// An [Edge] is itself a [provider.Provider]. Before a call goes out it has to find a place (so many calls at once and no
// more), a token (so many calls in a second) and a closed circuit (the provider has been answering lately), each within a
// short, bounded wait. A call that does not is refused as [provider.NotSent]: nothing was sent, so nothing can have
// happened, and the caller may say so to the buyer. A call that goes out has a time limit of its own.
//
// A [Retrier] repeats single calls where the port says that it is safe, as seldom as it can.
//
// # Why there is a share for reads and fences
//
// A part of the places and of the tokens is out of reach for calls that begin or move money. Look-ups and fences always
// have it. A charge in doubt holds a buyer's money, an order and its stock; a new charge holds nothing yet, and telling its
// buyer "not now" is honest. And doubt comes when the provider is slow, which is when the places are full: if new charges
// could take the last one, the look-ups that settle the old ones would wait behind the very calls that make more doubt,
// and the shop would stay in trouble after the provider has recovered.
//
// # Why the circuit opens on silence only
//
// An open circuit turns "unknown" into "not sent": new charges are refused before they can come into doubt. So it counts
// what makes doubt, calls that came to [provider.Unknown] by silence, by an answer that broke off or by a server error. A
// decline is an answer, and so is a refusal of any kind. A connection that was refused makes no doubt and costs no time; it
// counts for nothing.
//
// # Time
//
// Waits, limits and the circuit go by the process's monotonic clock, which a correction of the wall clock does not move.
// The tests run in bubbles of package testing/synctest, where that clock is theirs.
package edge
