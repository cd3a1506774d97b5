package stripe

import (
	"context"
	"errors"
	"fmt"

	stripego "github.com/stripe/stripe-go/v79"

	"payonce/provider"
)

// ListBalanceTransactions lists the movements of a payout, or all of them. The payout's own movement is among its.
func (s *Stripe) ListBalanceTransactions(ctx context.Context, payout string, q provider.Query) (provider.Page[provider.BalanceTransaction], provider.Result) {
	return readPage(ctx, s, "/v1/balance_transactions", q, listParams{Payout: given(payout)},
		func(b *stripego.BalanceTransaction) (provider.BalanceTransaction, entry, error) {
			if b == nil || b.ID == "" || b.Object != "balance_transaction" {
				return provider.BalanceTransaction{}, entry{}, errors.New("the list shows something else than balance transactions")
			}
			return readBalanceTransaction(b), entry{b.ID, b.Created}, nil
		})
}

func readBalanceTransaction(b *stripego.BalanceTransaction) provider.BalanceTransaction {
	shown := provider.BalanceTransaction{
		Reference:   b.ID,
		Kind:        entryKinds[b.ReportingCategory],
		Category:    token(string(b.ReportingCategory)),
		Amount:      money(b.Amount, b.Currency),
		Fee:         money(b.Fee, b.Currency),
		Net:         money(b.Net, b.Currency),
		Created:     at(b.Created),
		AvailableOn: at(b.AvailableOn),
	}
	if shown.Kind == "" {
		shown.Kind = provider.EntryOther
	}
	if b.Source != nil {
		shown.Source = b.Source.ID
	}
	return shown
}

// entryKinds goes by the reporting category: the type calls a dispute an adjustment, and many other things too.
var entryKinds = map[stripego.BalanceTransactionReportingCategory]provider.EntryKind{
	stripego.BalanceTransactionReportingCategoryCharge:          provider.EntryCharge,
	stripego.BalanceTransactionReportingCategoryRefund:          provider.EntryRefund,
	stripego.BalanceTransactionReportingCategoryRefundFailure:   provider.EntryRefundFailure,
	stripego.BalanceTransactionReportingCategoryDispute:         provider.EntryDispute,
	stripego.BalanceTransactionReportingCategoryDisputeReversal: provider.EntryDisputeReversal,
	stripego.BalanceTransactionReportingCategoryPayout:          provider.EntryPayout,
	stripego.BalanceTransactionReportingCategoryPayoutReversal:  provider.EntryPayoutReversal,
	stripego.BalanceTransactionReportingCategoryFee:             provider.EntryFee,
}

// ListPayouts lists payouts.
func (s *Stripe) ListPayouts(ctx context.Context, q provider.Query) (provider.Page[provider.Payout], provider.Result) {
	return readPage(ctx, s, "/v1/payouts", q, listParams{}, func(p *stripego.Payout) (provider.Payout, entry, error) {
		if p == nil || p.ID == "" || p.Object != "payout" {
			return provider.Payout{}, entry{}, errors.New("the list shows something else than payouts")
		}
		if p.Livemode != s.live {
			return provider.Payout{}, entry{}, errors.New("the payout is not of the key's mode, test or live")
		}
		return readPayout(p), entry{p.ID, p.Created}, nil
	})
}

var payoutStates = map[stripego.PayoutStatus]provider.PayoutStatus{
	stripego.PayoutStatusPending:   provider.PayoutPending,
	stripego.PayoutStatusInTransit: provider.PayoutInTransit,
	stripego.PayoutStatusPaid:      provider.PayoutPaid,
	stripego.PayoutStatusFailed:    provider.PayoutFailed,
	stripego.PayoutStatusCanceled:  provider.PayoutCanceled,
}

func readPayout(p *stripego.Payout) provider.Payout {
	shown := provider.Payout{
		Reference:   p.ID,
		Status:      payoutStates[p.Status],
		Amount:      money(p.Amount, p.Currency),
		Itemised:    p.ReconciliationStatus == stripego.PayoutReconciliationStatusCompleted,
		Automatic:   p.Automatic,
		Created:     at(p.Created),
		ArrivalDate: at(p.ArrivalDate),
	}
	if p.BalanceTransaction != nil {
		shown.Entry = p.BalanceTransaction.ID
	}
	if shown.Status == provider.PayoutFailed {
		shown.Failure = &provider.Failure{Code: codeOr(string(p.FailureCode), "unspecified")}
	}
	return shown
}

// ListDisputes lists disputes.
func (s *Stripe) ListDisputes(ctx context.Context, q provider.Query) (provider.Page[provider.Dispute], provider.Result) {
	return readPage(ctx, s, "/v1/disputes", q, listParams{}, func(d *stripego.Dispute) (provider.Dispute, entry, error) {
		if err := s.checkDispute(d); err != nil {
			return provider.Dispute{}, entry{}, err
		}
		return readDispute(d), entry{d.ID, d.Created}, nil
	})
}

// Dispute reads a dispute.
func (s *Stripe) Dispute(ctx context.Context, reference string) provider.Result {
	params, d := &stripego.DisputeParams{}, &stripego.Dispute{}
	do := func() error { return s.get(stripego.FormatURLPath("/v1/disputes/%s", reference), params, d) }
	return s.send(ctx, call{kind: lookup, reference: reference}, &params.Params, do, func(result *provider.Result) error {
		if err := s.checkDispute(d); err != nil {
			return err
		}
		if d.ID != reference {
			return errors.New("the answer is about another dispute")
		}
		shown := readDispute(d)
		if err := knownCurrency(shown.Amount); err != nil {
			return err
		}
		if shown.Status == "" {
			return fmt.Errorf("the dispute's status %s is not known", token(string(d.Status)))
		}
		result.Dispute, result.Outcome = &shown, provider.Succeeded
		return nil
	})
}

func (s *Stripe) checkDispute(d *stripego.Dispute) error {
	if d == nil || d.ID == "" || d.Object != "dispute" {
		return errors.New("the answer holds no dispute")
	}
	if d.Livemode != s.live {
		return errors.New("the dispute is not of the key's mode, test or live")
	}
	return nil
}

var disputeStates = map[stripego.DisputeStatus]provider.DisputeStatus{
	stripego.DisputeStatusWarningNeedsResponse: provider.DisputeInquiry,
	stripego.DisputeStatusWarningUnderReview:   provider.DisputeInquiry,
	stripego.DisputeStatusWarningClosed:        provider.DisputeInquiryClosed,
	stripego.DisputeStatusNeedsResponse:        provider.DisputeNeedsResponse,
	stripego.DisputeStatusUnderReview:          provider.DisputeUnderReview,
	stripego.DisputeStatusWon:                  provider.DisputeWon,
	stripego.DisputeStatusLost:                 provider.DisputeLost,
}

func readDispute(d *stripego.Dispute) provider.Dispute {
	shown := provider.Dispute{
		Reference:  d.ID,
		Status:     disputeStates[d.Status],
		Amount:     money(d.Amount, d.Currency),
		Reason:     token(string(d.Reason)),
		Refundable: d.IsChargeRefundable,
		Created:    at(d.Created),
	}
	if d.PaymentIntent != nil {
		shown.Intent = d.PaymentIntent.ID
	}
	if d.Charge != nil {
		shown.Attempt = d.Charge.ID
	}
	if d.EvidenceDetails != nil {
		shown.DueBy = at(d.EvidenceDetails.DueBy)
	}
	return shown
}
