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
//   - entry: a balance transaction, one line of the account's ledger.
//   - account: a customer, deleted or not.
//   - job: what the bank or Stripe itself does later, when the virtual clock comes to it. A task is a job at its time.
//   - event: what happened to an object, as it was then. A delivery is one event that is owed to one endpoint; an attempt
//     is one time it was sent.
//   - profile: a named mix of rules, for long runs.
//   - reference: one of the caller's own ids in an object's metadata; the audit counts by reference.
//
// # How a call runs
//
//	accept, auth, ratelimit, validate, idem_lookup, before_effect, locked, effect, after_effect, before_response
//
// The order is Stripe's: an error in the form is answered before the idempotency key is looked at, and so is never
// stored; the key is claimed before the object is locked; and the answer is stored before it is sent. A call that
// waits at before_effect has claimed its key and nothing else, like a request that is stuck in a queue: a cancel
// still passes it. One that waits at locked also holds the object.
//
// An isolated world begins with the first request to it that is more than a look.
//
// A call never looks at its connection's context. A client that hangs up changes nothing about the effect: that is
// the very case this package exists to show. Nor does a server's limit on an answer cut one off.
//
// An answer is kept under its key for 24 hours from when it was stored, however long the request had been held before, and
// is replayed whatever has become of what it names. What only refuses the parameters is not kept. A key is text in UTF-8.
//
// # The control interface
//
//	GET    /_sim                                       what happened, for people
//	GET    /_sim/journal, /_sim/audit                  what happened, for tests
//	POST   /_sim/clock      {"advance":"25h"}, up to the year 2200, {"freeze":true|false};  GET shows it
//	POST   /_sim/reset      {"seed":7}, or nothing to keep the seed
//	POST   /_sim/rules      a rule;  GET lists them, DELETE /_sim/rules[/{id}] removes them
//	POST   /_sim/profile    {"name":"calm|rough|webhook_storm","seed":7}, or "" for none;  GET shows it
//	POST   /_sim/settings   those to change, of the ones that GET shows (see settings)
//	POST   /_sim/webhooks/pause, /resume, /flush       flush sends all that is owed, whatever the clock, paused or not
//	POST   /_sim/events/{id}/redeliver                 sends it once more to every endpoint that wants it
//	GET    /_sim/deliveries?event=&object=&wait=10s    what was sent; wait for when nothing is on its way
//	POST   /_sim/webhook_endpoints/{id}/roll_secret    {"expires_in":"24h"}: a new secret, and for how long the old one signs
//	GET    /_sim/barriers/{name}?wait=10s              waits until a call is held there
//	POST   /_sim/barriers/{name}/release
//	POST   /_sim/payment_intents/{id}/action           {"outcome":"succeed|fail|abandon"}: the buyer authenticates
//	POST   /_sim/payment_intents/{id}/settle           {"outcome":"succeed|fail"}: the bank's late word
//	POST   /_sim/refunds/{id}/succeed, .../fail        the bank's late word on a refund
//	POST   /_sim/disputes   {"charge":"ch_...","reason":"fraudulent"}: a buyer complains about what is left of a charge
//	POST   /_sim/disputes/{id}/win, .../lose           the bank decides
//	POST   /_sim/payouts/run                           pays out what is available, a payout for each currency
//	POST   /_sim/payouts/{id}/fail                     the merchant's bank refuses it, paid or not
//
// A single request can ask for a fault of its own with X-Sim-Fault: name;param=value, a comma between two.
//
// # Faults
//
// On the way in: html_error (status), rate_limit (reason, retry_after), stale_get, stale_list, stale_search (lag_ms, or
// until a time), key_in_use, prune_key (key, a glob, or age; the request's own key without them), lock_timeout,
// reset_before_effect, error_before_effect (status, store, should_retry), delay (ms, point), hold (barrier, point). In the
// effect: decline (code, decline_code), require_action, processing. On the way out: error_after_effect (as before),
// drop_after_effect (mode fin, rst or stall), truncate (bytes; mode short_length or clean_json_cut), empty_200,
// ok_should_retry.
//
// On the way of an event, by a rule that matches on event (its type, * is any text) or object (an id): lose, duplicate (n
// times in all), delay (ms by the virtual clock), reorder (behind the next window deliveries, 10 s at the longest),
// twin_event, early (before the answer of the call that caused it), bad_signature, old_timestamp (seconds), wrong_version
// (version). All endpoints suffer alike, and every attempt.
//
// A rule matches on method, path_glob, key_glob, metadata, pm, event, object, nth, from_nth and probability; times limits
// its hits, off suspends it. Whom a probability strikes is decided by the seed, the rule and the request or event alone.
//
// # Webhooks
//
// An event is sent to every enabled endpoint that wants its type, after the answer of the call that caused it has left; an
// answer that a fault holds up holds nothing else up. Deliveries to one endpoint are made one after the other, in order,
// unless the settings allow several at a time. Anything but 2xx within the timeout is a failure, a redirect too. It is
// tried again 1 min, 1 h and 3 h later and then given up, or, with live retries, after 5 min, doubling up to 12 h, for 3
// days. Advancing the clock plays all of that, attempt by attempt, before it returns. What is owed is in the data file.
//
// Each attempt is signed anew, by real time unless the settings say otherwise, since that is what receivers compare with.
//
// # What happens by itself
//
// By the virtual clock: a balance transaction 5 s after an asynchronous capture, its money available 2 days later; an
// authorization ends after 7 days; a payment that is processing is decided after 1 h; a refund to pm_card_pendingRefund or pm_card_refundFail is decided after 1 h; disputes
// of the tokens made for it open 10 s after the payment, are decided 10 s after winning_evidence or losing_evidence, and
// are lost when nobody answers for 7 days (an inquiry is closed after 30); a payout is submitted after 1 h, can be taken
// apart after 3 h and is paid after 2 days. Search knows what is 10 s old.
//
// A charge costs 2.9 % and 0.30, a dispute 15.00, which is given back when it is won; a refund returns no fee. Nothing is
// converted: every currency is a balance of its own.
//
// # Locks
//
// Each world has one mutex. It is held for short, non-waiting sections only (and for the write to disk that commits a
// change); a call that sleeps or waits at a barrier holds a claimed key or a busy object, never the mutex, and a delivery
// that is on the wire holds nothing at all.
//
// # What it must not know
//
// It imports the standard library only and knows nothing of the service it is used to test, not even its names for
// things, beyond the metadata names that count as references. It holds no card data: parameters that carry card
// numbers are refused before anything about them is written down.
package simulator
