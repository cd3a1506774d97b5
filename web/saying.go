package web

import "time"

// saying is how an order's state is put to the buyer: what is so, and what to do now.
type saying struct {
	Tone     string // good, wait, act, bad, calm
	Headline string
	Text     string
}

// say finds the words. Nothing that is not proved is called paid, and nothing that may still be paid is called failed.
func (x sale) say(now time.Time, returned bool) saying {
	switch x.order.Status {
	case "paid":
		return saying{"good", "Paid. Thank you.", "Your payment has arrived, once. We are packing your order."}
	case "fulfilled":
		return saying{"good", "On its way", "Your order is paid and has been sent."}
	case "refunded":
		return saying{"calm", "Refunded", "The whole amount is on its way back to your card."}
	case "canceled":
		return saying{"calm", "Cancelled", "This order was cancelled. Whatever had been paid goes back to your card."}
	case "expired":
		return saying{"calm", "Expired", "This order was not paid in time, so what was kept for you is back in the shop. Nothing was charged."}
	}
	if x.givingUp() {
		return saying{"wait", "We are making sure", "That payment is being stopped. As soon as it is certain that it can never take money, you can choose another card here: this page looks again by itself."}
	}
	switch x.charged() {
	case "created", "unknown":
		return saying{"wait", "We are finding out what happened", "Your bank has not told us yet whether it paid. Please do not pay again: this page looks again by itself and tells you."}
	case "processing":
		return saying{"wait", "Your bank is still working", "It has your payment and will decide shortly. Please do not pay again: this page looks again by itself."}
	case "authorized":
		return saying{"wait", "Your bank has set the money aside", "It is kept for this order and taken when we send the goods. There is nothing for you to do."}
	case "requires_action":
		if returned {
			return saying{"wait", "Your bank has sent you back", "We are asking for its decision. Please do not pay again: this page looks again by itself."}
		}
		return saying{"act", "Your bank wants to be sure it is you", "Nothing is paid yet. Confirm this payment on your bank's page; it sends you back here."}
	}
	if !x.payable(now) {
		return saying{"calm", "The time is up", "This order can no longer be paid. Nothing was charged."}
	}
	switch x.charged() {
	case "failed":
		text := "The card was refused. Nothing was charged."
		if x.current.Failure != nil && x.current.Failure.Message != "" {
			text = x.current.Failure.Message + " Nothing was charged."
		}
		return saying{"bad", "The card was refused", text}
	case "canceled":
		return saying{"act", "That try was given up", "It was stopped for good, before any money moved. Your order is still kept for you: choose a card to pay it."}
	}
	return saying{"act", "Not paid yet", "Your order is placed and kept for you. Choose a card to pay it."}
}

// provedBy says in plain words where the certainty about a charge comes from.
var provedBy = map[string]string{
	"response":       "the bank's direct answer",
	"webhook":        "the provider's own message",
	"reconciliation": "asking the provider afterwards",
	"operator":       "a person, with evidence",
}

// facts are the names under which shop, API and provider know this order.
func (x sale) facts() []extra {
	out := []extra{{"Order", x.order.ID}}
	if x.current != nil {
		out = append(out, extra{"Charge", x.current.ID}, extra{"Charge status", x.current.Status})
		if by := x.current.ResolvedBy; by != nil && provedBy[*by] != "" {
			out = append(out, extra{"Proved by", provedBy[*by]})
		}
		if ref := x.current.ProviderReference; ref != nil {
			out = append(out, extra{"Reference at " + x.current.Provider, *ref})
		}
	}
	if to := masked(x.order.Customer.Email); to != "" {
		out = append(out, extra{"Receipt to", to})
	}
	return out
}
