package payment_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/provider"
)

// dies breaks the process off at a provider call: before it is sent, or after it was executed and before its answer
// could be used.
func (b *bundle) dies(kind string, sent bool) {
	if sent {
		b.between.after = func(k string, r provider.Result) provider.Result {
			if k == kind {
				runtime.Goexit()
			}
			return r
		}
		return
	}
	b.between.before = func(k string) *provider.Result {
		if k == kind {
			runtime.Goexit()
		}
		return nil
	}
}

// killed does work that dies on the way. It dies without a word, as a process does: no panic that anything could catch.
func (b *bundle) killed(work func()) {
	b.t.Helper()
	through := make(chan bool, 1)
	go func() {
		survived := false
		defer func() { through <- survived }()
		work()
		survived = true
	}()
	require.False(b.t, <-through, "it was to die")
}

// latestCharge is the charge the order points to.
func (b *bundle) latestCharge(order string) (domain.Charge, error) {
	o, err := b.Store.Order(asMerchant(b.t), merchant, order)
	if err != nil {
		return domain.Charge{}, err
	}
	return b.Store.Charge(asMerchant(b.t), merchant, *o.ChargeID)
}

func (b *bundle) mended() { b.between.before, b.between.after = nil, nil }

// crashes are the places where a charge can break off. Each is a recovery point with a call that may or may not have been
// executed.
var crashes = []struct {
	place string
	kind  string
	sent  bool
	point domain.RecoveryPoint
}{
	{"before the intent is created", "create", false, domain.PointChargeRecorded},
	{"after the intent was created", "create", true, domain.PointChargeRecorded},
	{"before the intent is confirmed", "confirm", false, domain.PointIntentRecorded},
	{"after the intent was confirmed", "confirm", true, domain.PointIntentRecorded},
}

func TestCrash_CoversEveryRecoveryPoint(t *testing.T) {
	t.Parallel()
	covered := map[domain.RecoveryPoint]bool{
		domain.PointFinished: true, // after it there is nothing left to do
		domain.PointAccepted: true, // see TestAsked_BrokenOff_IsCarriedThrough
	}
	for _, crash := range crashes {
		covered[crash.point] = true
	}
	for _, point := range domain.RecoveryPoints() {
		require.True(t, covered[point], "no crash at %s", point)
	}
}

func TestCrash_SameKeyAgain_EndsAsIfNothingHadHappened(t *testing.T) {
	t.Parallel()
	for _, crash := range crashes {
		for method, status := range map[string]int{goodCard: http.StatusCreated, badCard: http.StatusPaymentRequired} {
			t.Run(crash.place+", "+method, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				order, request := b.order(1), b.request()
				b.dies(crash.kind, crash.sent)
				b.killed(func() { _, _ = b.CreateCharge(asMerchant(t), request, card(order, method)) })
				b.mended()

				impatient := again(request)
				impatient.Wait = 0
				_, err := b.CreateCharge(asMerchant(t), impatient, card(order, method))
				require.Equal(t, domain.CodeKeyInProgress, domain.CodeOf(err), "while the lease lives, nobody else goes on")

				b.leaseEnds()
				reply, err := b.CreateCharge(asMerchant(t), again(request), card(order, method))
				require.NoError(t, err)
				require.Equal(t, status, reply.Answer.Status, string(reply.Answer.Body))
				replay, err := b.CreateCharge(asMerchant(t), again(request), card(order, method))
				require.NoError(t, err)
				require.Equal(t, reply.Answer, replay.Answer)

				audit := b.audit(order)
				require.Equal(t, 1, audit.PaymentIntents)
				require.Equal(t, map[string]int{goodCard: 1, badCard: 0}[method], audit.Succeeded)
				require.Equal(t, 1, b.executed("/confirm"))
				require.Zero(t, b.db.Count(t, `SELECT count(*) FROM provider_calls WHERE kind = 'lookup' AND outcome IS NULL`), "what a look-up found is kept")
			})
		}
	}
}

func TestCrash_RecoveryFirst_FindsOutOrFencesAndNeverTakesMoney(t *testing.T) {
	t.Parallel()
	for _, crash := range crashes {
		t.Run(crash.place, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			order, request := b.order(1), b.request()
			b.dies(crash.kind, crash.sent)
			b.killed(func() { _, _ = b.CreateCharge(asMerchant(t), request, card(order, goodCard)) })
			b.mended()
			confirmedBefore := b.executed("/confirm")

			b.longAgo()
			settled, err := b.Recover(asSystem(t), 10)
			require.NoError(t, err)
			require.Equal(t, 1, settled)
			require.Equal(t, confirmedBefore, b.executed("/confirm"), "recovery never starts to take money")

			reply, err := b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
			require.NoError(t, err)
			require.True(t, reply.Replayed, "recovery stored the answer")
			charge, err := b.latestCharge(order)
			require.NoError(t, err)
			if confirmedBefore == 1 {
				require.Equal(t, domain.ChargeSucceeded, charge.Status)
				require.Equal(t, domain.ByReconciliation, *charge.ResolvedBy)
				require.Equal(t, http.StatusCreated, reply.Answer.Status)
				require.Equal(t, 1, b.audit(order).Succeeded)
				return
			}
			require.Equal(t, domain.ChargeCanceled, charge.Status)
			require.JSONEq(t, `{"type":"charge-abandoned"}`, string(reply.Answer.Body))
			require.Zero(t, b.audit(order).Succeeded)
			reply, err = b.CreateCharge(asMerchant(t), b.request(), card(order, goodCard))
			require.NoError(t, err)
			require.Equal(t, http.StatusCreated, reply.Answer.Status, "the order can still be paid, with a new key")
			require.Equal(t, 1, b.audit(order).Succeeded)
		})
	}
}

func TestCrash_RecoveryOfAFreshCharge_LeavesItToTheCaller(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order, request := b.order(1), b.request()
	b.dies("confirm", false)
	b.killed(func() { _, _ = b.CreateCharge(asMerchant(t), request, card(order, goodCard)) })
	b.mended()
	b.leaseEnds()
	b.db.Exec(t, `UPDATE charges SET look_at = clock_timestamp() - interval '1 second'`)
	settled, err := b.Recover(asSystem(t), 10)
	require.NoError(t, err)
	require.Zero(t, settled)
	reply, err := b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, reply.Answer.Status)
}

func TestLostAnswers_AreFoundOutAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order := b.order(1)
	b.between.after = func(kind string, r provider.Result) provider.Result {
		if kind == "confirm" {
			return provider.Result{Outcome: provider.Unknown, Err: errors.New("connection reset")}
		}
		return r
	}
	reply, err := b.CreateCharge(asMerchant(t), b.request(), card(order, goodCard))
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, reply.Answer.Status, "the intent itself was asked")
	require.Equal(t, 1, b.audit(order).Succeeded)
}

func TestProviderDark_StaysUnknownUntilItCanBeProved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order, request := b.order(1), b.request()
	dark := func(kind string, r provider.Result) provider.Result {
		if kind == "confirm" || kind == "lookup" || kind == "cancel" {
			return provider.Result{Outcome: provider.Unknown, Err: errors.New("timeout")}
		}
		return r
	}
	b.between.after = dark
	reply, err := b.CreateCharge(asMerchant(t), request, card(order, goodCard))
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, reply.Answer.Status)
	b.longAgo()
	settled, err := b.Recover(asSystem(t), 10)
	require.NoError(t, err)
	require.Zero(t, settled, "not knowing for long is not knowing that it failed")
	_, err = b.CreateCharge(asMerchant(t), b.request(), card(order, goodCard))
	require.NoError(t, err)
	blocking, blocked, err := b.Store.BlockingCharge(asMerchant(t), merchant, order)
	require.NoError(t, err)
	require.True(t, blocked)
	require.Equal(t, domain.ChargeUnknown, blocking.Status)

	b.mended()
	b.longAgo()
	settled, err = b.Recover(asSystem(t), 10)
	require.NoError(t, err)
	require.Equal(t, 1, settled)
	replay, err := b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, replay.Answer.Status)
	require.Equal(t, 1, b.executed("/confirm"))
}

func TestZombie_WakesUpAfterTakeover_WritesAndTakesNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"create", "confirm"} {
		t.Run("paused before "+kind, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			order, request := b.order(1), b.request()
			slept := false
			b.between.before = func(k string) *provider.Result {
				if k == kind && !slept {
					slept = true
					b.longAgo() // while this owner is paused, its lease ends ...
					other := b.service()
					settled, err := other.Recover(asSystem(t), 10) // ... and recovery fences what it left behind
					require.NoError(t, err)
					require.Equal(t, 1, settled)
				}
				return nil
			}
			reply, err := b.CreateCharge(asMerchant(t), request, card(order, goodCard))
			require.NoError(t, err)
			require.Equal(t, http.StatusConflict, reply.Answer.Status, "it tells what the other one has come to: charge-abandoned")
			require.Zero(t, b.audit(order).Succeeded)
			charge, err := b.latestCharge(order)
			require.NoError(t, err)
			require.Equal(t, domain.ChargeCanceled, charge.Status)
		})
	}
}

func TestResume_PastTheHorizon_AsksAndFencesButNeverSendsTheKeyAgain(t *testing.T) {
	t.Parallel()
	for _, crash := range crashes {
		t.Run(crash.place, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			order, request := b.order(1), b.request()
			b.dies(crash.kind, crash.sent)
			b.killed(func() { _, _ = b.CreateCharge(asMerchant(t), request, card(order, goodCard)) })
			b.mended()
			created, confirmed := b.executed("/v1/payment_intents"), b.executed("/confirm")
			b.leaseEnds()
			b.db.Exec(t, `UPDATE provider_calls SET horizon_at = now() - interval '1 hour'`) // the provider may have forgotten its keys
			reply, err := b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
			require.NoError(t, err)
			require.Equal(t, created, b.executed("/v1/payment_intents"))
			require.Equal(t, confirmed, b.executed("/confirm"))
			if confirmed == 1 {
				require.Equal(t, http.StatusCreated, reply.Answer.Status)
				return
			}
			require.JSONEq(t, `{"type":"charge-abandoned"}`, string(reply.Answer.Body))
			require.Zero(t, b.audit(order).Succeeded)
		})
	}
}

func TestResume_ProvesNothingFromARefusalOfTheSecondConfirm(t *testing.T) {
	t.Parallel()
	for situation, row := range map[string]struct {
		second provider.Result
		status int
		charge domain.ChargeStatus
	}{
		"not sent": {provider.Result{Outcome: provider.NotSent}, http.StatusAccepted, domain.ChargeUnknown},
		"rejected": {provider.Result{Outcome: provider.Rejected, HTTPStatus: 400, Failure: &provider.Failure{Code: "x"}}, http.StatusConflict, domain.ChargeCanceled},
	} {
		t.Run(situation, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			order, request := b.order(1), b.request()
			b.dies("confirm", false)
			b.killed(func() { _, _ = b.CreateCharge(asMerchant(t), request, card(order, goodCard)) })
			b.leaseEnds()
			b.between.before = func(kind string) *provider.Result {
				if kind == "confirm" {
					return &row.second
				}
				return nil
			}
			reply, err := b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
			require.NoError(t, err)
			require.Equal(t, row.status, reply.Answer.Status, string(reply.Answer.Body))
			charge, err := b.latestCharge(order)
			require.NoError(t, err)
			require.Equal(t, row.charge, charge.Status)
		})
	}
}

func TestRefusalThatShowsNoIntent_IsNotBelievedBeforeTheIntentIsAsked(t *testing.T) {
	t.Parallel()
	for situation, row := range map[string]struct {
		taken  bool // the provider took the money all the same
		dark   bool // and the intent cannot be asked
		status int
	}{
		"nothing happened":            {false, false, http.StatusPaymentRequired},
		"the money was taken":         {true, false, http.StatusCreated},
		"the intent cannot be asked":  {false, true, http.StatusAccepted},
		"taken, and cannot be asked ": {true, true, http.StatusAccepted},
	} {
		t.Run(situation, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			refused := provider.Result{Outcome: provider.Rejected, HTTPStatus: http.StatusBadRequest, Failure: &provider.Failure{Code: "odd"}}
			b.between.before = func(kind string) *provider.Result {
				if kind == "confirm" && !row.taken {
					return &refused
				}
				if kind == "lookup" && row.dark {
					return &provider.Result{Outcome: provider.Unknown}
				}
				return nil
			}
			b.between.after = func(kind string, r provider.Result) provider.Result {
				if kind == "confirm" {
					return refused
				}
				return r
			}
			reply, err := b.CreateCharge(asMerchant(t), b.request(), card(b.order(1), goodCard))
			require.NoError(t, err)
			require.Equal(t, row.status, reply.Answer.Status, string(reply.Answer.Body))
		})
	}
}

func TestNotSentThenKilledWhileSendingAgain_IsNotTakenForNotSent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order, request := b.order(1), b.request()
	notSent := func(kind string) *provider.Result {
		if kind == "confirm" {
			return &provider.Result{Outcome: provider.NotSent}
		}
		return nil
	}
	b.between.before = notSent
	_, err := b.CreateCharge(asMerchant(t), request, card(order, goodCard))
	require.Equal(t, domain.CodeProviderUnavailable, domain.CodeOf(err))
	b.mended()
	b.dies("confirm", false)
	b.killed(func() { _, _ = b.CreateCharge(asMerchant(t), again(request), card(order, goodCard)) })
	b.leaseEnds()
	b.between.before = notSent
	reply, err := b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, reply.Answer.Status, "the confirm before may be on its way")
}

func TestBudgetIsOver_TheResultIsStillWrittenDown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Lease = 4 * time.Second // also the budget; long enough to get as far as the confirm on any machine
	order := b.order(1)
	b.between.waits = func(ctx context.Context, kind string) {
		if kind == "confirm" {
			<-ctx.Done() // the answer comes when the whole budget is used
		}
	}
	reply, err := b.CreateCharge(asMerchant(t), b.request(), card(order, goodCard))
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, reply.Answer.Status, string(reply.Answer.Body))
	charge, err := b.latestCharge(order)
	require.NoError(t, err)
	require.Equal(t, domain.ChargeSucceeded, charge.Status)
}
