package provider

import (
	"context"
	"time"

	"payonce/domain"
)

// Ledger is the provider's own books: what it says it took, gave back, kept for itself and paid out. Every call changes
// nothing. A foreign object, in a currency we do not sell in or of a kind we do not know, is listed like any other: what
// is in the account and not in our books is what reconciliation is for.
type Ledger interface {
	// ListBalanceTransactions reads one page of the movements of a payout, or of the whole balance when payout is empty.
	ListBalanceTransactions(ctx context.Context, payout string, q Query) (Page[BalanceTransaction], Result)

	// ListPayouts reads one page of payouts to our bank account.
	ListPayouts(ctx context.Context, q Query) (Page[Payout], Result)

	// ListDisputes reads one page of disputes.
	ListDisputes(ctx context.Context, q Query) (Page[Dispute], Result)

	// Dispute reads the provider's present state of a dispute.
	Dispute(ctx context.Context, reference string) Result
}

// BalanceTransaction is one movement of the provider's balance. It never changes.
type BalanceTransaction struct {
	Reference   string
	Kind        EntryKind
	Category    string       // the provider's word for Kind, which says more when Kind is other
	Amount      domain.Money // signed: negative when it leaves the balance
	Fee         domain.Money // what the provider kept, of Amount
	Net         domain.Money // Amount less Fee, as the provider says
	Source      string       // the reference of what caused it: an attempt, a refund, a dispute or a payout; may be empty
	Created     time.Time
	AvailableOn time.Time // from when it can be paid out
}

// EntryKind says what a balance transaction is about.
type EntryKind string

// The kinds. A new word of a provider's is other.
const (
	EntryCharge          EntryKind = "charge"
	EntryRefund          EntryKind = "refund"
	EntryRefundFailure   EntryKind = "refund_failure" // a refund that came back
	EntryDispute         EntryKind = "dispute"
	EntryDisputeReversal EntryKind = "dispute_reversal"
	EntryPayout          EntryKind = "payout"
	EntryPayoutReversal  EntryKind = "payout_reversal" // a payout that came back
	EntryFee             EntryKind = "fee"
	EntryOther           EntryKind = "other"
)

// Payout is money on its way from the balance to our bank account.
type Payout struct {
	Reference string
	Status    PayoutStatus
	Amount    domain.Money // negative when the provider takes it from our bank account
	// Itemised: the list of its balance transactions is complete. Only then can it be compared with the ledger.
	Itemised    bool
	Automatic   bool // one that was asked for by hand is never itemised
	Entry       string
	Failure     *Failure // when failed
	Created     time.Time
	ArrivalDate time.Time
}

// PayoutStatus is the state of a payout; empty for one that is not known.
type PayoutStatus string

// The states of a payout.
const (
	PayoutPending   PayoutStatus = "pending"
	PayoutInTransit PayoutStatus = "in_transit"
	PayoutPaid      PayoutStatus = "paid" // but not for ever: the bank can still send it back
	PayoutFailed    PayoutStatus = "failed"
	PayoutCanceled  PayoutStatus = "canceled"
)

// Dispute is a buyer's bank asking for the money back.
type Dispute struct {
	Reference  string
	Intent     string
	Attempt    string
	Status     DisputeStatus
	Amount     domain.Money
	Reason     string // the provider's word
	Refundable bool   // no money was withdrawn, so that a refund could still end it
	DueBy      time.Time
	Created    time.Time
}

// DisputeStatus is the state of a dispute; empty for one that is not known.
type DisputeStatus string

// The states of a dispute. No money is withdrawn for an inquiry.
const (
	DisputeInquiry       DisputeStatus = "inquiry"
	DisputeInquiryClosed DisputeStatus = "inquiry_closed"
	DisputeNeedsResponse DisputeStatus = "needs_response"
	DisputeUnderReview   DisputeStatus = "under_review"
	DisputeWon           DisputeStatus = "won"
	DisputeLost          DisputeStatus = "lost"
)
