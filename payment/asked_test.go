package payment_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/payment"
	"payonce/provider"
)

// held is a charge whose money is held, to be captured.
func (b *bundle) held() (order, charge string) {
	b.t.Helper()
	order = b.order(1)
	cmd := card(order, goodCard)
	cmd.CaptureMethod = domain.CaptureManual
	reply, err := b.CreateCharge(asMerchant(b.t), b.request(), cmd)
	require.NoError(b.t, err)
	require.Equal(b.t, http.StatusCreated, reply.Answer.Status, string(reply.Answer.Body))
	require.Equal(b.t, domain.ChargeAuthorized, b.charge(reply.Resource).Status)
	return order, reply.Resource
}

func (b *bundle) charge(id string) domain.Charge {
	b.t.Helper()
	charge, err := b.Store.Charge(asMerchant(b.t), merchant, id)
	require.NoError(b.t, err)
	return charge
}

func all(charge string) payment.CaptureCharge { return payment.CaptureCharge{ChargeID: charge} }

func TestCapture_TakesWhatIsHeld_Once(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order, charge := b.held()
	request := b.request()
	first, err := b.CaptureCharge(asMerchant(t), request, all(charge))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, first.Answer.Status, string(first.Answer.Body))
	replay, err := b.CaptureCharge(asMerchant(t), again(request), all(charge))
	require.NoError(t, err)
	require.True(t, replay.Replayed)
	require.Equal(t, first.Answer, replay.Answer)

	captured := b.charge(charge)
	require.Equal(t, domain.ChargeSucceeded, captured.Status)
	require.Equal(t, captured.Amount, captured.AmountCaptured)
	require.Nil(t, captured.Asked)
	paid, err := b.Store.Order(asMerchant(t), merchant, order)
	require.NoError(t, err)
	require.Equal(t, domain.OrderPaid, paid.Status)
	stock, err := b.Store.Stock(asMerchant(t), merchant, b.product)
	require.NoError(t, err)
	require.Zero(t, stock.Reserved)

	other, err := b.CaptureCharge(asMerchant(t), b.request(), all(charge))
	require.NoError(t, err)
	require.Equal(t, http.StatusConflict, other.Answer.Status, "another key finds nothing left to capture")
}

func TestCapture_APart_TheOrderIsPaidWithIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order, charge := b.held()
	part, tooMuch := int64(500), int64(2000)
	_, err := b.CaptureCharge(asMerchant(t), b.request(), payment.CaptureCharge{ChargeID: charge, Amount: &tooMuch})
	require.Equal(t, domain.CodeValidationFailed, domain.CodeOf(err))
	reply, err := b.CaptureCharge(asMerchant(t), b.request(), payment.CaptureCharge{ChargeID: charge, Amount: &part})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, reply.Answer.Status, string(reply.Answer.Body))
	require.Equal(t, part, b.charge(charge).AmountCaptured)
	paid, err := b.Store.Order(asMerchant(t), merchant, order)
	require.NoError(t, err)
	require.Equal(t, part, paid.AmountPaid)
}

func TestCancel_OfHeldMoney_LetsItGo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order, charge := b.held()
	request := b.request()
	reply, err := b.CancelCharge(asMerchant(t), request, payment.CancelCharge{ChargeID: charge})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, reply.Answer.Status, string(reply.Answer.Body))
	require.Equal(t, domain.ChargeCanceled, b.charge(charge).Status)
	replay, err := b.CancelCharge(asMerchant(t), again(request), payment.CancelCharge{ChargeID: charge})
	require.NoError(t, err)
	require.Equal(t, reply.Answer, replay.Answer)
	once, err := b.CancelCharge(asMerchant(t), b.request(), payment.CancelCharge{ChargeID: charge})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, once.Answer.Status, "cancelled is cancelled, whoever asks")
	capture, err := b.CaptureCharge(asMerchant(t), b.request(), all(charge))
	require.NoError(t, err)
	require.Equal(t, http.StatusConflict, capture.Answer.Status)
	again, err := b.CreateCharge(asMerchant(t), b.request(), card(order, goodCard))
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, again.Answer.Status, "the order can be paid in another way")
}

func TestCancel_OfWhatIsPaid_Refused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order := b.order(1)
	paid, err := b.CreateCharge(asMerchant(t), b.request(), card(order, goodCard))
	require.NoError(t, err)
	reply, err := b.CancelCharge(asMerchant(t), b.request(), payment.CancelCharge{ChargeID: paid.Resource})
	require.NoError(t, err)
	require.Equal(t, http.StatusConflict, reply.Answer.Status)
	require.Equal(t, domain.ChargeSucceeded, b.charge(paid.Resource).Status)
}

// A charge can be cancelled at every point at which it may have broken off. Its own key is answered by that, and neither
// it nor what is still on its way takes money any more.
func TestCancel_AtEveryPoint_FencesForGood(t *testing.T) {
	t.Parallel()
	for _, crash := range crashes {
		t.Run(crash.place, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			order, request := b.order(1), b.request()
			b.dies(crash.kind, crash.sent)
			b.killed(func() { _, _ = b.CreateCharge(asMerchant(t), request, card(order, goodCard)) })
			b.mended()
			charge, err := b.latestCharge(order)
			require.NoError(t, err)
			taken := crash.kind == "confirm" && crash.sent

			reply, err := b.CancelCharge(asMerchant(t), b.request(), payment.CancelCharge{ChargeID: charge.ID})
			require.NoError(t, err)
			own, err := b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
			require.NoError(t, err)
			if taken {
				require.Equal(t, http.StatusConflict, reply.Answer.Status, "the money was taken before")
				require.Equal(t, http.StatusCreated, own.Answer.Status)
				require.Equal(t, 1, b.audit(order).Succeeded)
				return
			}
			require.Equal(t, http.StatusOK, reply.Answer.Status, string(reply.Answer.Body))
			require.Equal(t, http.StatusConflict, own.Answer.Status, "charge-abandoned")
			require.Zero(t, b.audit(order).Succeeded)
			require.Zero(t, b.db.Count(t, `SELECT count(*) FROM idempotency_keys WHERE recovery_point <> 'finished'`))
			next, err := b.CreateCharge(asMerchant(t), b.request(), card(order, goodCard))
			require.NoError(t, err)
			require.Equal(t, http.StatusCreated, next.Answer.Status)
			require.Equal(t, 1, b.audit(order).Succeeded)
		})
	}
}

// What was accepted is carried through: after a crash at any point, by the same key or by recovery, to the same end.
func TestAsked_BrokenOff_IsCarriedThrough(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		kind     string
		ask      func(b *bundle, request payment.Request, charge string) (payment.Reply, error)
		status   domain.ChargeStatus
		captured int64
	}{
		{"capture", func(b *bundle, request payment.Request, charge string) (payment.Reply, error) {
			return b.CaptureCharge(asMerchant(b.t), request, all(charge))
		}, domain.ChargeSucceeded, 1999},
		{"cancel", func(b *bundle, request payment.Request, charge string) (payment.Reply, error) {
			return b.CancelCharge(asMerchant(b.t), request, payment.CancelCharge{ChargeID: charge})
		}, domain.ChargeCanceled, 0},
	} {
		for _, sent := range []bool{false, true} {
			for _, who := range []string{"the caller", "recovery"} {
				t.Run(row.kind+", "+who, func(t *testing.T) {
					t.Parallel()
					b := setup(t)
					_, charge := b.held()
					request := b.request()
					b.dies(row.kind, sent)
					b.killed(func() { _, _ = row.ask(b, request, charge) })
					b.mended()
					require.NotNil(t, b.charge(charge).Asked)
					b.longAgo()
					if who == "recovery" {
						settled, err := b.Recover(asSystem(t), 10)
						require.NoError(t, err)
						require.Equal(t, 1, settled)
					}
					reply, err := row.ask(b, again(request), charge)
					require.NoError(t, err)
					require.Equal(t, http.StatusOK, reply.Answer.Status, string(reply.Answer.Body))
					require.Equal(t, who == "recovery", reply.Replayed)
					got := b.charge(charge)
					require.Equal(t, row.status, got.Status)
					require.Equal(t, row.captured, got.AmountCaptured)
					require.Nil(t, got.Asked)
					require.Zero(t, b.db.Count(t, `SELECT count(*) FROM charges WHERE look_at IS NOT NULL`))
				})
			}
		}
	}
}

func TestAsked_OutcomeNotKnown_202UntilItIsProved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, charge := b.held()
	dark := func(string) *provider.Result { return &provider.Result{Outcome: provider.Unknown} }
	b.between.before = dark
	request := b.request()
	reply, err := b.CaptureCharge(asMerchant(t), request, all(charge))
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, reply.Answer.Status)
	require.Positive(t, reply.RetryAfter)
	_, err = b.CancelCharge(asMerchant(t), b.request(), payment.CancelCharge{ChargeID: charge})
	require.NoError(t, err, "refused with an answer: one thing at a time")
	b.mended()
	reply, err = b.CaptureCharge(asMerchant(t), again(request), all(charge))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, reply.Answer.Status)
	require.Equal(t, 1, b.executed("/capture"))
}

func TestCapture_AfterTheBankHasLetGo_IsRefusedForGood(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, charge := b.held()
	b.advanceSimulator(8 * 24 * time.Hour)
	reply, err := b.CaptureCharge(asMerchant(t), b.request(), all(charge))
	require.NoError(t, err)
	require.Equal(t, http.StatusConflict, reply.Answer.Status, string(reply.Answer.Body))
	require.Equal(t, domain.ChargeCanceled, b.charge(charge).Status)
}

func TestHeldMoney_TheBankLetsGo_RecoveryFindsOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, charge := b.held()
	b.advanceSimulator(8 * 24 * time.Hour)
	b.longAgo()
	_, err := b.Recover(asSystem(t), 10)
	require.NoError(t, err)
	require.Equal(t, domain.ChargeCanceled, b.charge(charge).Status)
}

func TestTimeline_TellsEverythingInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order, charge := b.held()
	_, err := b.CaptureCharge(asMerchant(t), b.request(), all(charge))
	require.NoError(t, err)
	entries, err := b.Store.Timeline(asMerchant(t), merchant, order)
	require.NoError(t, err)
	var told []string
	for i, e := range entries {
		told = append(told, e.Type+" "+string(e.Operation)+e.Call+" "+e.Status)
		if i > 0 {
			require.False(t, e.At.Before(entries[i-1].At))
		}
		if e.Type == "provider_call" {
			require.NotEmpty(t, e.ProviderRequestID)
			require.NotNil(t, e.EndedAt)
		}
	}
	require.Equal(t, []string{
		"request orders.create finished", "order  pending_payment",
		"request charges.create finished", "provider_call create succeeded", "charge  created",
		"provider_call confirm succeeded", "charge  authorized",
		"request charges.capture finished", "provider_call capture succeeded",
		"order  paid", "charge  succeeded",
	}, told)
	_, err = b.Store.Timeline(asMerchant(t), merchant, "ord_unknown")
	require.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}
