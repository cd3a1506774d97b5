package web

import (
	"net/http"
	"strconv"
	"strings"
)

type checkoutView struct {
	Lines     []lineView
	Total     string
	Form      purchase
	Fields    map[string]fieldView
	Message   string
	Short     *shortView
	Key       keyView
	Cards     cardsView
	Unfolded  bool // the address part
	Countries []country
}

// cardsView is the choice of test cards; without any, nothing can be paid here.
type cardsView struct {
	Cards  []testCard
	Chosen string
}

// keyView is the hidden field with the key. The browser's script replaces its value by the key it keeps under the scope,
// unless that one is spent.
type keyView struct{ Scope, Value, Spent string }

type shortView struct {
	ProductID, Name string
	Available       int64
}

type country struct{ Code, Name string }

var countries = []country{{"AT", "Austria"}, {"BE", "Belgium"}, {"CH", "Switzerland"}, {"DE", "Germany"}, {"ES", "Spain"}, {"FR", "France"},
	{"GB", "United Kingdom"}, {"IE", "Ireland"}, {"IT", "Italy"}, {"JP", "Japan"}, {"KW", "Kuwait"}, {"NL", "Netherlands"}, {"PL", "Poland"},
	{"PT", "Portugal"}, {"SE", "Sweden"}, {"US", "United States"}}

// showCheckout is where a purchase gets its key.
func (s *shop) showCheckout(v *visit) error {
	if err := v.loadCart(); err != nil {
		return err
	}
	if v.cart.OrderID != nil {
		return v.seeOther(orderPath(*v.cart.OrderID))
	}
	if !v.cart.open() || len(v.cart.Items) == 0 {
		return v.seeOther("/cart")
	}
	p := purchase{PaymentMethod: testCards[0].Token, Country: countries[0].Code}
	return s.renderCheckout(v, http.StatusOK, p, result{}, keyView{Scope: v.cart.ID, Value: v.keyFor(v.cart.ID)})
}

// checkout is one press of "pay". Pressing again is always safe: what the form holds decides which purchase it is.
func (s *shop) checkout(v *visit) error {
	p := purchaseFrom(v)
	r, ok := p.check(s.TestCards)
	if ok {
		var err error
		if r, err = s.buy(v.r.Context(), p); err != nil {
			return err
		}
	}
	if r.order != "" {
		v.keepKey(underWayScope(r.order), p.Key) // also a key that the script made: the order's page can go on with it
	}
	if acceptsJSON(v.r) {
		return v.renderJSON(r.httpStatus(), r.report())
	}
	switch r.kind {
	case told:
		return v.seeOther(orderPath(r.order) + r.noteQuery())
	case running, unsure:
		return s.renderAgain(v, "/checkout", p.hidden(), r)
	case gone:
		return v.seeOther("/cart")
	case refused:
	}
	return s.refuseCheckout(v, p, r)
}

// refuseCheckout shows the form again with what was typed and what to do about it.
func (s *shop) refuseCheckout(v *visit, p purchase, r result) error {
	now, err := s.readCart(v.r.Context(), p.CartID)
	if err != nil {
		return err
	}
	if v.cart = &now; now.OrderID != nil {
		return v.seeOther(orderPath(*now.OrderID))
	}
	key := keyView{Scope: p.CartID, Value: p.Key}
	if r.spent {
		key.Value, key.Spent = v.renewKey(p.CartID), p.Key
	}
	if r.wipe {
		p = purchase{PaymentMethod: p.PaymentMethod}
	}
	return s.renderCheckout(v, r.httpStatus(), p, r, key)
}

func (s *shop) renderCheckout(v *visit, status int, p purchase, r result, key keyView) error {
	p.CartID, p.Currency, p.ExpectedTotal = v.cart.ID, v.cart.Currency, strconv.FormatInt(v.cart.Total, 10)
	page := checkoutView{
		Lines: v.lines(v.cart.Items, v.cart.Currency), Total: v.money.format(v.cart.Total, v.cart.Currency),
		Form: p, Fields: p.views(r.fields), Message: r.message, Key: key, Countries: countries, Unfolded: p.addressed(),
	}
	if s.TestCards {
		page.Cards = cardsView{testCards, p.PaymentMethod}
	} else {
		page.Message = noCards
	}
	if r.short != nil {
		page.Short = &shortView{ProductID: r.short.ProductID, Available: r.short.Available, Name: "one product"}
		for _, line := range page.Lines {
			if line.ProductID == r.short.ProductID {
				page.Short.Name = line.Name
			}
		}
	}
	return v.render(status, "checkout", view{Title: "Checkout", Page: page})
}

type againView struct {
	Running   bool // a twin is at work; otherwise nobody knows
	Action    string
	Fields    []hiddenField
	Order     string
	RequestID string
	After     int // seconds until the script asks again
}

// renderAgain holds the very same form ready. Reloading this page does the same as its button.
func (s *shop) renderAgain(v *visit, action string, fields []hiddenField, r result) error {
	page := againView{Running: r.kind == running, Action: action, Fields: fields, Order: r.order, RequestID: r.requestID, After: r.againAfter()}
	title := "Nothing is lost"
	if page.Running {
		title = "Still working"
	}
	v.w.Header().Set("Retry-After", strconv.Itoa(page.After))
	return v.render(r.httpStatus(), "again", view{Title: title, Page: page})
}

// againAfter is how many seconds to wait before the same key is sent again.
func (r result) againAfter() int { return max(1, int(r.retryAfter.Seconds())) }

// httpStatus tells programs what the page tells people.
func (r result) httpStatus() int {
	switch {
	case r.kind == unsure:
		return http.StatusServiceUnavailable
	case r.kind == running:
		return http.StatusConflict
	case r.status == 0 && r.kind == refused:
		return http.StatusUnprocessableEntity
	case r.status == 0 && r.kind == gone:
		return http.StatusNotFound
	}
	return r.status
}

// report is what the script that pays twice is told.
type report struct {
	Kind       string       `json:"kind"` // told, again, refused
	OrderID    string       `json:"order_id,omitempty"`
	OrderURL   string       `json:"order_url,omitempty"`
	ChargeID   string       `json:"charge_id,omitempty"`
	AgainAfter int          `json:"again_after,omitempty"` // seconds; the same key must be sent again
	Calls      []callReport `json:"calls"`
}

func (r result) report() report {
	out := report{Kind: "refused", OrderID: r.order, ChargeID: r.charge, Calls: r.calls}
	if r.order != "" {
		out.OrderURL = orderPath(r.order)
	}
	switch r.kind {
	case told:
		out.Kind = "told"
	case running, unsure:
		out.Kind, out.AgainAfter = "again", r.againAfter()
	case refused, gone:
	}
	return out
}

func acceptsJSON(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Accept"), "application/json")
}
