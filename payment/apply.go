package payment

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"payonce/domain"
	"payonce/provider"
	"payonce/repository"
)

// verdict turns a charge into what it is now known to be. It is given the locked charge and must be pure.
type verdict func(charge domain.Charge, by domain.ResolvedBy, at time.Time) (domain.Charge, error)

// saidBy is the verdict of one provider answer, and the only place where a provider's words become our state. Its rules:
//
//   - An answer about another object, amount or currency is never taken for success; it decides nothing.
//   - A decided charge stays decided. News that is late, repeated or out of order moves nothing backwards.
//   - What is not proved is unknown.
func saidBy(result provider.Result) verdict {
	return func(charge domain.Charge, by domain.ResolvedBy, at time.Time) (domain.Charge, error) {
		if result.Intent != nil {
			if err := belongs(charge, *result.Intent); err != nil {
				return charge, err
			}
		}
		to, failure := statusFrom(result)
		if to == "" || !charge.Status.CanBecome(to) {
			return charge, nil
		}
		moved, err := charge.Move(to, by, at)
		if err != nil {
			return charge, err
		}
		switch to {
		case domain.ChargeSucceeded:
			moved.AmountCaptured = result.Intent.AmountReceived
		case domain.ChargeFailed:
			moved.Failure = &domain.ChargeFailure{Code: failure.Code, DeclineCode: failure.DeclineCode,
				Message: domain.BuyerMessage(failure.Code, failure.DeclineCode)}
		case domain.ChargeRequiresAction:
			if url := result.Intent.NextActionURL; url != "" {
				moved.NextAction = &domain.NextAction{Type: "redirect", URL: url}
			}
		default: // the state says it all
		}
		return moved, nil
	}
}

// statusFrom is the table from a provider's answer to a charge's state. The empty status means: no news.
func statusFrom(result provider.Result) (domain.ChargeStatus, provider.Failure) {
	switch result.Outcome {
	case provider.NotSent:
		return "", provider.Failure{}
	case provider.Unknown:
		return domain.ChargeUnknown, provider.Failure{}
	case provider.Declined:
		return domain.ChargeFailed, failureOf(result)
	case provider.Rejected:
		if refusesUs(result) {
			return "", provider.Failure{}
		}
		if result.Intent == nil {
			return domain.ChargeFailed, failureOf(result)
		}
	case provider.Succeeded, provider.Pending:
	}
	switch result.Intent.Status {
	case provider.IntentSucceeded:
		return domain.ChargeSucceeded, provider.Failure{}
	case provider.IntentAuthorized:
		return domain.ChargeAuthorized, provider.Failure{}
	case provider.IntentProcessing:
		return domain.ChargeProcessing, provider.Failure{}
	case provider.IntentRequiresAction:
		return domain.ChargeRequiresAction, provider.Failure{}
	case provider.IntentCanceled:
		return domain.ChargeCanceled, provider.Failure{}
	case provider.IntentFailed:
		return domain.ChargeFailed, failureOf(result)
	case provider.IntentUnconfirmed:
		if result.Outcome == provider.Rejected { // the call was refused and the intent shows that nothing happened
			return domain.ChargeFailed, failureOf(result)
		}
	}
	return domain.ChargeUnknown, provider.Failure{}
}

// refusesUs reports whether the provider refused our account rather than the payment: a wrong key or mode. That is no
// verdict on the buyer's card.
func refusesUs(result provider.Result) bool {
	switch result.HTTPStatus {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return result.Outcome == provider.Rejected
	}
	return false
}

func failureOf(result provider.Result) provider.Failure {
	switch {
	case result.Failure != nil && result.Failure.Code != "":
		return *result.Failure
	case result.Intent != nil && result.Intent.LastFailure != nil && result.Intent.LastFailure.Code != "":
		return *result.Intent.LastFailure
	default:
		return provider.Failure{Code: "declined"}
	}
}

// abandoned is the verdict over a charge of which nothing can have been taken: it has no intent that was ever confirmed.
func abandoned(charge domain.Charge, _ domain.ResolvedBy, at time.Time) (domain.Charge, error) {
	return charge.Move(domain.ChargeCanceled, domain.ByReconciliation, at)
}

// belongs checks that a provider's object is about this charge: same reference, amount, currency and our own names in its
// metadata. Anything else is a bug or an attack, and taking it for a payment would be worse than not knowing.
func belongs(charge domain.Charge, intent provider.Intent) error {
	switch {
	case charge.ProviderReference != nil && *charge.ProviderReference != intent.Reference:
		return fmt.Errorf("charge %s: the answer is about intent %s, not %s", charge.ID, intent.Reference, *charge.ProviderReference)
	case intent.Amount != charge.Money():
		return fmt.Errorf("charge %s: intent %s is over %v, not %v", charge.ID, intent.Reference, intent.Amount, charge.Money())
	case intent.Metadata["charge_id"] != charge.ID || intent.Metadata["order_id"] != charge.OrderID:
		return fmt.Errorf("charge %s: intent %s is for charge %q of order %q", charge.ID, intent.Reference,
			intent.Metadata["charge_id"], intent.Metadata["order_id"])
	case intent.Status == provider.IntentSucceeded && charge.CaptureMethod == domain.CaptureAutomatic && intent.AmountReceived != charge.Amount:
		return fmt.Errorf("charge %s: intent %s received %d of %d", charge.ID, intent.Reference, intent.AmountReceived, charge.Amount)
	}
	return nil
}

// untouched reports whether a look-up shows an intent on which no attempt has been executed. It cannot tell "not yet
// executed" from "still in flight"; only the same key again, or a fence, can.
func untouched(found provider.Result) bool {
	return found.Outcome == provider.Succeeded && found.Intent.Status == provider.IntentUnconfirmed
}

// apply passes a verdict on a charge inside a transaction, together with everything that follows from it: the order is
// paid and its stock is sold in the same commit. It locks the order before the charge, as everybody does.
func (s *Service) apply(ctx context.Context, tx *repository.Tx, merchant, id string, by domain.ResolvedBy, v verdict) (domain.Charge, error) {
	charge, err := tx.Charge(ctx, merchant, id)
	if err != nil {
		return domain.Charge{}, err
	}
	order, err := tx.OrderForUpdate(ctx, merchant, charge.OrderID)
	if err != nil {
		return domain.Charge{}, err
	}
	if charge, err = tx.ChargeForUpdate(ctx, merchant, id); err != nil {
		return domain.Charge{}, err
	}
	moved, err := v(charge, by, tx.Now)
	if err != nil {
		// The answer is not about this charge as we know it. It decides nothing, and somebody must look.
		s.Log.ErrorContext(ctx, "provider answer does not fit the charge", "charge_id", id, "error", err)
		moved = charge
		if charge.Status.CanBecome(domain.ChargeUnknown) {
			if moved, err = charge.Move(domain.ChargeUnknown, by, tx.Now); err != nil {
				return domain.Charge{}, err
			}
		}
	}
	if moved.Status == charge.Status {
		return charge, nil
	}
	if moved, err = tx.UpdateCharge(ctx, moved, s.Grace); err != nil {
		return domain.Charge{}, err
	}
	if moved.Status != domain.ChargeSucceeded {
		return moved, nil
	}
	from := order.Status
	if order, err = order.Pay(moved.ID, moved.AmountCaptured, tx.Now); err != nil {
		return domain.Charge{}, err
	}
	if err := tx.UpdateOrder(ctx, order, from); err != nil {
		return domain.Charge{}, err
	}
	return moved, tx.SellStock(ctx, order)
}

// settle is T3: it passes a verdict on the run's charge and, when that decides it, stores the answer and finishes the
// key. An undecided charge gets a provisional answer that is told but not stored, and the key is released, so that the
// same key sent again goes on at once.
func (r *run) settle(ctx context.Context, from domain.RecoveryPoint, answered evidence, v verdict) (step, error) {
	var reply Reply
	var charge domain.Charge
	already, err := r.record(ctx, from, func(ctx context.Context, tx *repository.Tx) error {
		if err := answered.write(ctx, tx); err != nil {
			return err
		}
		var err error
		if charge, err = r.apply(ctx, tx, r.claim.MerchantID, r.chargeID, r.by, v); err != nil {
			return err
		}
		result := chargeResult(charge)
		reply = Reply{Answer: r.present(result), Resource: charge.ID, OriginalID: r.requestID, ExpiresAt: r.expiresAt}
		if charge.Undecided() { // the answer may still change, so it must not be stored
			reply.RetryAfter = RetryAfter
			return tx.ReleaseKey(ctx, r.claim, r.generation)
		}
		reply.ExpiresAt = r.keptUntil(tx.Now)
		return tx.FinishKey(ctx, r.claim, r.generation, charge.ID, reply.Answer)
	})
	switch {
	case err != nil:
		return step{}, err
	case already: // an earlier commit of ours was in doubt and had taken place
		return r.stored(ctx)
	case charge.Status == domain.ChargeCreated:
		return step{}, domain.EKey(domain.CodeProviderUnavailable, nil, r.expiresAt, RetryAfter, nil, "the payment provider cannot be reached; nothing was charged, send the same key again")
	}
	return step{reply: &reply}, nil
}

// RetryAfter is how long a caller is asked to wait for an outcome that is not decided yet.
const RetryAfter = 2 * time.Second

// keptUntil is until when an answer that is stored now will be kept.
func (r *run) keptUntil(now time.Time) time.Time {
	if kept := now.Add(r.claim.Retention); kept.After(r.expiresAt) {
		return kept
	}
	return r.expiresAt
}

func (r *run) present(result Result) domain.Answer {
	return r.Present(Presentation{Operation: r.claim.Operation, RequestID: r.requestID, Instance: r.instance, Result: result})
}

// stored goes on from what is stored under this run's key by now: its answer, or the recovery point that an earlier
// commit of this run has reached, which was in doubt when it was made.
func (r *run) stored(ctx context.Context) (step, error) {
	record, found, err := r.Store.Key(ctx, r.claim.KeyRef)
	if err != nil {
		return step{}, err
	}
	switch {
	case found && record.Answer != nil:
		reply := repeat(r.claim, record)
		return step{reply: &reply}, nil
	case !found || record.Finished():
		return step{}, fmt.Errorf("the key of charge %s has moved on without an answer", r.chargeID)
	case record.Lease.Owner != r.claim.Owner || record.Lease.Generation != r.generation:
		return step{}, errLeaseLost
	}
	return step{next: record.Point}, nil
}

// chargeResult says how a charge's state is told.
func chargeResult(charge domain.Charge) Result {
	result := Result{Status: http.StatusCreated, Location: "/v1/charges/" + charge.ID, Object: charge, Resource: charge.ID}
	switch charge.Status {
	case domain.ChargeSucceeded, domain.ChargeAuthorized, domain.ChargeRequiresAction:
	case domain.ChargeCreated, domain.ChargeUnknown, domain.ChargeProcessing:
		result.Status = http.StatusAccepted
	case domain.ChargeFailed:
		result.Err = domain.E(domain.CodeCardDeclined, domain.Fields{"charge": charge, "failure": charge.Failure, "order_id": charge.OrderID}, "%s", charge.Failure.Message)
	case domain.ChargeCanceled:
		result.Err = domain.E(domain.CodeChargeAbandoned, domain.Fields{"charge_id": charge.ID}, "the charge was given up before it took any money; a new try needs a new key")
	}
	return result
}
