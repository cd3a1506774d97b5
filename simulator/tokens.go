package simulator

import (
	"maps"
	"strconv"
	"strings"
	"time"
)

// authentication says when a card asks its holder to authenticate (3-D Secure).
type authentication int

const (
	neverAsks       authentication = iota
	alwaysAsks                     // an off-session payment, with nobody there to ask, is declined
	asksWhenPresent                // approved off-session
	asksUntilSetUp                 // approved without asking once the buyer has agreed to that
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
	refund                refundCourse
	dispute               disputePlan
	availableAtOnce       bool          // its money can be paid out without waiting
	unattachable          bool          // the bank declines to let a customer keep it
	takes                 time.Duration // real time that a confirm takes
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

// slowToken begins the name of a card that is approved after so many milliseconds of real time.
const slowToken = "pm_sim_slow_" //nolint:gosec // the name of a test card

// behaviourOf returns what a test token does.
func behaviourOf(token string) (b behaviour, known bool) {
	if ms, slow := strings.CutPrefix(token, slowToken); slow && isMilliseconds(ms) {
		n, _ := strconv.Atoi(ms) //nolint:errcheck // it was just checked
		b = testTokens["pm_card_visa"]
		b.takes = time.Duration(n) * time.Millisecond
		return b, true
	}
	b, known = testTokens[token]
	return b, known
}

// testTokens is every payment method token the simulator knows, under Stripe's own names, so that a scenario runs
// unchanged against Stripe's test mode. The pm_sim_ ones are ours: with Stripe, answers "processing" need a bank debit.
var testTokens = makeTestTokens()

// cardLike returns a card that is approved, changed in what its token is made for.
func cardLike(change func(*behaviour)) behaviour {
	b := behaviour{brand: "visa", last4: "4242", funding: "credit", checks: cardChecks{CVCCheck: "pass"}}
	change(&b)
	return b
}

func makeTestTokens() map[string]behaviour {
	declining := func(last4 string, d *decline) behaviour {
		return cardLike(func(b *behaviour) { b.last4, b.decline, b.unattachable = last4, d, true })
	}
	decliningWhenCharged := func(last4 string, d *decline) behaviour {
		return cardLike(func(b *behaviour) { b.last4, b.decline = last4, d })
	}
	asking := func(last4 string, when authentication, then *decline) behaviour {
		return cardLike(func(b *behaviour) { b.last4, b.authentication, b.decline = last4, when, then })
	}
	tokens := map[string]behaviour{
		"pm_card_visa":       cardLike(func(*behaviour) {}),
		"pm_card_visa_debit": cardLike(func(b *behaviour) { b.last4, b.funding = "5556", "debit" }),
		"pm_card_mastercard": cardLike(func(b *behaviour) { b.brand, b.last4 = "mastercard", "4444" }),
		"pm_card_amex":       cardLike(func(b *behaviour) { b.brand, b.last4 = "amex", "8431" }),

		"pm_card_visa_chargeDeclined":                      declining("0002", cardDeclined("generic_decline")),
		"pm_card_visa_chargeDeclinedInsufficientFunds":     declining("9995", insufficientFunds),
		"pm_card_visa_chargeDeclinedLostCard":              declining("9987", cardDeclined("lost_card")),
		"pm_card_visa_chargeDeclinedStolenCard":            declining("9979", cardDeclined("stolen_card")),
		"pm_card_visa_chargeDeclinedVelocityLimitExceeded": declining("6975", cardDeclined("card_velocity_exceeded")),
		"pm_card_chargeDeclinedExpiredCard":                declining("0069", expiredCard),
		"pm_card_chargeDeclinedIncorrectCvc":               declining("0127", incorrectCVC),
		"pm_card_chargeDeclinedProcessingError":            declining("0119", processingFailed),
		"pm_card_chargeCustomerFail":                       decliningWhenCharged("0341", cardDeclined("generic_decline")),
		"pm_card_radarBlock":                               decliningWhenCharged("0019", blockedByRisk),
		"pm_card_riskLevelHighest":                         decliningWhenCharged("4954", blockedByRisk), // Stripe's default rule
		"pm_card_riskLevelElevated":                        cardLike(func(b *behaviour) { b.last4, b.riskLevel = "9235", "elevated" }),

		"pm_card_cvcCheckFail": cardLike(func(b *behaviour) { b.last4, b.checks.CVCCheck = "0101", "fail" }),
		"pm_card_avsFail": cardLike(func(b *behaviour) {
			b.last4, b.checks.AddressLine1Check, b.checks.AddressPostalCodeCheck = "0010", "fail", "fail"
		}),

		"pm_card_authenticationRequired":                                asking("3184", alwaysAsks, nil),
		"pm_card_authenticationRequiredOnSetup":                         asking("3155", asksUntilSetUp, nil),
		"pm_card_authenticationRequiredSetupForOffSession":              asking("3155", asksWhenPresent, nil),
		"pm_card_authenticationRequiredChargeDeclinedInsufficientFunds": asking("9995", alwaysAsks, insufficientFunds),
		"pm_card_threeDSecure2Required":                                 asking("3220", alwaysAsks, nil),
		"pm_card_threeDSecureRequiredChargeDeclined":                    asking("1629", alwaysAsks, cardDeclined("generic_decline")),
		"pm_card_threeDSecureRequiredProcessingError":                   decliningWhenCharged("8405", processingFailed), // the look-up fails
		"pm_card_threeDSecureOptional":                                  asking("3055", neverAsks, nil),

		"pm_sim_processing_then_success": cardLike(func(b *behaviour) { b.last4, b.settlement = "0001", settlesLater }),
		"pm_sim_processing_then_fail":    cardLike(func(b *behaviour) { b.last4, b.settlement = "0003", failsLater }),
	}
	addLaterTokens(tokens)
	for name, b := range tokens {
		// The older names, without the brand, are still in wide use.
		if rest, ok := strings.CutPrefix(name, "pm_card_visa_chargeDeclined"); ok {
			tokens["pm_card_chargeDeclined"+rest] = b
		}
	}
	return tokens
}

// addLaterTokens adds the cards that are approved like any other: what they are made for comes afterwards.
func addLaterTokens(tokens map[string]behaviour) {
	disputed := func(last4 string, plan disputePlan) behaviour {
		return cardLike(func(b *behaviour) { b.last4, b.dispute = last4, plan })
	}
	maps.Copy(tokens, map[string]behaviour{
		"pm_card_pendingRefund": cardLike(func(b *behaviour) { b.last4, b.refund = "7726", refundsLater }),
		"pm_card_refundFail":    cardLike(func(b *behaviour) { b.last4, b.refund = "5126", refundFailsLater }),
		"pm_card_bypassPending": cardLike(func(b *behaviour) { b.last4, b.availableAtOnce = "0077", true }),

		"pm_card_createDispute":                   disputed("0259", disputePlan{1, "fraudulent", false}),
		"pm_card_createDisputeProductNotReceived": disputed("2685", disputePlan{1, "product_not_received", false}),
		"pm_card_createDisputeInquiry":            disputed("1976", disputePlan{1, "fraudulent", true}),
		"pm_card_createMultipleDisputes":          disputed("5423", disputePlan{2, "fraudulent", false}),
	})
}
