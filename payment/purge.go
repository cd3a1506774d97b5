package payment

import (
	"context"

	"payonce/repository"
)

// PurgeKeys does one small batch of each half of the purge: it drops at most limit answers that have been kept long
// enough, leaving tombstones, and deletes at most limit tombstones whose time is over. It returns the larger of the two
// numbers; when that is limit, there is more to do. Any number of processes may do this at once, under any load.
func (s *Service) PurgeKeys(ctx context.Context, limit int) (purged int, err error) {
	err = s.Store.InTx(ctx, func(tx *repository.Tx) error {
		purged, err = tx.DropAnswers(ctx, limit, s.Retention.Default.Tombstone)
		return err
	})
	if err != nil {
		return 0, err
	}
	var forgotten int
	err = s.Store.InTx(ctx, func(tx *repository.Tx) error {
		forgotten, err = tx.ForgetKeys(ctx, limit)
		return err
	})
	return max(purged, forgotten), err
}
