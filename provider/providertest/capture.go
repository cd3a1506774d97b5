package providertest

import (
	"github.com/stretchr/testify/require"

	"payonce/provider"
)

// authorized makes an intent whose 19.99 EUR are held.
func (b *bench) authorized() string {
	b.Helper()
	reference := b.created(held)
	b.shows(b.confirm("chg_1:confirm:1", reference, b.Methods.Approved), provider.Succeeded, provider.IntentAuthorized)
	return reference
}

func (b *bench) capture(key, reference string, amount int64) provider.Result {
	b.Helper()
	return b.Provider.CaptureIntent(b.Context(), key, reference, amount)
}

var captureTests = map[string]func(*bench){
	"Held_ShowsHowMuchAndUntilWhen": func(b *bench) {
		intent := b.stands(b.authorized(), provider.IntentAuthorized)
		require.Equal(b, int64(1999), intent.AmountCapturable)
		require.True(b, intent.CaptureBefore.After(intent.Created))
	},
	"All_TakenOnce": func(b *bench) {
		reference := b.authorized()
		got := b.capture("chg_1:capture:1", reference, 0)
		b.shows(got, provider.Succeeded, provider.IntentSucceeded)
		require.Equal(b, int64(1999), got.Intent.AmountReceived)
		require.Zero(b, b.stands(reference, provider.IntentSucceeded).AmountCapturable)
		b.tookOnce()
	},
	"Part_TheRestIsLetGo": func(b *bench) {
		reference := b.authorized()
		b.shows(b.capture("chg_1:capture:1", reference, 500), provider.Succeeded, provider.IntentSucceeded)
		intent := b.stands(reference, provider.IntentSucceeded)
		require.Equal(b, int64(500), intent.AmountReceived)
		require.Equal(b, int64(1999), intent.Amount.Amount)
		require.Zero(b, intent.AmountCapturable)
		b.shows(b.capture("chg_1:capture:2", reference, 500), provider.Rejected, provider.IntentSucceeded)
		require.Equal(b, Taken{Intents: 1, Payments: 1, Amount: 500}, b.Taken(chargeID))
	},
	"SameKeyAgain_SameAnswerTakenOnce": func(b *bench) {
		reference := b.authorized()
		for range 2 {
			b.shows(b.capture("chg_1:capture:1", reference, 0), provider.Succeeded, provider.IntentSucceeded)
		}
		require.Equal(b, 1, b.Executed("chg_1:capture:1"))
		b.tookOnce()
	},
	"MoreThanIsHeld_RejectedAndNothingIsTaken": func(b *bench) {
		reference := b.authorized()
		b.is(b.capture("chg_1:capture:1", reference, 2000), provider.Rejected)
		b.stands(reference, provider.IntentAuthorized)
		b.tookNothing()
	},
	"LetGoBefore_RejectedAndShowsIt": func(b *bench) {
		reference := b.authorized()
		b.is(b.Provider.CancelIntent(b.Context(), "chg_1:cancel:1", reference), provider.Succeeded)
		b.shows(b.capture("chg_1:capture:1", reference, 0), provider.Rejected, provider.IntentCanceled)
		require.NotEmpty(b, b.stands(reference, provider.IntentCanceled).CanceledReason)
		b.tookNothing()
	},
	"NeverConfirmed_Rejected": func(b *bench) {
		b.shows(b.capture("chg_1:capture:1", b.created(held), 0), provider.Rejected, provider.IntentUnconfirmed)
		b.tookNothing()
	},
	"AnswerLost_UnknownThoughTakenAndALookUpTells": func(b *bench) {
		reference := b.authorized()
		b.Break(LostAfter)
		b.is(b.capture("chg_1:capture:1", reference, 500), provider.Unknown)
		require.Equal(b, int64(500), b.stands(reference, provider.IntentSucceeded).AmountReceived)
		b.shows(b.capture("chg_1:capture:1", reference, 500), provider.Succeeded, provider.IntentSucceeded)
		require.Equal(b, Taken{Intents: 1, Payments: 1, Amount: 500}, b.Taken(chargeID))
	},
	"LostOnTheWay_UnknownAndStillHeldAndTheSameKeyTakesIt": func(b *bench) {
		reference := b.authorized()
		b.Break(LostBefore)
		b.is(b.capture("chg_1:capture:1", reference, 0), provider.Unknown)
		b.stands(reference, provider.IntentAuthorized)
		b.shows(b.capture("chg_1:capture:1", reference, 0), provider.Succeeded, provider.IntentSucceeded)
		b.tookOnce()
	},
	"LateOneWithAnotherAmountWins_TheNewOneIsRejectedAndShowsWhatWasTaken": func(b *bench) {
		reference := b.authorized()
		barrier := b.Hold(Executing)
		late := async(func() provider.Result { return b.capture("chg_1:capture:1", reference, 500) })
		barrier.Await()
		b.is(b.capture("chg_1:capture:2", reference, 700), provider.NotSent)
		barrier.Release()
		b.shows(<-late, provider.Succeeded, provider.IntentSucceeded)
		got := b.capture("chg_1:capture:2", reference, 700)
		b.shows(got, provider.Rejected, provider.IntentSucceeded)
		require.Equal(b, int64(500), got.Intent.AmountReceived)
		require.Equal(b, Taken{Intents: 1, Payments: 1, Amount: 500}, b.Taken(chargeID))
	},
}
