// Package payment holds the use cases. It is the only place that decides in which order transactions and provider calls
// happen, and it keeps two rules without exception: no provider call inside a transaction, and nothing is sent to the
// provider that was not written down before.
//
// There are two kinds of keyed operations:
//
//   - Those that touch only our own database (orders, carts, products) are one transaction: claim the key, change the
//     data, store the answer. See once.go.
//   - A charge needs the provider, so it is a chain of transactions and calls with a recovery point after each
//     transaction. See phase.go for the chain, charges.go for its steps, apply.go for the one function that turns what
//     the provider says into our state, and recover.go for what happens when nobody comes back.
//
// Read charges.go first.
package payment
