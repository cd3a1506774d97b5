package payment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"payonce/domain"
	"payonce/repository"
)

// run is one execution of a keyed operation on a charge: who owns the key, and in which generation.
type run struct {
	*Service
	claim      repository.Claim
	intent     domain.Intent
	one        *twin // whom the twins of this request wait for; nil when recovery runs
	generation int64
	requestID  string // of the request that claimed the key first
	expiresAt  time.Time
	instance   string
	chargeID   string
	by         domain.ResolvedBy // what it will be said to have been proved by
	unwanted   time.Duration     // how long ago somebody with the key was last at work, when this run looked
	resumed    bool              // somebody else got as far as the recovery point
}

// accept is what a keyed operation on a charge does in the transaction that claims its key. It returns the charge's id and
// the recovery point that is reached by it: the work that is left needs the provider. Or everything is done, at
// PointFinished, and the result is told. It must decide before it writes: a final refusal is stored, and then nothing else
// may have been written.
type accept func(context.Context, *repository.Tx, *run) (Result, domain.RecoveryPoint, error)

// keyed runs a keyed operation on a charge: it claims the key, or waits for whoever has it, and drives the chain to its
// end. Once the claim is committed the work no longer depends on the caller's connection.
func (s *Service) keyed(ctx context.Context, req Request, claim repository.Claim, intent domain.Intent, instance string, do accept) (Reply, error) {
	return s.oneAtATime(ctx, req.Wait, claim, func(until patience, one *twin) (reply Reply, err error) {
		r := &run{Service: s, claim: claim, intent: intent, one: one, by: domain.ByResponse, instance: instance}
		var point domain.RecoveryPoint
		var answered *Reply
		err = whenFree(ctx, until, one, func() error {
			point, answered, err = r.begin(ctx, do)
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
		ctx, cancel := detached(ctx, s.Lease)
		defer cancel()
		defer r.releaseOnPanic(ctx)
		reply, err = r.drive(ctx, point)
		if errors.Is(err, errLeaseLost) {
			return r.overtaken(ctx, err)
		}
		return reply, err
	})
}

// overtaken answers a request whose key was taken from it: with what whoever took it has come to, or by asking to come back.
func (r *run) overtaken(ctx context.Context, cause error) (Reply, error) {
	record, found, err := r.Store.Key(ctx, r.claim.KeyRef)
	if err != nil || !found || !record.Finished() {
		return Reply{}, r.one.stillRunning(cause)
	}
	return recall(r.claim, r.intent, record, r.Store.Now())
}

// begin is the first transaction. It returns the point to drive from, or a reply when the key already has an answer or
// gets it at once, or errRunning when another request holds the key.
func (r *run) begin(ctx context.Context, do accept) (point domain.RecoveryPoint, reply *Reply, err error) {
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
			var result Result
			result, point, err = do(work, tx, r)
			switch {
			case err == nil && point != domain.PointFinished:
				r.chargeID = result.Resource
				r.tell()
				return tx.AdvanceKey(work, r.claim, r.generation, point, r.chargeID)
			case err != nil && !domain.CodeOf(err).Final():
				return err // rolls the claim back: an order that does not exist leaves no trace under the key
			case err != nil:
				result = Result{Err: err}
			}
			first := r.reply(r.claim, record, r.instance, result)
			reply = &first
			return tx.FinishKey(work, r.claim, r.generation, result.Resource, first.Answer)
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

// step is what one phase came to: the run goes on at a recovery point, or it ends with a reply.
type step struct {
	next  domain.RecoveryPoint
	reply *Reply
}

// drive takes a run from its recovery point to its end. Each phase makes its provider call with no transaction open and
// then records the result in one transaction that also moves the recovery point; so after a crash the point says exactly
// which call may have been made.
func (r *run) drive(ctx context.Context, point domain.RecoveryPoint) (Reply, error) {
	for {
		var done step
		var err error
		switch point {
		case domain.PointChargeRecorded:
			done, err = r.createIntent(ctx)
		case domain.PointIntentRecorded:
			done, err = r.confirmIntent(ctx)
		case domain.PointAccepted:
			done, err = r.carryOut(ctx)
		case domain.PointClaimed, domain.PointFinished:
			return Reply{}, fmt.Errorf("key of charge %s cannot be driven from %s", r.chargeID, point)
		}
		if err != nil {
			return Reply{}, err
		}
		if done.reply != nil {
			return *done.reply, nil
		}
		point = done.next
		r.resumed = false
	}
}

// errLeaseLost says that another owner has taken the key over. This one must not write or send anything more.
var errLeaseLost = errors.New("the lease was taken over")

// record runs the transaction that ends a phase. It first locks the key and compares owner and generation, so an owner
// that was paused beyond its lease writes nothing. When the commit is in doubt it runs again: the lock waits for the
// doubtful transaction, and the recovery point then tells whether it took place. already is true when the point had moved
// before fn could run. fn gets a context of its own, which the end of the run's budget does not end.
func (r *run) record(ctx context.Context, from domain.RecoveryPoint, fn func(context.Context, *repository.Tx) error) (already bool, err error) {
	for try := 1; ; try++ {
		already, err = r.recordOnce(ctx, from, fn)
		if !errors.Is(err, repository.ErrCommitUnknown) || try == commitTries {
			return already, err
		}
		r.Log.WarnContext(ctx, "commit in doubt, locking the key again", "charge_id", r.chargeID, "recovery_point", from)
	}
}

// recordOnce has a budget of its own: waiting for an answer to COMMIT that is lost may have used up the one before.
func (r *run) recordOnce(ctx context.Context, from domain.RecoveryPoint, fn func(context.Context, *repository.Tx) error) (already bool, err error) {
	ctx, cancel := detached(ctx, recordBudget)
	defer cancel()
	err = r.Store.InTx(ctx, func(tx *repository.Tx) error {
		record, err := tx.LockKey(ctx, r.claim.KeyRef)
		if err != nil {
			return err
		}
		if record.Lease.Owner != r.claim.Owner || record.Lease.Generation != r.generation {
			return errLeaseLost
		}
		if already = record.Point != from; already {
			return nil
		}
		return fn(ctx, tx)
	})
	return already, err
}

// recordBudget bounds the recording of a result, the wait for a connection included. It is separate from the budget of
// the provider calls, so that a call that used all its time can still be written down.
const recordBudget = 10 * time.Second

// detached gives a context for the work after the claim: it keeps the values of the request's context but not its
// cancellation. A buyer who closes the tab must not stop a result from being written down, and neither must a full pool:
// it turns away what has not begun, not what has to be finished.
func detached(ctx context.Context, budget time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(repository.Patient(context.WithoutCancel(ctx)), budget)
}
