package provider

import (
	"context"
	"errors"
	"time"

	"payonce/domain"
)

// Refunds are the calls that give money back. There is no second step and no fence here: a provider stops the repetition
// of a full refund, but a partial one sent twice under two keys is paid back twice while money is left. Only the key
// protects, for as long as the provider remembers it.
type Refunds interface {
	// CreateRefund gives a part of what was taken, or all of it, back to the buyer. After an unknown outcome the same key
	// again tells; when the key is too old or only repeats an error, list the intent's refunds and look for our name in
	// the metadata. A new key is for a refund that is proved absent, and only once nothing can be on its way any more.
	CreateRefund(ctx context.Context, key string, p RefundParams) Result

	// Refund reads the provider's present state of a refund. It changes nothing.
	Refund(ctx context.Context, reference string) Result

	// ListRefunds reads one page of the refunds of an intent, or of all intents when intent is empty. It changes nothing.
	ListRefunds(ctx context.Context, intent string, q Query) (Page[Refund], Result)
}

// RefundParams is everything that is sent to refund, stored like [IntentParams]. The amount is always given: "all that is
// left" means something else when it arrives a second time.
type RefundParams struct {
	Intent   string            `json:"intent"` // reference
	Amount   domain.Money      `json:"amount"`
	Reason   RefundReason      `json:"reason,omitempty"`
	Metadata map[string]string `json:"metadata"` // refund_id, charge_id, order_id, merchant_id
}

// RefundReason is why money goes back, for the provider's books and its fraud detection. It may be empty.
type RefundReason string

// The reasons.
const (
	RefundDuplicate  RefundReason = "duplicate"
	RefundFraudulent RefundReason = "fraudulent"
	RefundRequested  RefundReason = "requested_by_customer"
)

// RefundStatus is the state of a provider's refund. As with intents it is empty in a list for a state that is not known.
type RefundStatus string

// The states of a refund.
const (
	RefundPending   RefundStatus = "pending"   // the bank is working, the buyer has to act, or the balance does not cover it yet
	RefundSucceeded RefundStatus = "succeeded" // but not for ever: the buyer's bank can still send it back
	RefundFailed    RefundStatus = "failed"    // the money is in our balance again
	RefundCanceled  RefundStatus = "canceled"  // never paid out
)

// Refund is the part of a provider's refund that we look at.
type Refund struct {
	Reference string
	Intent    string // the reference of the intent; empty for money that was taken without one
	Attempt   string // the provider's id of the attempt that took the money
	Status    RefundStatus
	Amount    domain.Money // positive
	Reason    RefundReason
	Metadata  map[string]string
	Entry     string   // the reference of the balance transaction; empty while there is none
	Failure   *Failure // when failed
	Created   time.Time
}

// maxRefundPages bounds RefundsOf. Nobody gives one payment back in a thousand parts.
const maxRefundPages = 10

// RefundsOf reads all refunds of an intent. Only with a result that is Succeeded are they all there is: a refund that is
// missing in half a list would be made again. An intent with more than a thousand refunds is Unknown.
func RefundsOf(ctx context.Context, from Refunds, intent string) ([]Refund, Result) {
	var all []Refund
	q := Query{}
	for range maxRefundPages {
		page, result := from.ListRefunds(ctx, intent, q)
		if result.Outcome != Succeeded {
			return nil, result
		}
		all = append(all, page.Items...)
		if page.Last {
			return all, result
		}
		q.After = page.Next
	}
	return nil, Result{Outcome: Unknown, Err: errors.New("list of refunds: does not end")}
}
