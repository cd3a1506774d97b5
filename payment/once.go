package payment

import (
	"context"
	"errors"
	"time"

	"payonce/domain"
	"payonce/repository"
)

// commitTries bounds how often an unknown commit is resolved by claiming again. Each try finds out about the transaction
// in doubt, so one is nearly always enough.
const commitTries = 3

// effectBudget bounds the work of an operation that touches only our own database.
const effectBudget = 10 * time.Second

// effect is what an operation does in its transaction. It may be run again after a conflict, so it works only through tx.
// It must decide before it writes: a refusal that is final is stored as the answer, and then nothing of the effect may
// have been written.
type effect func(context.Context, *repository.Tx) (Result, error)

// once runs a keyed operation that touches only our own database. The claim of the key, the effect and the stored answer
// are one transaction: whatever is lost, repeated or killed, either all three exist or none does.
func (s *Service) once(ctx context.Context, req Request, op domain.Operation, instance string, command any, do effect) (Reply, error) {
	claim, intent, err := s.claim(req, op, command)
	if err != nil {
		return Reply{}, err
	}
	return s.oneAtATime(ctx, req.Wait, claim, func(until patience, one *twin) (reply Reply, err error) {
		err = whenFree(ctx, until, one, func() error {
			reply, err = s.claimAndDo(ctx, claim, intent, instance, do)
			return err
		})
		return reply, err
	})
}

// claimAndDo is the one transaction. A caller who hangs up before it begins changes nothing; from then on it runs to its
// end on a budget of its own.
func (s *Service) claimAndDo(ctx context.Context, claim repository.Claim, intent domain.Intent, instance string, do effect) (reply Reply, err error) {
	for try := 1; ; try++ {
		err = s.Store.InTx(ctx, func(tx *repository.Tx) error {
			work, cancel := detached(ctx, effectBudget)
			defer cancel()
			record, mine, err := tx.ClaimKey(work, claim)
			if err != nil {
				return err
			}
			if !mine {
				reply, err = recall(claim, intent, record, tx.Now)
				return err
			}
			result, err := do(work, tx)
			if err != nil {
				if !domain.CodeOf(err).Final() {
					return err // rolls the claim back: the key stays free
				}
				result = Result{Err: err}
			}
			reply = s.reply(claim, record, instance, result)
			return tx.FinishKey(work, claim, record.Lease.Generation, result.Resource, reply.Answer)
		})
		if !errors.Is(err, repository.ErrCommitUnknown) || try == commitTries {
			return reply, err
		}
		s.Log.WarnContext(ctx, "commit in doubt, claiming again", "operation", claim.Operation, "request_id", claim.RequestID)
	}
}

// claim prepares the claim of a key for a command.
func (s *Service) claim(req Request, op domain.Operation, command any) (repository.Claim, domain.Intent, error) {
	intent, err := domain.NewIntent(op, command)
	if err != nil {
		return repository.Claim{}, intent, err
	}
	return repository.Claim{
		KeyRef:      domain.KeyRef{MerchantID: req.MerchantID, Operation: op, Hash: req.Key.Hash()},
		Fingerprint: intent.Fingerprint(),
		RequestID:   req.RequestID,
		Owner:       req.RequestID,
		Lease:       s.Lease,
		Retention:   s.Retention.For(op).Answer,
	}, intent, nil
}

// recall answers from the record that an earlier request with this key made: with its answer, or with the refusal that
// says why there is none for this intent.
func recall(claim repository.Claim, intent domain.Intent, record domain.KeyRecord, now time.Time) (Reply, error) {
	if record.Expired(now) {
		return Reply{}, keyExpired(record)
	}
	same, err := intent.Matches(record.Fingerprint)
	switch {
	case err != nil:
		return Reply{}, domain.ELater(domain.CodeTemporarilyUnavailable, time.Second, err, "the key was claimed by a newer release of this service; send the request again with the same key")
	case !same:
		return Reply{}, keyReused(record.ExpiresAt)
	case !record.Finished():
		return Reply{}, errRunning
	}
	return repeat(claim, record), nil
}

// repeat is the stored answer of a record. When this very request has stored it, it is not a replay: its commit was in
// doubt, and this is how the doubt was settled.
func repeat(claim repository.Claim, record domain.KeyRecord) Reply {
	return Reply{
		Answer:     *record.Answer,
		Resource:   record.ResourceID,
		Replayed:   record.RequestID != claim.RequestID,
		OriginalID: record.RequestID,
		ExpiresAt:  record.ExpiresAt,
	}
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

// The refusals that come from a key instead of from what was asked. They are never stored: the record stays as it is.

func inProgress(resource string, expires time.Time, cause error) error {
	var fields domain.Fields
	if resource != "" {
		fields = domain.Fields{"resource": resource}
	}
	return domain.EKey(domain.CodeKeyInProgress, fields, expires, time.Second, cause,
		"a request with this idempotency key is still running; send it again with the same key")
}

func keyReused(expires time.Time) error {
	return domain.EKey(domain.CodeKeyReused, nil, expires, 0, nil,
		"the idempotency key was used with other parameters; a new intent needs a new key")
}

func keyExpired(record domain.KeyRecord) error {
	fields := domain.Fields{"resource": nil} // a refusal made nothing to look at
	if record.ResourceID != "" {
		fields["resource"] = record.ResourceID
	}
	return domain.EKey(domain.CodeKeyExpired, fields, record.ExpiresAt, 0, nil,
		"this was answered so long ago that the answer is no longer kept; it is not done again, look at what it made")
}
