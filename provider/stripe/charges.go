package stripe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	stripego "github.com/stripe/stripe-go/v79"

	"payonce/domain"
	"payonce/provider"
)

// Requests that change something never ask for expanded objects: a parameter that came and went with our versions would
// make Stripe see another request under a repeated key.

// CreateIntent makes an intent for cards, unconfirmed. Payment methods are named, so that the account's settings cannot
// add one that needs a return URL, and the capture method is named, so that Stripe's default cannot change ours.
func (s *Stripe) CreateIntent(ctx context.Context, key string, p provider.IntentParams) provider.Result {
	c := call{kind: create, key: key}
	method, known := captureMethods[p.CaptureMethod]
	if err := refuseMoney(p.Amount); err != nil {
		return c.refuse(err)
	}
	if !known {
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
	echoes := func(pi *stripego.PaymentIntent) bool {
		return pi.Amount == p.Amount.Amount && strings.EqualFold(string(pi.Currency), string(p.Amount.Currency)) && pi.CaptureMethod == method
	}
	return s.onIntent(ctx, c, &params.Params, echoes, func() (*stripego.PaymentIntent, error) { return s.intents.New(params) })
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
	return s.onIntent(ctx, c, &params.Params, nil, func() (*stripego.PaymentIntent, error) { return s.intents.Confirm(reference, params) })
}

// CaptureIntent captures what is held, or amount minor units of it. An answer that shows another amount as received is
// about another capture, of which there can only be one: what it leaves of ours is for a look-up to tell.
func (s *Stripe) CaptureIntent(ctx context.Context, key, reference string, amount int64) provider.Result {
	c := call{kind: capture, key: key, reference: reference}
	if amount < 0 {
		return c.refuse(fmt.Errorf("amount %d is negative", amount))
	}
	params := &stripego.PaymentIntentCaptureParams{}
	if amount > 0 {
		params.AmountToCapture = stripego.Int64(amount)
	}
	echoes := func(pi *stripego.PaymentIntent) bool {
		if amount == 0 {
			return pi.AmountReceived == pi.Amount
		}
		return pi.AmountReceived == amount
	}
	return s.onIntent(ctx, c, &params.Params, echoes, func() (*stripego.PaymentIntent, error) { return s.intents.Capture(reference, params) })
}

// CancelIntent cancels an intent as abandoned. An intent that is canceled already is refused by Stripe, not canceled again:
// the result is then rejected, and its intent shows the fence that stands.
func (s *Stripe) CancelIntent(ctx context.Context, key, reference string) provider.Result {
	params := &stripego.PaymentIntentCancelParams{
		CancellationReason: stripego.String(string(stripego.PaymentIntentCancellationReasonAbandoned)),
	}
	c := call{kind: cancel, key: key, reference: reference}
	return s.onIntent(ctx, c, &params.Params, nil, func() (*stripego.PaymentIntent, error) { return s.intents.Cancel(reference, params) })
}

// Intent reads an intent together with its latest charge, which alone knows until when held money can be captured.
func (s *Stripe) Intent(ctx context.Context, reference string) provider.Result {
	params := &stripego.PaymentIntentParams{}
	params.AddExpand("latest_charge")
	c := call{kind: lookup, reference: reference}
	return s.onIntent(ctx, c, &params.Params, nil, func() (*stripego.PaymentIntent, error) { return s.intents.Get(reference, params) })
}

// ListIntents lists intents without their charges: a page of a hundred would be half a megabyte larger.
func (s *Stripe) ListIntents(ctx context.Context, q provider.Query) (provider.Page[provider.Intent], provider.Result) {
	return readPage(ctx, s, "/v1/payment_intents", q, listParams{}, func(pi *stripego.PaymentIntent) (provider.Intent, entry, error) {
		if err := s.checkIntent(pi); err != nil {
			return provider.Intent{}, entry{}, err
		}
		return readIntent(pi), entry{pi.ID, pi.Created}, nil
	})
}

// onIntent makes a call whose answer is an intent. echoes says whether the answer repeats what was asked; nil when there
// is nothing to compare.
func (s *Stripe) onIntent(ctx context.Context, c call, params *stripego.Params, echoes func(*stripego.PaymentIntent) bool,
	do func() (*stripego.PaymentIntent, error),
) provider.Result {
	var pi *stripego.PaymentIntent
	return s.send(ctx, c, params, func() (err error) { pi, err = do(); return err }, func(result *provider.Result) error {
		intent, err := s.intent(pi, c.reference)
		if err != nil {
			return err
		}
		outcome, possible := accepted[c.kind][intent.Status]
		if possible && echoes != nil && !echoes(pi) {
			return errors.New("the intent differs from what was asked")
		}
		result.Intent = intent
		if !possible {
			return fmt.Errorf("the call cannot have led to an intent that is %s", intent.Status)
		}
		result.Outcome = outcome
		return nil
	})
}

// get reads one object that has no client of its own here.
func (s *Stripe) get(path string, params stripego.ParamsContainer, into stripego.LastResponseSetter) error {
	return s.intents.B.Call(http.MethodGet, path, s.intents.Key, params, into)
}
