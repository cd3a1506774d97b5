package api

import "payonce/domain"

// explanations say, for a person, why a problem comes up and what to do about it. A test checks that every problem has
// both. Names of members and headers are in backquotes, as in Markdown.
var explanations = map[domain.Code]struct{ Cause, Cure string }{
	domain.CodeMalformedJSON: {
		"The body is not one JSON object, or a member of it is unknown, given twice, written in another case, or of the wrong type. Numbers must be whole and written plainly: `2`, not `2.0` or `2e0`. Nothing is guessed, dropped or rounded, because in a payment the part that was dropped is the part that matters.",
		"Mend what `errors` lists. Each entry has a JSON pointer to the place and the rule that was broken; an entry with an empty pointer is about the body as a whole. An unknown member is nearly always a spelling mistake.",
	},
	domain.CodeKeyMissing: {
		"The operation creates or moves something, so it needs a name for the intent behind the request. Without one, a lost answer could not be told from a lost request, and a retry could do everything twice.",
		"Send `Idempotency-Key` with a fresh, random name, for example a UUID. Make it when the intent is made, store it beside the intent before you send anything, and keep it over every retry.",
	},
	domain.CodeKeyInvalid: {
		"The header is empty, longer than 255 characters, given more than once, or holds other characters than printable ASCII. A bare key with a comma or a space is refused too: it is usually two headers that something has folded into one.",
		"Send exactly one key, bare or as a quoted string. Keep the key if you can; only its form is wrong.",
	},
	domain.CodeInvalidParameter: {
		"A query parameter is not known to this path, is given twice, or has a value that is not allowed. A filter that is misspelt and ignored would list too much, so nothing is ignored.",
		"Look at `parameter` for the name, and at `detail` for the rule. The reference lists the parameters of each operation.",
	},
	domain.CodeUnauthenticated: {
		"No API key was sent, it was sent in another way, or it is not known or revoked. The answer is the same in all cases, so that it helps nobody who guesses.",
		"Send `Authorization: Bearer` and a secret key, in exactly one header. A key in the query is never looked at, because addresses end up in logs.",
	},
	domain.CodeForbidden: {
		"The API key is valid, but its role does not include this operation. Each role includes those before it: `read`, `write`, `operator`.",
		"Use a key with the role that `detail` names. Trying again with this one cannot help.",
	},
	domain.CodeCardDeclined: {
		"The bank or the provider refused the payment, and that is proved: no money was taken. `charge` is the failed charge, and `failure` says why.",
		"Show `failure.message` to the buyer, and never `failure.decline_code`, which may say more than the holder of the card should know. The order can still be paid: another card is a new intent with a new key.",
	},
	domain.CodeNotFound: {
		"The path or the object does not exist, or it belongs to another merchant, which looks the same on purpose.",
		"Check the id and the API key. A key of the test shop does not see what another shop has made.",
	},
	domain.CodeMethodNotAllowed: {
		"The path exists, but the method of the request is none of those that it knows.",
		"The `Allow` header lists the methods that the path knows.",
	},
	domain.CodeNotAcceptable: {
		"The `Accept` header of the request names only media types in which there is no answer. Answers are `application/json`, and refusals `application/problem+json`.",
		"Accept `application/json`, or leave the header out.",
	},
	domain.CodeKeyInProgress: {
		"A request with this key is still running. This one has waited for it as long as it may, and no second execution was started.",
		"Wait as long as `Retry-After` says and send the same request with the same key; it gets the answer of the first. `Prefer: wait=10` lets it wait longer. `resource`, once it is there, can be read meanwhile. Never make a new key because the old one is busy.",
	},
	domain.CodeKeyExpired: {
		"The key was used so long ago that its answer is no longer kept. It is still known that it was used, so the request was not carried out a second time.",
		"Read the object that `resource` names: it is what the first request made. When there is no resource, the first request was refused and made nothing. If you truly want another one, that is a new intent with a new key. If a queue sends requests that old, keep them for less time than `Idempotency-Expires` said.",
	},
	domain.CodeOutOfStock: {
		"Fewer units are available than the order wants. Nothing was reserved.",
		"Order at most `available` units, or wait until there are more. Either is a new intent with a new key.",
	},
	domain.CodeOrderNotPayable: {
		"The order was cancelled, or it expired because nobody paid it in time. Its stock has gone back, so it cannot be paid any more.",
		"Place a new order.",
	},
	domain.CodeChargeInProgress: {
		"Another charge of the order is open: its outcome is not known, or the buyer has yet to authenticate. It may still take the money, and a second one could take it twice.",
		"Read the charge that `charge_id` names until it is decided. When it has failed, the order takes a new charge. Do not make another order to get around this.",
	},
	domain.CodeOrderAlreadyPaid: {
		"The order is paid. Nothing was charged by this request.",
		"Show the buyer the order. If your program thought that it was not paid, it has probably lost an answer and made a new key: keep the key over retries, and the charge is found instead.",
	},
	domain.CodeCartAlreadyOrdered: {
		"The cart has become the order that `order_id` names, and no longer changes.",
		"Go on with that order, or start a new cart.",
	},
	domain.CodeChargeAbandoned: {
		"The request that started the charge broke off and nobody came back for it, so it was fenced at the provider before it took any money. It never can.",
		"Start a new charge with a new key. Come back sooner with the old key, and it goes on where it broke off.",
	},
	domain.CodeChargeNotCapturable: {
		"Only money that is held can be captured, and only once. The charge was captured or cancelled before, the bank's time for it was over, or it never held any.",
		"Read the charge: `charge_status` says what it is. To collect the money again, start a new charge with a new key.",
	},
	domain.CodeTotalChanged: {
		"The order comes to another total than `expected_total`, usually because a price has changed since the buyer saw it. No order was placed.",
		"Show the buyer `total` and, if it is accepted, send it as the new `expected_total`. That is a new intent with a new key.",
	},
	domain.CodeVersionConflict: {
		"The object has moved on since it was read, to a state in which this change means nothing any more.",
		"Read it again, and decide again.",
	},
	domain.CodeBodyTooLarge: {
		"The body is larger than 64 KiB, as it was declared or as it came.",
		"Send less. No order of a hundred lines comes near the limit; metadata and descriptions do.",
	},
	domain.CodeUnsupportedMediaType: {
		"The body is not declared as `application/json` in UTF-8, or it has a `Content-Encoding`.",
		"Send plain JSON with `Content-Type: application/json`. With curl, `-d` alone declares a form; add the header.",
	},
	domain.CodeHeadersTooLarge: {
		"The request line and the headers are larger than 16 KiB together.",
		"Send less, above all shorter cookies. The API needs none.",
	},
	domain.CodeValidationFailed: {
		"The body is well-formed JSON, but values in it are not allowed: out of range, of an unknown currency, or naming a product that is not sold.",
		"Mend what `errors` lists; it has all mistakes at once, with a JSON pointer to each. The mended request may use the same key.",
	},
	domain.CodeKeyReused: {
		"The key was used before, by a request that means something else. The meaning is compared, not the bytes: spaces, the order of members and defaults spelt out make no difference. The first request is untouched and this one was not carried out.",
		"If this is a new intent, make a new key. If it is a retry, send exactly what was sent first: a program that rebuilds the request, with a new price or a new time in it, sends another one.",
	},
	domain.CodeCardDataNotAccepted: {
		"Something in the body or the query looks like the number of a payment card. It was neither stored nor logged.",
		"Collect cards with the provider's own form only, and send the token that it gives you. A number that is no card, such as a long reference, gets past when it has letters in it.",
	},
	domain.CodeRateLimited: {
		"The API key has sent more requests than it may, or too many without a valid key came from this address. The request was refused before it was read.",
		"Wait as long as `Retry-After` says, then send the same request with the same key. A client that backs off and adds some randomness to its waits rarely sees this.",
	},
	domain.CodeInternal: {
		"A fault of the service. Its details are in its log under `request_id`, and nowhere in the answer.",
		"Send the same request with the same key; that is safe, whatever was done. Report `request_id` if it stays.",
	},
	domain.CodeProviderUnavailable: {
		"The payment provider could not be reached, and it is proved that nothing was sent that could take money.",
		"Wait as long as `Retry-After` says and send the same request with the same key.",
	},
	domain.CodeTemporarilyUnavailable: {
		"The service or its database cannot answer right now. What the request asked for may or may not have happened.",
		"Wait as long as `Retry-After` says and send the same request with the same key: it finds out what happened, and does nothing twice. A new key could pay twice.",
	},
}
