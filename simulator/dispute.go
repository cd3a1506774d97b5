package simulator

import (
	"slices"
	"time"
)

// The states of a dispute. An inquiry is a question of the bank that takes no money; its states begin with warning.
const (
	disputeNeedsResponse = "needs_response"
	disputeUnderReview   = "under_review"
	disputeWon           = "won"
	disputeLost          = "lost"
	warningNeedsResponse = "warning_needs_response"
	warningUnderReview   = "warning_under_review"
	warningClosed        = "warning_closed"
)

// How a dispute goes by itself.
const (
	disputeDelay  = 10 * time.Second    // from a charge to the dispute of a token made for it, and to each further one
	reviewDelay   = 10 * time.Second    // from evidence that says how it ends to the end
	disputePeriod = 7 * 24 * time.Hour  // until evidence is due; without any the dispute is lost then
	inquiryPeriod = 30 * 24 * time.Hour // the same for an inquiry, which is closed then
)

// The evidence that decides a dispute when it is given as uncategorized_text, under Stripe's own names.
const (
	winningEvidence = "winning_evidence"
	losingEvidence  = "losing_evidence"
)

// disputePlan is what will happen to the charges of a test card.
type disputePlan struct {
	count   int // 0 is nothing
	reason  string
	inquiry bool
}

var disputeReasons = []string{
	"bank_cannot_process", "check_returned", "credit_not_processed", "customer_initiated", "debit_not_authorized",
	"duplicate", "fraudulent", "general", "incorrect_account_details", "insufficient_funds", "product_not_received",
	"product_unacceptable", "subscription_canceled", "unrecognized",
}

// evidenceNames are the members of a dispute's evidence.
var evidenceNames = []string{
	"access_activity_log", "billing_address", "cancellation_policy", "cancellation_policy_disclosure",
	"cancellation_rebuttal", "customer_communication", "customer_email_address", "customer_name", "customer_purchase_ip",
	"customer_signature", "duplicate_charge_documentation", "duplicate_charge_explanation", "duplicate_charge_id",
	"product_description", "receipt", "refund_policy", "refund_policy_disclosure", "refund_refusal_explanation",
	"service_date", "service_documentation", "shipping_address", "shipping_carrier", "shipping_date",
	"shipping_documentation", "shipping_tracking_number", "uncategorized_file", "uncategorized_text",
}

// dispute is a buyer's complaint about a charge, brought by the bank. Amounts are in the currency's minor unit, times in
// Unix seconds.
type dispute struct {
	ID                   string               `json:"id"`
	Object               string               `json:"object"`
	Amount               int64                `json:"amount"`
	BalanceTransactions  []reference          `json:"balance_transactions"` // kept as ids, always shown whole
	Charge               reference            `json:"charge"`
	Created              int64                `json:"created"`
	Currency             string               `json:"currency"`
	Evidence             map[string]nullable  `json:"evidence"` // all of evidenceNames
	EvidenceDetails      evidenceDetails      `json:"evidence_details"`
	IsChargeRefundable   bool                 `json:"is_charge_refundable"`
	Livemode             bool                 `json:"livemode"`
	Metadata             map[string]string    `json:"metadata"`
	PaymentIntent        reference            `json:"payment_intent"`
	PaymentMethodDetails disputeMethodDetails `json:"payment_method_details"`
	Reason               string               `json:"reason"`
	Status               string               `json:"status"`
}

func (d dispute) key() string { return d.ID }

type evidenceDetails struct {
	DueBy           int64 `json:"due_by"`
	HasEvidence     bool  `json:"has_evidence"`
	PastDue         bool  `json:"past_due"`
	SubmissionCount int64 `json:"submission_count"`
}

type disputeMethodDetails struct {
	Card disputeCard `json:"card"`
	Type string      `json:"type"`
}

type disputeCard struct {
	Brand             string   `json:"brand"`
	CaseType          string   `json:"case_type"`
	NetworkReasonCode nullable `json:"network_reason_code"`
}

func noEvidence() map[string]nullable {
	none := make(map[string]nullable, len(evidenceNames))
	for _, name := range evidenceNames {
		none[name] = ""
	}
	return none
}

func (d dispute) inquiry() bool {
	return slices.Contains([]string{warningNeedsResponse, warningUnderReview, warningClosed}, d.Status)
}

func (d dispute) awaitsResponse() bool {
	return d.Status == disputeNeedsResponse || d.Status == warningNeedsResponse
}

func (d dispute) closed() bool {
	return d.Status == disputeWon || d.Status == disputeLost || d.Status == warningClosed
}

// withStatus also says whether the charge can be refunded: not while the bank has its money.
func (d dispute) withStatus(status string) dispute {
	d.Status = status
	d.IsChargeRefundable = d.inquiry() || status == disputeWon
	return d
}

func (e *effect) dispute(id string) (dispute, bool) {
	return find(e.change.Disputes, e.world.disputes, id)
}

func (e *effect) putDispute(d dispute) { e.change.Disputes = replace(e.change.Disputes, d) }

// showDispute shows the lines of the ledger inside the dispute, as Stripe does without being asked.
func (e *effect) showDispute(d dispute, x expansion) dispute {
	lines := make([]reference, 0, len(d.BalanceTransactions))
	for _, line := range d.BalanceTransactions {
		t, _ := e.entry(line.id)
		lines = append(lines, reference{id: t.ID, full: e.showEntry(t, nil)})
	}
	d.BalanceTransactions = lines
	e.expandCharge(&d.Charge, x, "charge")
	e.expandIntent(&d.PaymentIntent, x)
	return d
}
