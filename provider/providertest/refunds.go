package providertest

import (
	"strconv"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/provider"
)

const refundID = "rfd_1"

// refundParams ask for a part of the 19.99 EUR back.
func refundParams(intent string, amount int64) provider.RefundParams {
	return provider.RefundParams{
		Intent: intent, Amount: domain.Money{Amount: amount, Currency: domain.EUR}, Reason: provider.RefundRequested,
		Metadata: map[string]string{"refund_id": refundID, "charge_id": chargeID},
	}
}

func (b *bench) refund(key, intent string, amount int64) provider.Result {
	b.Helper()
	return b.Provider.CreateRefund(b.Context(), key, refundParams(intent, amount))
}

// refunded checks a result's outcome and the state of its refund.
func (b *bench) refunded(got provider.Result, outcome provider.Outcome, status provider.RefundStatus) *provider.Refund {
	b.Helper()
	b.is(got, outcome)
	require.NotNil(b, got.Refund)
	require.Equal(b, status, got.Refund.Status)
	return got.Refund
}

// refundStands checks what a look-up of a refund shows now.
func (b *bench) refundStands(reference string, status provider.RefundStatus) *provider.Refund {
	b.Helper()
	return b.refunded(b.Provider.Refund(b.Context(), reference), provider.Succeeded, status)
}

// refundsOf is the list of all refunds of an intent.
func (b *bench) refundsOf(intent string) []provider.Refund {
	b.Helper()
	refunds, result := provider.RefundsOf(b.Context(), b.Provider, intent)
	b.is(result, provider.Succeeded)
	return refunds
}

var refundTests = map[string]func(*bench){
	"Part_GivenBackOnceAndTheIntentStays": func(b *bench) {
		intent := b.paid()
		got := b.refunded(b.refund("rfd_1:1", intent, 500), provider.Succeeded, provider.RefundSucceeded)
		require.Equal(b, refundParams(intent, 500).Amount, got.Amount)
		require.Equal(b, refundParams(intent, 500).Metadata, got.Metadata)
		require.Equal(b, provider.RefundRequested, got.Reason)
		require.Equal(b, intent, got.Intent)
		require.Equal(b, b.stands(intent, provider.IntentSucceeded).LatestAttempt, got.Attempt)
		require.NotEmpty(b, got.Entry)
		require.False(b, got.Created.IsZero())
		require.Equal(b, *got, *b.refundStands(got.Reference, provider.RefundSucceeded))
		require.Equal(b, Returned{Refunds: 1, Amount: 500}, b.Returned(refundID))
		b.tookOnce()
	},
	"SameKeyAgain_SameRefund": func(b *bench) {
		intent := b.paid()
		first := b.refunded(b.refund("rfd_1:1", intent, 500), provider.Succeeded, provider.RefundSucceeded)
		again := b.refund("rfd_1:1", intent, 500)
		require.Equal(b, first.Reference, b.refunded(again, provider.Succeeded, provider.RefundSucceeded).Reference)
		require.True(b, again.Replayed)
		require.Equal(b, Returned{Refunds: 1, Amount: 500}, b.Returned(refundID))
	},
	"SameKeyOtherAmount_UnknownAndNothingMore": func(b *bench) {
		intent := b.paid()
		b.is(b.refund("rfd_1:1", intent, 500), provider.Succeeded)
		b.is(b.refund("rfd_1:1", intent, 501), provider.Unknown)
		require.Equal(b, Returned{Refunds: 1, Amount: 500}, b.Returned(refundID))
	},
	"AnswerLost_UnknownThoughGivenBackAndTheListTells": func(b *bench) {
		intent := b.paid()
		b.Break(LostAfter)
		b.is(b.refund("rfd_1:1", intent, 500), provider.Unknown)
		list := b.refundsOf(intent)
		require.Len(b, list, 1)
		require.Equal(b, refundID, list[0].Metadata["refund_id"])
		again := b.refunded(b.refund("rfd_1:1", intent, 500), provider.Succeeded, provider.RefundSucceeded)
		require.Equal(b, list[0].Reference, again.Reference)
		require.Equal(b, Returned{Refunds: 1, Amount: 500}, b.Returned(refundID))
	},
	"LostOnTheWay_UnknownAndTheSameKeyGivesItBack": func(b *bench) {
		intent := b.paid()
		b.Break(LostBefore)
		b.is(b.refund("rfd_1:1", intent, 500), provider.Unknown)
		require.Empty(b, b.refundsOf(intent))
		b.is(b.refund("rfd_1:1", intent, 500), provider.Succeeded)
		require.Equal(b, Returned{Refunds: 1, Amount: 500}, b.Returned(refundID))
	},
	"ServerErrorAfterTheEffect_UnknownForTheKeyAndTheListTells": func(b *bench) {
		intent := b.paid()
		b.Break(FailedAfter)
		for range 2 {
			b.is(b.refund("rfd_1:1", intent, 500), provider.Unknown)
		}
		require.Len(b, b.refundsOf(intent), 1)
		require.Equal(b, Returned{Refunds: 1, Amount: 500}, b.Returned(refundID))
	},
	"MoreThanIsLeft_Rejected": func(b *bench) {
		intent := b.paid()
		b.is(b.refund("rfd_1:1", intent, 1500), provider.Succeeded)
		b.is(b.refund("rfd_1:2", intent, 500), provider.Rejected)
		b.is(b.refund("rfd_1:3", intent, 499), provider.Succeeded)
		b.is(b.refund("rfd_1:4", intent, 1), provider.Rejected)
		require.Equal(b, Returned{Refunds: 2, Amount: 1999}, b.Returned(refundID))
	},
	"NothingWasTaken_Rejected": func(b *bench) {
		b.is(b.refund("rfd_1:1", b.created(), 500), provider.Rejected)
		require.Equal(b, Returned{}, b.Returned(refundID))
	},
	"DisputedMoney_Rejected": func(b *bench) {
		intent := b.paid()
		b.Dispute(b.stands(intent, provider.IntentSucceeded).LatestAttempt)
		b.is(b.refund("rfd_1:1", intent, 500), provider.Rejected)
		require.Equal(b, Returned{}, b.Returned(refundID))
	},
	"BankTakesItsTime_PendingThenSucceeded": func(b *bench) {
		reference := b.pendingRefund()
		b.SettleRefund(reference, true)
		b.refundStands(reference, provider.RefundSucceeded)
	},
	"BankSendsItBack_FailedAndSaysWhy": func(b *bench) {
		reference := b.pendingRefund()
		b.SettleRefund(reference, false)
		require.NotEmpty(b, b.refundStands(reference, provider.RefundFailed).Failure.Code)
		require.Equal(b, Returned{Refunds: 1}, b.Returned(refundID))
	},
	"CannotBeSent_NothingArrives": func(b *bench) {
		intent := b.paid()
		b.is(b.refund("", intent, 500), provider.NotSent)
		b.is(b.refund("rfd_1:1", "", 500), provider.NotSent)
		b.is(b.refund("rfd_1:1", intent, 0), provider.NotSent)
		require.Zero(b, b.Arrived("rfd_1:1"))
	},
	"NoSuchRefund_Rejected": func(b *bench) {
		b.is(b.Provider.Refund(b.Context(), "re_none"), provider.Rejected)
	},
	"ManyAtOnce_NeverMoreThanWasTaken": func(b *bench) {
		intent := b.paid()
		for _, got := range atOnce(8, func(n int) provider.Result { return b.refund("rfd_1:"+strconv.Itoa(n), intent, 900) }) {
			require.Contains(b, []provider.Outcome{provider.Succeeded, provider.Rejected, provider.NotSent}, got.Outcome)
		}
		require.LessOrEqual(b, b.Returned(refundID).Amount, int64(1800))
	},
}

// pendingRefund makes a refund that waits for the bank.
func (b *bench) pendingRefund() string {
	b.Helper()
	intent := b.created()
	b.is(b.confirm("chg_1:confirm:1", intent, b.Methods.RefundsLater), provider.Succeeded)
	pending := b.refunded(b.refund("rfd_1:1", intent, 500), provider.Pending, provider.RefundPending)
	b.refundStands(pending.Reference, provider.RefundPending)
	return pending.Reference
}
