package simulator

import "cmp"

// The endpoints of an existing payment intent. Each prepare function checks what can be checked before anything is
// executed (such refusals are not stored under the idempotency key) and returns the operation; whatever depends on the
// intent's state is decided by the operation, under the object's lock.

// pathIntent returns the intent that the path names.
func (c *call) pathIntent() (intent, *apiError) {
	i, ok := c.world.intents.get(c.id)
	if !ok {
		return intent{}, missingInPath("intent", "payment_intent", c.id)
	}
	return i, nil
}

// onIntent makes an operation that holds the intent of the path while it runs.
func (c *call) onIntent(x expansion, run func(*effect, intent) (intent, *apiError)) operation {
	return operation{object: c.id, run: func(e *effect) (any, *apiError) {
		i, ok := e.intent(c.id)
		if !ok {
			return nil, missingInPath("intent", "payment_intent", c.id)
		}
		i, problem := run(e, i)
		return e.showIntent(i, x), problem
	}}
}

// prepareGetIntent serves GET /v1/payment_intents/{id}.
func prepareGetIntent(c *call) (operation, *apiError) {
	p := c.params
	p.text("client_secret") // what a browser would authenticate with; known, and not needed with a secret key
	x := p.expand("payment_intent", "")
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	if _, problem := c.pathIntent(); problem != nil {
		return operation{}, problem
	}
	op := c.onIntent(x, func(_ *effect, i intent) (intent, *apiError) { return i, nil })
	op.object = "" // a read waits for nobody
	return op, nil
}

// prepareUpdateIntent serves POST /v1/payment_intents/{id}.
func prepareUpdateIntent(c *call) (operation, *apiError) {
	p := c.params
	amount, amountGiven := p.integer("amount", 1)
	methodID, owner := p.text("payment_method"), p.text("customer")
	fields := readTextFields(p)
	x := p.expand("payment_intent", "")
	if methodID != "" {
		if problem := c.world.checkMethod(methodID); problem != nil {
			p.fail(problem)
		}
	}
	i, missing := c.pathIntent()
	if missing != nil {
		return operation{}, missing
	}
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	if amountGiven {
		if problem := checkAmount(amount, i.Currency); problem != nil {
			return operation{}, problem
		}
	}
	return c.onIntent(x, func(e *effect, i intent) (intent, *apiError) {
		return e.update(i, amount, methodID, owner, fields)
	}), nil
}

// update changes an intent; amount 0 and an empty method or owner, its customer, leave them alone. A new amount or payment method makes what
// the buyer agreed to obsolete, so that an intent that waited for the buyer has to be confirmed again.
func (e *effect) update(i intent, amount int64, methodID, owner string, fields textFields) (intent, *apiError) {
	if amount != 0 {
		if refusal := i.refuses(moveUpdateAmount); refusal != nil {
			return i, refusal
		}
		i.Amount = amount
		i.unasked()
	}
	if methodID != "" || owner != "" {
		if refusal := i.refuses(moveUpdateMethod); refusal != nil {
			return i, refusal
		}
	}
	if owner != "" {
		if problem := e.world.checkCustomer(owner); problem != nil {
			return i, problem
		}
		i.Customer = referTo(owner)
		if m, ok := e.method(i.PaymentMethod.id); ok && methodID == "" {
			if problem := i.checkOwner(m); problem != nil {
				return i, problem
			}
		}
	}
	if problem := fields.apply(&i); problem != nil {
		return i, problem
	}
	if methodID != "" {
		m, problem := e.methodFor(methodID)
		if problem != nil {
			return i, problem
		}
		if problem := i.checkOwner(m); problem != nil {
			return i, problem
		}
		i.PaymentMethod = referTo(m.ID)
		i.unasked()
		if i.Status != requiresCapture { // what is held then stays held, whatever card comes next
			i.Status = requiresConfirmation
		}
	}
	e.putIntent(i)
	return i, nil
}

// unasked takes back what the buyer was asked or has answered.
func (i *intent) unasked() {
	i.NextAction, i.Authenticated = nil, false
	if i.Status == requiresAction {
		i.Status = requiresConfirmation
	}
}

// prepareConfirmIntent serves POST /v1/payment_intents/{id}/confirm.
func prepareConfirmIntent(c *call) (operation, *apiError) {
	p := c.params
	ask := readConfirmation(p, c.world)
	ask.captureMethod = readCaptureMethod(p)
	x := p.expand("payment_intent", "")
	i, missing := c.pathIntent()
	if missing != nil {
		return operation{}, missing
	}
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	if ask.returnURL == "" && i.needsReturnURL() {
		return operation{}, returnURLMissing()
	}
	op := c.onIntent(x, func(e *effect, i intent) (intent, *apiError) { return e.confirm(i, ask) })
	op.takes = c.world.slowness(cmp.Or(ask.method, i.PaymentMethod.id))
	return op, nil
}

// prepareCaptureIntent serves POST /v1/payment_intents/{id}/capture.
func prepareCaptureIntent(c *call) (operation, *apiError) {
	p := c.params
	amount, given := p.integer("amount_to_capture", 1)
	if final, given := p.boolean("final_capture"); given && !final {
		p.fail(invalid("final_capture", "", "This account cannot capture a payment more than once."))
	}
	metadata := p.metadata()
	x := p.expand("payment_intent", "")
	if _, missing := c.pathIntent(); missing != nil {
		return operation{}, missing
	}
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	return c.onIntent(x, func(e *effect, i intent) (intent, *apiError) {
		return e.capture(i, amount, given, metadata)
	}), nil
}

// prepareCancelIntent serves POST /v1/payment_intents/{id}/cancel.
func prepareCancelIntent(c *call) (operation, *apiError) {
	p := c.params
	reason := p.oneOf("cancellation_reason", "duplicate", "fraudulent", "requested_by_customer", "abandoned")
	x := p.expand("payment_intent", "")
	if _, missing := c.pathIntent(); missing != nil {
		return operation{}, missing
	}
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	return c.onIntent(x, func(e *effect, i intent) (intent, *apiError) { return e.cancel(i, reason) }), nil
}

// prepareListIntents serves GET /v1/payment_intents.
func prepareListIntents(c *call) (operation, *apiError) {
	p := c.params
	page := readPage(p)
	owner := c.readOwner()
	x := p.expand("payment_intent", "data.")
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	return listing(c, c.world.intents, page, "payment_intent", func(i intent) bool {
		return page.created.admits(i.Created) && admits(owner, i.Customer.id)
	}, func(e *effect, i intent) any { return e.showIntent(i, x) })
}
