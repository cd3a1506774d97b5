package simulator

import "time"

// The states of a refund. A refund to a card never asks anybody to act, so requires_action, and the canceled that can
// come after it, do not occur here.
const (
	refundPending   = "pending"
	refundSucceeded = "succeeded"
	refundFailed    = "failed"
)

// refundDelay is how long the bank's word on a refund takes, for the test tokens that wait for one.
const refundDelay = time.Hour

// Why a refund failed.
const (
	failureCardGone = "expired_or_canceled_card"
	failureDisputed = "charge_for_pending_refund_disputed"
)

// refundCourse is how refunds to a test card go.
type refundCourse int

const (
	refundsAtOnce    refundCourse = iota
	refundsLater                  // pending first
	refundFailsLater              // succeeded first
)

// refund gives money of a charge back. Amounts are in the currency's minor unit, times in Unix seconds.
type refund struct {
	ID                        string             `json:"id"`
	Object                    string             `json:"object"`
	Amount                    int64              `json:"amount"`
	BalanceTransaction        reference          `json:"balance_transaction"`
	Charge                    reference          `json:"charge"`
	Created                   int64              `json:"created"`
	Currency                  string             `json:"currency"`
	DestinationDetails        destinationDetails `json:"destination_details"`
	FailureBalanceTransaction reference          `json:"failure_balance_transaction,omitzero"`
	FailureReason             string             `json:"failure_reason,omitempty"`
	Metadata                  map[string]string  `json:"metadata"`
	PaymentIntent             reference          `json:"payment_intent"`
	Reason                    nullable           `json:"reason"`
	ReceiptNumber             unset              `json:"receipt_number"`
	SourceTransferReversal    unset              `json:"source_transfer_reversal"`
	Status                    string             `json:"status"`
	TransferReversal          unset              `json:"transfer_reversal"`
}

func (r refund) key() string { return r.ID }

type destinationDetails struct {
	Card destinationCard `json:"card"`
	Type string          `json:"type"`
}

type destinationCard struct {
	ReferenceStatus string `json:"reference_status"`
	ReferenceType   string `json:"reference_type"`
	Type            string `json:"type"`
}

func (e *effect) refund(id string) (refund, bool) { return find(e.change.Refunds, e.world.refunds, id) }

func (e *effect) putRefund(r refund) { e.change.Refunds = replace(e.change.Refunds, r) }

func (e *effect) showRefund(r refund, x expansion) refund {
	e.expandCharge(&r.Charge, x, "charge")
	e.expandIntent(&r.PaymentIntent, x)
	e.expandEntry(&r.BalanceTransaction, x, "balance_transaction")
	e.expandEntry(&r.FailureBalanceTransaction, x, "failure_balance_transaction")
	return r
}

// refundsOf is the list that a charge shows when it is asked for its refunds: the newest ones.
func (e *effect) refundsOf(chargeID string, x expansion) *list[any] {
	rows, more := pageOf(e.world.refunds, page{limit: defaultLimit}, func(r refund) bool { return r.Charge.id == chargeID })
	shown := list[any]{Object: "list", Data: []any{}, HasMore: more, URL: "/v1/charges/" + chargeID + "/refunds"}
	for _, r := range rows {
		shown.Data = append(shown.Data, e.showRefund(r, x))
	}
	return &shown
}
