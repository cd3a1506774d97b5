package providertest

import (
	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/provider"
)

var createTests = map[string]func(*bench){
	"MakesAnUnconfirmedIntent_NothingIsTaken": func(b *bench) {
		reference := b.created()
		intent := b.stands(reference, provider.IntentUnconfirmed)
		require.Equal(b, intentParams().Amount, intent.Amount)
		require.Equal(b, intentParams().Metadata, intent.Metadata)
		require.Empty(b, intent.LatestAttempt)
		b.tookNothing()
	},
	"EveryCurrency_AmountArrivesExactly": func(b *bench) {
		for _, rule := range domain.Currencies() {
			p := intentParams()
			p.Amount = domain.Money{Amount: rule.Minimum + 7*rule.Step, Currency: rule.Code}
			got := b.Provider.CreateIntent(b.Context(), "create:"+string(rule.Code), p)
			b.shows(got, provider.Succeeded, provider.IntentUnconfirmed)
			require.Equal(b, p.Amount, got.Intent.Amount)
			require.Equal(b, p.Amount, b.stands(got.Intent.Reference, provider.IntentUnconfirmed).Amount)
		}
	},
	"SameKeyAgain_SameIntent": func(b *bench) {
		reference := b.created()
		again := b.Provider.CreateIntent(b.Context(), "chg_1:create:1", intentParams())
		b.shows(again, provider.Succeeded, provider.IntentUnconfirmed)
		require.Equal(b, reference, again.Intent.Reference)
		require.True(b, again.Replayed)
		require.Equal(b, 1, b.Executed("chg_1:create:1"))
		b.tookNothing()
	},
	"SameKeyOtherAmount_UnknownAndTheFirstIntentStays": func(b *bench) {
		reference := b.created()
		p := intentParams()
		p.Amount.Amount++
		b.is(b.Provider.CreateIntent(b.Context(), "chg_1:create:1", p), provider.Unknown)
		require.Equal(b, intentParams().Amount, b.stands(reference, provider.IntentUnconfirmed).Amount)
		b.tookNothing()
	},
	"OtherKey_AnotherIntent": func(b *bench) {
		reference := b.created()
		other := b.Provider.CreateIntent(b.Context(), "chg_1:create:2", intentParams())
		b.shows(other, provider.Succeeded, provider.IntentUnconfirmed)
		require.NotEqual(b, reference, other.Intent.Reference)
		require.Equal(b, Taken{Intents: 2}, b.Taken(chargeID))
	},
	"CannotBeSent_NothingArrives": func(b *bench) {
		p := intentParams()
		b.is(b.Provider.CreateIntent(b.Context(), "", p), provider.NotSent)
		p.Amount.Amount = 0
		b.is(b.Provider.CreateIntent(b.Context(), "chg_1:create:1", p), provider.NotSent)
		require.Zero(b, b.Arrived("chg_1:create:1")+b.Arrived(""))
		require.Equal(b, Taken{}, b.Taken(chargeID))
	},
}

var confirmTests = map[string]func(*bench){
	"Approved_TakenOnce": func(b *bench) {
		intent := b.stands(b.paid(), provider.IntentSucceeded)
		require.Equal(b, int64(1999), intent.AmountReceived)
		require.NotEmpty(b, intent.LatestAttempt)
		b.tookOnce()
	},
	"ManualCapture_HeldAndNotTaken": func(b *bench) {
		reference := b.created(held)
		b.shows(b.confirm("chg_1:confirm:1", reference, b.Methods.Approved), provider.Succeeded, provider.IntentAuthorized)
		require.Zero(b, b.stands(reference, provider.IntentAuthorized).AmountReceived)
		b.tookNothing()
	},
	"SameKeyAgain_SameAnswerOnePayment": func(b *bench) {
		reference := b.paid()
		again := b.confirm("chg_1:confirm:1", reference, b.Methods.Approved)
		b.shows(again, provider.Succeeded, provider.IntentSucceeded)
		require.True(b, again.Replayed)
		require.Equal(b, 1, b.Executed("chg_1:confirm:1"))
		b.tookOnce()
	},
	"PaidAlreadyAndAnotherKey_RejectedAndShowsThePayment": func(b *bench) {
		reference := b.paid()
		b.shows(b.confirm("chg_1:confirm:2", reference, b.Methods.Approved), provider.Rejected, provider.IntentSucceeded)
		b.tookOnce()
	},
	"Declined_DeclinedUnderThisKeyForEver": func(b *bench) {
		reference := b.created()
		for range 2 {
			got := b.confirm("chg_1:confirm:1", reference, b.Methods.Declined)
			b.is(got, provider.Declined)
			require.Equal(b, b.Methods.DeclinedAs, *got.Failure)
		}
		require.Equal(b, 1, b.Executed("chg_1:confirm:1"))
		intent := b.stands(reference, provider.IntentFailed)
		require.Equal(b, b.Methods.DeclinedAs, *intent.LastFailure)
		require.NotEmpty(b, intent.LatestAttempt)
		b.tookNothing()
	},
	"DeclinedThenAnotherKeyAndCard_TakenOnce": func(b *bench) {
		reference := b.created()
		b.is(b.confirm("chg_1:confirm:1", reference, b.Methods.Declined), provider.Declined)
		refused := b.stands(reference, provider.IntentFailed).LatestAttempt
		b.shows(b.confirm("chg_1:confirm:2", reference, b.Methods.Approved), provider.Succeeded, provider.IntentSucceeded)
		require.NotEqual(b, refused, b.stands(reference, provider.IntentSucceeded).LatestAttempt)
		b.tookOnce()
	},
	"BuyerMustAuthenticate_PendingUntilTheBuyerDid": func(b *bench) {
		reference := b.created()
		got := b.confirm("chg_1:confirm:1", reference, b.Methods.Authenticates)
		b.shows(got, provider.Pending, provider.IntentRequiresAction)
		require.NotEmpty(b, got.Intent.NextActionURL)
		require.Equal(b, got.Intent.NextActionURL, b.stands(reference, provider.IntentRequiresAction).NextActionURL)
		b.tookNothing()
		b.Authenticate(reference, true)
		b.stands(reference, provider.IntentSucceeded)
		b.tookOnce()
	},
	"BuyerFailsToAuthenticate_Failed": func(b *bench) {
		reference := b.created()
		b.is(b.confirm("chg_1:confirm:1", reference, b.Methods.Authenticates), provider.Pending)
		b.Authenticate(reference, false)
		require.NotEmpty(b, b.stands(reference, provider.IntentFailed).LastFailure.Code)
		b.tookNothing()
	},
	"AnsweredFromMemory_ShowsThePastAndSaysSo": func(b *bench) {
		reference := b.created()
		b.is(b.confirm("chg_1:confirm:1", reference, b.Methods.Authenticates), provider.Pending)
		b.Authenticate(reference, true)
		again := b.confirm("chg_1:confirm:1", reference, b.Methods.Authenticates)
		b.shows(again, provider.Pending, provider.IntentRequiresAction)
		require.True(b, again.Replayed, "or a caller could not know that it must look")
		b.tookOnce()
	},
	"NoSuchIntent_Rejected": func(b *bench) {
		got := b.confirm("chg_1:confirm:1", "pi_none", b.Methods.Approved)
		b.is(got, provider.Rejected)
		require.Nil(b, got.Intent)
	},
}

var cancelTests = map[string]func(*bench){
	"Unconfirmed_FencedForEveryLaterConfirm": func(b *bench) {
		reference := b.created()
		b.shows(b.Provider.CancelIntent(b.Context(), "chg_1:cancel:1", reference), provider.Succeeded, provider.IntentCanceled)
		for _, key := range []string{"chg_1:confirm:1", "chg_1:confirm:2"} {
			b.shows(b.confirm(key, reference, b.Methods.Approved), provider.Rejected, provider.IntentCanceled)
		}
		b.stands(reference, provider.IntentCanceled)
		b.tookNothing()
	},
	"SameKeyAgain_SameAnswer": func(b *bench) {
		reference := b.created()
		for range 2 {
			b.shows(b.Provider.CancelIntent(b.Context(), "chg_1:cancel:1", reference), provider.Succeeded, provider.IntentCanceled)
		}
		require.Equal(b, 1, b.Executed("chg_1:cancel:1"))
	},
	"CanceledAlready_ShowsTheFence": func(b *bench) {
		reference := b.created()
		b.is(b.Provider.CancelIntent(b.Context(), "chg_1:cancel:1", reference), provider.Succeeded)
		again := b.Provider.CancelIntent(b.Context(), "chg_1:cancel:2", reference)
		require.Contains(b, []provider.Outcome{provider.Succeeded, provider.Rejected}, again.Outcome)
		require.NotNil(b, again.Intent)
		require.Equal(b, provider.IntentCanceled, again.Intent.Status)
	},
	"Paid_RejectedAndShowsThePayment": func(b *bench) {
		reference := b.paid()
		b.shows(b.Provider.CancelIntent(b.Context(), "chg_1:cancel:1", reference), provider.Rejected, provider.IntentSucceeded)
		b.tookOnce()
	},
	"Held_LetGo": func(b *bench) {
		reference := b.created(held)
		b.is(b.confirm("chg_1:confirm:1", reference, b.Methods.Approved), provider.Succeeded)
		b.shows(b.Provider.CancelIntent(b.Context(), "chg_1:cancel:1", reference), provider.Succeeded, provider.IntentCanceled)
		require.Zero(b, b.stands(reference, provider.IntentCanceled).AmountReceived)
		b.tookNothing()
	},
	"BuyerIsAuthenticating_Fenced": func(b *bench) {
		reference := b.created()
		b.is(b.confirm("chg_1:confirm:1", reference, b.Methods.Authenticates), provider.Pending)
		b.shows(b.Provider.CancelIntent(b.Context(), "chg_1:cancel:1", reference), provider.Succeeded, provider.IntentCanceled)
		b.stands(reference, provider.IntentCanceled)
		b.tookNothing()
	},
	"NoSuchIntent_Rejected": func(b *bench) {
		b.is(b.Provider.CancelIntent(b.Context(), "chg_1:cancel:1", "pi_none"), provider.Rejected)
	},
}

var lookupTests = map[string]func(*bench){
	"NoSuchIntent_Rejected": func(b *bench) {
		got := b.Provider.Intent(b.Context(), "pi_none")
		b.is(got, provider.Rejected)
		require.Nil(b, got.Intent)
	},
	"Repeated_ChangesNothing": func(b *bench) {
		reference := b.paid()
		require.Equal(b, b.stands(reference, provider.IntentSucceeded), b.stands(reference, provider.IntentSucceeded))
		b.tookOnce()
	},
}
