package simulator

// What a world keeps about money once it was taken, and about whose it was.

// applyMoney is the part of apply about it. The caller holds mu.
func (w *world) applyMoney(c change) {
	for _, t := range c.Entries {
		w.entries.put(t)
	}
	for _, r := range c.Refunds {
		if !w.refunds.has(r.ID) {
			w.watchRefund(r)
		}
		w.refunds.put(r)
	}
	for _, d := range c.Disputes {
		w.disputes.put(d)
	}
	for _, po := range c.Payouts {
		w.payouts.put(po)
	}
	for _, a := range c.Accounts {
		w.accounts.put(a)
	}
}

// snapshotMoney yields the changes that rebuild it. The caller holds mu.
func (w *world) snapshotMoney(yield func(change) bool) {
	for t := range w.entries.all {
		if !yield(change{Entries: []entry{t}}) {
			return
		}
	}
	for r := range w.refunds.all {
		if !yield(change{Refunds: []refund{r}}) {
			return
		}
	}
	for d := range w.disputes.all {
		if !yield(change{Disputes: []dispute{d}}) {
			return
		}
	}
	for po := range w.payouts.all {
		if !yield(change{Payouts: []payout{po}}) {
			return
		}
	}
	for a := range w.accounts.all {
		if !yield(change{Accounts: []account{a}}) {
			return
		}
	}
}
