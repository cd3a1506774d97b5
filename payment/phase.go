package payment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"payonce/domain"
	"payonce/repository"
)

// run is one execution of a keyed charge: who owns the key, and in which generation.
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
	ctx, cancel := detached(ctx, recordBudget)
	defer cancel()
	for try := 1; ; try++ {
		already = false
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
		if !errors.Is(err, repository.ErrCommitUnknown) || try == commitTries {
			return already, err
		}
		r.Log.WarnContext(ctx, "commit in doubt, locking the key again", "charge_id", r.chargeID, "recovery_point", from)
	}
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
