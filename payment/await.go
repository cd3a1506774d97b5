package payment

import (
	"context"
	"errors"
	"fmt"

	"payonce/domain"
	"payonce/repository"
)

// await lets a request of another process, or recovery, that works on the same key come to its end, without holding a
// connection. It returns the answer as a replay, or takes the key over when its lease has ended.
func (r *run) await(ctx context.Context, until patience) (domain.RecoveryPoint, *Reply, error) {
	for pause := firstPause; ; pause = longer(pause) {
		record, found, err := r.Store.Key(ctx, r.claim.KeyRef)
		if err != nil {
			return "", nil, err
		}
		if !found {
			return "", nil, fmt.Errorf("a key of %s has vanished", r.claim.Operation)
		}
		r.adopt(record)
		if record.Finished() {
			reply, err := recall(r.claim, r.intent, record, r.Store.Now())
			return "", &reply, err
		}
		if record.Lease.Owner == r.claim.Owner {
			r.resumed = true // our own takeover was in doubt, and it did take place
			return record.Point, nil, nil
		}
		if !record.Lease.Live {
			point, err := r.takeOver(ctx, record)
			if !errors.Is(err, repository.ErrStale) && !errors.Is(err, repository.ErrCommitUnknown) {
				// stale: another request was faster, so wait for that one; in doubt: the next look tells
				return point, nil, err
			}
		}
		if err := rest(ctx, pause, until, r.one, errRunning); err != nil {
			return "", nil, err
		}
	}
}

// takeOver makes this run the owner of a key whose lease has ended.
func (r *run) takeOver(ctx context.Context, record domain.KeyRecord) (domain.RecoveryPoint, error) {
	err := r.Store.InTx(ctx, func(tx *repository.Tx) error {
		lease, err := tx.TakeOverKey(ctx, r.claim, record, r.by == domain.ByResponse)
		r.generation, r.resumed = lease.Generation, true
		return err
	})
	if err == nil && r.Resumed != nil {
		r.Resumed(r.by)
	}
	return record.Point, err
}
