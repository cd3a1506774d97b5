package simulator

// prepareGetDispute serves GET /v1/disputes/{id}.
func prepareGetDispute(c *call) (operation, *apiError) {
	x := c.params.expand("dispute", "")
	return retrieval(c, c.world.disputes, "dispute", "dispute", func(e *effect, d dispute) any { return e.showDispute(d, x) })
}

// prepareListDisputes serves GET /v1/disputes.
func prepareListDisputes(c *call) (operation, *apiError) {
	p := c.params
	page := readPage(p)
	chargeID, intentID := p.text("charge"), p.text("payment_intent")
	x := p.expand("dispute", "data.")
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	if problem := c.world.checkPaid(chargeID, intentID); problem != nil {
		return operation{}, problem
	}
	return listing(c, c.world.disputes, page, "dispute", func(d dispute) bool {
		return page.created.admits(d.Created) && admits(chargeID, d.Charge.id) && admits(intentID, d.PaymentIntent.id)
	}, func(e *effect, d dispute) any { return e.showDispute(d, x) })
}

// onDispute makes an operation that holds the dispute of the path while it runs.
func (c *call) onDispute(x expansion, run func(*effect, dispute) (dispute, *apiError)) (operation, *apiError) {
	if problem := c.params.done(); problem != nil {
		return operation{}, problem
	}
	if !c.world.disputes.has(c.id) {
		return operation{}, missingInPath("dispute", "dispute", c.id)
	}
	return operation{object: c.id, run: func(e *effect) (any, *apiError) {
		d, _ := e.dispute(c.id)
		d, problem := run(e, d)
		return e.showDispute(d, x), problem
	}}, nil
}

// prepareUpdateDispute serves POST /v1/disputes/{id}. Evidence goes to the bank at once unless submit=false; metadata
// alone says nothing to the bank.
func prepareUpdateDispute(c *call) (operation, *apiError) {
	p := c.params
	said := defence{evidence: map[string]string{}, metadata: p.metadata()}
	if group := p.group("evidence"); group != nil {
		for _, name := range evidenceNames {
			if text, given := group.clearable(name); given {
				said.evidence[name] = text
			}
		}
	}
	submit, given := p.boolean("submit")
	said.submit = submit || !given && len(said.evidence) > 0
	x := p.expand("dispute", "")
	return c.onDispute(x, func(e *effect, d dispute) (dispute, *apiError) { return e.defend(d, said) })
}

// prepareCloseDispute serves POST /v1/disputes/{id}/close: the merchant accepts it as lost.
func prepareCloseDispute(c *call) (operation, *apiError) {
	return c.onDispute(c.params.expand("dispute", ""), func(e *effect, d dispute) (dispute, *apiError) {
		if !d.awaitsResponse() {
			return d, invalid("", "", "Dispute %s has a status of %s and cannot be closed.", d.ID, d.Status)
		}
		return e.closeDispute(d, false), nil
	})
}
