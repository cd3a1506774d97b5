package simulator

import "strings"

// maxExpandDepth is Stripe's limit on the levels of one expand path.
const maxExpandDepth = 4

// expansion says which id fields to replace by their objects, each with its own expansion.
type expansion map[string]expansion

// expandable lists, per object, the fields that hold an id, and what that id names: "" for objects the simulator does
// not have, whose fields are always null but may be asked for.
var expandable = map[string]map[string]string{
	"payment_intent": {
		"latest_charge": "charge", "payment_method": "payment_method",
		"customer": "customer", "application": "", "invoice": "", "on_behalf_of": "", "review": "",
	},
	"charge": {
		"payment_intent": "payment_intent", "balance_transaction": "balance_transaction", "customer": "customer",
		"refunds": "refund list", "failure_balance_transaction": "",
	},
	"payment_method": {"customer": "customer"},
	"refund": {
		"charge": "charge", "payment_intent": "payment_intent", "balance_transaction": "balance_transaction",
		"failure_balance_transaction": "balance_transaction", "source_transfer_reversal": "", "transfer_reversal": "",
	},
	"refund list":         {"data": "refund"},
	"dispute":             {"charge": "charge", "payment_intent": "payment_intent"},
	"balance_transaction": {"source": "source"},
	"payout": {
		"balance_transaction": "balance_transaction", "failure_balance_transaction": "balance_transaction",
		"destination": "", "original_payout": "", "reversed_by": "",
	},
	"customer": {"default_source": ""},
	// A source is a charge, a refund, a dispute or a payout: what any of them has may be asked for.
	"source": {
		"charge": "charge", "payment_intent": "payment_intent", "balance_transaction": "balance_transaction",
		"customer": "customer", "failure_balance_transaction": "balance_transaction", "refunds": "refund list",
	},
}

// expand reads the expand parameter for an answer made of the named object; on lists every path starts with "data.".
func (p *params) expand(object, prefix string) expansion {
	paths, _ := p.texts("expand")
	x := expansion{}
	for _, path := range paths {
		rest, ok := strings.CutPrefix(path, prefix)
		if !ok || !x.add(object, strings.Split(rest, ".")) {
			p.fail(invalid("expand", "", "This property cannot be expanded: %s.", path))
		}
	}
	return x
}

func (x expansion) add(object string, fields []string) bool {
	if len(fields) > maxExpandDepth {
		return false
	}
	for _, field := range fields {
		next, known := expandable[object][field]
		if !known {
			return false
		}
		if x[field] == nil {
			x[field] = expansion{}
		}
		x, object = x[field], next
	}
	return true
}

// The show functions return an object as the API shows it, with the asked fields expanded. They work on copies.

func (e *effect) showIntent(i intent, x expansion) paymentIntent {
	shown := i.paymentIntent
	e.expandCharge(&shown.LatestCharge, x, "latest_charge")
	if sub, asked := x["payment_method"]; asked {
		if m, ok := e.method(shown.PaymentMethod.id); ok {
			shown.PaymentMethod.full = e.showMethod(m, sub)
		}
	}
	e.expandCustomer(&shown.Customer, x)
	return shown
}

func (e *effect) showCharge(c charge, x expansion) charge {
	if sub, asked := x["refunds"]; asked {
		c.Refunds = e.refundsOf(c.ID, sub["data"])
	}
	e.expandIntent(&c.PaymentIntent, x)
	e.expandEntry(&c.BalanceTransaction, x, "balance_transaction")
	e.expandCustomer(&c.Customer, x)
	return c
}

// The expand functions put an object into a field that holds its id, when that was asked for under the field's name.

func (e *effect) expandIntent(field *reference, x expansion) {
	if sub, asked := x["payment_intent"]; asked {
		if i, ok := e.intent(field.id); ok {
			field.full = e.showIntent(i, sub)
		}
	}
}

func (e *effect) expandCharge(field *reference, x expansion, name string) {
	if sub, asked := x[name]; asked {
		if c, ok := e.charge(field.id); ok {
			field.full = e.showCharge(c, sub)
		}
	}
}

func (e *effect) expandEntry(field *reference, x expansion, name string) {
	if sub, asked := x[name]; asked {
		if t, ok := e.entry(field.id); ok {
			field.full = e.showEntry(t, sub)
		}
	}
}

func (e *effect) expandCustomer(field *reference, x expansion) {
	if _, asked := x["customer"]; asked {
		if a, ok := e.account(field.id); ok {
			field.full = a.shown()
		}
	}
}
