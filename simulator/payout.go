package simulator

import (
	"maps"
	"slices"
	"time"
)

// The states of a payout. Only payouts that are made by hand can be canceled, and there are none here.
const (
	payoutPending   = "pending"
	payoutInTransit = "in_transit"
	payoutPaid      = "paid"
	payoutFailed    = "failed"
)

// Whether the balance transactions of a payout are known.
const (
	reconciliationInProgress = "in_progress"
	reconciliationCompleted  = "completed"
)

// How a payout goes by itself, counted from its creation.
const (
	payoutSubmitDelay    = time.Hour
	payoutReconcileDelay = 3 * time.Hour
	payoutArrivalDelay   = 2 * 24 * time.Hour
)

// payout brings what is available of one currency to the merchant's bank. All payouts here are automatic: they take
// everything, and so can be taken apart into balance transactions. Amounts are in the currency's minor unit, times in
// Unix seconds.
type payout struct {
	ID                        string            `json:"id"`
	Object                    string            `json:"object"`
	Amount                    int64             `json:"amount"`
	ArrivalDate               int64             `json:"arrival_date"`
	Automatic                 bool              `json:"automatic"`
	BalanceTransaction        reference         `json:"balance_transaction"`
	Created                   int64             `json:"created"`
	Currency                  string            `json:"currency"`
	Description               nullable          `json:"description"`
	Destination               unset             `json:"destination"`
	FailureBalanceTransaction reference         `json:"failure_balance_transaction"`
	FailureCode               nullable          `json:"failure_code"`
	FailureMessage            nullable          `json:"failure_message"`
	Livemode                  bool              `json:"livemode"`
	Metadata                  map[string]string `json:"metadata"`
	Method                    string            `json:"method"`
	OriginalPayout            unset             `json:"original_payout"`
	ReconciliationStatus      string            `json:"reconciliation_status"`
	ReversedBy                unset             `json:"reversed_by"`
	SourceType                string            `json:"source_type"`
	StatementDescriptor       unset             `json:"statement_descriptor"`
	Status                    string            `json:"status"`
	Type                      string            `json:"type"`
}

func (po payout) key() string { return po.ID }

func (e *effect) payout(id string) (payout, bool) { return find(e.change.Payouts, e.world.payouts, id) }

func (e *effect) putPayout(po payout) { e.change.Payouts = replace(e.change.Payouts, po) }

// payOut makes a payout of every currency whose available balance is more than nothing, in the order of their codes. A
// balance below zero waits for later charges.
func (e *effect) payOut() []payout {
	due, sums := map[string][]entry{}, map[string]int64{}
	for t := range e.world.entries.all {
		if t.Payout == "" && t.AvailableOn <= e.now.Unix() {
			due[t.Currency] = append(due[t.Currency], t)
			sums[t.Currency] += t.Net
		}
	}
	made := []payout{}
	for _, currency := range slices.Sorted(maps.Keys(sums)) {
		if sums[currency] > 0 {
			made = append(made, e.payOutEntries(due[currency], sums[currency], currency))
		}
	}
	return made
}

func (e *effect) payOutEntries(due []entry, sum int64, currency string) payout {
	po := payout{
		ID: newID(e, "po_", e.world.payouts), Object: "payout", Amount: sum,
		ArrivalDate: e.now.Add(payoutArrivalDelay).Unix(), Automatic: true, Created: e.now.Unix(), Currency: currency,
		Description: "STRIPE PAYOUT", Metadata: map[string]string{}, Method: "standard",
		ReconciliationStatus: reconciliationInProgress, SourceType: "card", Status: payoutPending, Type: "bank_account",
	}
	own := e.post(movement{kind: entryPayout, amount: -sum, currency: currency, source: po.ID})
	own.Payout = po.ID
	e.putEntry(own)
	for n := range due {
		due[n].Payout = po.ID
	}
	e.change.Entries = append(e.change.Entries, due...) // none of them is there yet, and there may be very many
	po.BalanceTransaction = referTo(own.ID)
	e.putPayout(po)
	e.announce("payout.created", po, nil)
	e.later(payoutSubmitDelay, jobSubmitPayout, po.ID)
	e.later(payoutReconcileDelay, jobReconcilePayout, po.ID)
	e.later(payoutArrivalDelay, jobPayoutArrives, po.ID)
	return po
}

// submitPayout hands a payout to the bank.
func (e *effect) submitPayout(id string) {
	if po, ok := e.payout(id); ok && po.Status == payoutPending {
		before := map[string]any{"status": po.Status}
		po.Status = payoutInTransit
		e.putPayout(po)
		e.announce("payout.updated", po, before)
	}
}

// reconcilePayout makes the parts of a payout known.
func (e *effect) reconcilePayout(id string) {
	if po, ok := e.payout(id); ok && po.ReconciliationStatus == reconciliationInProgress {
		before := map[string]any{"reconciliation_status": po.ReconciliationStatus}
		po.ReconciliationStatus = reconciliationCompleted
		e.putPayout(po)
		e.announce("payout.updated", po, before)
		e.announce("payout.reconciliation_completed", po, nil)
	}
}

func (e *effect) payoutArrives(id string) {
	if po, ok := e.payout(id); ok && po.Status == payoutInTransit {
		po.Status = payoutPaid
		e.putPayout(po)
		e.announce("payout.paid", po, nil)
	}
}

// failPayout brings a payout's money back; even one that was paid can turn out to have failed.
func (e *effect) failPayout(po payout) (payout, *apiError) {
	if po.Status == payoutFailed {
		return po, invalid("", "", "Payout %s has failed already.", po.ID)
	}
	t := e.post(movement{
		kind: entryPayoutFailure, reportedAs: reportedPayoutReversal, amount: po.Amount, currency: po.Currency, source: po.ID,
	})
	po.FailureBalanceTransaction = referTo(t.ID)
	po.FailureCode, po.FailureMessage = "account_closed", "The bank account has been closed."
	po.Status = payoutFailed
	e.putPayout(po)
	e.announce("payout.failed", po, nil)
	return po, nil
}

func (e *effect) showPayout(po payout, x expansion) payout {
	e.expandEntry(&po.BalanceTransaction, x, "balance_transaction")
	e.expandEntry(&po.FailureBalanceTransaction, x, "failure_balance_transaction")
	return po
}

// prepareGetPayout serves GET /v1/payouts/{id}.
func prepareGetPayout(c *call) (operation, *apiError) {
	x := c.params.expand("payout", "")
	return retrieval(c, c.world.payouts, "payout", "payout", func(e *effect, po payout) any { return e.showPayout(po, x) })
}

// prepareListPayouts serves GET /v1/payouts.
func prepareListPayouts(c *call) (operation, *apiError) {
	p := c.params
	page := readPage(p)
	arrival := readTimes(p, "arrival_date")
	status := p.oneOf("status", payoutPending, payoutInTransit, payoutPaid, payoutFailed, "canceled")
	x := p.expand("payout", "data.")
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	return listing(c, c.world.payouts, page, "payout", func(po payout) bool {
		return page.created.admits(po.Created) && arrival.admits(po.ArrivalDate) && admits(status, po.Status)
	}, func(e *effect, po payout) any { return e.showPayout(po, x) })
}
