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
		"application": "", "customer": "", "invoice": "", "on_behalf_of": "", "review": "",
	},
	"charge":         {"payment_intent": "payment_intent", "balance_transaction": "", "customer": "", "failure_balance_transaction": ""},
	"payment_method": {"customer": ""},
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
	if sub, asked := x["latest_charge"]; asked {
		if c, ok := e.charge(shown.LatestCharge.id); ok {
			shown.LatestCharge.full = e.showCharge(c, sub)
		}
	}
	if _, asked := x["payment_method"]; asked {
		if m, ok := e.method(shown.PaymentMethod.id); ok {
			shown.PaymentMethod.full = m.paymentMethod
		}
	}
	return shown
}

func (e *effect) showCharge(c charge, x expansion) charge {
	if sub, asked := x["payment_intent"]; asked {
		if i, ok := e.intent(c.PaymentIntent.id); ok {
			c.PaymentIntent.full = e.showIntent(i, sub)
		}
	}
	return c
}
