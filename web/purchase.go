package web

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// resultKind is what one press of "pay" came to, as far as the next page is concerned.
type resultKind int

const (
	// told: the order's page says it all, whether paid, refused, or not known yet.
	told resultKind = iota + 1
	// running: another request with the same key is at work. Ask again with the same key.
	running
	// unsure: nobody knows whether the API did it. Ask again with the same key.
	unsure
	// refused: there is no order. The form is shown again.
	refused
	// gone: the cart is no longer there.
	gone
)

// result is what one press of "pay" came to.
type result struct {
	kind       resultKind
	order      string // id; empty as long as no order is known
	charge     string // id; empty as long as no charge is known
	note       string // names the words that the order's page adds
	status     int    // of the last answer; 0 when there was none
	requestID  string // of the last answer
	retryAfter time.Duration
	calls      []callReport

	// for refused:
	spent   bool              // the key is used up; another try is another intent
	wipe    bool              // nothing of what was typed may be shown again
	message string            // for the head of the form
	fields  map[string]string // messages by field
	short   *shortage
}

// shortage is a product of which less is left than the cart wants.
type shortage struct {
	ProductID string
	Available int64
}

// callReport tells about one call to the API, for the page that pays twice on purpose.
type callReport struct {
	Operation string `json:"operation"`
	Status    int    `json:"status"` // 0: no answer
	RequestID string `json:"request_id,omitempty"`
	Replayed  bool   `json:"replayed"`
	Original  string `json:"original_request,omitempty"`
}

func (r *result) heard(operation string, a answer) {
	r.status, r.requestID, r.retryAfter = a.status, a.requestID, a.retryAfter
	r.calls = append(r.calls, callReport{Operation: operation, Status: a.status, RequestID: a.requestID, Replayed: a.replayed, Original: a.original})
}

// buy sends the two operations of a purchase under one key: the order, then its charge. Sent again with the same key and
// the same form it goes on where it broke off, because each operation repeats its answer.
func (s *shop) buy(ctx context.Context, p purchase) (result, error) {
	var r result
	var placed order
	a, err := s.api.call(ctx, request{method: http.MethodPost, path: "/v1/orders", key: p.Key, body: p.orderCommand(), into: &placed})
	r.heard("orders.create", a)
	switch {
	case err != nil || a.temporary():
		s.Log.WarnContext(ctx, "order not confirmed", "request_id", a.requestID, "status", a.status, "error", err)
		r.kind = unsure
	case a.ok():
		r.order = placed.ID
		return s.collect(ctx, r, p.Key, p.PaymentMethod)
	case a.is("idempotency-key-in-progress"):
		r.kind = running
	case a.is("cart-already-ordered"):
		r.kind, r.order, r.note = told, a.problem.OrderID, "one-order"
	case a.is("idempotency-key-reused"), a.is("idempotency-key-expired"):
		return s.otherIntent(ctx, r, p)
	default:
		return r.refuse(a, p)
	}
	return r, nil
}

// otherIntent answers a key that already stands for something else: the form was changed after it had been sent, or it
// comes from a very old page. If the cart has become an order by then, that order is the one to look at.
func (s *shop) otherIntent(ctx context.Context, r result, p purchase) (result, error) {
	now, err := s.readCart(ctx, p.CartID)
	switch {
	case err != nil:
		return r, err
	case now.OrderID != nil:
		r.kind, r.order, r.note = told, *now.OrderID, "changed"
	default:
		r.kind, r.spent, r.message = refused, true, "You changed something after this purchase had been sent, so it is a new purchase now. Check it and press pay once more."
	}
	return r, nil
}

// refuse turns the API's refusal of an order into what the form says. What no form can cure is an error.
func (r result) refuse(a answer, p purchase) (result, error) {
	r.kind = refused
	switch {
	case a.is("out-of-stock"):
		r.spent, r.short = true, &shortage{a.problem.ProductID, a.problem.Available}
	case a.is("total-changed"):
		r.spent, r.message = true, "The price has changed since you saw it. The new total is below; press pay if you agree."
	case a.is("validation-failed"):
		r.blame(a.problem.Errors, p)
	case a.is("malformed-json"):
		r.message = "Some characters in this form cannot be accepted. Please type it anew."
	case a.is("card-data-not-accepted"):
		r.wipe, r.message = true, "Please never type a card number here. It was not kept. This shop has no field for one: choose a card below."
	case a.is("idempotency-key-invalid"):
		r.spent, r.message = true, "The purchase had no usable key. It has a new one; press pay once more."
	case a.is("not-found"):
		r.kind = gone
	default:
		return r, refusal{path: "/v1/orders", answer: a}
	}
	return r, nil
}

// collect sends the charge of an order that exists. Whatever happens from here on, the order's page can tell it.
func (s *shop) collect(ctx context.Context, r result, key, paymentMethod string) (result, error) {
	const waitForTwin = 5 // seconds; long enough for a charge, short enough for a buyer
	var made charge
	path := "/v1/orders/" + url.PathEscape(r.order) + "/charges"
	a, err := s.api.call(ctx, request{method: http.MethodPost, path: path, key: key, wait: waitForTwin, patience: chargePatience, into: &made,
		body: chargeCommand{PaymentMethod: paymentMethod, ReturnURL: s.BaseURL + "/orders/" + r.order + "/return"}})
	r.heard("charges.create", a)
	r.kind = told
	switch {
	case err != nil || a.temporary():
		s.Log.WarnContext(ctx, "charge not confirmed", "order_id", r.order, "request_id", a.requestID, "status", a.status, "error", err)
		r.kind = unsure
	case a.ok():
		r.charge = made.ID
	case a.status == http.StatusPaymentRequired:
		r.charge = a.problem.Charge.ID
	case a.is("idempotency-key-in-progress"):
		r.kind = running
	case a.is("order-already-paid"):
		r.charge, r.note = a.problem.ChargeID, "already-paid"
	case a.is("charge-in-progress"):
		r.charge, r.note = a.problem.ChargeID, "in-progress"
	case a.is("idempotency-key-reused"), a.is("idempotency-key-expired"):
		r.note = "changed"
	case a.is("order-not-payable"), a.is("charge-abandoned"):
		r.charge = a.problem.ChargeID
	case a.is("validation-failed"):
		r.note = "card"
	default:
		return r, refusal{path: path, answer: a}
	}
	return r, nil
}
