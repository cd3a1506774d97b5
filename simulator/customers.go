package simulator

import "net/http"

// prepareCreateCustomer serves POST /v1/customers. A payment method that is given is attached.
func prepareCreateCustomer(c *call) (operation, *apiError) {
	p := c.params
	fields := readCustomerFields(p)
	methodID := p.text("payment_method")
	if methodID != "" {
		if problem := c.world.checkMethod(methodID); problem != nil {
			p.fail(problem)
		}
	}
	p.expand("customer", "") // known, and always null
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	return operation{run: func(e *effect) (any, *apiError) { return e.createCustomer(fields, methodID) }}, nil
}

func (e *effect) createCustomer(fields customerFields, methodID string) (any, *apiError) {
	a := account{customer: customer{
		ID: newID(e, "cus_", e.world.accounts), Object: "customer", Created: e.now.Unix(), PreferredLocales: []string{},
		TaxExempt: "none",
	}}
	if problem := fields.apply(&a); problem != nil {
		return nil, problem
	}
	var m method
	if methodID != "" {
		var problem *apiError
		if m, problem = e.attachable(methodID, a.ID); problem != nil {
			return nil, problem
		}
	}
	e.putAccount(a)
	e.announce("customer.created", a.customer, nil)
	if methodID != "" {
		e.attach(m, a.ID)
	}
	return a.customer, nil
}

// prepareGetCustomer serves GET /v1/customers/{id}.
func prepareGetCustomer(c *call) (operation, *apiError) {
	c.params.expand("customer", "")
	return retrieval(c, c.world.accounts, "id", "customer", func(_ *effect, a account) any { return a.shown() })
}

// onCustomer makes an operation that holds the customer of the path while it runs.
func (c *call) onCustomer(run func(*effect, account) (any, *apiError)) (operation, *apiError) {
	if c.request.Method != http.MethodDelete { // of what is gone nothing can be shown
		c.params.expand("customer", "")
	}
	if problem := c.params.done(); problem != nil {
		return operation{}, problem
	}
	return operation{object: c.id, run: func(e *effect) (any, *apiError) {
		if problem := e.world.checkCustomer(c.id); problem != nil {
			return nil, missingInPath("id", "customer", c.id)
		}
		a, _ := e.account(c.id)
		return run(e, a)
	}}, nil
}

// prepareUpdateCustomer serves POST /v1/customers/{id}.
func prepareUpdateCustomer(c *call) (operation, *apiError) {
	fields := readCustomerFields(c.params)
	return c.onCustomer(func(e *effect, a account) (any, *apiError) {
		before := map[string]any{
			"description": a.Description, "email": a.Email, "metadata": a.Metadata, "name": a.Name, "phone": a.Phone,
		}
		if problem := fields.apply(&a); problem != nil {
			return nil, problem
		}
		e.putAccount(a)
		e.announce("customer.updated", a.customer, before)
		return a.customer, nil
	})
}

// prepareDeleteCustomer serves DELETE /v1/customers/{id}. The customer's payment methods are of no use to anybody
// afterwards.
func prepareDeleteCustomer(c *call) (operation, *apiError) {
	return c.onCustomer(func(e *effect, a account) (any, *apiError) {
		for m := range e.world.methods.all {
			if m.Customer.id == a.ID {
				e.detach(m)
			}
		}
		a.Deleted = true
		e.putAccount(a)
		e.announce("customer.deleted", a.customer, nil)
		return a.shown(), nil
	})
}

// prepareListCustomers serves GET /v1/customers.
func prepareListCustomers(c *call) (operation, *apiError) {
	p := c.params
	page := readPage(p)
	email := p.text("email")
	p.expand("customer", "data.")
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	return listing(c, c.world.accounts, page, "customer", func(a account) bool {
		return !a.Deleted && page.created.admits(a.Created) && admits(email, string(a.Email))
	}, func(_ *effect, a account) any { return a.shown() })
}

// prepareListMethods serves GET /v1/payment_methods, of the customer that a parameter names.
func prepareListMethods(c *call) (operation, *apiError) {
	c.params.require("customer")
	return c.listMethods(c.readOwner())
}

// prepareListCustomerMethods serves GET /v1/customers/{id}/payment_methods.
func prepareListCustomerMethods(c *call) (operation, *apiError) {
	if problem := c.world.checkCustomer(c.id); problem != nil {
		return operation{}, problem.inPath()
	}
	return c.listMethods(c.id)
}

func (c *call) listMethods(owner string) (operation, *apiError) {
	p := c.params
	page := readPage(p)
	kind := p.oneOf("type", "card")
	x := p.expand("payment_method", "data.")
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	return listing(c, c.world.methods, page, "payment_method", func(m method) bool {
		return m.Customer.id == owner && page.created.admits(m.Created) && admits(kind, m.Type)
	}, func(e *effect, m method) any { return e.showMethod(m, x) })
}

// onMethod makes an operation that holds the payment method of the path while it runs; a token is a factory and not an
// object, so it is not held.
func (c *call) onMethod(run func(*effect) (method, *apiError)) (operation, *apiError) {
	x := c.params.expand("payment_method", "")
	if problem := c.params.done(); problem != nil {
		return operation{}, problem
	}
	if problem := c.world.checkMethod(c.id); problem != nil {
		return operation{}, problem.inPath()
	}
	op := operation{run: func(e *effect) (any, *apiError) {
		m, problem := run(e)
		return e.showMethod(m, x), problem
	}}
	if c.world.methods.has(c.id) {
		op.object = c.id
	}
	return op, nil
}

// prepareAttachMethod serves POST /v1/payment_methods/{id}/attach.
func prepareAttachMethod(c *call) (operation, *apiError) {
	c.params.require("customer")
	owner := c.params.text("customer")
	return c.onMethod(func(e *effect) (method, *apiError) {
		if problem := e.world.checkCustomer(owner); problem != nil {
			return method{}, problem
		}
		m, problem := e.attachable(c.id, owner)
		if problem != nil {
			return m, problem
		}
		return e.attach(m, owner), nil
	})
}

// prepareDetachMethod serves POST /v1/payment_methods/{id}/detach.
func prepareDetachMethod(c *call) (operation, *apiError) {
	return c.onMethod(func(e *effect) (method, *apiError) {
		m, _ := e.method(c.id) // a token is none
		if m.Customer.id == "" {
			return m, invalid("", "", "The payment method %s is not attached to a customer.", c.id)
		}
		return e.detach(m), nil
	})
}
