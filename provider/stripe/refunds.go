package stripe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	stripego "github.com/stripe/stripe-go/v79"

	"payonce/provider"
)

// CreateRefund refunds a part of what an intent took, or all of it. The intent is named and not its charge: an intent has
// one charge that took money at most, and its id is the one that was stored before any money moved.
func (s *Stripe) CreateRefund(ctx context.Context, key string, p provider.RefundParams) provider.Result {
	c := call{kind: refund, key: key, reference: p.Intent}
	if err := refuseMoney(p.Amount); err != nil {
		return c.refuse(err)
	}
	params := &stripego.RefundParams{
		Amount:        stripego.Int64(p.Amount.Amount),
		Metadata:      p.Metadata,
		PaymentIntent: stripego.String(p.Intent),
	}
	switch p.Reason {
	case "":
	case provider.RefundDuplicate, provider.RefundFraudulent, provider.RefundRequested:
		params.Reason = stripego.String(string(p.Reason))
	default:
		return c.refuse(errors.New("the reason is not known"))
	}
	echoes := func(r *stripego.Refund) bool {
		return r.Amount == p.Amount.Amount && strings.EqualFold(string(r.Currency), string(p.Amount.Currency)) &&
			r.PaymentIntent != nil && r.PaymentIntent.ID == p.Intent
	}
	return s.onRefund(ctx, c, &params.Params, echoes, func() (*stripego.Refund, error) { return s.refunds.New(params) })
}

// Refund reads a refund.
func (s *Stripe) Refund(ctx context.Context, reference string) provider.Result {
	c := call{kind: lookup, reference: reference}
	params := &stripego.RefundParams{}
	echoes := func(r *stripego.Refund) bool { return r.ID == reference }
	return s.onRefund(ctx, c, &params.Params, echoes, func() (*stripego.Refund, error) { return s.refunds.Get(reference, params) })
}

// ListRefunds lists the refunds of an intent, or all of them.
func (s *Stripe) ListRefunds(ctx context.Context, intent string, q provider.Query) (provider.Page[provider.Refund], provider.Result) {
	return readPage(ctx, s, "/v1/refunds", q, listParams{PaymentIntent: given(intent)}, func(r *stripego.Refund) (provider.Refund, entry, error) {
		if err := checkRefund(r); err != nil {
			return provider.Refund{}, entry{}, err
		}
		shown := readRefund(r)
		if intent != "" && shown.Intent != intent {
			return provider.Refund{}, entry{}, errors.New("the list shows a refund of another intent")
		}
		return shown, entry{r.ID, r.Created}, nil
	})
}

// given is a parameter that is only sent when it has a value.
func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// onRefund makes a call whose answer is a refund.
func (s *Stripe) onRefund(ctx context.Context, c call, params *stripego.Params, echoes func(*stripego.Refund) bool,
	do func() (*stripego.Refund, error),
) provider.Result {
	var r *stripego.Refund
	return s.send(ctx, c, params, func() (err error) { r, err = do(); return err }, func(result *provider.Result) error {
		if err := checkRefund(r); err != nil {
			return err
		}
		if !echoes(r) {
			return errors.New("the refund differs from what was asked")
		}
		shown := readRefund(r)
		if err := knownCurrency(shown.Amount); err != nil {
			return err
		}
		if shown.Status == "" {
			return fmt.Errorf("the refund's status %s is not known", token(string(r.Status)))
		}
		result.Refund = &shown
		outcome, possible := acceptedRefund[c.kind][shown.Status]
		if !possible {
			return fmt.Errorf("the call cannot have led to a refund that is %s", shown.Status)
		}
		result.Outcome = outcome
		if outcome == provider.Declined {
			result.Failure = shown.Failure
		}
		return nil
	})
}

// checkRefund refuses what is no refund. A refund tells nothing of its mode; the key's account and mode answered.
func checkRefund(r *stripego.Refund) error {
	if r == nil || r.ID == "" || r.Object != "refund" {
		return errors.New("the answer holds no refund")
	}
	return nil
}

var refundStates = map[stripego.RefundStatus]provider.RefundStatus{
	stripego.RefundStatusPending:        provider.RefundPending,
	stripego.RefundStatusRequiresAction: provider.RefundPending,
	stripego.RefundStatusSucceeded:      provider.RefundSucceeded,
	stripego.RefundStatusFailed:         provider.RefundFailed,
	stripego.RefundStatusCanceled:       provider.RefundCanceled,
}

func readRefund(r *stripego.Refund) provider.Refund {
	shown := provider.Refund{
		Reference: r.ID,
		Status:    refundStates[r.Status],
		Amount:    money(r.Amount, r.Currency),
		Reason:    provider.RefundReason(token(string(r.Reason))),
		Metadata:  maps.Clone(r.Metadata),
		Created:   at(r.Created),
	}
	if r.PaymentIntent != nil {
		shown.Intent = r.PaymentIntent.ID
	}
	if r.Charge != nil {
		shown.Attempt = r.Charge.ID
	}
	if r.BalanceTransaction != nil {
		shown.Entry = r.BalanceTransaction.ID
	}
	if shown.Status == provider.RefundFailed {
		shown.Failure = &provider.Failure{Code: codeOr(string(r.FailureReason), "unspecified")}
	}
	return shown
}
