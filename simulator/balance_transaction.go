package simulator

import "time"

// The types of a balance transaction, and the words that reports have for them where they differ.
const (
	entryCharge        = "charge"
	entryRefund        = "refund"
	entryRefundFailure = "refund_failure"
	entryAdjustment    = "adjustment" // money of a dispute, either way
	entryPayout        = "payout"
	entryPayoutFailure = "payout_failure"

	reportedDispute         = "dispute"
	reportedDisputeReversal = "dispute_reversal"
	reportedPayoutReversal  = "payout_reversal"
)

const (
	// settlementDelay is how long the money of a charge stays pending before it can be paid out.
	settlementDelay = 2 * 24 * time.Hour
	// asyncCaptureDelay is how long after an asynchronous capture its balance transaction appears.
	asyncCaptureDelay = 5 * time.Second
)

// The price of a charge is a share of it and a fixed part. Stripe's prices depend on country, card and contract; these
// are the simulator's, the same for every card.
const (
	feePerMille     = 29 // 2.9 %
	fixedFeeCents   = 30
	disputeFeeCents = 1500
)

// balanceTransaction is one line of the account's ledger. Amounts are signed, in the currency's minor unit; nothing is
// converted, so that every currency is a balance of its own. Times are in Unix seconds.
type balanceTransaction struct {
	ID                string      `json:"id"`
	Object            string      `json:"object"`
	Amount            int64       `json:"amount"`
	AvailableOn       int64       `json:"available_on"`
	Created           int64       `json:"created"`
	Currency          string      `json:"currency"`
	Description       nullable    `json:"description"`
	ExchangeRate      unset       `json:"exchange_rate"`
	Fee               int64       `json:"fee"`
	FeeDetails        []feeDetail `json:"fee_details"`
	Net               int64       `json:"net"` // amount - fee
	ReportingCategory string      `json:"reporting_category"`
	Source            reference   `json:"source"`
	Status            string      `json:"status"` // told from the clock whenever the line is shown
	Type              string      `json:"type"`
}

type feeDetail struct {
	Amount      int64  `json:"amount"`
	Application unset  `json:"application"`
	Currency    string `json:"currency"`
	Description string `json:"description"`
	Type        string `json:"type"`
}

// entry is a balance transaction with the payout that it was paid out with. What it says of money never changes.
type entry struct {
	balanceTransaction
	Payout string `json:"sim_payout,omitempty"`
}

func (t entry) key() string { return t.ID }

func (e *effect) entry(id string) (entry, bool) { return find(e.change.Entries, e.world.entries, id) }

func (e *effect) putEntry(t entry) { e.change.Entries = replace(e.change.Entries, t) }

// chargeFee is what processing a charge costs: 2.9 %, rounded half up to the minor unit, and the fixed part.
func chargeFee(amount int64, currency string) int64 {
	return (amount*feePerMille+500)/1000 + fromCents(fixedFeeCents, currency)
}

// fromCents writes a price that is known in hundredths in the minor unit of a currency. Where there is no minor unit the
// number is kept, since one unit is worth about a hundredth there: 30 yen for 0.30 dollars.
func fromCents(cents int64, currency string) int64 {
	if currencies[currency].exponent == 3 {
		return cents * 10
	}
	return cents
}

// movement is what one line of the ledger says; the rest follows from it.
type movement struct {
	kind        string // its type
	reportedAs  string // its reporting category; "" is the type
	amount, fee int64
	feeFor      string // what the fee is called
	currency    string
	source      string // the id of the object that moved the money
	pendingFor  time.Duration
}

// post writes a line of the ledger. Its id comes from what moved the money, so that a line that is written when the clock
// comes to it has the same id in every run, whatever the order of the requests before.
func (e *effect) post(m movement) entry {
	if m.reportedAs == "" {
		m.reportedAs = m.kind
	}
	t := entry{balanceTransaction: balanceTransaction{
		ID: freshID(e, "txn_", e.world.entries, m.source, m.reportedAs), Object: "balance_transaction", Amount: m.amount,
		AvailableOn: e.now.Add(m.pendingFor).Unix(), Created: e.now.Unix(), Currency: m.currency, Fee: m.fee,
		FeeDetails: []feeDetail{}, Net: m.amount - m.fee, ReportingCategory: m.reportedAs, Source: referTo(m.source),
		Type: m.kind,
	}}
	if m.fee != 0 {
		t.FeeDetails = []feeDetail{{Amount: m.fee, Currency: m.currency, Description: m.feeFor, Type: "stripe_fee"}}
	}
	e.putEntry(t)
	return t
}

// book writes the one line of a capture.
func (e *effect) book(c charge) charge {
	pending := settlementDelay
	if m, _ := e.method(c.PaymentMethod); m.behaviour().availableAtOnce {
		pending = 0
	}
	t := e.post(movement{
		kind: entryCharge, amount: c.AmountCaptured, fee: chargeFee(c.AmountCaptured, c.Currency),
		feeFor: "Stripe processing fees", currency: c.Currency, source: c.ID, pendingFor: pending,
	})
	c.BalanceTransaction = referTo(t.ID)
	e.putCharge(c)
	return c
}

// bookLater is book some time after an asynchronous capture.
func (e *effect) bookLater(chargeID string) {
	if c, ok := e.charge(chargeID); ok && c.Captured && c.BalanceTransaction.id == "" {
		c = e.book(c)
		e.announce("charge.updated", c, map[string]any{"balance_transaction": nil})
	}
}

func (e *effect) showEntry(t entry, x expansion) balanceTransaction {
	shown := t.balanceTransaction
	shown.Status = "pending"
	if shown.AvailableOn <= e.now.Unix() {
		shown.Status = "available"
	}
	if sub, asked := x["source"]; asked {
		shown.Source.full = e.showSource(shown.Source.id, sub)
	}
	return shown
}

// showSource shows whatever moved the money of a line.
func (e *effect) showSource(id string, x expansion) any {
	if c, ok := e.charge(id); ok {
		return e.showCharge(c, x)
	}
	if r, ok := e.refund(id); ok {
		return e.showRefund(r, x)
	}
	if d, ok := e.dispute(id); ok {
		return e.showDispute(d, x)
	}
	if po, ok := e.payout(id); ok {
		return e.showPayout(po, x)
	}
	return nil
}
