package simulator

import "strings"

// authentication says when a card asks its holder to authenticate (3-D Secure).
type authentication int

const (
	neverAsks       authentication = iota
	alwaysAsks                     // an off-session payment, with nobody there to ask, is declined
	asksWhenPresent                // approved off-session
)

// settlement says how a payment that answers "processing" ends when nobody says otherwise.
type settlement int

const (
	settlesAtOnce settlement = iota
	settlesLater
	failsLater
)

// behaviour is what a test card does.
type behaviour struct {
	brand, last4, funding string
	checks                cardChecks
	riskLevel             string // "" is normal
	authentication        authentication
	decline               *decline // nil is approved
	settlement            settlement
}

func (b behaviour) asks(offSession bool) bool {
	return b.authentication == alwaysAsks || (b.authentication == asksWhenPresent && !offSession)
}

// decline is a bank's no. The message is ours; nobody may depend on it.
type decline struct {
	code, declineCode, message string
	blocked                    bool // stopped by the risk check, never sent to the bank
}

// reason is the word a charge's outcome has for it.
func (d decline) reason() string {
	if d.declineCode != "" {
		return d.declineCode
	}
	return d.code
}

func cardDeclined(declineCode string) *decline {
	return &decline{code: codeCardDeclined, declineCode: declineCode, message: "The card was declined."}
}

var (
	insufficientFunds = &decline{codeCardDeclined, "insufficient_funds", "The card has insufficient funds.", false}
	expiredCard       = &decline{"expired_card", "", "The card has expired.", false}
	incorrectCVC      = &decline{"incorrect_cvc", "", "The card's security code is incorrect.", false}
	processingFailed  = &decline{codeProcessingError, "", "An error occurred while the card was processed.", false}
	blockedByRisk     = &decline{codeCardDeclined, "fraudulent", "The card was declined.", true}

	// authenticationMissing is the bank's answer to a payment that it wants authenticated while the buyer is away.
	authenticationMissing = &decline{
		codeAuthenticationReq, codeAuthenticationReq, "The card was declined: this payment requires authentication.", false,
	}
)

// testTokens is every payment method token the simulator knows, under Stripe's own names, so that a scenario runs
// unchanged against Stripe's test mode. The pm_sim_ ones are ours: with Stripe, answers "processing" need a bank debit.
var testTokens = makeTestTokens()

func makeTestTokens() map[string]behaviour {
	visa := behaviour{brand: "visa", last4: "4242", funding: "credit", checks: cardChecks{CVCCheck: "pass"}}
	card := func(change func(*behaviour)) behaviour {
		b := visa
		change(&b)
		return b
	}
	declining := func(last4 string, d *decline) behaviour {
		return card(func(b *behaviour) { b.last4, b.decline = last4, d })
	}
	asking := func(last4 string, when authentication, then *decline) behaviour {
		return card(func(b *behaviour) { b.last4, b.authentication, b.decline = last4, when, then })
	}
	tokens := map[string]behaviour{
		"pm_card_visa":       visa,
		"pm_card_visa_debit": card(func(b *behaviour) { b.last4, b.funding = "5556", "debit" }),
		"pm_card_mastercard": card(func(b *behaviour) { b.brand, b.last4 = "mastercard", "4444" }),
		"pm_card_amex":       card(func(b *behaviour) { b.brand, b.last4 = "amex", "8431" }),

		"pm_card_visa_chargeDeclined":                      declining("0002", cardDeclined("generic_decline")),
		"pm_card_visa_chargeDeclinedInsufficientFunds":     declining("9995", insufficientFunds),
		"pm_card_visa_chargeDeclinedLostCard":              declining("9987", cardDeclined("lost_card")),
		"pm_card_visa_chargeDeclinedStolenCard":            declining("9979", cardDeclined("stolen_card")),
		"pm_card_visa_chargeDeclinedVelocityLimitExceeded": declining("6975", cardDeclined("card_velocity_exceeded")),
		"pm_card_chargeDeclinedExpiredCard":                declining("0069", expiredCard),
		"pm_card_chargeDeclinedIncorrectCvc":               declining("0127", incorrectCVC),
		"pm_card_chargeDeclinedProcessingError":            declining("0119", processingFailed),
		"pm_card_chargeCustomerFail":                       declining("0341", cardDeclined("generic_decline")),
		"pm_card_radarBlock":                               declining("0019", blockedByRisk),
		"pm_card_riskLevelHighest":                         declining("4954", blockedByRisk), // Stripe's default rule
		"pm_card_riskLevelElevated":                        card(func(b *behaviour) { b.last4, b.riskLevel = "9235", "elevated" }),

		"pm_card_cvcCheckFail": card(func(b *behaviour) { b.last4, b.checks.CVCCheck = "0101", "fail" }),
		"pm_card_avsFail": card(func(b *behaviour) {
			b.last4, b.checks.AddressLine1Check, b.checks.AddressPostalCodeCheck = "0010", "fail", "fail"
		}),

		"pm_card_authenticationRequired":                                asking("3184", alwaysAsks, nil),
		"pm_card_authenticationRequiredOnSetup":                         asking("3155", alwaysAsks, nil), // nothing is ever set up here
		"pm_card_authenticationRequiredSetupForOffSession":              asking("3155", asksWhenPresent, nil),
		"pm_card_authenticationRequiredChargeDeclinedInsufficientFunds": asking("9995", alwaysAsks, insufficientFunds),
		"pm_card_threeDSecure2Required":                                 asking("3220", alwaysAsks, nil),
		"pm_card_threeDSecureRequiredChargeDeclined":                    asking("1629", alwaysAsks, cardDeclined("generic_decline")),
		"pm_card_threeDSecureRequiredProcessingError":                   declining("8405", processingFailed), // the look-up fails
		"pm_card_threeDSecureOptional":                                  asking("3055", neverAsks, nil),

		// These differ from an ordinary card only in how a refund goes.
		"pm_card_pendingRefund": card(func(b *behaviour) { b.last4 = "7726" }),
		"pm_card_refundFail":    card(func(b *behaviour) { b.last4 = "5126" }),
		"pm_card_bypassPending": card(func(b *behaviour) { b.last4 = "0077" }),

		"pm_sim_processing_then_success": card(func(b *behaviour) { b.last4, b.settlement = "0001", settlesLater }),
		"pm_sim_processing_then_fail":    card(func(b *behaviour) { b.last4, b.settlement = "0003", failsLater }),
	}
	for name, b := range tokens {
		// The older names, without the brand, are still in wide use.
		if rest, ok := strings.CutPrefix(name, "pm_card_visa_chargeDeclined"); ok {
			tokens["pm_card_chargeDeclined"+rest] = b
		}
	}
	return tokens
}
