package payment

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

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
	return s.keyed(ctx, req, claim, intent, chargesPath(cmd.OrderID), func(ctx context.Context, tx *repository.Tx, r *run) (Result, domain.RecoveryPoint, error) {
		if err := s.reachable(); err != nil {
			return Result{}, "", err
		}
		charge, err := r.openCharge(ctx, tx, cmd)
		return Result{Resource: charge.ID}, domain.PointChargeRecorded, err
	})
}

// reachable refuses a new charge while the provider cannot be called. The key stays free, and nothing is left to be found
// out.
func (s *Service) reachable() error {
	if s.Refusing == nil {
		return nil
	}
	if wait, refusing := s.Refusing(); refusing {
		return domain.ELater(domain.CodeProviderUnavailable, max(wait, time.Second), nil, "the payment provider does not answer at this time; nothing was charged, send the same key again")
	}
	return nil
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
	charge, err := r.Store.Charge(ctx, r.claim.MerchantID, r.chargeID)
	switch {
	case err != nil:
		return step{}, err
	case charge.Asked != nil: // it is being cancelled
		return r.settle(ctx, domain.PointChargeRecorded, nil, unchanged)
	case r.pastHorizon(call):
		return r.settle(ctx, domain.PointChargeRecorded, nil, abandoned)
	}
	var params provider.IntentParams
	if err := json.Unmarshal(call.Params, &params); err != nil {
		return step{}, fmt.Errorf("params of %s: %w", call.ProviderKey, err)
	}
	if r.resumed {
		if _, err := r.sendAgain(ctx, call); err != nil {
			return step{}, err
		}
	}
	result := r.Provider.CreateIntent(ctx, call.ProviderKey, params)
	answered := r.answered(ctx, call, result)
	if usedUp(result) { // an intent that the old key has made is not known, never confirmed, and takes no money
		return r.nextAttempt(ctx, domain.PointChargeRecorded, charge, call, answered)
	}
	if result.Outcome != provider.Succeeded {
		return r.settle(ctx, domain.PointChargeRecorded, answered, saidBy(result))
	}
	already, err := r.record(ctx, domain.PointChargeRecorded, func(ctx context.Context, tx *repository.Tx) error {
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
	if already {
		return r.stored(ctx) // by an earlier commit of ours, or because the charge was cancelled meanwhile
	}
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
	if charge.Asked != nil { // it is being cancelled, and nothing is to be sent that could take money
		return r.settle(ctx, domain.PointIntentRecorded, nil, unchanged)
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
	doubted := call.Doubted
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
		if untouched(found) && usedUp(result) {
			return r.nextAttempt(ctx, domain.PointIntentRecorded, charge, call, answered)
		}
		if !untouched(found) { // an untouched intent leaves the answer as it is: unknown, or refused
			result = found
		}
	}
	return r.settle(ctx, domain.PointIntentRecorded, answered, saidBy(result))
}

func chargePath(charge string) string { return "/v1/charges/" + charge }

func chargesPath(order string) string { return "/v1/orders/" + order + "/charges" }
