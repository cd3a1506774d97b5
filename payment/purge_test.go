package payment_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/payment"
	"payonce/provider"
)

// later lets time pass for keys: everything that was to happen by then is due.
func (b *bundle) later(d time.Duration) {
	b.t.Helper()
	b.db.Exec(b.t, `ALTER TABLE idempotency_keys DISABLE TRIGGER USER`)
	b.db.Exec(b.t, `UPDATE idempotency_keys SET expires_at = expires_at - $1 * interval '1 microsecond',
		forget_at = forget_at - $1 * interval '1 microsecond'`, d.Microseconds())
	b.db.Exec(b.t, `ALTER TABLE idempotency_keys ENABLE TRIGGER USER`)
}

func (b *bundle) purge() int {
	b.t.Helper()
	purged, err := b.PurgeKeys(asSystem(b.t), 1000)
	require.NoError(b.t, err)
	return purged
}

// keyExpired asserts that a request is refused because its answer is no longer kept, with a pointer to what it made.
func keyExpired(t *testing.T, err error, resource string) {
	t.Helper()
	require.Equal(t, domain.CodeKeyExpired, domain.CodeOf(err))
	var refusal *domain.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, resource, refusal.Fields["resource"])
	require.False(t, refusal.KeyExpiresAt.IsZero())
}

func TestRetention_TheLifeOfAKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	request := b.request()
	first, err := b.CreateOrder(asMerchant(t), request, b.orderCommand(1))
	require.NoError(t, err)

	b.later(59 * time.Minute) // answers are kept for an hour here
	b.purge()
	replay, err := b.CreateOrder(asMerchant(t), again(request), b.orderCommand(1))
	require.NoError(t, err)
	require.Equal(t, first.Answer, replay.Answer, "kept to the end")

	b.later(time.Minute)
	_, err = b.CreateOrder(asMerchant(t), again(request), b.orderCommand(1))
	keyExpired(t, err, first.Resource)
	require.Positive(t, b.purge())
	require.Zero(t, b.db.Count(t, `SELECT count(*) FROM idempotency_keys
		WHERE response_body IS NOT NULL OR fingerprint IS NOT NULL OR response_location IS NOT NULL`), "what was asked and answered is gone")
	_, err = b.CreateOrder(asMerchant(t), again(request), b.orderCommand(1))
	keyExpired(t, err, first.Resource)
	_, err = b.CreateOrder(asMerchant(t), again(request), b.orderCommand(2))
	keyExpired(t, err, first.Resource)

	b.later(10*time.Hour - time.Minute) // tombstones for ten
	b.purge()
	_, err = b.CreateOrder(asMerchant(t), again(request), b.orderCommand(1))
	keyExpired(t, err, first.Resource)
	require.Equal(t, 1, b.db.Count(t, `SELECT count(*) FROM orders`), "never a second run inside that time")

	b.later(time.Minute)
	require.Positive(t, b.purge())
	require.Zero(t, b.db.Count(t, `SELECT count(*) FROM idempotency_keys`))
	require.Zero(t, b.purge(), "and then there is nothing left to do")
}

func TestRetention_ARefusalLeavesATombstoneToo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	request := b.request()
	_, err := b.CreateOrder(asMerchant(t), request, b.orderCommand(101))
	require.NoError(t, err)
	b.later(time.Hour)
	b.purge()
	_, err = b.SetStock(asMerchant(t), merchant, b.product, 1000)
	require.NoError(t, err)
	_, err = b.CreateOrder(asMerchant(t), again(request), b.orderCommand(101))
	require.Equal(t, domain.CodeKeyExpired, domain.CodeOf(err), "a refusal was final, and stays so")
}

func TestRetention_AnUndecidedChargeKeepsItsKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order, request := b.order(1), b.request()
	b.between.before = func(string) *provider.Result { return &provider.Result{Outcome: provider.Unknown} }
	_, err := b.CreateCharge(asMerchant(t), request, card(order, goodCard))
	require.NoError(t, err)
	b.mended()
	b.later(1000 * time.Hour)
	b.purge()
	reply, err := b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
	require.NoError(t, err, "its outcome is still owed")
	require.Equal(t, http.StatusCreated, reply.Answer.Status)
	require.True(t, reply.ExpiresAt.After(b.Store.Now().Add(59*time.Minute)), "and its answer is kept from when it was given")
	b.later(59 * time.Minute)
	b.purge()
	replay, err := b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
	require.NoError(t, err)
	require.Equal(t, reply.Answer, replay.Answer)
}

func TestRetention_PerOperation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Retention.Answers = map[domain.Operation]time.Duration{domain.OpCartsCreate: time.Minute}
	cart, order := b.request(), b.request()
	command := payment.CreateCart{Currency: domain.EUR, Metadata: map[string]string{}}
	_, err := b.CreateCart(asMerchant(t), cart, command)
	require.NoError(t, err)
	_, err = b.CreateOrder(asMerchant(t), order, b.orderCommand(1))
	require.NoError(t, err)
	b.later(2 * time.Minute)
	_, err = b.CreateCart(asMerchant(t), again(cart), command)
	require.Equal(t, domain.CodeKeyExpired, domain.CodeOf(err))
	_, err = b.CreateOrder(asMerchant(t), again(order), b.orderCommand(1))
	require.NoError(t, err)
}

func TestRetention_TheDatabaseGuardsIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.order(1)
	only := ` WHERE operation = 'orders.create'`
	b.db.Refused(t, "idempotency_keys_kept", `DELETE FROM idempotency_keys`+only)
	for _, change := range []string{
		`response_body = 'other'`, `response_status = 409`, `resource_id = 'ord_other'`, `expires_at = expires_at - interval '1 s'`,
		`recovery_point = 'claimed'`, `request_id = 'req_other'`, `fingerprint = 'v2:' || repeat('0', 64)`,
	} {
		b.db.Refused(t, "idempotency_keys_answered_for_good", `UPDATE idempotency_keys SET `+change+only)
	}
	drop := `UPDATE idempotency_keys SET forget_at = now(), response_body = NULL, response_location = NULL, fingerprint = NULL`
	b.db.Refused(t, "idempotency_keys_answered_for_good", drop+`, response_status = 201, resource_id = NULL`+only)
	b.db.Refused(t, "idempotency_keys_tombstone", `UPDATE idempotency_keys SET forget_at = now(), response_body = NULL`+only)
	b.db.Exec(t, drop+only)
	b.db.Refused(t, "idempotency_keys_answered_for_good", `UPDATE idempotency_keys SET forget_at = now() + interval '1 y'`+only)
}

// Every key under the purge is replayed, or refused because it has expired, or was forgotten after its time; at no moment
// does one run a second time before that.
func TestRetention_PurgeUnderLoad(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const keys = 300
	command := payment.CreateCart{Currency: domain.EUR, Metadata: map[string]string{}}
	requests, made := make([]payment.Request, keys), make([]payment.Reply, keys)
	for i := range requests {
		requests[i] = b.request()
		var err error
		made[i], err = b.CreateCart(asMerchant(t), requests[i], command)
		require.NoError(t, err)
	}
	b.later(time.Hour)

	failures := make(chan error, 4*keys)
	var load, purges sync.WaitGroup
	through := make(chan struct{})
	for range 2 { // two workers at once
		purges.Go(func() {
			for {
				if _, err := b.PurgeKeys(asSystem(t), 7); err != nil {
					failures <- err
				}
				select {
				case <-through:
					return
				default:
				}
			}
		})
	}
	for worker := range 4 {
		load.Go(func() {
			for i := worker; i < keys; i += 4 {
				_, err := b.CreateCart(asMerchant(t), again(requests[i]), command)
				if domain.CodeOf(err) != domain.CodeKeyExpired {
					failures <- fmt.Errorf("late retry of key %d: %w", i, err)
				}
				if reply, err := b.CreateCart(asMerchant(t), b.request(), command); err != nil || reply.Replayed {
					failures <- fmt.Errorf("a new key beside it: replayed %t, %w", reply.Replayed, err)
				}
			}
		})
	}
	load.Wait()
	close(through)
	purges.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
	for b.purge() > 0 {
		continue
	}
	require.Equal(t, keys, b.db.Count(t, `SELECT count(*) FROM idempotency_keys WHERE forget_at IS NOT NULL AND operation = 'carts.create'`))
	require.Equal(t, 2*keys, b.db.Count(t, `SELECT count(*) FROM carts`), "one cart per intent")
}

func TestUpgrade_AKeyOfANewerRelease_IsToldToAskAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	request := b.request()
	first, err := b.CreateOrder(asMerchant(t), request, b.orderCommand(1))
	require.NoError(t, err)
	b.db.Exec(t, `ALTER TABLE idempotency_keys DISABLE TRIGGER USER`)
	b.db.Exec(t, `UPDATE idempotency_keys SET fingerprint = replace(fingerprint, 'v2:', 'v99:') WHERE operation = 'orders.create'`)
	_, err = b.CreateOrder(asMerchant(t), again(request), b.orderCommand(1))
	require.Equal(t, domain.CodeTemporarilyUnavailable, domain.CodeOf(err), "neither a replay nor a conflict can be proved")
	b.db.Exec(t, `UPDATE idempotency_keys SET fingerprint = replace(fingerprint, 'v99:', 'v2:') WHERE operation = 'orders.create'`)
	replay, err := b.CreateOrder(asMerchant(t), again(request), b.orderCommand(1))
	require.NoError(t, err)
	require.Equal(t, first.Answer, replay.Answer)
}
