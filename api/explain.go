package api

import (
	"bytes"
	"html/template"
	"net/http"

	"github.com/labstack/echo/v4"

	"payonce/domain"
)

// explanations say, for a person, why a problem comes up and what to do about it. They are served at the path that the
// problem's "type" names. A test checks that every problem has one.
var explanations = map[domain.Code]struct{ Cause, Cure string }{
	domain.CodeMalformedJSON: {"The body is not valid JSON, or a member is unknown, given twice, in another case, or of the wrong type. Nothing is guessed or dropped.",
		"Mend what errors lists: each entry has a JSON pointer to the place. The idempotency key was not used."},
	domain.CodeKeyMissing: {"The operation creates or moves something, so it needs a name for the intent behind the request.",
		"Send Idempotency-Key with a fresh, random name, for example a UUID. Make it once per intent, keep it over every retry."},
	domain.CodeKeyInvalid: {"The header is empty, longer than 255 characters, given more than once, or holds other characters than printable ASCII.",
		"Send one key, bare or as a quoted string. Keep the key; only its form is wrong."},
	domain.CodeInvalidParameter: {"A query parameter is not known to this path, is given twice, or has a value that is not allowed.",
		"Look at parameter for the name. Parameters are never ignored silently."},
	domain.CodeUnauthenticated: {"No API key was sent, or it is not known or revoked. The answer is the same in all cases.",
		"Send Authorization: Bearer with a secret key, in exactly one header."},
	domain.CodeForbidden: {"The API key is valid, but its role does not include this operation.",
		"Use a key with the role that detail names."},
	domain.CodeCardDeclined: {"The bank or the provider refused the payment, and that is proved: no money was taken.",
		"Show failure.message to the buyer. A new try is a new intent with a new key; the order can still be paid."},
	domain.CodeNotFound: {"The path or the object does not exist, or it belongs to another merchant, which looks the same.",
		"Check the id and the API key."},
	domain.CodeMethodNotAllowed: {"The path exists, but not for this method.", "The Allow header lists the methods it knows."},
	domain.CodeNotAcceptable:    {"The request accepts only media types in which there is no answer.", "Accept application/json, or leave the header out."},
	domain.CodeKeyInProgress: {"A request with this key is still running. No second one was started.",
		"Wait for Retry-After and send the same request with the same key. resource, once it is there, can be read meanwhile."},
	domain.CodeKeyExpired: {"The key was used so long ago that its answer is no longer kept, but it is known that it was used.",
		"Look at resource. Only a new intent gets a new key."},
	domain.CodeOutOfStock: {"Fewer units are available than the order wants. The refusal is final for this key.",
		"Order at most available units, as a new intent with a new key."},
	domain.CodeOrderNotPayable: {"The order was cancelled or has expired.", "Place a new order."},
	domain.CodeChargeInProgress: {"Another charge of the order is open: it may still take the money. A second one could take it twice.",
		"Read the charge that charge_id names until it is decided. Do not make a new key to get around this."},
	domain.CodeOrderAlreadyPaid:   {"The order is paid. Nothing was charged by this request.", "Show the buyer the order."},
	domain.CodeCartAlreadyOrdered: {"The cart has become the order that order_id names, and no longer changes.", "Go on with that order, or start a new cart."},
	domain.CodeChargeAbandoned: {"Nobody came back for the charge, so it was fenced at the provider before it took any money. It never can.",
		"Start a new charge with a new key."},
	domain.CodeTotalChanged: {"The order comes to another total than expected_total, usually because a price has changed.",
		"Show the buyer the total and, if it is accepted, send it as a new intent."},
	domain.CodeVersionConflict:      {"The object has moved on since it was read.", "Read it again and decide again."},
	domain.CodeBodyTooLarge:         {"The body is larger than 64 KiB.", "Send less."},
	domain.CodeUnsupportedMediaType: {"The body is not declared as application/json, or it has a Content-Encoding.", "Send plain JSON as application/json."},
	domain.CodeHeadersTooLarge:      {"The headers are larger than 16 KiB.", "Send less, above all shorter cookies and keys."},
	domain.CodeValidationFailed: {"The body is well-formed, but values in it are not allowed.",
		"errors lists all of them with JSON pointers. The idempotency key was not used; the corrected request may use it."},
	domain.CodeKeyReused: {"The key was used before with a request that means something else. The first one is untouched.",
		"If this is a new intent, make a new key. If it is a retry, send exactly what was sent first."},
	domain.CodeCardDataNotAccepted: {"Something in the body looks like the number of a payment card. It was neither stored nor logged.",
		"Collect cards only with the provider's own elements and send the token it gives you."},
	domain.CodeRateLimited:            {"The API key has sent more requests than it may.", "Wait for Retry-After, then send the same request with the same key."},
	domain.CodeInternal:               {"A fault of the service. Its details are in its log under request_id.", "Send the same request with the same key; it is safe. Report request_id if it stays."},
	domain.CodeProviderUnavailable:    {"The payment provider could not be reached, and it is proved that nothing was sent.", "Wait for Retry-After and send the same request with the same key."},
	domain.CodeTemporarilyUnavailable: {"The service or its database cannot answer right now. What the request asked for may or may not have happened.", "Wait for Retry-After and send the same request with the same key: it finds out, and does nothing twice."},
}

var explanationPage = template.Must(template.New("problem").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.Code}}</title></head>
<body><h1>{{.Title}}</h1><p><code>{{.Status}} {{.Code}}</code></p>
<h2>Why it comes up</h2><p>{{.Cause}}</p><h2>What to do</h2><p>{{.Cure}}</p></body></html>
`))

// explain serves the page behind a problem's type (RFC 9457, section 3.1.1).
func (a *API) explain(c echo.Context) error {
	code := domain.Code(c.Param("slug"))
	row, ok := problems[code]
	if !ok {
		return domain.E(domain.CodeNotFound, nil, "no such problem")
	}
	var page bytes.Buffer
	err := explanationPage.Execute(&page, map[string]any{"Code": code, "Title": row.title, "Status": row.status,
		"Cause": explanations[code].Cause, "Cure": explanations[code].Cure})
	if err != nil {
		return err
	}
	return c.HTMLBlob(http.StatusOK, page.Bytes())
}
