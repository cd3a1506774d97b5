// Package web is the shop: server-rendered pages in front of the HTTP API, and a worked example of how a client keeps
// its half of the idempotency contract.
//
// It is a client like any other. It knows the API by its contract alone, calls it with a merchant's secret key through
// an [net/http.RoundTripper], and keeps no state: what it must remember between two requests is in the API or in the
// buyer's cookies. It must not know the domain, the database or the payment provider, and it never sees a card number.
//
// # One purchase, one key
//
// The key is the name of one purchase. It is made when the checkout page is shown: by the browser when it runs scripts
// (kept in localStorage), by the shop otherwise (kept in a cookie), in both cases under the id of the cart. It travels in
// a hidden field, so reloading, pressing twice, going back and trying again after an error all send the same one. The
// shop passes it on for the two operations that a purchase consists of, the order and its charge; the API scopes keys by
// operation, so one key names both.
//
// It is dropped when the purchase is decided: paid, or refused for good. Paying the same order with another card is a new
// intent. Its scope is the order plus the charge that failed, so the old key cannot come back by accident.
//
// Giving up a charge that waits at the bank is an intent too, but one that needs no remembering: its key follows from the
// charge. No other card is offered before the API has proved that the charge can take no money.
//
// # Reading order
//
// web.go (routes), visit.go (one request: cookies, forged forms), keys.go (the life of a key), purchase.go (what one press
// of "pay" comes to), giveup.go (how one is given up), checkout.go, orders.go and story.go (the pages that tell
// it). client.go and objects.go are the contract as far as the shop uses it.
package web
