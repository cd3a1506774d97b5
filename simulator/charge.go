package simulator

import "time"

// The states of a charge.
const (
	chargeSucceeded = "succeeded"
	chargePending   = "pending"
	chargeFailed    = "failed"
)

// authorizationPeriod is how long a bank holds money for a manual capture, unless its network says otherwise.
const authorizationPeriod = 7 * 24 * time.Hour

// charge is one executed attempt to take an intent's money, failed ones included. Amounts are in the currency's minor
// unit, times in Unix seconds.
type charge struct {
	ID                        string            `json:"id"`
	Object                    string            `json:"object"`
	Amount                    int64             `json:"amount"`
	AmountCaptured            int64             `json:"amount_captured"`
	AmountRefunded            int64             `json:"amount_refunded"`
	BalanceTransaction        reference         `json:"balance_transaction"`
	BillingDetails            billingDetails    `json:"billing_details"` // of a test card, which has none
	Captured                  bool              `json:"captured"`
	Created                   int64             `json:"created"`
	Currency                  string            `json:"currency"`
	Customer                  reference         `json:"customer"`
	Description               nullable          `json:"description"`
	Disputed                  bool              `json:"disputed"`
	FailureBalanceTransaction unset             `json:"failure_balance_transaction"`
	FailureCode               nullable          `json:"failure_code"`
	FailureMessage            nullable          `json:"failure_message"`
	Livemode                  bool              `json:"livemode"`
	Metadata                  map[string]string `json:"metadata"`
	Outcome                   *chargeOutcome    `json:"outcome"`
	Paid                      bool              `json:"paid"`
	PaymentIntent             reference         `json:"payment_intent"`
	PaymentMethod             string            `json:"payment_method"`
	PaymentMethodDetails      methodDetails     `json:"payment_method_details"`
	ReceiptEmail              nullable          `json:"receipt_email"`
	ReceiptURL                unset             `json:"receipt_url"`
	Refunded                  bool              `json:"refunded"`
	Refunds                   *list[any]        `json:"refunds,omitempty"` // only shown to who asks for them
	StatementDescriptorSuffix nullable          `json:"statement_descriptor_suffix"`
	Status                    string            `json:"status"`
}

func (c charge) key() string { return c.ID }

type chargeOutcome struct {
	NetworkStatus string   `json:"network_status"`
	Reason        nullable `json:"reason"`
	RiskLevel     string   `json:"risk_level"`
	RiskScore     int      `json:"risk_score"`
	SellerMessage string   `json:"seller_message"`
	Type          string   `json:"type"`
}

type methodDetails struct {
	Card cardDetails `json:"card"`
	Type string      `json:"type"`
}

type cardDetails struct {
	Brand         string        `json:"brand"`
	CaptureBefore int64         `json:"capture_before,omitempty"`
	Checks        cardChecks    `json:"checks"`
	Country       string        `json:"country"`
	ExpMonth      int           `json:"exp_month"`
	ExpYear       int           `json:"exp_year"`
	Fingerprint   string        `json:"fingerprint"`
	Funding       string        `json:"funding"`
	Last4         string        `json:"last4"`
	Network       string        `json:"network"`
	ThreeDSecure  *threeDSecure `json:"three_d_secure"`
	Wallet        unset         `json:"wallet"`
}

type threeDSecure struct {
	AuthenticationFlow string   `json:"authentication_flow"`
	Result             string   `json:"result"`
	ResultReason       nullable `json:"result_reason"`
	Version            string   `json:"version"`
}

func detailsOf(m method, authenticated bool) methodDetails {
	d := cardDetails{
		Brand: m.Card.Brand, Checks: m.Card.Checks, Country: m.Card.Country, ExpMonth: m.Card.ExpMonth,
		ExpYear: m.Card.ExpYear, Fingerprint: m.Card.Fingerprint, Funding: m.Card.Funding, Last4: m.Card.Last4,
		Network: m.Card.Brand,
	}
	if authenticated {
		d.ThreeDSecure = &threeDSecure{AuthenticationFlow: "challenge", Result: "authenticated", Version: "2.2.0"}
	}
	return methodDetails{Card: d, Type: "card"}
}

// approvedOutcome is the bank's yes. The scores are examples in the range Stripe gives to each level.
func approvedOutcome(riskLevel string) *chargeOutcome {
	o := &chargeOutcome{
		NetworkStatus: "approved_by_network", RiskLevel: "normal", RiskScore: 20,
		SellerMessage: "Payment complete.", Type: "authorized",
	}
	if riskLevel == "elevated" {
		o.RiskLevel, o.RiskScore, o.Reason = "elevated", 70, "elevated_risk_level"
	}
	return o
}

func declinedOutcome(d decline) *chargeOutcome {
	if d.blocked {
		return &chargeOutcome{
			NetworkStatus: "not_sent_to_network", Reason: "highest_risk_level", RiskLevel: "highest", RiskScore: 90,
			SellerMessage: "The payment was blocked as too risky.", Type: "blocked",
		}
	}
	return &chargeOutcome{
		NetworkStatus: "declined_by_network", Reason: nullable(d.reason()), RiskLevel: "normal", RiskScore: 20,
		SellerMessage: "The bank declined the payment.", Type: "issuer_declined",
	}
}
