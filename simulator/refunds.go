package simulator

// prepareCreateRefund serves POST /v1/refunds. The charge is what is locked: refunds of one charge come one after the
// other.
func prepareCreateRefund(c *call) (operation, *apiError) {
	p, w := c.params, c.world
	chargeID, intentID := p.text("charge"), p.text("payment_intent")
	order := refundOrder{param: "charge", reason: p.oneOf("reason", "duplicate", "fraudulent", "requested_by_customer")}
	order.amount, _ = p.integer("amount", 1)
	order.metadata = p.metadata()
	x := p.expand("refund", "")
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	if chargeID == "" && intentID == "" {
		return operation{}, invalid("", "parameter_missing", "Say what to refund: payment_intent or charge.")
	}
	if chargeID != "" && intentID != "" {
		return operation{}, invalid("", "", "Say what to refund by payment_intent or by charge, not by both.")
	}
	if problem := w.checkPaid(chargeID, intentID); problem != nil {
		return operation{}, problem
	}
	locked := chargeID
	if intentID != "" {
		order.param = "payment_intent"
		i, _ := w.intents.get(intentID)
		locked = i.LatestCharge.id
	}
	return operation{object: locked, run: func(e *effect) (any, *apiError) {
		id := chargeID
		if intentID != "" {
			i, _ := e.intent(intentID) // again: the call may have waited
			id = i.LatestCharge.id
		}
		ch, _ := e.charge(id) // an intent that was never confirmed has none, which is no successful one
		r, problem := e.giveBack(ch, order)
		return e.showRefund(r, x), problem
	}}, nil
}

// checkPaid refuses parameters that name no charge or payment intent; "" names none on purpose.
func (w *world) checkPaid(chargeID, intentID string) *apiError {
	if chargeID != "" && !w.charges.has(chargeID) {
		return missingInBody("charge", "charge", chargeID)
	}
	if intentID != "" && !w.intents.has(intentID) {
		return missingInBody("payment_intent", "payment_intent", intentID)
	}
	return nil
}

// prepareGetRefund serves GET /v1/refunds/{id}.
func prepareGetRefund(c *call) (operation, *apiError) {
	x := c.params.expand("refund", "")
	return retrieval(c, c.world.refunds, "refund", "refund", func(e *effect, r refund) any { return e.showRefund(r, x) })
}

// prepareListRefunds serves GET /v1/refunds.
func prepareListRefunds(c *call) (operation, *apiError) {
	p := c.params
	page := readPage(p)
	chargeID, intentID := p.text("charge"), p.text("payment_intent")
	x := p.expand("refund", "data.")
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	if problem := c.world.checkPaid(chargeID, intentID); problem != nil {
		return operation{}, problem
	}
	return listing(c, c.world.refunds, page, "refund", func(r refund) bool {
		return page.created.admits(r.Created) && admits(chargeID, r.Charge.id) && admits(intentID, r.PaymentIntent.id)
	}, func(e *effect, r refund) any { return e.showRefund(r, x) })
}

// onRefund makes an operation on the refund of the path, which holds its charge while it runs.
func (c *call) onRefund(x expansion, run func(*effect, refund) (refund, *apiError)) (operation, *apiError) {
	if problem := c.params.done(); problem != nil {
		return operation{}, problem
	}
	r, ok := c.world.refunds.get(c.id)
	if !ok {
		return operation{}, missingInPath("refund", "refund", c.id)
	}
	return operation{object: r.Charge.id, run: func(e *effect) (any, *apiError) {
		r, _ := e.refund(c.id)
		r, problem := run(e, r)
		return e.showRefund(r, x), problem
	}}, nil
}

// prepareUpdateRefund serves POST /v1/refunds/{id}: only metadata can be changed.
func prepareUpdateRefund(c *call) (operation, *apiError) {
	metadata := c.params.metadata()
	return c.onRefund(c.params.expand("refund", ""), func(e *effect, r refund) (refund, *apiError) {
		merged, problem := metadata.apply(r.Metadata)
		if problem != nil {
			return r, problem
		}
		before := map[string]any{"metadata": r.Metadata}
		r.Metadata = merged
		e.putRefund(r)
		e.announceChanged(r, before)
		return r, nil
	})
}

// prepareCancelRefund serves POST /v1/refunds/{id}/cancel. Only a refund that waits for the buyer to act can be canceled,
// and refunds to cards never do.
func prepareCancelRefund(c *call) (operation, *apiError) {
	return c.onRefund(c.params.expand("refund", ""), func(_ *effect, r refund) (refund, *apiError) {
		return r, invalid("", "", "Refund %s has a status of %s and cannot be canceled.", r.ID, r.Status)
	})
}
