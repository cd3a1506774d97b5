package simulator

// prepareGetCharge serves GET /v1/charges/{id}.
func prepareGetCharge(c *call) (operation, *apiError) {
	x := c.params.expand("charge", "")
	return retrieval(c, c.world.charges, "id", "charge", func(e *effect, ch charge) any { return e.showCharge(ch, x) })
}

// prepareListCharges serves GET /v1/charges.
func prepareListCharges(c *call) (operation, *apiError) {
	p := c.params
	page := readPage(p)
	owner, intentID := c.readOwner(), p.text("payment_intent")
	x := p.expand("charge", "data.")
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	if problem := c.world.checkPaid("", intentID); problem != nil {
		return operation{}, problem
	}
	return listing(c, c.world.charges, page, "charge", func(ch charge) bool {
		return page.created.admits(ch.Created) && admits(intentID, ch.PaymentIntent.id) && admits(owner, ch.Customer.id)
	}, func(e *effect, ch charge) any { return e.showCharge(ch, x) })
}
