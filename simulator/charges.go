package simulator

// prepareGetCharge serves GET /v1/charges/{id}.
func prepareGetCharge(c *call) (operation, *apiError) {
	x := c.params.expand("charge", "")
	if problem := c.params.done(); problem != nil {
		return operation{}, problem
	}
	if !c.world.charges.has(c.id) {
		return operation{}, missingInPath("id", "charge", c.id)
	}
	return operation{run: func(e *effect) (any, *apiError) {
		ch, _ := e.charge(c.id)
		return e.showCharge(ch, x), nil
	}}, nil
}

// prepareListCharges serves GET /v1/charges.
func prepareListCharges(c *call) (operation, *apiError) {
	p := c.params
	page := readPage(p)
	refuseCustomer(p)
	intentID := p.text("payment_intent")
	x := p.expand("charge", "data.")
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	if intentID != "" && !c.world.intents.has(intentID) {
		return operation{}, missingInBody("payment_intent", "payment_intent", intentID)
	}
	if problem := checkCursor(c.world.charges, page, "charge"); problem != nil {
		return operation{}, problem
	}
	return operation{run: func(e *effect) (any, *apiError) {
		rows, more := pageOf(e.world.charges, page, func(ch charge) bool {
			return page.created.admits(ch.Created) && (intentID == "" || ch.PaymentIntent.id == intentID)
		})
		data := make([]charge, 0, len(rows))
		for _, ch := range rows {
			data = append(data, e.showCharge(ch, x))
		}
		return list[charge]{Object: "list", Data: data, HasMore: more, URL: c.path}, nil
	}}, nil
}
