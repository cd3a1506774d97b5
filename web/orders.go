package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// pollEvery is how often an undecided order is looked at when the API names no time of its own.
const pollEvery = 2 * time.Second

func orderPath(id string) string { return "/orders/" + url.PathEscape(id) }

// sale is an order with everything that was tried to collect its money.
type sale struct {
	order   order
	charges []charge // newest first
	current *charge  // the open or paid charge, else the latest; nil when none was tried
	after   time.Duration

	timeline []timelineEntry // oldest first; read for the page only, and empty when it could not be
}

// readSale reads the order, its charges and, while the current one is open, when to look again.
func (s *shop) readSale(ctx context.Context, id string) (sale, error) {
	out := sale{after: pollEvery}
	if _, err := s.api.get(ctx, "/v1/orders/"+url.PathEscape(id), &out.order); err != nil {
		return sale{}, err
	}
	var tried list[charge]
	if _, err := s.api.get(ctx, "/v1/charges?limit=100&order_id="+url.QueryEscape(id), &tried); err != nil {
		return sale{}, err
	}
	out.charges = tried.Data
	for i, c := range out.charges {
		if i == 0 || out.order.ChargeID != nil && c.ID == *out.order.ChargeID {
			out.current = &out.charges[i]
		}
	}
	if out.current == nil || !out.undecided() {
		return out, nil
	}
	a, err := s.api.get(ctx, "/v1/charges/"+url.PathEscape(out.current.ID), out.current)
	if a.retryAfter > 0 {
		out.after = a.retryAfter
	}
	return out, err
}

func (x sale) charged() string {
	if x.current == nil {
		return ""
	}
	return x.current.Status
}

// undecided reports whether the outcome of the current charge may still change by itself.
func (x sale) undecided() bool {
	return x.order.Status == "pending_payment" && slices.Contains([]string{"created", "unknown", "processing", "requires_action", "authorized"}, x.charged())
}

// moving reports whether news can come without the buyer: from the bank, or after the buyer came back from it.
func (x sale) moving(returned bool) bool {
	return x.givingUp() || x.undecided() && x.charged() != "authorized" && (returned || x.charged() != "requires_action")
}

// decided reports whether every purchase key that was used for this order so far has done its work.
func (x sale) decided() bool {
	return !x.undecided() && x.current != nil || x.order.Status != "pending_payment"
}

// payable reports whether the buyer may try a card.
func (x sale) payable(now time.Time) bool {
	return x.order.Status == "pending_payment" && !x.undecided() && (x.order.ExpiresAt.IsZero() || now.Before(x.order.ExpiresAt))
}

// state changes whenever the page would.
func (x sale) state() string {
	id := ""
	if x.current != nil {
		id = x.current.ID
	}
	return strings.Join([]string{x.order.Status, id, x.charged(), strconv.FormatInt(x.order.AmountRefunded, 10)}, ".")
}

// spentScopes are the keys' scopes that this order has decided.
func (x sale) spentScopes(c *cart) []string {
	if !x.decided() {
		return nil
	}
	scopes := []string{underWayScope(x.order.ID), retryScope(x.order.ID, "")}
	if c != nil && c.OrderID != nil && *c.OrderID == x.order.ID {
		scopes = append(scopes, c.ID)
	}
	for _, one := range x.charges {
		if one.ID != x.current.ID || x.order.Status != "pending_payment" {
			scopes = append(scopes, retryScope(x.order.ID, one.ID))
		}
	}
	return scopes
}

type orderView struct {
	ID              string
	Say             saying
	Note            string
	Lines           []lineView
	Subtotal, Total string
	Extras          []extra
	Steps           []step
	Records         []record
	Facts           []extra
	ActionURL       string
	GiveUp          string // where the waiting charge is given up; empty when it cannot be
	Poll            bool
	State           string
	After           int
	Pay             bool
	Key             keyView
	Cards           cardsView
	Resume          []hiddenField
	Reserved        int // minutes the goods are still kept for the buyer
	Curl            string
}

// extra is a label with a value.
type extra struct{ Label, Value string }

// orderNotes are the words that a redirect to an order can carry.
var orderNotes = map[string]string{
	"one-order":    "This cart has already become this order. There is only one.",
	"already-paid": "This order was already paid, so nothing was charged again.",
	"in-progress":  "An earlier try is not decided yet, so no second one was started.",
	"changed":      "You had already sent this purchase before you changed it. This is what became of it.",
	"card":         "This card cannot be used here. Choose another one.",
	"paid-first":   "Your bank had already paid, so there was nothing left to give up. Nothing was charged twice.",
	"busy":         "This payment is being dealt with right now, so it was not given up. Look again in a moment.",
}

func (r result) noteQuery() string {
	if r.note == "" {
		return ""
	}
	return "?note=" + r.note
}

func (s *shop) showOrder(v *visit) error { return s.renderOrder(v, false) }

// returnToOrder is where the bank sends the buyer back. What it appends to the address proves nothing and names a secret,
// so it is dropped from the address bar before anything is shown; the API is asked what happened.
func (s *shop) returnToOrder(v *visit) error {
	if v.r.URL.RawQuery != "" {
		return v.seeOther(v.r.URL.EscapedPath())
	}
	return s.renderOrder(v, true)
}

func (s *shop) renderOrder(v *visit, returned bool) error {
	id := v.r.PathValue("id")
	if !idSyntax.MatchString(id) {
		return s.notFound(v)
	}
	x, err := s.readSale(v.r.Context(), id)
	if err != nil {
		return err
	}
	if returned && !x.undecided() {
		return v.seeOther(orderPath(id))
	}
	x.timeline = s.readTimeline(v.r.Context(), id)
	if err := v.loadCart(); err != nil {
		return err
	}
	spent := x.spentScopes(v.cart)
	v.dropKey(spent)
	page := s.orderView(v, x, returned)
	out := view{Title: page.Say.Headline, Forget: strings.Join(spent, " "), Page: page}
	if page.Poll {
		out.Refresh = page.After
		v.w.Header().Set("Retry-After", strconv.Itoa(page.After))
	}
	return v.render(http.StatusOK, "order", out)
}

func (s *shop) orderView(v *visit, x sale, returned bool) orderView {
	o := x.order
	amount := func(minor int64) string { return v.money.format(minor, o.Currency) }
	page := orderView{
		ID: o.ID, Say: x.say(s.Now(), returned), Note: orderNotes[v.r.URL.Query().Get("note")], Lines: v.lines(o.Items, o.Currency),
		Total: amount(o.Total), Steps: x.steps(), Records: x.records(), Facts: x.facts(),
		Poll: x.moving(returned), State: x.state(), After: max(1, int(x.after.Seconds())),
		Curl: "curl " + s.BaseURL + "/v1/orders/" + o.ID + ` -H "Authorization: Bearer $PAYONCE_KEY"`,
	}
	for _, e := range []struct {
		label string
		minor int64
	}{{"Discount", -o.Discount}, {"Shipping", o.Shipping}, {"Tax", o.Tax}, {"Paid", o.AmountPaid}, {"Refunded", o.AmountRefunded}} {
		if e.minor != 0 {
			page.Extras = append(page.Extras, extra{e.label, amount(e.minor)})
		}
	}
	if x.abandonable() && !x.givingUp() {
		if x.current.NextAction != nil {
			page.ActionURL = x.current.NextAction.URL
		}
		if s.TestCards {
			page.GiveUp = cancelPath(o.ID, x.current.ID)
		}
	}
	if x.payable(s.Now()) && s.TestCards {
		last := ""
		if x.current != nil {
			last = x.current.ID
		}
		scope := retryScope(o.ID, last)
		page.Pay, page.Cards, page.Key = true, cardsView{testCards, testCards[0].Token}, keyView{Scope: scope, Value: v.keyFor(scope)}
		page.Reserved = int(o.ExpiresAt.Sub(s.Now()).Minutes())
	}
	if key, held := v.heldKey(underWayScope(o.ID)); held && !x.givingUp() && (x.charged() == "created" || x.charged() == "unknown") {
		page.Resume = []hiddenField{{"key", key}, {"payment_method", x.current.PaymentMethod}}
	}
	return page
}

// orderState tells the script of a waiting page whether to load it again.
func (s *shop) orderState(v *visit) error {
	id := v.r.PathValue("id")
	if !idSyntax.MatchString(id) {
		return s.notFound(v)
	}
	x, err := s.readSale(v.r.Context(), id)
	if err != nil {
		return err
	}
	payments := 0
	for _, c := range x.charges {
		if c.Status == "succeeded" {
			payments++
		}
	}
	v.w.Header().Set("Retry-After", strconv.Itoa(max(1, int(x.after.Seconds()))))
	return v.renderJSON(http.StatusOK, map[string]any{"state": x.state(), "charges": len(x.charges), "payments": payments, "paid": v.money.format(x.order.AmountPaid, x.order.Currency)})
}

// payOrder tries a card on an order that exists: another one after a refusal, or the same once more under the same key.
func (s *shop) payOrder(v *visit) error {
	id, key, card := v.r.PathValue("id"), v.field("key"), v.idField("payment_method")
	if !idSyntax.MatchString(id) {
		return s.notFound(v)
	}
	if !s.TestCards || !keySyntax.MatchString(key) || card == "" {
		return v.seeOther(orderPath(id) + "?note=card")
	}
	r, err := s.collect(v.r.Context(), result{order: id}, key, card)
	if err != nil {
		return err
	}
	v.keepKey(underWayScope(id), key)
	if r.kind == running || r.kind == unsure {
		return s.renderAgain(v, orderPath(id)+"/charges", []hiddenField{{"key", key}, {"payment_method", card}}, r)
	}
	return v.seeOther(orderPath(id) + r.noteQuery())
}

// masked hides most of an address: whoever has the link to an order sees its page.
func masked(email string) string {
	at := strings.LastIndexByte(email, '@')
	if at < 1 {
		return ""
	}
	_, size := utf8.DecodeRuneInString(email)
	return email[:size] + "•••" + email[at:]
}
