package simulator

import "net/http"

// customer is somebody whose payment methods are kept. Times are in Unix seconds.
type customer struct {
	ID               string            `json:"id"`
	Object           string            `json:"object"`
	Address          unset             `json:"address"`
	Balance          int64             `json:"balance"`
	Created          int64             `json:"created"`
	Currency         unset             `json:"currency"`
	DefaultSource    unset             `json:"default_source"`
	Delinquent       bool              `json:"delinquent"`
	Description      nullable          `json:"description"`
	Discount         unset             `json:"discount"`
	Email            nullable          `json:"email"`
	InvoicePrefix    unset             `json:"invoice_prefix"`
	Livemode         bool              `json:"livemode"`
	Metadata         map[string]string `json:"metadata"`
	Name             nullable          `json:"name"`
	Phone            nullable          `json:"phone"`
	PreferredLocales []string          `json:"preferred_locales"`
	Shipping         unset             `json:"shipping"`
	TaxExempt        string            `json:"tax_exempt"`
}

// account is a customer, or what is left of one: the id of one that was deleted can still be asked for.
type account struct {
	customer
	Deleted bool `json:"sim_deleted,omitempty"`
}

func (a account) key() string { return a.ID }

// deletedObject is what the API shows of something that was deleted.
type deletedObject struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Deleted bool   `json:"deleted"`
}

func (a account) shown() any {
	if a.Deleted {
		return deletedObject{ID: a.ID, Object: a.Object, Deleted: true}
	}
	return a.customer
}

func (e *effect) account(id string) (account, bool) {
	return find(e.change.Accounts, e.world.accounts, id)
}

func (e *effect) putAccount(a account) { e.change.Accounts = replace(e.change.Accounts, a) }

// checkCustomer refuses a customer parameter that names no customer; "" names none on purpose.
func (w *world) checkCustomer(id string) *apiError {
	if a, ok := w.accounts.get(id); id != "" && (!ok || a.Deleted) {
		return missingInBody("customer", "customer", id)
	}
	return nil
}

// readOwner reads the customer that a list is of; "" means that it was not given. A read is never replayed, so that it
// is checked at once.
func (c *call) readOwner() string {
	id := c.params.text("customer")
	if problem := c.world.checkCustomer(id); problem != nil {
		c.params.fail(problem)
	}
	return id
}

// customerFields are the parameters of a customer that are only stored and shown; nil leaves a field alone.
type customerFields struct {
	description, email, name, phone *string
	metadata                        metadataChange
}

func readCustomerFields(p *params) customerFields {
	return customerFields{
		description: p.optional("description"), email: p.optional("email"), name: p.optional("name"),
		phone: p.optional("phone"), metadata: p.metadata(),
	}
}

func (f customerFields) apply(a *account) *apiError {
	merged, problem := f.metadata.apply(a.Metadata)
	if problem != nil {
		return problem
	}
	a.Metadata = merged
	setText(&a.Description, f.description)
	setText(&a.Email, f.email)
	setText(&a.Name, f.name)
	setText(&a.Phone, f.phone)
	return nil
}

// attachable returns the payment method that a parameter names, if the customer can have it. The bank is asked whether
// the card is good; a card that it would decline cannot be attached.
func (e *effect) attachable(methodID, customerID string) (method, *apiError) {
	m, problem := e.methodFor(methodID)
	if problem != nil {
		return m, problem
	}
	switch b := m.behaviour(); {
	case m.Customer.id != "" && m.Customer.id != customerID:
		return m, invalid("payment_method", "", "The payment method %s is attached to another customer.", m.ID).ofParameters()
	case m.Detached, m.UsedBy != "" && m.Customer.id == "":
		return m, methodUsedUp(m)
	case b.unattachable:
		shown := m.paymentMethod
		problem := &apiError{
			status: http.StatusPaymentRequired, Type: typeCard, Code: b.decline.code, DeclineCode: b.decline.declineCode,
			Message: b.decline.message, PaymentMethod: &shown,
		}
		return m, problem.withDocURL()
	default:
		return m, nil
	}
}

// attach gives a payment method to a customer, who may have it already.
func (e *effect) attach(m method, customerID string) method {
	if m.Customer.id == customerID {
		return m
	}
	m.Customer = referTo(customerID)
	e.putMethod(m)
	e.announce("payment_method.attached", m.paymentMethod, nil)
	return m
}

// detach takes a payment method from its customer for good: nobody can use or attach it again.
func (e *effect) detach(m method) method {
	before := map[string]any{"customer": m.Customer}
	m.Customer, m.Detached = reference{}, true
	e.putMethod(m)
	e.announce("payment_method.detached", m.paymentMethod, before)
	return m
}

func methodUsedUp(m method) *apiError {
	return invalid("payment_method", "", "The PaymentMethod %s was used before without being attached to a Customer, "+
		"or was detached from one, so it cannot be used again.", m.ID).ofParameters()
}

// checkOwner refuses a payment method that is another customer's, or nobody's any more.
func (i intent) checkOwner(m method) *apiError {
	switch {
	case m.Detached:
		return methodUsedUp(m)
	case m.Customer.id != "" && m.Customer.id != i.Customer.id:
		return invalid("payment_method", "",
			"The PaymentMethod %s belongs to a Customer. Give the same customer to the PaymentIntent.", m.ID).ofParameters()
	default:
		return nil
	}
}

// setUp keeps the card of a successful payment for the customer, when the intent was made to do that.
func (e *effect) setUp(i intent, m method) {
	if a, ok := e.account(i.Customer.id); i.SetupFutureUsage == "" || !ok || a.Deleted {
		return
	}
	m.SetUp = m.SetUp || i.SetupFutureUsage == "off_session"
	e.putMethod(m)
	e.attach(m, i.Customer.id)
}
