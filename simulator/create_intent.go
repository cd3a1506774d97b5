package simulator

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// textFields are the parameters of an intent that are only stored and shown.
type textFields struct {
	description, receiptEmail, suffix *string // nil leaves the field alone
	metadata                          metadataChange
}

func readTextFields(p *params) textFields {
	return textFields{
		description: p.optional("description"), receiptEmail: p.optional("receipt_email"),
		suffix: p.optional("statement_descriptor_suffix"), metadata: p.metadata(),
	}
}

func (f textFields) apply(i *intent) *apiError {
	merged, problem := f.metadata.apply(i.Metadata)
	if problem != nil {
		return problem
	}
	i.Metadata = merged
	setText(&i.Description, f.description)
	setText(&i.ReceiptEmail, f.receiptEmail)
	setText(&i.StatementDescriptorSuffix, f.suffix)
	return nil
}

// prepareCreateIntent serves POST /v1/payment_intents.
func prepareCreateIntent(c *call) (operation, *apiError) {
	p := c.params
	p.require("amount")
	p.require("currency")
	amount, _ := p.integer("amount", 1)
	draft := intent{paymentIntent: paymentIntent{
		Object: "payment_intent", Amount: amount, Currency: readCurrency(p), Status: requiresPaymentMethod,
		CaptureMethod:      readCaptureMethod(p),
		ConfirmationMethod: p.oneOf("confirmation_method", "automatic", "manual"),
		SetupFutureUsage:   nullable(p.oneOf("setup_future_usage", "on_session", "off_session")),
		Customer:           referTo(p.text("customer")),
	}}
	fields := readTextFields(p)
	readMethodTypes(p, &draft.paymentIntent)
	confirm, _ := p.boolean("confirm")
	ask := readConfirmation(p, c.world)
	x := p.expand("payment_intent", "")
	checkConfirmOnly(p, confirm)
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	if problem := checkAmount(amount, draft.Currency); problem != nil {
		return operation{}, problem
	}
	if confirm && draft.needsReturnURL() && ask.returnURL == "" {
		return operation{}, returnURLMissing()
	}
	takes := time.Duration(0)
	if confirm {
		takes = c.world.slowness(ask.method)
	}
	return operation{takes: takes, run: func(e *effect) (any, *apiError) {
		i, problem := e.create(draft, fields, ask, confirm)
		return e.showIntent(i, x), problem
	}}, nil
}

// create makes the intent and, when asked, confirms it at once. A decline leaves the intent behind.
func (e *effect) create(draft intent, fields textFields, ask confirmation, confirm bool) (intent, *apiError) {
	i := draft
	if problem := e.world.checkCustomer(i.Customer.id); problem != nil {
		return i, problem
	}
	if problem := fields.apply(&i); problem != nil {
		return i, problem
	}
	i.ID = newID(e, "pi_", e.world.intents)
	i.ClientSecret = i.ID + "_secret_" + e.world.seed.text(24, "client_secret", i.ID)
	i.Created = e.now.Unix()
	if i.CaptureMethod == "" {
		i.CaptureMethod = captureAutomaticAsync // the default of this API version
	}
	if i.ConfirmationMethod == "" {
		i.ConfirmationMethod = "automatic"
	}
	if ask.method != "" && !confirm {
		m, problem := e.methodFor(ask.method)
		if problem != nil {
			return i, problem
		}
		if problem := i.checkOwner(m); problem != nil {
			return i, problem
		}
		i.PaymentMethod, i.Status = referTo(m.ID), requiresConfirmation
	}
	e.putIntent(i)
	e.announce("payment_intent.created", i.paymentIntent, nil)
	if !confirm {
		return i, nil
	}
	return e.confirm(i, ask)
}

func readCurrency(p *params) string {
	code := strings.ToLower(p.text("currency"))
	if _, known := currencies[code]; code != "" && !known {
		p.fail(invalid("currency", "", "Invalid currency: %s.", code))
	}
	return code
}

func readCaptureMethod(p *params) string {
	return p.oneOf("capture_method", captureAutomatic, captureAutomaticAsync, captureManual)
}

// readMethodTypes reads how the intent may be paid. When the request says nothing, Stripe chooses the methods itself,
// redirects included.
func readMethodTypes(p *params, i *paymentIntent) {
	types, explicit := p.texts("payment_method_types")
	i.PaymentMethodTypes = []string{"card"}
	if slices.ContainsFunc(types, func(t string) bool { return t != "card" }) {
		p.fail(invalid("payment_method_types", "", "The simulator takes cards only: payment_method_types must be card."))
	}
	group := p.group("automatic_payment_methods")
	if group == nil {
		if !explicit {
			i.AutomaticPaymentMethods = &automaticMethods{AllowRedirects: "always", Enabled: true}
		}
		return
	}
	if explicit || i.ConfirmationMethod != "" {
		p.fail(invalid("automatic_payment_methods", "",
			"automatic_payment_methods cannot be combined with payment_method_types or confirmation_method."))
	}
	group.require("enabled")
	enabled, _ := group.boolean("enabled")
	redirects := group.oneOf("allow_redirects", "always", "never")
	if redirects == "" {
		redirects = "always"
	}
	if enabled {
		i.AutomaticPaymentMethods = &automaticMethods{AllowRedirects: redirects, Enabled: true}
	}
}

// readConfirmation reads the parameters that create and confirm share.
func readConfirmation(p *params, w *world) confirmation {
	offSession := p.oneOf("off_session", "true", "false", "one_off", "recurring")
	ask := confirmation{
		method:     p.text("payment_method"),
		returnURL:  p.text("return_url"),
		offSession: offSession != "" && offSession != "false",
	}
	ask.errorOnAction, _ = p.boolean("error_on_requires_action")
	if ask.method != "" {
		if problem := w.checkMethod(ask.method); problem != nil {
			p.fail(problem)
		}
	}
	if ask.returnURL != "" && !goodReturnURL(ask.returnURL) {
		p.fail(invalid("return_url", "url_invalid", "Not a valid URL: return_url."))
	}
	return ask
}

// goodReturnURL accepts web addresses and the private schemes of mobile apps, but nothing that a browser would run.
func goodReturnURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "http", "https":
		return u.Host != ""
	case "", "javascript", "data", "vbscript":
		return false
	default:
		return true
	}
}

// checkConfirmOnly refuses parameters that mean something only while confirming.
func checkConfirmOnly(p *params, confirm bool) {
	for _, name := range []string{"return_url", "off_session", "error_on_requires_action"} {
		if p.form.member(name) != nil && !confirm {
			p.fail(invalid(name, "", "%s can only be used with confirm=true.", name))
		}
	}
}

func returnURLMissing() *apiError {
	return invalid("return_url", "",
		"This PaymentIntent may be paid with methods that redirect the buyer, so confirming it needs a return_url. "+
			"Give one, or create it with payment_method_types or automatic_payment_methods[allow_redirects]=never.")
}
