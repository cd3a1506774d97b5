package simulator

// prepareGetEntry serves GET /v1/balance_transactions/{id}.
func prepareGetEntry(c *call) (operation, *apiError) {
	x := c.params.expand("balance_transaction", "")
	return retrieval(c, c.world.entries, "id", "balance transaction",
		func(e *effect, t entry) any { return e.showEntry(t, x) })
}

// prepareListEntries serves GET /v1/balance_transactions. A payout is taken apart only when all of it is known: half of it
// would add up to something else.
func prepareListEntries(c *call) (operation, *apiError) {
	p, w := c.params, c.world
	page := readPage(p)
	payoutID, source, kind, currency := p.text("payout"), p.text("source"), p.text("type"), readCurrency(p)
	x := p.expand("balance_transaction", "data.")
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	if payoutID != "" {
		po, ok := w.payouts.get(payoutID)
		if !ok {
			return operation{}, missingInBody("payout", "payout", payoutID)
		}
		if po.ReconciliationStatus != reconciliationCompleted {
			return operation{}, invalid("payout", "", "The balance transactions of payout %s are not known yet.", payoutID)
		}
	}
	return listing(c, w.entries, page, "balance transaction", func(t entry) bool {
		return page.created.admits(t.Created) && admits(payoutID, t.Payout) && admits(source, t.Source.id) &&
			admits(kind, t.Type) && admits(currency, t.Currency)
	}, func(e *effect, t entry) any { return e.showEntry(t, x) })
}
