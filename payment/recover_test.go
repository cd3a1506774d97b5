package payment_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/provider"
)

// due makes open charges due for recovery, and nothing else.
func (b *bundle) due() {
	b.db.Exec(b.t, `UPDATE charges SET look_at = clock_timestamp() - interval '1 second' WHERE look_at IS NOT NULL`)
}

func TestRecovery_FollowsAChargeWhoseKeyIsForgotten(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order := b.order(1)
	cmd := card(order, "pm_card_authenticationRequired")
	cmd.ReturnURL = "https://shop.example/back"
	reply, err := b.CreateCharge(asMerchant(t), b.request(), cmd)
	require.NoError(t, err)
	b.later(1000 * time.Hour)
	b.purge()
	b.later(1000 * time.Hour)
	b.purge()
	require.Zero(t, b.db.Count(t, `SELECT count(*) FROM idempotency_keys`))

	charge, err := b.Store.Charge(asMerchant(t), merchant, reply.Resource)
	require.NoError(t, err)
	require.Equal(t, domain.ChargeRequiresAction, charge.Status)
	b.simPost("/_sim/payment_intents/"+*charge.ProviderReference+"/action", `{"outcome":"succeed"}`)
	b.due()
	settled, err := b.Recover(asSystem(t), 10)
	require.NoError(t, err)
	require.Equal(t, 1, settled)
	paid, err := b.Store.Order(asMerchant(t), merchant, order)
	require.NoError(t, err)
	require.Equal(t, domain.OrderPaid, paid.Status)
}

func TestRecovery_DoesNotGiveUpWhatSomebodyStillComesBackFor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order, request := b.order(1), b.request()
	dark := func(kind string) *provider.Result {
		if kind == "confirm" {
			return &provider.Result{Outcome: provider.NotSent}
		}
		return nil
	}
	b.between.before = dark
	_, err := b.CreateCharge(asMerchant(t), request, card(order, goodCard))
	require.Equal(t, domain.CodeProviderUnavailable, domain.CodeOf(err))
	b.longAgo()
	_, err = b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
	require.Equal(t, domain.CodeProviderUnavailable, domain.CodeOf(err), "here is somebody")

	b.due()
	_, err = b.Recover(asSystem(t), 10)
	require.NoError(t, err)
	b.mended()
	reply, err := b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, reply.Answer.Status, string(reply.Answer.Body))
}

func TestRefusedTwiceForReasonsOfOurs_TheSameKeyStillGoesOn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order, request := b.order(1), b.request()
	b.simPost("/_sim/rules", `{"match":{"path_glob":"/v1/payment_intents/*/confirm"},"fault":{"name":"error_before_effect","status":"401","store":"false"},"times":3}`)
	for range 3 {
		_, err := b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
		require.Equal(t, domain.CodeProviderUnavailable, domain.CodeOf(err), "each refusal proves that this call did nothing")
	}
	reply, err := b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, reply.Answer.Status, string(reply.Answer.Body))
	require.Equal(t, 1, b.audit(order).Succeeded)
}

func TestRecovery_OneSlowAnswerDoesNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var orders []string
	b.between.after = func(kind string, r provider.Result) provider.Result {
		if kind == "confirm" || kind == "lookup" {
			return provider.Result{Outcome: provider.Unknown}
		}
		return r
	}
	for range 4 {
		order := b.order(1)
		_, err := b.CreateCharge(asMerchant(t), b.request(), card(order, goodCard))
		require.NoError(t, err)
		orders = append(orders, order)
	}
	var first sync.Once
	var others sync.WaitGroup
	others.Add(3)
	b.between.after = func(kind string, r provider.Result) provider.Result {
		slow := false
		first.Do(func() { slow = true })
		if slow {
			others.Wait() // it answers only when all others have been answered
		} else {
			others.Done()
		}
		return r
	}
	b.longAgo()
	settled, err := b.Recover(asSystem(t), 10)
	require.NoError(t, err)
	require.Equal(t, 4, settled)
	for _, order := range orders {
		require.Equal(t, 1, b.audit(order).Succeeded)
	}
}

func TestRecovery_APanicOverOneChargeLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.between.after = func(kind string, r provider.Result) provider.Result {
		if kind == "confirm" || kind == "lookup" {
			return provider.Result{Outcome: provider.Unknown}
		}
		return r
	}
	for range 3 {
		_, err := b.CreateCharge(asMerchant(t), b.request(), card(b.order(1), goodCard))
		require.NoError(t, err)
	}
	var first sync.Once
	b.between.after = func(_ string, r provider.Result) provider.Result {
		first.Do(func() { panic("a bug") })
		return r
	}
	b.longAgo()
	settled, err := b.Recover(asSystem(t), 10)
	require.ErrorContains(t, err, "a bug")
	require.Equal(t, 2, settled)
	b.longAgo()
	settled, err = b.Recover(asSystem(t), 10)
	require.NoError(t, err)
	require.Equal(t, 1, settled)
}

func TestRecovery_AsksTheSeldomerTheLongerNothingHappens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, charge := b.held()
	for _, row := range []struct {
		quiet           string
		atLeast, atMost int // seconds until the next look
	}{{"0 s", 1, 10}, {"2 min", 25, 30}, {"2 h", 1790, 1800}, {"5 d", 3590, 3600}} {
		b.due()
		b.db.Exec(t, `ALTER TABLE charges DISABLE TRIGGER USER`)
		b.db.Exec(t, `UPDATE charges SET updated_at = clock_timestamp() - $1::interval`, row.quiet)
		b.db.Exec(t, `ALTER TABLE charges ENABLE TRIGGER USER`)
		_, err := b.Recover(asSystem(t), 10)
		require.NoError(t, err)
		next := b.db.Count(t, `SELECT extract(epoch FROM look_at - clock_timestamp())::int FROM charges WHERE charge_id = $1`, charge)
		require.GreaterOrEqual(t, next, row.atLeast, row.quiet)
		require.LessOrEqual(t, next, row.atMost, row.quiet)
	}
}
