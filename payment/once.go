package payment

import (
	"context"
	"errors"
	"time"

	"payonce/domain"
	"payonce/repository"
)

// commitTries bounds how often an unknown commit is resolved by claiming again. Each try waits for the transaction in
// doubt, so one is nearly always enough.
const commitTries = 3

// once runs a keyed operation that touches only our own database. The claim of the key, the effect and the stored answer
// are one transaction: whatever is lost, repeated or killed, either all three exist or none does.
//
// effect may be run again after a conflict, so it works only through tx. It must decide before it writes: a refusal that
// is final is stored as the answer, and then nothing of the effect may have been written.
func (s *Service) once(ctx context.Context, req Request, op domain.Operation, instance string, command any, effect func(*repository.Tx) (Result, error)) (Reply, error) {
	claim, err := s.claim(req, op, command)
	if err != nil {
		return Reply{}, err
	}
	for try := 1; ; try++ {
		var reply Reply
		err := s.Store.InTx(ctx, func(tx *repository.Tx) error {
			record, mine, err := tx.ClaimKey(ctx, claim)
			if err != nil {
				return err
			}
			if !mine {
				reply, err = s.replay(claim, record)
				return err
			}
			result, err := effect(tx)
			if err != nil {
				if !domain.CodeOf(err).Final() {
					return err // rolls the claim back: the key stays free
				}
				result = Result{Err: err}
			}
			reply = s.reply(claim, record, instance, result)
			return tx.FinishKey(ctx, claim, record.Lease.Generation, result.Resource, reply.Answer)
		})
		if errors.Is(err, repository.ErrCommitUnknown) && try < commitTries {
			s.Log.WarnContext(ctx, "commit in doubt, claiming again", "operation", op, "request_id", req.RequestID)
			continue
		}
		return reply, keyBusy(err)
	}
}

// claim prepares the claim of a key for a command.
func (s *Service) claim(req Request, op domain.Operation, command any) (repository.Claim, error) {
	fingerprint, err := domain.FingerprintOf(op, command)
	if err != nil {
		return repository.Claim{}, err
	}
	return repository.Claim{
		KeyRef:      domain.KeyRef{MerchantID: req.MerchantID, Operation: op, Hash: req.Key.Hash()},
		Fingerprint: fingerprint,
		RequestID:   req.RequestID,
		Owner:       req.RequestID,
		Lease:       s.Lease,
		Retention:   s.KeyRetention,
	}, nil
}

// replay answers from a record that an earlier request made. A record that this very request made is not a replay: its
// commit was in doubt, and this is how it was settled.
func (s *Service) replay(claim repository.Claim, record domain.KeyRecord) (Reply, error) {
	switch {
	case record.Fingerprint != claim.Fingerprint:
		return Reply{}, domain.E(domain.CodeKeyReused, nil, "the idempotency key was used with other parameters; a new intent needs a new key")
	case !record.Finished():
		return Reply{}, errRunning
	}
	return Reply{
		Answer:     *record.Answer,
		Resource:   record.ResourceID,
		Replayed:   record.RequestID != claim.RequestID,
		OriginalID: record.RequestID,
		ExpiresAt:  record.ExpiresAt,
	}, nil
}

// errRunning says that a record with the same fingerprint is not finished yet.
var errRunning = errors.New("the key is in progress")

// reply renders the first answer.
func (s *Service) reply(claim repository.Claim, record domain.KeyRecord, instance string, result Result) Reply {
	return Reply{
		Answer: s.Present(Presentation{Operation: claim.Operation, RequestID: record.RequestID, Instance: instance, Result: result}),
		// A request that resumes somebody else's key tells whose intent it finished.
		Replayed: false, OriginalID: record.RequestID, Resource: result.Resource, ExpiresAt: record.ExpiresAt,
	}
}

// keyBusy turns the ways in which a running twin shows itself into the refusal a caller understands.
func keyBusy(err error) error {
	var refusal *domain.Error
	if errors.As(err, &refusal) {
		return err
	}
	if errors.Is(err, errRunning) || errors.Is(err, repository.ErrKeyHeld) {
		return inProgress("", err)
	}
	return err
}

func inProgress(resource string, cause error) error {
	err := domain.ELater(domain.CodeKeyInProgress, time.Second, cause, "a request with this idempotency key is still running; send it again with the same key")
	var refusal *domain.Error
	if resource != "" && errors.As(err, &refusal) {
		refusal.Fields = domain.Fields{"resource": resource}
	}
	return err
}
