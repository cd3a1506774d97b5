package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
)

// useAnotherCard gives up the charge that waits for the buyer at the bank, so that the order can be paid otherwise. The
// order's page tells what came of it: payable again, paid after all, or not proved yet.
func (s *shop) useAnotherCard(v *visit) error {
	id, waiting := v.r.PathValue("id"), v.r.PathValue("charge")
	if !idSyntax.MatchString(id) || !idSyntax.MatchString(waiting) {
		return s.notFound(v)
	}
	x, err := s.readSale(v.r.Context(), id)
	if err != nil {
		return err
	}
	// The address comes from the browser: another order's charge must not be given up by it.
	if !slices.ContainsFunc(x.charges, func(c charge) bool { return c.ID == waiting }) {
		return s.notFound(v)
	}
	if !x.abandonable() || x.current.ID != waiting {
		return v.seeOther(orderPath(id)) // an old page; what is true now is there
	}
	r, err := s.giveUp(v.r.Context(), id, waiting)
	if err != nil {
		return err
	}
	if r.kind == running || r.kind == unsure {
		return s.renderAgain(v, cancelPath(id, waiting), nil, r)
	}
	return v.seeOther(orderPath(id) + r.noteQuery())
}

func cancelPath(order, charge string) string {
	return orderPath(order) + "/charges/" + url.PathEscape(charge) + "/cancel"
}

// abandonable reports whether the buyer may give the current charge up. Only one that waits for the buyer: money that is
// set aside is the merchant's to let go, and what the bank is working on cannot be taken back.
func (x sale) abandonable() bool { return x.undecided() && x.charged() == "requires_action" }

// cancelCommand is always the same for a charge, as its key is.
type cancelCommand struct {
	Reason string `json:"reason"`
}

// giveUp cancels a charge. Only the API's word that it is cancelled makes the order payable again, so that two cards can
// never both pay.
func (s *shop) giveUp(ctx context.Context, order, waiting string) (result, error) {
	const waitForTwin = 5 // seconds
	path := "/v1/charges/" + url.PathEscape(waiting) + "/cancel"
	a, err := s.api.call(ctx, request{method: http.MethodPost, path: path, key: cancelKey(waiting), wait: waitForTwin, patience: chargePatience,
		body: cancelCommand{Reason: "requested_by_customer"}})
	r := result{kind: told, order: order, charge: waiting}
	r.heard("charges.cancel", a)
	switch {
	case err != nil || a.temporary():
		s.Log.WarnContext(ctx, "cancel not confirmed", "order_id", order, "charge_id", waiting, "request_id", a.requestID, "status", a.status, "error", err)
		r.kind = unsure
	case a.ok(): // 202 too: the order's page waits until it is proved
	case a.is("idempotency-key-in-progress"):
		r.kind = running
	case a.is("order-already-paid"):
		r.note = "paid-first"
	case a.is("charge-in-progress"), a.is("idempotency-key-reused"), a.is("idempotency-key-expired"):
		r.note = "busy"
	default:
		return r, refusal{path: path, answer: a}
	}
	return r, nil
}
