package providertest

import (
	"strconv"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/provider"
)

// How long a test waits for what the provider does on its own, and how often it looks. Nothing depends on either.
const (
	patience = 10 * time.Second
	tick     = 5 * time.Millisecond
)

// overlapTests are about calls that are at work at the same time.
var overlapTests = map[string]func(*bench){
	"ConfirmStuckOnTheWayAndFenced_TakesNothingWhenItArrives": func(b *bench) {
		reference := b.created()
		barrier := b.Hold(Queued)
		answer := async(func() provider.Result { return b.confirm("chg_1:confirm:1", reference, b.Methods.Approved) })
		barrier.Await()
		b.shows(b.Provider.CancelIntent(b.Context(), "chg_1:cancel:1", reference), provider.Succeeded, provider.IntentCanceled)
		barrier.Release()
		b.shows(<-answer, provider.Rejected, provider.IntentCanceled)
		require.Zero(b, b.Executed("chg_1:confirm:1"))
		b.tookNothing()
	},
	"CancelDuringAConfirm_NotSentAndThePaymentStands": func(b *bench) {
		reference := b.created()
		barrier := b.Hold(Executing)
		answer := async(func() provider.Result { return b.confirm("chg_1:confirm:1", reference, b.Methods.Approved) })
		barrier.Await()
		b.is(b.Provider.CancelIntent(b.Context(), "chg_1:cancel:1", reference), provider.NotSent)
		require.Zero(b, b.Executed("chg_1:cancel:1"))
		barrier.Release()
		b.shows(<-answer, provider.Succeeded, provider.IntentSucceeded)
		b.shows(b.Provider.CancelIntent(b.Context(), "chg_1:cancel:1", reference), provider.Rejected, provider.IntentSucceeded)
		b.tookOnce()
	},
	"SameKeyDuringAConfirm_UnknownAsTheTwinMayPay": func(b *bench) {
		reference := b.created()
		barrier := b.Hold(Executing)
		answer := async(func() provider.Result { return b.confirm("chg_1:confirm:1", reference, b.Methods.Approved) })
		barrier.Await()
		b.is(b.confirm("chg_1:confirm:1", reference, b.Methods.Approved), provider.Unknown)
		barrier.Release()
		b.shows(<-answer, provider.Succeeded, provider.IntentSucceeded)
		require.Equal(b, 1, b.Executed("chg_1:confirm:1"))
		b.tookOnce()
	},
	"OneKeyManyTimesAtOnce_OnePaymentAndNobodyIsToldItFailed": func(b *bench) {
		reference := b.created()
		for _, got := range atOnce(16, func(int) provider.Result { return b.confirm("chg_1:confirm:1", reference, b.Methods.Approved) }) {
			require.Contains(b, []provider.Outcome{provider.Succeeded, provider.Unknown, provider.NotSent}, got.Outcome)
		}
		require.Equal(b, 1, b.Executed("chg_1:confirm:1"))
		b.tookOnce()
	},
	"ManyKeysAtOnce_OnePaymentAndOneIsToldSo": func(b *bench) {
		reference := b.created()
		succeeded := 0
		for _, got := range atOnce(16, func(n int) provider.Result {
			return b.confirm("chg_1:confirm:"+strconv.Itoa(n), reference, b.Methods.Approved)
		}) {
			switch got.Outcome {
			case provider.Succeeded:
				succeeded++
			case provider.Rejected:
				require.NotNil(b, got.Intent, "a refusal because of the intent's state must show it")
			default:
				require.Contains(b, []provider.Outcome{provider.NotSent, provider.Unknown}, got.Outcome)
			}
		}
		require.Equal(b, 1, succeeded)
		b.tookOnce()
	},
	"ConfirmAndCancelAtOnce_PaidOrFencedNeverBoth": func(b *bench) {
		reference := b.created()
		got := atOnce(2, func(n int) provider.Result {
			if n == 0 {
				return b.confirm("chg_1:confirm:1", reference, b.Methods.Approved)
			}
			return b.Provider.CancelIntent(b.Context(), "chg_1:cancel:1", reference)
		})
		paid, fenced := got[0].Outcome == provider.Succeeded, got[1].Outcome == provider.Succeeded
		require.NotEqual(b, paid, fenced)
		if paid {
			b.stands(reference, provider.IntentSucceeded)
			b.tookOnce()
		} else {
			b.stands(reference, provider.IntentCanceled)
			b.tookNothing()
		}
	},
}

// async makes a call beside the test.
func async(call func() provider.Result) <-chan provider.Result {
	answer := make(chan provider.Result, 1)
	go func() { answer <- call() }()
	return answer
}

// atOnce makes n calls at the same time.
func atOnce(n int, call func(n int) provider.Result) []provider.Result {
	results := make([]provider.Result, n)
	start := make(chan struct{})
	var callers sync.WaitGroup
	for i := range n {
		callers.Go(func() {
			<-start
			results[i] = call(i)
		})
	}
	close(start)
	callers.Wait()
	return results
}
