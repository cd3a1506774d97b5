package web

import "slices"

// testCard is a payment method that the provider keeps for tests. The shop never sees a card number: a token stands for
// the card from the beginning.
type testCard struct {
	Token, Label, Effect string
	Tone                 string // good, act, bad
}

var testCards = []testCard{
	{"pm_card_visa", "Visa", "Approved", "good"},
	{"pm_card_mastercard", "Mastercard", "Approved", "good"},
	{"pm_card_amex", "American Express", "Approved", "good"},
	{"pm_card_authenticationRequired", "Visa with 3-D Secure", "The bank asks you first", "act"},
	{"pm_card_visa_chargeDeclined", "Visa, refused", "Declined", "bad"},
	{"pm_card_chargeDeclinedInsufficientFunds", "Empty account", "Insufficient funds", "bad"},
	{"pm_card_chargeDeclinedExpiredCard", "Old card", "Expired", "bad"},
	{"pm_card_chargeDeclinedProcessingError", "Bank in trouble", "Processing error", "bad"},
}

// noCards is said when the shop is not in test mode: taking real cards needs the provider's own form in the page.
const noCards = "This shop takes test cards only, and it is not connected to a test account. It can be looked at, but not paid in."

// cardLabel names a payment method for a buyer.
func cardLabel(token string) string {
	if i := slices.IndexFunc(testCards, func(c testCard) bool { return c.Token == token }); i >= 0 {
		return testCards[i].Label
	}
	return "Card"
}
