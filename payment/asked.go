package payment

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"payonce/domain"
	"payonce/provider"
	"payonce/repository"
)

// What may be asked of a charge after it was made: to capture the money that is held, and to cancel. Both are chains like
// the charge itself, with one provider call:
//
//	T1  claim the key, lock the charge, write on it what was asked, and the call
//	P1  capture the intent, or cancel it
//	T2  write what happened, the answer, the key finished
//
// Once T1 is committed the request is accepted and will be carried through, by the caller's retry or by recovery.

// CaptureCharge is the command to take money that is held.
type CaptureCharge struct {
	ChargeID string `json:"charge_id"`
	Amount   *int64 `json:"amount"` // minor units, 1 to the charge's amount; nil for all. What is left over is released
}

// CancelCharge is the command to end a charge that has taken no money, so that it never can.
type CancelCharge struct {
	ChargeID string `json:"charge_id"`
	Reason   string `json:"reason"` // for people; may be empty
}

// captureParams is everything that is sent to capture an intent, stored before it is sent.
type captureParams struct {
	Amount int64 `json:"amount"`
}

// CaptureCharge takes what is held for a charge, all or a part of it, once.
func (s *Service) CaptureCharge(ctx context.Context, req Request, cmd CaptureCharge) (Reply, error) {
	if cmd.Amount == nil { // the default must be known before the fingerprint is taken: with and without it, the command is the same
		charge, err := s.Store.Charge(ctx, req.MerchantID, cmd.ChargeID)
		if err != nil {
			return Reply{}, err
		}
		cmd.Amount = &charge.Amount
	}
	claim, intent, err := s.claim(req, domain.OpChargesCapture, cmd)
	if err != nil {
		return Reply{}, err
	}
	return s.keyed(ctx, req, claim, intent, chargePath(cmd.ChargeID)+"/capture", func(ctx context.Context, tx *repository.Tx, r *run) (Result, domain.RecoveryPoint, error) {
		charge, err := lockCharge(ctx, tx, req.MerchantID, cmd.ChargeID)
		if err != nil {
			return Result{}, "", err
		}
		if err := charge.Capturable(); err != nil {
			return Result{}, "", err
		}
		amount := *cmd.Amount
		if amount > charge.Amount {
			return Result{}, "", invalid("/amount", "is more than the %d that are held", charge.Amount)
		}
		if err := r.accepted(ctx, tx, charge, amount, ""); err != nil {
			return Result{}, "", err
		}
		last, _, err := tx.ProviderCall(ctx, charge.MerchantID, charge.ID, repository.CallCapture)
		if err != nil {
			return Result{}, "", err
		}
		_, err = r.writeCall(ctx, tx, charge, repository.CallCapture, last.Attempt+1, captureParams{amount})
		return Result{Resource: charge.ID}, domain.PointAccepted, err
	})
}

// CancelCharge fences a charge: whatever is in flight, it takes no money any more. A charge that could not take any is
// answered as it is.
func (s *Service) CancelCharge(ctx context.Context, req Request, cmd CancelCharge) (Reply, error) {
	claim, intent, err := s.claim(req, domain.OpChargesCancel, cmd)
	if err != nil {
		return Reply{}, err
	}
	return s.keyed(ctx, req, claim, intent, chargePath(cmd.ChargeID)+"/cancel", func(ctx context.Context, tx *repository.Tx, r *run) (Result, domain.RecoveryPoint, error) {
		charge, err := lockCharge(ctx, tx, req.MerchantID, cmd.ChargeID)
		if err != nil {
			return Result{}, "", err
		}
		if charge.Status.Final() {
			result := r.askedResult(charge)
			return result, domain.PointFinished, result.Err
		}
		if err := charge.Unasked(); err != nil {
			return Result{}, "", err
		}
		// Whoever is at work on the charge must not send anything new: from now on it writes nothing any more.
		if err := tx.SeizeKey(ctx, charge.Key, r.claim.Owner, 0); err != nil {
			return Result{}, "", err
		}
		// The call is not written down yet: a cancel writes each of its tries by itself.
		return Result{Resource: charge.ID}, domain.PointAccepted, r.accepted(ctx, tx, charge, 0, cmd.Reason)
	})
}

// lockCharge locks a charge with everything that changes together with it, in the order in which everybody does: the key
// that asked for it, its order, the charge.
func lockCharge(ctx context.Context, tx *repository.Tx, merchant, id string) (domain.Charge, error) {
	charge, err := tx.Charge(ctx, merchant, id)
	if err != nil {
		return domain.Charge{}, err
	}
	if _, err := tx.LockKey(ctx, charge.Key); err != nil {
		return domain.Charge{}, err
	}
	if _, err := tx.OrderForUpdate(ctx, merchant, charge.OrderID); err != nil {
		return domain.Charge{}, err
	}
	return tx.ChargeForUpdate(ctx, merchant, id)
}

// accepted writes on the charge what was asked of it.
func (r *run) accepted(ctx context.Context, tx *repository.Tx, charge domain.Charge, amount int64, reason string) error {
	asked := domain.Asked{Key: r.claim.KeyRef, Amount: amount}
	charge.Asked, charge.UpdatedAt = &asked, tx.Now
	if _, err := tx.UpdateCharge(ctx, charge, r.Lease+r.Grace); err != nil {
		return err
	}
	return tx.InsertChargeRequest(ctx, charge.ID, asked, reason)
}

// carryOut is P1 and T2.
func (r *run) carryOut(ctx context.Context) (step, error) {
	charge, err := r.Store.Charge(ctx, r.claim.MerchantID, r.chargeID)
	switch {
	case err != nil:
		return step{}, err
	case charge.Status.Final(): // somebody else has found out meanwhile
		return r.through(ctx, nil, unchanged, false)
	case r.claim.Operation == domain.OpChargesCapture:
		return r.capture(ctx, charge)
	case charge.ProviderReference == nil: // no intent is known that could be confirmed, and none will be: see SeizeKey
		return r.through(ctx, nil, canceled, false)
	}
	found, answered, err := r.cancelIntent(ctx, charge)
	if err != nil {
		return step{}, err
	}
	return r.through(ctx, answered, saidBy(found), false)
}

// capture captures the intent. A run that resumes asks first, since an intent can be captured once only and shows
// whether it was.
func (r *run) capture(ctx context.Context, charge domain.Charge) (step, error) {
	call, err := r.written(ctx, repository.CallCapture)
	if err != nil {
		return step{}, err
	}
	if r.resumed {
		found, looked, err := r.lookUp(ctx, charge)
		if err != nil {
			return step{}, err
		}
		if found.Intent == nil || found.Intent.Status != provider.IntentAuthorized {
			return r.through(ctx, looked, saidBy(found), false)
		}
		if err := r.write(ctx, looked); err != nil {
			return step{}, err
		}
		if call, err = r.captureAgain(ctx, charge, call); err != nil {
			return step{}, err
		}
	}
	var params captureParams
	if err := json.Unmarshal(call.Params, &params); err != nil {
		return step{}, fmt.Errorf("params of %s: %w", call.ProviderKey, err)
	}
	result := r.Provider.CaptureIntent(ctx, call.ProviderKey, *charge.ProviderReference, params.Amount)
	answered := r.answered(ctx, call, result)
	found := asNews(result)
	if result.Intent == nil {
		var looked evidence
		if found, looked, err = r.lookUp(ctx, charge); err != nil {
			return step{}, err
		}
		answered = append(answered, looked...)
	}
	held := found.Intent != nil && found.Intent.Status == provider.IntentAuthorized
	if held && usedUp(result) {
		return r.nextAttempt(ctx, domain.PointAccepted, charge, call, answered)
	}
	refused := held && result.Outcome == provider.Rejected && !refusesUs(result) && !r.resumed
	return r.through(ctx, answered, saidBy(found), refused)
}

// captureAgain prepares the capture to be sent once more: with its key, while the provider knows it, and with a new one
// after that. A second capture cannot take anything: the intent is captured once at most.
func (r *run) captureAgain(ctx context.Context, charge domain.Charge, call repository.ProviderCall) (repository.ProviderCall, error) {
	if !r.pastHorizon(call) {
		_, err := r.sendAgain(ctx, call)
		return call, err
	}
	ctx, cancel := detached(ctx, recordBudget)
	defer cancel()
	err := r.Store.InTx(ctx, func(tx *repository.Tx) error {
		next, err := r.writeCall(ctx, tx, charge, call.Kind, call.Attempt+1, json.RawMessage(call.Params))
		call = next
		return err
	})
	return call, err
}

// through is T2: it passes a verdict on the charge and, when that decides what was asked, stores the answer. refused says
// that the provider has refused the request for good and that the charge is as it was before.
func (r *run) through(ctx context.Context, answered evidence, v verdict, refused bool) (step, error) {
	var reply Reply
	already, err := r.record(ctx, domain.PointAccepted, func(ctx context.Context, tx *repository.Tx) error {
		if err := answered.write(ctx, tx); err != nil {
			return err
		}
		charge, err := tx.Charge(ctx, r.claim.MerchantID, r.chargeID)
		if err != nil {
			return err
		}
		own, err := tx.LockKey(ctx, charge.Key)
		if err != nil {
			return err
		}
		if charge, err = r.apply(ctx, tx, r.claim.MerchantID, r.chargeID, r.by, v); err != nil {
			return err
		}
		result := r.askedResult(charge)
		if refused && !charge.Status.Final() {
			result = Result{Err: domain.E(domain.CodeChargeNotCapturable, domain.Fields{"charge_id": charge.ID, "charge_status": charge.Status}, "the provider refused the capture")}
		}
		reply = Reply{Answer: r.present(result), Resource: charge.ID, OriginalID: r.requestID, ExpiresAt: r.keptUntil(tx.Now)}
		if result.Status == http.StatusAccepted {
			reply.RetryAfter = RetryAfter
			return tx.ReleaseKey(ctx, r.claim, r.generation)
		}
		charge.Asked, charge.UpdatedAt = nil, tx.Now
		if _, err := tx.UpdateCharge(ctx, charge, r.Grace); err != nil {
			return err
		}
		if err := r.finishOwn(ctx, tx, charge, own); err != nil {
			return err
		}
		return tx.FinishKey(ctx, r.claim, r.generation, charge.ID, reply.Answer)
	})
	switch {
	case err != nil:
		return step{}, err
	case already:
		return r.stored(ctx)
	}
	return step{reply: &reply}, nil
}

// finishOwn gives the key that asked for the charge its answer, when the charge was decided before that came.
func (r *run) finishOwn(ctx context.Context, tx *repository.Tx, charge domain.Charge, own domain.KeyRecord) error {
	if own.Finished() || !charge.Status.Final() {
		return nil
	}
	answer := r.Present(Presentation{Operation: own.Operation, RequestID: own.RequestID, Instance: chargesPath(charge.OrderID), Result: chargeResult(charge)})
	claim := repository.Claim{KeyRef: own.KeyRef, Owner: own.Lease.Owner, Retention: r.Retention.For(own.Operation).Answer}
	return tx.FinishKey(ctx, claim, own.Lease.Generation, charge.ID, answer)
}

// askedResult says how a charge is told to whoever asked to capture or to cancel it.
func (r *run) askedResult(charge domain.Charge) Result {
	result := Result{Status: http.StatusOK, Object: charge, Resource: charge.ID}
	capturing := r.claim.Operation == domain.OpChargesCapture
	switch {
	case !charge.Status.Final():
		result.Status, result.Location = http.StatusAccepted, chargePath(charge.ID)
	case capturing && charge.Status != domain.ChargeSucceeded:
		result.Err = domain.E(domain.CodeChargeNotCapturable, domain.Fields{"charge_id": charge.ID, "charge_status": charge.Status}, "the charge is %s", charge.Status)
	case !capturing && charge.Status == domain.ChargeSucceeded:
		result.Err = domain.E(domain.CodeOrderAlreadyPaid, domain.Fields{"charge_id": charge.ID, "order_status": domain.OrderPaid}, "the charge had taken the money before it could be cancelled")
	}
	return result
}

// canceled is the verdict over a charge that was cancelled before anything could be taken.
func canceled(charge domain.Charge, by domain.ResolvedBy, at time.Time) (domain.Charge, error) {
	return charge.Move(domain.ChargeCanceled, by, at)
}
