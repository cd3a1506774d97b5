// Package providertest is the behaviour that every adapter of the port [provider.Provider] must show, as one suite of
// tests. An adapter's own tests say how single answers are judged; this suite says what the answers must add up to when a
// provider is really asked: one key, one effect; one intent, one payment; nothing given back twice; a fence that holds; a
// list without a gap; and never a claim that the provider's own books do not bear out.
//
// The adapter's test opens an [Account] at a provider that can be broken on purpose and asked what really happened, and
// passes it to [Run]. The package knows no provider and no client library.
package providertest
