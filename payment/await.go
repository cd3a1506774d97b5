package payment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"payonce/domain"
	"payonce/repository"
)

// await lets another request that runs under the same key come to its end, without holding a connection. It returns its
// answer as a replay, or takes the key over when its lease has ended, or gives up after wait.
func (r *run) await(ctx context.Context, wait time.Duration) (domain.RecoveryPoint, *Reply, error) {
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	pause := 10 * time.Millisecond
	for {
		record, found, err := r.Store.Key(ctx, r.claim.KeyRef)
		if err != nil {
			return "", nil, err
		}
		if !found {
			return "", nil, fmt.Errorf("a key of %s has vanished", r.claim.Operation)
		}
		r.adopt(record)
		if record.Finished() {
			reply, err := r.replay(r.claim, record)
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
		next := time.NewTimer(pause)
		select {
		case <-next.C:
			pause = min(2*pause, 200*time.Millisecond)
		case <-deadline.C:
			next.Stop()
			return "", nil, inProgress(record.ResourceID, errRunning)
		case <-ctx.Done():
			next.Stop()
			return "", nil, ctx.Err()
		}
	}
}

// takeOver makes this run the owner of a key whose lease has ended.
func (r *run) takeOver(ctx context.Context, record domain.KeyRecord) (domain.RecoveryPoint, error) {
	err := r.Store.InTx(ctx, func(tx *repository.Tx) error {
		lease, err := tx.TakeOverKey(ctx, r.claim, record)
		r.generation, r.resumed = lease.Generation, true
		return err
	})
	return record.Point, err
}
