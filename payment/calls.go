package payment

import (
	"context"
	"encoding/json"
	"fmt"

	"payonce/domain"
	"payonce/provider"
	"payonce/repository"
)

// writeCall writes a call down, marked as sent: the transaction that commits it is followed by the sending at once. Its
// key is the charge's id, the kind and the attempt: stable over every retry, crash and takeover. For calls that move
// money the attempt rises only when the provider will not execute the key any more, never after silence: see usedUp.
func (s *Service) writeCall(ctx context.Context, tx *repository.Tx, charge domain.Charge, kind repository.CallKind, attempt int, params any) (repository.ProviderCall, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return repository.ProviderCall{}, fmt.Errorf("encode %s call: %w", kind, err)
	}
	call := repository.ProviderCall{MerchantID: charge.MerchantID, ChargeID: charge.ID, Kind: kind, Attempt: attempt, Params: body, SentAt: &tx.Now,
		Doubted: kind == repository.CallConfirm && attempt > 1}
	if kind != repository.CallLookup { // a look-up changes nothing, so nothing has to recognise it
		horizon := tx.Now.Add(s.KeyHorizon)
		call.ProviderKey, call.HorizonAt = fmt.Sprintf("%s:%s:%d", charge.ID, kind, attempt), &horizon
	}
	return call, tx.InsertProviderCall(ctx, call)
}

// written reads the latest call of a kind, which is there before anything of that kind is sent.
func (r *run) written(ctx context.Context, kind repository.CallKind) (repository.ProviderCall, error) {
	call, found, err := r.Store.ProviderCall(ctx, r.claim.MerchantID, r.chargeID, kind)
	if err == nil && !found {
		err = fmt.Errorf("charge %s has no %s call written down", r.chargeID, kind)
	}
	return call, err
}

// pastHorizon reports whether a call's key must not be sent any more, because the provider may have forgotten it.
func (r *run) pastHorizon(call repository.ProviderCall) bool {
	return call.HorizonAt != nil && r.Store.Now().After(*call.HorizonAt)
}

// sendAgain takes back, before a call is sent once more, what its last sending came to: if this process dies while it
// sends, the next one must not believe the old answer. doubted says that an earlier sending may have been executed.
func (r *run) sendAgain(ctx context.Context, call repository.ProviderCall) (doubted bool, err error) {
	ctx, cancel := detached(ctx, recordBudget)
	defer cancel()
	err = r.Store.InTx(ctx, func(tx *repository.Tx) error {
		if err := tx.ReopenProviderCall(ctx, call); err != nil {
			return err
		}
		now, _, err := tx.ProviderCall(ctx, call.MerchantID, call.ChargeID, call.Kind)
		doubted = now.Doubted
		return err
	})
	return doubted, err
}

// usedUp reports whether the provider repeats a failure that it has stored under the key: nothing else will ever come of
// that key. A new one may be tried, because an intent succeeds once at most; what the old one has done stays in doubt.
func usedUp(result provider.Result) bool {
	return result.Outcome == provider.Unknown && result.Replayed
}

// nextAttempt writes a call down under a new key, with the same parameters.
func (r *run) nextAttempt(ctx context.Context, from domain.RecoveryPoint, charge domain.Charge, call repository.ProviderCall, before evidence) (step, error) {
	_, err := r.record(ctx, from, func(ctx context.Context, tx *repository.Tx) error {
		if err := before.write(ctx, tx); err != nil {
			return err
		}
		_, err := r.writeCall(ctx, tx, charge, call.Kind, call.Attempt+1, json.RawMessage(call.Params))
		return err
	})
	return step{next: from}, err
}

// evidence is what provider calls came to, to be written down in the transaction that acts on it.
type evidence []struct {
	call   repository.ProviderCall
	answer repository.CallAnswer
}

// answered logs what a call came to and keeps it as evidence.
func (s *Service) answered(ctx context.Context, call repository.ProviderCall, result provider.Result) evidence {
	s.Log.InfoContext(ctx, "provider call", "charge_id", call.ChargeID, "kind", call.Kind, "attempt", call.Attempt,
		"outcome", result.Outcome, "http_status", result.HTTPStatus, "provider_request_id", result.RequestID,
		"replayed", result.Replayed, "error", result.Err)
	answer := repository.CallAnswer{Outcome: string(result.Outcome), HTTPStatus: result.HTTPStatus, RequestID: result.RequestID}
	if result.Intent != nil {
		answer.Found = string(result.Intent.Status)
	}
	if result.Failure != nil {
		answer.FailureCode, answer.DeclineCode = result.Failure.Code, result.Failure.DeclineCode
	}
	return evidence{{call, answer}}
}

func (e evidence) write(ctx context.Context, tx *repository.Tx) error {
	for _, item := range e {
		if err := tx.AnswerProviderCall(ctx, item.call, item.answer); err != nil {
			return err
		}
	}
	return nil
}

// lookUp asks the provider for the intent's present state. The look-up is written down like every call: together with
// its answer it is the evidence for what follows.
func (s *Service) lookUp(ctx context.Context, charge domain.Charge) (provider.Result, evidence, error) {
	call, err := s.nextCall(ctx, charge, repository.CallLookup)
	if err != nil {
		return provider.Result{}, nil, err
	}
	result := s.Provider.Intent(ctx, *charge.ProviderReference)
	return asNews(result), s.answered(ctx, call, result), nil
}

// cancelIntent fences the intent. Each try has a key of its own: a refusal is remembered under its key, and the intent's
// state may have changed since. Cancelling twice is harmless.
func (s *Service) cancelIntent(ctx context.Context, charge domain.Charge) (provider.Result, evidence, error) {
	call, err := s.nextCall(ctx, charge, repository.CallCancel)
	if err != nil {
		return provider.Result{}, nil, err
	}
	result := s.Provider.CancelIntent(ctx, call.ProviderKey, *charge.ProviderReference)
	return asNews(result), s.answered(ctx, call, result), nil
}

// asNews keeps of a look-up or a fence only what it shows of the intent. That such a call was refused or could not be
// sent says nothing about a confirm that went before it, so without an intent there is no news but "unknown".
func asNews(result provider.Result) provider.Result {
	if result.Intent == nil || result.Outcome == provider.NotSent || result.Outcome == provider.Unknown {
		return provider.Result{Outcome: provider.Unknown}
	}
	result.Outcome = provider.Succeeded
	return result
}

// nextCall writes down one more call of a kind that may be made any number of times.
func (s *Service) nextCall(ctx context.Context, charge domain.Charge, kind repository.CallKind) (repository.ProviderCall, error) {
	ctx, cancel := detached(ctx, recordBudget)
	defer cancel()
	var call repository.ProviderCall
	err := s.Store.InTx(ctx, func(tx *repository.Tx) error {
		last, _, err := tx.ProviderCall(ctx, charge.MerchantID, charge.ID, kind)
		if err != nil {
			return err
		}
		call, err = s.writeCall(ctx, tx, charge, kind, last.Attempt+1, struct{}{})
		return err
	})
	return call, err
}
