package simulator

import "time"

// paymentMethod is a card as the API shows it. No card number exists anywhere in the simulator.
type paymentMethod struct {
	ID             string            `json:"id"`
	Object         string            `json:"object"`
	BillingDetails billingDetails    `json:"billing_details"`
	Card           card              `json:"card"`
	Created        int64             `json:"created"`
	Customer       reference         `json:"customer"`
	Livemode       bool              `json:"livemode"`
	Metadata       map[string]string `json:"metadata"`
	Type           string            `json:"type"`
}

type billingDetails struct {
	Address address `json:"address"`
	Email   unset   `json:"email"`
	Name    unset   `json:"name"`
	Phone   unset   `json:"phone"`
}

type address struct {
	City       unset `json:"city"`
	Country    unset `json:"country"`
	Line1      unset `json:"line1"`
	Line2      unset `json:"line2"`
	PostalCode unset `json:"postal_code"`
	State      unset `json:"state"`
}

type card struct {
	Brand             string     `json:"brand"`
	Checks            cardChecks `json:"checks"`
	Country           string     `json:"country"`
	ExpMonth          int        `json:"exp_month"`
	ExpYear           int        `json:"exp_year"`
	Fingerprint       string     `json:"fingerprint"`
	Funding           string     `json:"funding"`
	GeneratedFrom     unset      `json:"generated_from"`
	Last4             string     `json:"last4"`
	ThreeDSecureUsage usage      `json:"three_d_secure_usage"`
	Wallet            unset      `json:"wallet"`
}

type usage struct {
	Supported bool `json:"supported"`
}

type cardChecks struct {
	AddressLine1Check      nullable `json:"address_line1_check"`
	AddressPostalCodeCheck nullable `json:"address_postal_code_check"`
	CVCCheck               nullable `json:"cvc_check"`
}

// method is a payment method with the test token it was made from and the intent that consumed it.
type method struct {
	paymentMethod
	Token  string `json:"sim_token"`
	UsedBy string `json:"sim_used_by,omitempty"` // the payment intent of its first attempt
	// SetUp: the buyer has agreed to payments that are made while they are away.
	SetUp bool `json:"sim_set_up,omitempty"`
	// Detached: it was a customer's once, and nobody can use it any more.
	Detached bool `json:"sim_detached,omitempty"`

	bent func(behaviour) behaviour // by a fault, for one attempt; nil leaves the card as it is
}

func (m method) key() string { return m.ID }

func (m method) behaviour() behaviour {
	b, _ := behaviourOf(m.Token)
	if m.bent != nil {
		return m.bent(b)
	}
	return b
}

// asks reports whether the card wants its holder to authenticate now.
func (m method) asks(offSession bool) bool {
	switch m.behaviour().authentication {
	case alwaysAsks:
		return true
	case asksUntilSetUp:
		return !m.SetUp
	case asksWhenPresent:
		return !offSession
	default:
		return false
	}
}

// slowness is how long, in real time, the bank takes to answer for a token or a payment method.
func (w *world) slowness(id string) time.Duration {
	if b, isToken := behaviourOf(id); isToken {
		return b.takes
	}
	m, _ := w.methods.get(id)
	return m.behaviour().takes
}

// checkMethod refuses a payment_method parameter that names neither a test token nor a payment method of this world.
func (w *world) checkMethod(id string) *apiError {
	switch _, isToken := behaviourOf(id); {
	case isToken || w.methods.has(id):
		return nil
	case id == "pm_card_createIssuerFraudRecord":
		return invalid("payment_method", "",
			"The simulator has no fraud warnings, so it refuses %s instead of treating it as an ordinary card.", id)
	default:
		return missingInBody("payment_method", "PaymentMethod", id)
	}
}

// methodFor returns the payment method that a parameter names. A test token is a factory: each use makes a new one.
func (e *effect) methodFor(id string) (method, *apiError) {
	if behaviour, isToken := behaviourOf(id); isToken {
		m := e.newMethod(id, behaviour)
		e.putMethod(m)
		return m, nil
	}
	m, ok := e.method(id)
	if !ok {
		return method{}, missingInBody("payment_method", "PaymentMethod", id)
	}
	return m, nil
}

func (e *effect) newMethod(token string, b behaviour) method {
	return method{Token: token, paymentMethod: paymentMethod{
		ID: newID(e, "pm_", e.world.methods), Object: "payment_method", Created: e.now.Unix(),
		Metadata: map[string]string{}, Type: "card",
		Card: card{
			Brand: b.brand, Last4: b.last4, Funding: b.funding, Country: "US", ExpMonth: 12, ExpYear: 2034,
			Checks:            b.checks,
			Fingerprint:       e.world.seed.text(16, "fingerprint", token),
			ThreeDSecureUsage: usage{Supported: true},
		},
	}}
}

// prepareGetMethod serves GET /v1/payment_methods/{id}. A token resolves to a new payment method here too.
func prepareGetMethod(c *call) (operation, *apiError) {
	x := c.params.expand("payment_method", "")
	if problem := c.params.done(); problem != nil {
		return operation{}, problem
	}
	if problem := c.world.checkMethod(c.id); problem != nil {
		return operation{}, problem.inPath()
	}
	return operation{run: func(e *effect) (any, *apiError) {
		m, problem := e.methodFor(c.id)
		return e.showMethod(m, x), problem
	}}, nil
}

func (e *effect) showMethod(m method, x expansion) paymentMethod {
	shown := m.paymentMethod
	e.expandCustomer(&shown.Customer, x)
	return shown
}
