package payment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"payonce/domain"
	"payonce/provider"
	"payonce/repository"
)

// CreateCharge is the command to collect an order's total. The amount is not in it: it is the order's.
type CreateCharge struct {
	OrderID       string               `json:"order_id"`
	PaymentMethod string               `json:"payment_method"`
	CaptureMethod domain.CaptureMethod `json:"capture_method"`
	ReturnURL     string               `json:"return_url"`
}

// CreateCharge collects the money of an order, once. It is a chain of transactions (T) and provider calls (P):
//
//	T1  claim the key, lock the order, write the charge and the call "create"
//	P1  create the intent at the provider; no money can move by it
//	T2  write the intent's id and the call "confirm"
//	P2  confirm the intent: money moves
//	T3  write what happened: charge, order, stock, the answer, the key finished
//
// The same key, sent again at any moment, by anyone, to any process, goes on where the chain broke off. Once T1 is
// committed the work no longer depends on the caller's connection.
func (s *Service) CreateCharge(ctx context.Context, req Request, cmd CreateCharge) (Reply, error) {
	claim, intent, err := s.claim(req, domain.OpChargesCreate, cmd)
	if err != nil {
		return Reply{}, err
	}
	return s.oneAtATime(ctx, req.Wait, claim, func(until patience, one *twin) (Reply, error) {
		r := &run{Service: s, claim: claim, intent: intent, one: one, by: domain.ByResponse, instance: chargesPath(cmd.OrderID)}
		return r.charge(ctx, until, cmd)
	})
}

// charge claims the key, or waits for whoever has it, and drives the chain to its end.
func (r *run) charge(ctx context.Context, until patience, cmd CreateCharge) (reply Reply, err error) {
	var point domain.RecoveryPoint
	var answered *Reply
	err = whenFree(ctx, until, r.one, func() error {
		point, answered, err = r.begin(ctx, cmd)
		return err
	})
	if errors.Is(err, errRunning) {
		point, answered, err = r.await(ctx, until)
	}
	if err != nil {
		return Reply{}, err
	}
	if answered != nil {
		return *answered, nil
	}
	ctx, cancel := detached(ctx, r.Lease)
	defer cancel()
	defer r.releaseOnPanic(ctx)
	reply, err = r.drive(ctx, point)
	if errors.Is(err, errLeaseLost) {
		return Reply{}, r.one.stillRunning(err)
	}
	return reply, err
}

// releaseOnPanic ends the lease when this run ends by a panic. A process that dies cannot do that, and its lease runs out;
// but one that lives on should not let the next request with the same key wait for it.
func (r *run) releaseOnPanic(ctx context.Context) {
	p := recover()
	if p == nil {
		return
	}
	ctx, cancel := detached(ctx, recordBudget)
	defer cancel()
	err := r.Store.InTx(ctx, func(tx *repository.Tx) error { return tx.ReleaseKey(ctx, r.claim, r.generation) })
	if err != nil && !errors.Is(err, repository.ErrStale) {
		r.Log.WarnContext(ctx, "the key is held until its lease ends", "charge_id", r.chargeID, "error", err)
	}
	panic(p)
}

// begin is T1. It returns the point to drive from, or a reply when the key already has an answer or the charge is
// refused, or errRunning when another request holds the key.
func (r *run) begin(ctx context.Context, cmd CreateCharge) (point domain.RecoveryPoint, reply *Reply, err error) {
	for try := 1; ; try++ {
		reply = nil
		err = r.Store.InTx(ctx, func(tx *repository.Tx) error {
			work, cancel := detached(ctx, effectBudget)
			defer cancel()
			record, mine, err := tx.ClaimKey(work, r.claim)
			if err != nil {
				return err
			}
			r.adopt(record)
			if !mine {
				if record.Lease.Owner == r.claim.Owner && !record.Finished() {
					point = record.Point // our own commit was in doubt, and it did take place
					return nil
				}
				old, err := recall(r.claim, r.intent, record, tx.Now)
				reply = &old
				return err
			}
			point = domain.PointChargeRecorded
			charge, refusal := r.openCharge(work, tx, cmd)
			if refusal == nil {
				r.chargeID = charge.ID
				r.tell()
				return tx.AdvanceKey(work, r.claim, r.generation, point, charge.ID)
			}
			if !domain.CodeOf(refusal).Final() {
				return refusal // rolls the claim back: an order that does not exist leaves no trace under the key
			}
			first := r.reply(r.claim, record, r.instance, Result{Err: refusal})
			reply = &first
			return tx.FinishKey(work, r.claim, r.generation, "", first.Answer)
		})
		if !errors.Is(err, repository.ErrCommitUnknown) || try == commitTries {
			return point, reply, err
		}
		r.Log.WarnContext(ctx, "commit in doubt, claiming again", "operation", r.claim.Operation, "request_id", r.claim.RequestID)
	}
}

// adopt takes over what the key's record knows about this run.
func (r *run) adopt(record domain.KeyRecord) {
	r.generation, r.requestID, r.expiresAt, r.chargeID = record.Lease.Generation, record.RequestID, record.ExpiresAt, record.ResourceID
	r.unwanted = record.Unwanted
	r.tell()
}

// tell lets the twins of this request know what is being made, and until when its answer will be kept.
func (r *run) tell() {
	if r.one != nil {
		r.one.tells(r.chargeID, r.expiresAt)
	}
}

// openCharge writes the charge and the call that creates its intent, or returns a refusal. The order is locked, so of two
// requests with different keys the second sees the first one's charge; the unique index is behind that.
func (r *run) openCharge(ctx context.Context, tx *repository.Tx, cmd CreateCharge) (domain.Charge, error) {
	order, err := tx.OrderForUpdate(ctx, r.claim.MerchantID, cmd.OrderID)
	if err != nil {
		return domain.Charge{}, err
	}
	if err := order.Payable(tx.Now); err != nil {
		return domain.Charge{}, err
	}
	blocking, blocked, err := tx.BlockingCharge(ctx, order.MerchantID, order.ID)
	if err != nil {
		return domain.Charge{}, err
	}
	if blocked {
		return domain.Charge{}, domain.E(domain.CodeChargeInProgress, domain.Fields{"charge_id": blocking.ID}, "another charge of this order is not decided yet")
	}
	charge := domain.Charge{
		ID: r.NewID("chg"), MerchantID: order.MerchantID, OrderID: order.ID, Amount: order.Total, Currency: order.Currency,
		Status: domain.ChargeCreated, CaptureMethod: cmd.CaptureMethod, PaymentMethod: cmd.PaymentMethod, ReturnURL: cmd.ReturnURL,
		Provider: r.Provider.Name(), Metadata: map[string]string{}, Version: 1, Key: r.claim.KeyRef, CreatedAt: tx.Now, UpdatedAt: tx.Now,
	}
	if err := tx.InsertCharge(ctx, charge, r.Lease+r.Grace); err != nil {
		return domain.Charge{}, err
	}
	from := order.Status
	order.ChargeID, order.UpdatedAt = &charge.ID, tx.Now
	if err := tx.UpdateOrder(ctx, order, from); err != nil {
		return domain.Charge{}, err
	}
	params := provider.IntentParams{
		Amount: charge.Money(), CaptureMethod: charge.CaptureMethod, Description: "Order " + order.ID,
		Metadata: map[string]string{"charge_id": charge.ID, "order_id": order.ID, "merchant_id": order.MerchantID},
	}
	_, err = r.writeCall(ctx, tx, charge, repository.CallCreate, 1, params)
	return charge, err
}

// createIntent is P1 and T2.
func (r *run) createIntent(ctx context.Context) (step, error) {
	call, err := r.written(ctx, repository.CallCreate)
	if err != nil {
		return step{}, err
	}
	if r.pastHorizon(call) {
		return r.settle(ctx, domain.PointChargeRecorded, nil, abandoned)
	}
	var params provider.IntentParams
	if err := json.Unmarshal(call.Params, &params); err != nil {
		return step{}, fmt.Errorf("params of %s: %w", call.ProviderKey, err)
	}
	result := r.Provider.CreateIntent(ctx, call.ProviderKey, params)
	answered := r.answered(ctx, call, result)
	if result.Outcome != provider.Succeeded {
		return r.settle(ctx, domain.PointChargeRecorded, answered, saidBy(result))
	}
	_, err = r.record(ctx, domain.PointChargeRecorded, func(ctx context.Context, tx *repository.Tx) error {
		charge, err := tx.ChargeForUpdate(ctx, r.claim.MerchantID, r.chargeID)
		if err != nil {
			return err
		}
		if err := belongs(charge, *result.Intent); err != nil {
			return err
		}
		charge.ProviderReference, charge.UpdatedAt = &result.Intent.Reference, tx.Now
		if _, err := tx.UpdateCharge(ctx, charge, r.Lease+r.Grace); err != nil {
			return err
		}
		if err := answered.write(ctx, tx); err != nil {
			return err
		}
		params := provider.ConfirmParams{PaymentMethod: charge.PaymentMethod, ReturnURL: charge.ReturnURL}
		if _, err := r.writeCall(ctx, tx, charge, repository.CallConfirm, 1, params); err != nil {
			return err
		}
		return tx.AdvanceKey(ctx, r.claim, r.generation, domain.PointIntentRecorded, charge.ID)
	})
	return step{next: domain.PointIntentRecorded}, err
}

// confirmIntent is P2 and T3. A run that resumes asks first: the intent's state tells what an earlier confirm came to,
// and only an intent that nothing happened to is confirmed again, with the same key and the same parameters.
func (r *run) confirmIntent(ctx context.Context) (step, error) {
	call, err := r.written(ctx, repository.CallConfirm)
	if err != nil {
		return step{}, err
	}
	charge, err := r.Store.Charge(ctx, r.claim.MerchantID, r.chargeID)
	if err != nil {
		return step{}, err
	}
	if r.resumed {
		found, answered, err := r.lookUp(ctx, charge)
		if err != nil {
			return step{}, err
		}
		if !untouched(found) {
			return r.settle(ctx, domain.PointIntentRecorded, answered, saidBy(found))
		}
		if err := r.write(ctx, answered); err != nil {
			return step{}, err
		}
		if r.pastHorizon(call) {
			return r.fence(ctx, charge)
		}
	}
	var params provider.ConfirmParams
	if err := json.Unmarshal(call.Params, &params); err != nil {
		return step{}, fmt.Errorf("params of %s: %w", call.ProviderKey, err)
	}
	doubted := false
	if r.resumed {
		if doubted, err = r.sendAgain(ctx, call); err != nil {
			return step{}, err
		}
	}
	result := r.Provider.ConfirmIntent(ctx, call.ProviderKey, *charge.ProviderReference, params)
	answered := r.answered(ctx, call, result)
	if doubted {
		// An earlier confirm may still be on its way, so what this one came to is no proof that nothing will happen.
		switch {
		case result.Outcome == provider.NotSent:
			result.Outcome = provider.Unknown
		case result.Outcome == provider.Rejected && result.Intent == nil:
			if err := r.write(ctx, answered); err != nil {
				return step{}, err
			}
			return r.fence(ctx, charge)
		}
	}
	if result.Outcome == provider.Unknown || result.Outcome == provider.Rejected && result.Intent == nil && !refusesUs(result) {
		// The answer is lost, or shows no intent. The intent is not lost: ask it before telling the buyer anything.
		found, looked, err := r.lookUp(ctx, charge)
		if err != nil {
			return step{}, err
		}
		answered = append(answered, looked...)
		if !untouched(found) { // an untouched intent leaves the answer as it is: unknown, or refused
			result = found
		}
	}
	return r.settle(ctx, domain.PointIntentRecorded, answered, saidBy(result))
}

func chargesPath(order string) string { return "/v1/orders/" + order + "/charges" }
