package payment

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"payonce/domain"
	"payonce/repository"
)

// Recover looks once at the open charges whose time has come, at most limit of them, and returns how many it settled.
// Any number of processes may do this at once.
//
// Recovery finds out, and it fences; it never starts to take money. Whoever wanted the charge may be gone: only a caller
// who sends the same key again gets it confirmed.
func (s *Service) Recover(ctx context.Context, limit int) (settled int, err error) {
	var charges []domain.Charge
	err = s.Store.InTx(ctx, func(tx *repository.Tx) error {
		var err error
		charges, err = tx.ClaimOpenCharges(ctx, limit, s.Grace)
		return err
	})
	if err != nil {
		return 0, err
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var failures []error
	places := make(chan struct{}, recoverAtOnce)
	for _, charge := range charges {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			done, err := s.recoverAlone(repository.AsMerchant(ctx, charge.MerchantID), charge)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && !errors.Is(err, errLeaseLost) && !errors.Is(err, repository.ErrStale) {
				failures = append(failures, err)
			}
			if done {
				settled++
			}
		})
	}
	all.Wait()
	return settled, errors.Join(failures...)
}

// recoverAtOnce bounds how many charges one process recovers at a time. One after the other would be too few: a provider
// that is slow to answer about one charge would keep all the others waiting, those of other merchants too.
const recoverAtOnce = 8

// recoverAlone recovers one charge, and keeps a panic over it from ending the process.
func (s *Service) recoverAlone(ctx context.Context, charge domain.Charge) (settled bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("recovery of charge %s: panic: %v\n%s", charge.ID, p, debug.Stack())
		}
	}()
	return s.recoverCharge(ctx, charge)
}

// recoverCharge settles one open charge if that can be proved.
func (s *Service) recoverCharge(ctx context.Context, charge domain.Charge) (settled bool, err error) {
	ref, instance := charge.Key, chargesPath(charge.OrderID)
	if charge.Asked != nil {
		ref = charge.Asked.Key
		_, verb, _ := strings.Cut(string(ref.Operation), ".")
		instance = chargePath(charge.ID) + "/" + verb
	}
	record, found, err := s.Store.Key(ctx, ref)
	if err != nil {
		return false, err
	}
	if !found || record.Finished() { // a key may be forgotten while the buyer still has to authenticate
		return s.follow(ctx, charge)
	}
	if record.Lease.Live {
		return false, nil // somebody is at work
	}
	owner := s.NewID("rec")
	r := &run{Service: s, by: domain.ByReconciliation, resumed: true, instance: instance,
		claim: repository.Claim{KeyRef: ref, Fingerprint: record.Fingerprint, RequestID: owner, Owner: owner, Lease: s.Lease,
			Retention: s.Retention.For(ref.Operation).Answer}}
	r.adopt(record)
	point, err := r.takeOver(ctx, record)
	if err != nil {
		return false, err
	}
	ctx, cancel := detached(ctx, s.Lease)
	defer cancel()
	if charge, err = s.Store.Charge(ctx, charge.MerchantID, charge.ID); err != nil { // as its last owner left it
		return false, err
	}
	var done step
	switch point {
	case domain.PointChargeRecorded:
		done, err = r.giveUp(ctx, charge)
	case domain.PointIntentRecorded:
		done, err = r.findOut(ctx, charge)
	case domain.PointAccepted:
		var reply Reply
		reply, err = r.drive(ctx, point) // it was accepted, so it is carried through
		done.reply = &reply
	case domain.PointClaimed, domain.PointFinished:
		return false, fmt.Errorf("key of charge %s cannot be recovered from %s", charge.ID, point)
	}
	if domain.CodeOf(err) == domain.CodeProviderUnavailable {
		return false, nil // nothing was sent and nobody came back yet; the key is free for a caller who does
	}
	return err == nil && done.reply != nil && done.reply.RetryAfter == 0, err
}

// giveUp ends a charge whose intent is not known: none was confirmed, so nothing can have been taken. It waits until a
// caller who retries has had the time to.
func (r *run) giveUp(ctx context.Context, charge domain.Charge) (step, error) {
	if !r.abandonable(charge) {
		return r.settle(ctx, domain.PointChargeRecorded, nil, unchanged)
	}
	return r.settle(ctx, domain.PointChargeRecorded, nil, abandoned)
}

// findOut asks the provider. An intent that nothing happened to is fenced once its charge counts as abandoned.
func (r *run) findOut(ctx context.Context, charge domain.Charge) (step, error) {
	found, answered, err := r.lookUp(ctx, charge)
	if err != nil {
		return step{}, err
	}
	if untouched(found) && r.abandonable(charge) {
		if err := r.write(ctx, answered); err != nil {
			return step{}, err
		}
		return r.fence(ctx, charge)
	}
	return r.settle(ctx, domain.PointIntentRecorded, answered, saidBy(found))
}

// fence cancels the intent, so that no confirm of any age can take money any more, and settles the charge by what the
// provider says: canceled, or, when a confirm was faster, what came of that.
func (r *run) fence(ctx context.Context, charge domain.Charge) (step, error) {
	found, answered, err := r.cancelIntent(ctx, charge)
	if err != nil {
		return step{}, err
	}
	return r.settle(ctx, domain.PointIntentRecorded, answered, saidBy(found))
}

// follow asks about a charge whose answer was given while it was open: the buyer has to authenticate, or the money is
// held. When the order's time to be paid is over and the buyer has not authenticated, the intent is fenced. Money that is
// held stays so until a caller captures or cancels it, or the bank's time for it is over.
func (s *Service) follow(ctx context.Context, charge domain.Charge) (settled bool, err error) {
	order, err := s.Store.Order(ctx, charge.MerchantID, charge.OrderID)
	if err != nil {
		return false, err
	}
	found, answered, err := s.lookUp(ctx, charge)
	if err != nil {
		return false, err
	}
	if status, _ := statusFrom(found); status == domain.ChargeRequiresAction && !s.Store.Now().Before(order.ExpiresAt) {
		if err := s.write(ctx, answered); err != nil {
			return false, err
		}
		if found, answered, err = s.cancelIntent(ctx, charge); err != nil {
			return false, err
		}
	}
	ctx, cancel := detached(ctx, recordBudget)
	defer cancel()
	err = s.Store.InTx(ctx, func(tx *repository.Tx) error {
		if err := answered.write(ctx, tx); err != nil {
			return err
		}
		charge, err = s.apply(ctx, tx, charge.MerchantID, charge.ID, domain.ByReconciliation, saidBy(found))
		return err
	})
	return err == nil && charge.Status.Final(), err
}

// write records evidence when nothing else is to be recorded with it.
func (s *Service) write(ctx context.Context, e evidence) error {
	ctx, cancel := detached(ctx, recordBudget)
	defer cancel()
	return s.Store.InTx(ctx, func(tx *repository.Tx) error { return e.write(ctx, tx) })
}

// abandonable reports whether nothing has happened to a charge, and nobody has come back for it with its key, for so long
// that nobody is waiting for it.
func (r *run) abandonable(charge domain.Charge) bool {
	return min(r.Store.Now().Sub(charge.UpdatedAt), r.unwanted) >= r.Lease+r.Grace
}

// unchanged is the verdict that there is no news.
func unchanged(charge domain.Charge, _ domain.ResolvedBy, _ time.Time) (domain.Charge, error) {
	return charge, nil
}

// ExpireOrders ends at most limit orders that nobody paid in time and gives their stock back. It returns how many.
func (s *Service) ExpireOrders(ctx context.Context, limit int) (expired int, err error) {
	err = s.Store.InTx(ctx, func(tx *repository.Tx) error {
		expired = 0
		orders, err := tx.ClaimExpiredOrders(ctx, limit)
		if err != nil {
			return err
		}
		for _, order := range orders {
			// The order is locked now. A charge that was begun before that is visible to this statement, though not
			// necessarily to the one that found the order.
			if _, blocked, err := tx.BlockingCharge(ctx, order.MerchantID, order.ID); err != nil || blocked {
				if err != nil {
					return err
				}
				continue
			}
			from := order.Status
			order.Status, order.UpdatedAt = domain.OrderExpired, tx.Now
			if err := tx.UpdateOrder(ctx, order, from); err != nil {
				return err
			}
			if err := tx.ReleaseStock(ctx, order); err != nil {
				return err
			}
			expired++
		}
		return nil
	})
	return expired, err
}
