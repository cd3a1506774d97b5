// Package stripe is the adapter to Stripe: it carries the calls of [provider.Provider] to Stripe's API and turns whatever
// comes back, or fails to, into one provider outcome. It also checks that an event which somebody posts to us is Stripe's.
// It is the only package that imports stripe-go.
//
// Read charges.go and refunds.go for what is sent, list.go and ledger.go for what is compared with our books, outcomes.go
// for what each answer means, transport.go for how an absent answer is judged, events.go for webhooks.
//
// # Why two steps
//
// Stripe can create and confirm an intent in one request. When that request's answer is lost, the caller knows no id: it
// can only send the same key again, for as long as Stripe remembers the key, and it has nothing to cancel. With a create
// that moves no money, an id that is stored, and a confirm by that id, every doubt is about one known object. It can
// succeed once at most, a read tells where it stands, and a successful cancel stops every confirm that is still on its
// way, however old and under whatever key. The price is one more round trip for each payment.
//
// Refunds have no second step at Stripe. All that protects them is the key, for the day that Stripe keeps it, and after that
// a list of the intent's refunds with our names in their metadata.
//
// # Why keys are the caller's
//
// stripe-go invents an idempotency key when it is given none. Such a key dies with the process, and with it the only
// safe way to repeat the call. So a call without a key is refused before it is sent, and so is a key that could reach
// Stripe in another form than it was given: stripe-go trims blanks, and a header cannot hold control characters.
//
// # Why there are no retries
//
// stripe-go's retries sleep without looking at the context, forget the first error, ignore Retry-After, and end with the
// process. Repeating a call that moves money is a decision, and the caller takes it with the key and the parameters
// written down. One kind of repetition is left: when a kept-alive connection turns out to be dead, net/http sends a keyed
// request again on another one. The key makes that harmless for the money, but not for the judgement: "connection
// refused" may then follow a request that did arrive. So connections are counted, and what a refusal proves about one
// arrival is not taken as proof about two.
//
// # Automatic means automatic
//
// A charge that is taken at once is sent with the capture method "automatic" and not with "automatic_async", Stripe's
// default. With the default, Stripe may say "succeeded" before it has captured and tell the fee and the balance
// transaction later, in an event that can be lost. We take the slower answer: when it says succeeded, the capture is
// done, and settlement never meets a paid charge without a ledger entry.
//
// # What it must not know
//
// It knows nothing of orders, of the database or of who calls. It stores nothing, repeats nothing and decides nothing
// beyond one call's outcome. It drops client secrets where they arrive, and no text of Stripe's reaches an error or a
// log: stripe-go's own error texts can hold a client secret.
package stripe
