// Package client calls the HTTP API of a Payonce service and keeps the caller's half of its promise. It depends on the
// standard library only and knows the service by its contract alone, never by its code.
//
// # The promise, and the caller's half of it
//
// The service promises that one intent has at most one effect, however often it is asked for. It can keep that only if
// whoever asks says when two requests mean the same thing. That is the idempotency key: the name of one intent. An
// intent is what a person wants ("pay this order with this card"), not an HTTP request; it may take many requests to find
// out what became of it, and all of them carry the same key.
//
// So the caller has three duties:
//
//   - Make one key for each intent, when the intent is made, and store it before the first request: [NewIntent], and
//     [Intent.Key] for the database. A program that crashed goes on with [StoredIntent].
//   - Whatever happens, ask again with the same key. No answer is not a failure. A new key after a timeout is a second
//     intent, and a second payment.
//   - Make a new key only for a new intent. After a final refusal, such as a declined card, the buyer's wish to pay with
//     another card is one; a missing answer never makes one.
//
// This package takes over the second duty. Each call takes the intent, encodes the command once, and sends the same
// key with the same bytes until there is an answer, or until attempts, time or context run out. There is no way to give
// it a second key, and it never makes one. Keys are told apart by operation, so one intent may name an order and its charge.
//
// # What a call can come to
//
// A keyed call ends in one of four ways, and each asks for something else:
//
//   - No error: this is the outcome. Only a charge can still be open then, which [Charge.Decided] tells.
//   - [*Problem]: the service refused. With [Problem.Final], the refusal is the outcome of the intent and repeats for ever;
//     without, the request was refused before the key was looked at, and the same intent may be sent again, mended.
//   - [*UnknownError]: nobody knows. The effect may be there, may come, or may never have been. Ask again later with the
//     intent that it carries. It is never a failure.
//   - Any other error: this call has done nothing. An argument is wrong, or the context ended before anything was sent
//     that the service can have taken up.
//
// UnknownError never unwraps to a Problem, so that code which looks for a refusal first cannot take one for the other. A
// refusal that follows a lost answer is an UnknownError, too: an API key that was revoked between two attempts says nothing
// about the first one.
//
// # What is sent again
//
// Lost connections, timeouts, answers that break off or cannot be understood, 409 idempotency-key-in-progress, 429 and
// every 5xx: nothing of that is ever stored under a key. A Retry-After is honoured; without one the pauses double, with
// full jitter. Every other refusal is returned at once. Requests without a key read, set or remove, so they too can be
// repeated: the last writer wins, as without a repetition.
//
// A charge that is not decided yet is answered with 202, which means "ask again". [Client.AwaitCharge] does, and returns
// when the outcome is proved or the context ends.
//
// # Reading order
//
// intent.go (the key), run.go (the life of one call), errors.go (what it ends with), charges.go (what 202 means).
package client
