package stripe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	stripego "github.com/stripe/stripe-go/v79"
	"github.com/stripe/stripe-go/v79/webhook"

	"payonce/domain"
	"payonce/provider"
)

// How far from now an event may have been signed. Stripe signs every delivery anew, so an old signature is a recording; a
// clock that is a minute ahead is not.
const (
	signedBefore = 5 * time.Minute
	signedAfter  = time.Minute
)

// VerifyEvent checks the Stripe-Signature header of a webhook and reads its body. While a secret is being changed Stripe
// signs with both, and we know both.
//
// stripe-go checks the signature and nothing else here. Its own check of the time reads the wall clock, accepts any time in
// the future, and takes the last timestamp of a header for the signed one. Its check of the version would refuse every
// event of an account whose version is not ours, although the objects are read again in ours.
func (s *Stripe) VerifyEvent(body []byte, signature string, secrets []string, now time.Time) (provider.Event, error) {
	if len(secrets) == 0 {
		return provider.Event{}, errors.New("webhook secrets: there is none")
	}
	signed := false
	for _, secret := range secrets {
		if secret == "" { // everybody can sign with it
			return provider.Event{}, errors.New("webhook secrets: one is empty")
		}
		signed = signed || webhook.ValidatePayloadIgnoringTolerance(body, signature, secret) == nil
	}
	signedAt, dated := signatureTime(signature)
	if !signed || !dated {
		return provider.Event{}, provider.ErrEventSignature
	}
	if age := now.Sub(signedAt); age > signedBefore || age < -signedAfter {
		return provider.Event{}, fmt.Errorf("%w: by %s", provider.ErrEventTimestamp, age)
	}
	var event *stripego.Event
	if err := json.Unmarshal(body, &event); err != nil {
		return provider.Event{}, provider.ErrEventUnreadable // without the cause, which may quote the body
	}
	shown, ok := readEvent(event)
	if !ok {
		return provider.Event{}, provider.ErrEventUnreadable
	}
	return shown, nil
}

// signatureTime is the time that a header was signed at. A header with two of them is refused: which one the signature
// covers must not depend on who reads it.
func signatureTime(signature string) (at time.Time, ok bool) {
	for part := range strings.SplitSeq(signature, ",") {
		value, is := strings.CutPrefix(part, "t=")
		if !is {
			continue
		}
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || ok {
			return time.Time{}, false
		}
		at, ok = time.Unix(seconds, 0), true
	}
	return at, ok
}

// ListEvents lists events of every type. Events of the other mode are not among them.
func (s *Stripe) ListEvents(ctx context.Context, q provider.Query) (provider.Page[provider.Event], provider.Result) {
	return readPage(ctx, s, "/v1/events", q, listParams{}, func(e *stripego.Event) (provider.Event, entry, error) {
		shown, ok := readEvent(e)
		if !ok {
			return provider.Event{}, entry{}, errors.New("the list shows something else than events")
		}
		if shown.Live != s.live {
			return provider.Event{}, entry{}, errors.New("the event is not of the key's mode, test or live")
		}
		return shown, entry{e.ID, e.Created}, nil
	})
}

// eventObject is what every object of an event may have, in any version of the API.
type eventObject struct {
	ID            string            `json:"id"`
	Object        string            `json:"object"`
	PaymentIntent json.RawMessage   `json:"payment_intent"` // an id, or the object with one
	Metadata      map[string]string `json:"metadata"`
}

var eventObjects = map[string]provider.EventObject{
	"payment_intent": provider.EventAboutIntent,
	"charge":         provider.EventAboutAttempt,
	"refund":         provider.EventAboutRefund,
	"dispute":        provider.EventAboutDispute,
	"payout":         provider.EventAboutPayout,
}

// readEvent reads what an event shows. An event whose object we cannot read is still an event: it is about something else.
func readEvent(e *stripego.Event) (provider.Event, bool) {
	if e == nil || e.Object != "event" || !validReference(e.ID) || e.Type == "" || dotted(string(e.Type)) != string(e.Type) {
		return provider.Event{}, false
	}
	shown := provider.Event{
		Reference: e.ID, Type: string(e.Type), Created: at(e.Created), Live: e.Livemode,
		Account: token(e.Account), Version: dotted(e.APIVersion), Object: provider.EventAboutOther,
	}
	if e.Request != nil {
		shown.RequestID = token(e.Request.ID)
		if key := e.Request.IdempotencyKey; len(key) <= domain.MaxKeyLength && printable(key) {
			shown.Key = key
		}
	}
	var object eventObject
	if e.Data == nil || json.Unmarshal(e.Data.Raw, &object) != nil || !validReference(object.ID) {
		return shown, true
	}
	shown.ObjectReference, shown.Metadata = object.ID, object.Metadata
	if about, known := eventObjects[object.Object]; known {
		shown.Object = about
	}
	if shown.Object == provider.EventAboutIntent {
		shown.Intent = object.ID
	} else {
		shown.Intent = object.intent()
	}
	return shown, true
}

// dotted passes tokens with dots in them: types and versions.
func dotted(s string) string {
	if plain := strings.ReplaceAll(s, ".", "_"); token(plain) != plain {
		return token(s)
	}
	return s
}

// intent is the id of the intent that the object belongs to.
func (o eventObject) intent() string {
	var id string
	if json.Unmarshal(o.PaymentIntent, &id) != nil {
		var expanded struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(o.PaymentIntent, &expanded) != nil {
			return ""
		}
		id = expanded.ID
	}
	if !validReference(id) {
		return ""
	}
	return id
}
