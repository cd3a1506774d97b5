package web

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// step is one line of what happened to an order, or of what is still to come.
type step struct {
	Label, Detail string
	At            time.Time // zero: has not happened
	Mark          string    // done, now, lost, bad, ahead
}

// readTimeline reads everything the API knows of an order. It only explains, so a page without it is better than none:
// whether the order is paid does not depend on it.
func (s *shop) readTimeline(ctx context.Context, order string) []timelineEntry {
	var told list[timelineEntry]
	if _, err := s.api.get(ctx, "/v1/orders/"+url.PathEscape(order)+"/timeline", &told); err != nil {
		s.Log.WarnContext(ctx, "order shown without its timeline", "order_id", order, "error", err)
	}
	return told.Data
}

// givingUp reports whether a cancel of the current charge was accepted and is not proved yet.
func (x sale) givingUp() bool {
	return x.undecided() && slices.ContainsFunc(x.timeline, func(e timelineEntry) bool {
		return e.Type == "request" && e.Operation == "charges.cancel" && e.ChargeID == x.current.ID && e.Status != "finished"
	})
}

// steps is what happened to the order, in the buyer's words, and what is still to come.
func (x sale) steps() []step {
	var out []step
	for _, entry := range x.timeline {
		var last step
		if len(out) > 0 {
			last = out[len(out)-1]
		}
		if entry.Call == "lookup" && last.Mark != "lost" {
			continue // an open payment is looked at all the time; a buyer cares about it only when something was in doubt
		}
		for _, next := range x.tell(entry) {
			if last.Label != next.Label || last.Mark != "lost" {
				out = append(out, next) // a lost answer is lost once, though both its call and its charge say so
			}
		}
	}
	// A call's answer can be younger than the next entry.
	slices.SortStableFunc(out, func(a, b step) int { return a.At.Compare(b.At) })
	if x.undecided() && len(out) > 0 {
		out[len(out)-1].Mark = "now"
	}
	switch x.order.Status {
	case "pending_payment":
		return append(out, step{"Paid", "", time.Time{}, "ahead"}, step{"Sent", "", time.Time{}, "ahead"})
	case "paid":
		return append(out, step{"Sent", "", time.Time{}, "ahead"})
	}
	return out
}

// tell puts an entry into a buyer's words. Most entries are for those who run the shop and are left out.
func (x sale) tell(e timelineEntry) []step {
	switch e.Type {
	case "order":
		if words, ok := orderWords[e.Status]; ok {
			words.At = e.At
			return []step{words}
		}
	case "charge":
		if e.Status == "unknown" {
			return []step{lost(e.At)}
		}
		if words, ok := chargeWords[e.Status]; ok {
			words.At = e.At
			words.Detail = joined(x.card(e.ChargeID), words.Detail, foundOutBy[e.ResolvedBy])
			return []step{words}
		}
	case "provider_call":
		return x.tellCall(e)
	case "request":
		if e.Operation == "charges.cancel" && e.Status != "finished" {
			return []step{{"Giving this payment up", x.card(e.ChargeID), e.At, "done"}}
		}
	}
	return nil
}

// orderWords leaves out "paid": the charge that paid says it together with the card.
var orderWords = map[string]step{
	"pending_payment": {Label: "You ordered", Detail: "Goods kept, prices frozen", Mark: "done"},
	"fulfilled":       {Label: "Sent", Mark: "done"},
	"refunded":        {Label: "Refunded", Mark: "done"},
	"canceled":        {Label: "Cancelled", Mark: "bad"},
	"expired":         {Label: "Expired", Detail: "Not paid in time", Mark: "bad"},
}

// chargeWords leaves out "created", when nothing has been asked of the bank yet.
var chargeWords = map[string]step{
	"requires_action": {Label: "Your bank wanted to be sure it is you", Mark: "done"},
	"processing":      {Label: "Your bank needs a little longer", Mark: "done"},
	"authorized":      {Label: "Your bank has set the money aside", Mark: "done"},
	"succeeded":       {Label: "Paid", Mark: "done"},
	"failed":          {Label: "Card refused", Detail: "nothing was charged", Mark: "bad"},
	"canceled":        {Label: "Try given up", Detail: "no money moved", Mark: "bad"},
}

func lost(at time.Time) step {
	return step{"The bank's answer was lost", "We find out what it was before anything else is done", at, "lost"}
}

// foundOutBy says how the shop came to know, where that was not the bank's direct answer.
var foundOutBy = map[string]string{
	"webhook":        "the bank's own message told us",
	"reconciliation": "found out by asking once more",
	"operator":       "checked by a person",
}

// tellCall tells a call to the provider. The one that only prepares a payment is left out while nothing is wrong with it:
// it moves no money.
func (x sale) tellCall(e timelineEntry) []step {
	var out []step
	switch {
	case e.Status == "not_sent":
		return []step{{"Your bank could not be reached", "Nothing was asked of it", e.At, "lost"}}
	case e.Call == "confirm" && e.Attempt > 1:
		out = []step{{"We asked your bank again", x.card(e.ChargeID), e.At, "done"}}
	case e.Call == "confirm":
		out = []step{{"We asked your bank", x.card(e.ChargeID), e.At, "done"}}
	case e.Call == "capture":
		out = []step{{"We asked for the money that was set aside", x.card(e.ChargeID), e.At, "done"}}
	case e.Call == "cancel":
		out = []step{{"We asked your bank to stop this payment", x.card(e.ChargeID), e.At, "done"}}
	case e.Call == "lookup":
		return []step{{"We asked what had become of it", "", e.At, "done"}}
	}
	if e.Status == "unknown" && e.EndedAt != nil {
		out = append(out, lost(*e.EndedAt))
	}
	return out
}

// card names the card of a charge.
func (x sale) card(charge string) string {
	for _, c := range x.charges {
		if c.ID == charge {
			return cardLabel(c.PaymentMethod)
		}
	}
	return ""
}

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// record is an entry of the timeline as it is, for the curious.
type record struct {
	At     time.Time
	Who    string // order, charge, shop, bank
	What   string
	Result string
	Names  []extra // keys and ids
}

// records shows the timeline as it is, but for the provider's reason of a refusal, which is not for whoever holds the card,
// and for look-ups that found what the one before them had found: those are counted, or a buyer who takes half an hour
// would fill the page with them.
func (x sale) records() []record {
	var out []record
	same := 1 // look-ups in a row with the same result
	for i, e := range x.timeline {
		r := record{At: e.At, Who: e.Type, What: "is", Result: e.Status}
		switch e.Type {
		case "request":
			r.Who, r.What = "shop", "asks for "+e.Operation
		case "provider_call":
			r.Who, r.What = "bank", "is asked to "+cmp.Or(callWords[e.Call], e.Call)
			if e.Call != "lookup" && e.Attempt > 1 {
				r.What += " (attempt " + strconv.Itoa(e.Attempt) + ")"
			}
		}
		if e.HTTPStatus != 0 {
			r.Result += ", HTTP " + strconv.Itoa(e.HTTPStatus)
		}
		if e.EndedAt != nil {
			r.Result += ", " + strconv.FormatInt(e.EndedAt.Sub(e.At).Milliseconds(), 10) + " ms"
		}
		for _, name := range []extra{
			{"found there", e.Found}, {"proved by", provedBy[e.ResolvedBy]}, {"sent with key", e.ProviderKey},
			{"the provider's request", e.ProviderRequestID}, {"our request", e.RequestID},
		} {
			if name.Value != "" {
				r.Names = append(r.Names, name)
			}
		}
		if i == 0 || !e.repeats(x.timeline[i-1]) {
			out, same = append(out, r), 1
			continue
		}
		same++
		r.At, r.What = out[len(out)-1].At, r.What+", "+strconv.Itoa(same)+" times, last at "+e.At.UTC().Format("15:04:05.000")
		out[len(out)-1] = r
	}
	return out
}

// repeats reports whether the entry is a look-up that tells nothing new after the other.
func (e timelineEntry) repeats(before timelineEntry) bool {
	return e.Call == "lookup" && before.Call == e.Call && before.ChargeID == e.ChargeID && before.Status == e.Status && before.Found == e.Found
}

// callWords say what each call to the provider does.
var callWords = map[string]string{"create": "prepare a payment", "confirm": "pay", "capture": "hand over what was set aside",
	"cancel": "stop for good", "lookup": "show the payment"}
