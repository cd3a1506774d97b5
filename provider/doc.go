// Package provider is the port to a payment provider: the calls the use cases need, and a closed set of outcomes for each of
// them. [Intents] take money, [Refunds] give it back, the [Ledger] is the provider's own account of both, and [Events] are
// its news.
//
// The port exists because the network begins here. An adapter (package provider/stripe) turns whatever a provider
// and a network can do, from a clean answer to a reset in the middle of a body, into one [Outcome]. The rule that
// makes everything else safe: an adapter may only call something declined, rejected or not sent when it can prove
// it. Whatever it cannot prove is [Unknown].
//
// The package knows nothing of our database, our HTTP interface or any provider's client library.
package provider
