package stripe

import (
	"context"
	"errors"
	"fmt"
	"strings"

	stripego "github.com/stripe/stripe-go/v79"

	"payonce/domain"
	"payonce/provider"
)

// call says which of the four calls a result is about, and what its answer must agree with.
type call struct {
	kind      kind
	key       string
	reference string                              // of the intent; empty for create, which does not know it yet
	echoes    func(*stripego.PaymentIntent) error // whether the answer repeats what was asked; nil when there is nothing to compare
}

type kind string

const (
	create  kind = "create"
	confirm kind = "confirm"
	cancel  kind = "cancel"
	lookup  kind = "lookup"
)

// Requests never ask for expanded objects: the id of the latest attempt is all we need of it, and a parameter that came
// and went with our versions would make Stripe see another request under a repeated key.

// CreateIntent makes an intent for cards, unconfirmed. Payment methods are named, so that the account's settings cannot
// add one that needs a return URL, and the capture method is named, so that Stripe's default cannot change ours.
func (s *Stripe) CreateIntent(ctx context.Context, key string, p provider.IntentParams) provider.Result {
	c := call{kind: create, key: key}
	method, known := captureMethods[p.CaptureMethod]
	_, sold := p.Amount.Currency.Rule()
	switch {
	case p.Amount.Amount <= 0:
		return c.refuse(fmt.Errorf("amount %d is not positive", p.Amount.Amount))
	case !sold:
		return c.refuse(errors.New("the currency is not one we know the minor unit of"))
	case !known:
		return c.refuse(errors.New("the capture method is not known"))
	}
	params := &stripego.PaymentIntentParams{
		Amount:             stripego.Int64(p.Amount.Amount),
		Currency:           stripego.String(strings.ToLower(string(p.Amount.Currency))),
		CaptureMethod:      stripego.String(string(method)),
		PaymentMethodTypes: stripego.StringSlice([]string{"card"}),
		Metadata:           p.Metadata,
	}
	if p.Description != "" {
		params.Description = stripego.String(p.Description)
	}
	c.echoes = func(pi *stripego.PaymentIntent) error {
		if pi.Amount != p.Amount.Amount || !strings.EqualFold(string(pi.Currency), string(p.Amount.Currency)) || pi.CaptureMethod != method {
			return errors.New("the intent differs from what was asked in amount, currency or capture method")
		}
		return nil
	}
	return s.send(ctx, c, &params.Params, func() (*stripego.PaymentIntent, error) { return s.intents.New(params) })
}

var captureMethods = map[domain.CaptureMethod]stripego.PaymentIntentCaptureMethod{
	domain.CaptureAutomatic: stripego.PaymentIntentCaptureMethodAutomatic, // not automatic_async: see the package comment
	domain.CaptureManual:    stripego.PaymentIntentCaptureMethodManual,
}

// ConfirmIntent confirms an intent with the payment method. Without a return URL, a bank that wants the buyer to
// authenticate is answered with a step that only Stripe's own script could take.
func (s *Stripe) ConfirmIntent(ctx context.Context, key, reference string, p provider.ConfirmParams) provider.Result {
	c := call{kind: confirm, key: key, reference: reference}
	if p.PaymentMethod == "" {
		return c.refuse(errors.New("no payment method"))
	}
	params := &stripego.PaymentIntentConfirmParams{PaymentMethod: stripego.String(p.PaymentMethod)}
	if p.ReturnURL != "" {
		params.ReturnURL = stripego.String(p.ReturnURL)
	}
	return s.send(ctx, c, &params.Params, func() (*stripego.PaymentIntent, error) { return s.intents.Confirm(reference, params) })
}

// CancelIntent cancels an intent as abandoned. An intent that is canceled already is refused by Stripe, not canceled again:
// the result is then rejected, and its intent shows the fence that stands.
func (s *Stripe) CancelIntent(ctx context.Context, key, reference string) provider.Result {
	params := &stripego.PaymentIntentCancelParams{
		CancellationReason: stripego.String(string(stripego.PaymentIntentCancellationReasonAbandoned)),
	}
	c := call{kind: cancel, key: key, reference: reference}
	return s.send(ctx, c, &params.Params, func() (*stripego.PaymentIntent, error) { return s.intents.Cancel(reference, params) })
}

// Intent reads an intent.
func (s *Stripe) Intent(ctx context.Context, reference string) provider.Result {
	params := &stripego.PaymentIntentParams{}
	c := call{kind: lookup, reference: reference}
	return s.send(ctx, c, &params.Params, func() (*stripego.PaymentIntent, error) { return s.intents.Get(reference, params) })
}

// send makes one call and judges what came of it.
func (s *Stripe) send(ctx context.Context, c call, params *stripego.Params, do func() (*stripego.PaymentIntent, error)) provider.Result {
	if err := c.check(); err != nil {
		return c.refuse(err)
	}
	if err := ctx.Err(); err != nil {
		return c.refuse(err)
	}
	if c.kind != lookup {
		params.SetIdempotencyKey(c.key)
	}
	w := &wire{}
	params.Context = w.watch(ctx)
	pi, err := do()
	result := s.judge(c, pi, err, w)
	if n := w.connections.Load(); n > 1 {
		s.log.InfoContext(ctx, "stripe call sent again by the transport after a connection died", "call", c.kind,
			"intent", c.reference, "connections", n, "outcome", result.Outcome, "request_id", result.RequestID)
	}
	return result
}

// check refuses a key or a reference that would reach Stripe as something else. An empty reference would turn a look-up
// into a list, one with a slash or dots into another path.
func (c call) check() error {
	switch {
	case c.kind != lookup && (c.key == "" || len(c.key) > domain.MaxKeyLength || !printable(c.key)):
		return errors.New("the idempotency key is not 1 to 255 visible ASCII characters")
	case c.kind != create && !validReference(c.reference):
		return errors.New("the reference is not the id of an intent")
	}
	return nil
}

func validReference(s string) bool {
	return s != "" && len(s) <= 255 && !strings.ContainsFunc(s, func(r rune) bool { return !word(r) })
}

// refuse is the result of a call that this adapter did not even try to send.
func (c call) refuse(err error) provider.Result {
	return provider.Result{Outcome: provider.NotSent, Err: fmt.Errorf("stripe %s: not sent: %w", c.kind, err)}
}
