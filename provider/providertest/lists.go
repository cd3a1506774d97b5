package providertest

import (
	"slices"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/provider"
)

// all reads a list to its end, page by page.
func all[T any](b *bench, limit int, read func(provider.Query) (provider.Page[T], provider.Result)) []T {
	b.Helper()
	var items []T
	for q := (provider.Query{Limit: limit}); ; {
		page, result := read(q)
		b.is(result, provider.Succeeded)
		require.LessOrEqual(b, len(page.Items), limit)
		items = append(items, page.Items...)
		if page.Last {
			require.Empty(b, page.Next)
			return items
		}
		require.NotEmpty(b, page.Items)
		q.After = page.Next
	}
}

// several makes intents and returns their references, the newest first.
func (b *bench) several(n int) []string {
	b.Helper()
	references := make([]string, 0, n)
	for i := range n {
		got := b.Provider.CreateIntent(b.Context(), "create:"+strconv.Itoa(i), intentParams())
		b.is(got, provider.Succeeded)
		references = append(references, got.Intent.Reference)
	}
	slices.Reverse(references)
	return references
}

func (b *bench) listIntents(q provider.Query) (provider.Page[provider.Intent], provider.Result) {
	return b.Provider.ListIntents(b.Context(), q)
}

var listTests = map[string]func(*bench){
	"Intents_EachOnceNewestFirstAsALookUpShowsThem": func(b *bench) {
		references := b.several(5)
		list := all(b, 2, b.listIntents)
		require.Len(b, list, 5)
		for n, intent := range list {
			require.Equal(b, references[n], intent.Reference)
			require.Equal(b, *b.stands(intent.Reference, provider.IntentUnconfirmed), intent)
		}
	},
	"NothingThere_TheLastPage": func(b *bench) {
		page, result := b.listIntents(provider.Query{})
		b.is(result, provider.Succeeded)
		require.Empty(b, page.Items)
		require.True(b, page.Last)
	},
	"NewOnesWhileReading_NothingIsMissedOrRepeated": func(b *bench) {
		references := b.several(4)
		first, result := b.listIntents(provider.Query{Limit: 2})
		b.is(result, provider.Succeeded)
		b.is(b.Provider.CreateIntent(b.Context(), "create:new", intentParams()), provider.Succeeded)
		second, result := b.listIntents(provider.Query{Limit: 2, After: first.Next})
		b.is(result, provider.Succeeded)
		require.True(b, second.Last)
		for n, intent := range slices.Concat(first.Items, second.Items) {
			require.Equal(b, references[n], intent.Reference)
		}
	},
	"Window_FromIsInAndToIsOut": func(b *bench) {
		created := b.stands(b.created(), provider.IntentUnconfirmed).Created
		for _, c := range []struct {
			from, to time.Time
			want     int
		}{
			{created, time.Time{}, 1}, {created.Add(time.Second), time.Time{}, 0}, {time.Time{}, created, 0},
			{time.Time{}, created.Add(time.Second), 1}, {created, created.Add(time.Second), 1}, {created.Add(-time.Hour), created, 0},
		} {
			page, result := b.listIntents(provider.Query{From: c.from, To: c.to})
			b.is(result, provider.Succeeded)
			require.Len(b, page.Items, c.want, "from %v to %v", c.from, c.to)
		}
	},
	"PageFails_NoEndAndNothingInIt": func(b *bench) {
		references := b.several(3)
		first, result := b.listIntents(provider.Query{Limit: 2})
		b.is(result, provider.Succeeded)
		for _, fault := range []Fault{LostBefore, LostAfter, FailedAfter} {
			b.Break(fault)
			page, result := b.listIntents(provider.Query{Limit: 2, After: first.Next})
			b.is(result, provider.Unknown)
			require.True(b, result.Repeatable)
			require.Zero(b, page)
		}
		second, result := b.listIntents(provider.Query{Limit: 2, After: first.Next})
		b.is(result, provider.Succeeded)
		require.Equal(b, references[2], second.Items[0].Reference)
	},
	"AfterSomethingThatIsNotThere_Rejected": func(b *bench) {
		b.several(1)
		page, result := b.listIntents(provider.Query{After: "pi_none"})
		b.is(result, provider.Rejected)
		require.Zero(b, page)
	},
	"CannotBeSent": func(b *bench) {
		for _, q := range []provider.Query{{Limit: provider.MaxPage + 1}, {Limit: -1}, {After: "a/b"}} {
			_, result := b.listIntents(q)
			b.is(result, provider.NotSent)
		}
	},
	"RefundsOfOneIntent_OnlyIts": func(b *bench) {
		intent := b.paid()
		b.is(b.refund("rfd_1:1", intent, 500), provider.Succeeded)
		b.is(b.refund("rfd_1:2", intent, 600), provider.Succeeded)
		other := b.Provider.CreateIntent(b.Context(), "create:other", intentParams())
		b.is(other, provider.Succeeded)
		b.is(b.confirm("confirm:other", other.Intent.Reference, b.Methods.Approved), provider.Succeeded)
		b.is(b.refund("rfd_2:1", other.Intent.Reference, 700), provider.Succeeded)
		list := b.refundsOf(intent)
		require.Len(b, list, 2)
		require.Equal(b, []int64{600, 500}, []int64{list[0].Amount.Amount, list[1].Amount.Amount})
		require.Len(b, all(b, 2, func(q provider.Query) (provider.Page[provider.Refund], provider.Result) {
			return b.Provider.ListRefunds(b.Context(), "", q)
		}), 3)
	},
	"Events_TellWhichCallOfOursDidIt": func(b *bench) {
		intent := b.paid()
		events := all(b, 2, func(q provider.Query) (provider.Page[provider.Event], provider.Result) {
			return b.Provider.ListEvents(b.Context(), q)
		})
		keys := map[string]int{}
		for _, e := range events {
			require.Equal(b, intent, e.Intent)
			require.Equal(b, intentParams().Metadata, e.Metadata)
			require.False(b, e.Live)
			keys[e.Key]++
		}
		require.Positive(b, keys["chg_1:create:1"])
		require.Positive(b, keys["chg_1:confirm:1"])
		require.Len(b, keys, 2)
	},
}

var ledgerTests = map[string]func(*bench){
	"PaymentAndRefund_EveryMovementWithItsSourceAndSign": func(b *bench) {
		intent := b.paid()
		refund := b.refunded(b.refund("rfd_1:1", intent, 500), provider.Succeeded, provider.RefundSucceeded)
		entries := b.entries("")
		require.Len(b, entries, 2)
		back, taken := entries[0], entries[1]
		require.Equal(b, provider.EntryRefund, back.Kind)
		require.Equal(b, domain.Money{Amount: -500, Currency: domain.EUR}, back.Amount)
		require.Equal(b, refund.Reference, back.Source)
		require.Equal(b, refund.Entry, back.Reference)
		require.Equal(b, provider.EntryCharge, taken.Kind)
		require.Equal(b, domain.Money{Amount: 1999, Currency: domain.EUR}, taken.Amount)
		require.Equal(b, b.stands(intent, provider.IntentSucceeded).LatestAttempt, taken.Source)
		for _, entry := range entries {
			require.Equal(b, entry.Net.Amount, entry.Amount.Amount-entry.Fee.Amount)
			require.Equal(b, entry.Amount.Currency, entry.Net.Currency)
			require.False(b, entry.AvailableOn.Before(entry.Created))
		}
	},
	"PaidOut_TheItemsOfAPayoutAddUpToIt": func(b *bench) {
		b.paid()
		b.PayOut()
		payouts := all(b, 10, func(q provider.Query) (provider.Page[provider.Payout], provider.Result) {
			return b.Provider.ListPayouts(b.Context(), q)
		})
		require.NotEmpty(b, payouts)
		payout := payouts[0]
		require.True(b, payout.Automatic)
		require.True(b, payout.Itemised)
		sum, own := int64(0), false
		for _, entry := range b.entries(payout.Reference) {
			sum += entry.Net.Amount
			own = own || entry.Kind == provider.EntryPayout && entry.Source == payout.Reference && entry.Reference == payout.Entry
		}
		require.True(b, own, "the payout's own movement is among them")
		require.Zero(b, sum)
		require.Positive(b, payout.Amount.Amount)
	},
	"Disputed_ShownWithItsPaymentInListAndLookUp": func(b *bench) {
		intent := b.paid()
		attempt := b.stands(intent, provider.IntentSucceeded).LatestAttempt
		b.Dispute(attempt)
		disputes := all(b, 10, func(q provider.Query) (provider.Page[provider.Dispute], provider.Result) {
			return b.Provider.ListDisputes(b.Context(), q)
		})
		require.Len(b, disputes, 1)
		dispute := disputes[0]
		require.Equal(b, intent, dispute.Intent)
		require.Equal(b, attempt, dispute.Attempt)
		require.Equal(b, provider.DisputeNeedsResponse, dispute.Status)
		require.Equal(b, int64(1999), dispute.Amount.Amount)
		require.True(b, dispute.DueBy.After(dispute.Created))
		got := b.Provider.Dispute(b.Context(), dispute.Reference)
		b.is(got, provider.Succeeded)
		require.Equal(b, dispute, *got.Dispute)
		require.Equal(b, provider.EntryDispute, b.entries("")[0].Kind)
	},
	"NoSuchDispute_Rejected": func(b *bench) {
		b.is(b.Provider.Dispute(b.Context(), "dp_none"), provider.Rejected)
	},
}

// entries are the movements of a payout, or all of them, the newest first.
func (b *bench) entries(payout string) []provider.BalanceTransaction {
	b.Helper()
	return all(b, 10, func(q provider.Query) (provider.Page[provider.BalanceTransaction], provider.Result) {
		return b.Provider.ListBalanceTransactions(b.Context(), payout, q)
	})
}
