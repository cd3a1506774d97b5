package providertest

import (
	"context"

	"github.com/stretchr/testify/require"

	"payonce/provider"
)

// lostTests are about answers that do not come.
var lostTests = map[string]func(*bench){
	"CreateAnswer_UnknownThenTheSameIntent": func(b *bench) {
		b.Break(LostAfter)
		b.is(b.Provider.CreateIntent(b.Context(), "chg_1:create:1", intentParams()), provider.Unknown)
		again := b.Provider.CreateIntent(b.Context(), "chg_1:create:1", intentParams())
		b.shows(again, provider.Succeeded, provider.IntentUnconfirmed)
		require.True(b, again.Replayed)
		require.Equal(b, 1, b.Executed("chg_1:create:1"))
		b.tookNothing()
	},
	"ConfirmAnswer_UnknownThoughPaidAndALookUpTells": func(b *bench) {
		reference := b.created()
		b.Break(LostAfter)
		b.is(b.confirm("chg_1:confirm:1", reference, b.Methods.Approved), provider.Unknown)
		b.stands(reference, provider.IntentSucceeded)
		b.shows(b.confirm("chg_1:confirm:1", reference, b.Methods.Approved), provider.Succeeded, provider.IntentSucceeded)
		require.Equal(b, 1, b.Executed("chg_1:confirm:1"))
		b.tookOnce()
	},
	"Decline_UnknownAndALookUpTells": func(b *bench) {
		reference := b.created()
		b.Break(LostAfter)
		b.is(b.confirm("chg_1:confirm:1", reference, b.Methods.Declined), provider.Unknown)
		require.Equal(b, b.Methods.DeclinedAs, *b.stands(reference, provider.IntentFailed).LastFailure)
		b.tookNothing()
	},
	"ConfirmOnTheWay_UnknownAndTheSameKeyTakesIt": func(b *bench) {
		reference := b.created()
		b.Break(LostBefore)
		b.is(b.confirm("chg_1:confirm:1", reference, b.Methods.Approved), provider.Unknown)
		b.stands(reference, provider.IntentUnconfirmed)
		b.shows(b.confirm("chg_1:confirm:1", reference, b.Methods.Approved), provider.Succeeded, provider.IntentSucceeded)
		require.Equal(b, 1, b.Executed("chg_1:confirm:1"))
		b.tookOnce()
	},
	"CancelAnswer_UnknownThoughFenced": func(b *bench) {
		reference := b.created()
		b.Break(LostAfter)
		b.is(b.Provider.CancelIntent(b.Context(), "chg_1:cancel:1", reference), provider.Unknown)
		b.stands(reference, provider.IntentCanceled)
	},
	"LookUpAnswer_Unknown": func(b *bench) {
		reference := b.created()
		b.Break(LostAfter)
		b.is(b.Provider.Intent(b.Context(), reference), provider.Unknown)
	},
	"ServerErrorAfterTheEffect_UnknownThoughPaid": func(b *bench) {
		reference := b.created()
		b.Break(FailedAfter)
		b.is(b.confirm("chg_1:confirm:1", reference, b.Methods.Approved), provider.Unknown)
		b.stands(reference, provider.IntentSucceeded)
		b.tookOnce()
	},
	"ContextOverBefore_NotSentAndNothingArrives": func(b *bench) {
		reference := b.created()
		ctx, cancel := context.WithCancel(b.Context())
		cancel()
		got := b.Provider.ConfirmIntent(ctx, "chg_1:confirm:1", reference, provider.ConfirmParams{PaymentMethod: b.Methods.Approved})
		b.is(got, provider.NotSent)
		require.Zero(b, b.Arrived("chg_1:confirm:1"))
		b.stands(reference, provider.IntentUnconfirmed)
	},
	"ContextOverMeanwhile_UnknownAndExecutedAllTheSame": func(b *bench) {
		reference := b.created()
		barrier := b.Hold(Executing)
		ctx, cancel := context.WithCancel(b.Context())
		answer := async(func() provider.Result {
			return b.Provider.ConfirmIntent(ctx, "chg_1:confirm:1", reference, provider.ConfirmParams{PaymentMethod: b.Methods.Approved})
		})
		barrier.Await()
		cancel()
		b.is(<-answer, provider.Unknown)
		b.stands(reference, provider.IntentUnconfirmed) // which proves nothing: the confirm is still at work
		barrier.Release()
		require.Eventually(b, func() bool { return b.Executed("chg_1:confirm:1") == 1 }, patience, tick)
		b.stands(reference, provider.IntentSucceeded)
		b.tookOnce()
	},
}
