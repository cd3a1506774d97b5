package edge

import (
	"context"

	"payonce/provider"
)

// Retrying is a provider whose calls are repeated, with the same key, where an answer proves that this can do no harm. See
// [Retrier]. Lists are not repeated: whoever reads page by page does that.
type Retrying struct {
	provider.Provider
	retrier *Retrier
}

var _ provider.Provider = Retrying{}

// NewRetrying puts a retrier in front of a provider, usually of an [Edge]: each repetition then keeps its limits, too.
func NewRetrying(next provider.Provider, r *Retrier) Retrying { return Retrying{next, r} }

// CreateIntent implements [provider.Intents].
func (r Retrying) CreateIntent(ctx context.Context, key string, p provider.IntentParams) provider.Result {
	return r.retrier.Do(ctx, Work, func(ctx context.Context) provider.Result { return r.Provider.CreateIntent(ctx, key, p) })
}

// ConfirmIntent implements [provider.Intents].
func (r Retrying) ConfirmIntent(ctx context.Context, key, reference string, p provider.ConfirmParams) provider.Result {
	return r.retrier.Do(ctx, Work, func(ctx context.Context) provider.Result { return r.Provider.ConfirmIntent(ctx, key, reference, p) })
}

// CaptureIntent implements [provider.Intents].
func (r Retrying) CaptureIntent(ctx context.Context, key, reference string, amount int64) provider.Result {
	return r.retrier.Do(ctx, Work, func(ctx context.Context) provider.Result {
		return r.Provider.CaptureIntent(ctx, key, reference, amount)
	})
}

// CancelIntent implements [provider.Intents].
func (r Retrying) CancelIntent(ctx context.Context, key, reference string) provider.Result {
	return r.retrier.Do(ctx, Fence, func(ctx context.Context) provider.Result { return r.Provider.CancelIntent(ctx, key, reference) })
}

// Intent implements [provider.Intents].
func (r Retrying) Intent(ctx context.Context, reference string) provider.Result {
	return r.retrier.Do(ctx, Read, func(ctx context.Context) provider.Result { return r.Provider.Intent(ctx, reference) })
}

// CreateRefund implements [provider.Refunds].
func (r Retrying) CreateRefund(ctx context.Context, key string, p provider.RefundParams) provider.Result {
	return r.retrier.Do(ctx, Work, func(ctx context.Context) provider.Result { return r.Provider.CreateRefund(ctx, key, p) })
}

// Refund implements [provider.Refunds].
func (r Retrying) Refund(ctx context.Context, reference string) provider.Result {
	return r.retrier.Do(ctx, Read, func(ctx context.Context) provider.Result { return r.Provider.Refund(ctx, reference) })
}

// Dispute implements [provider.Ledger].
func (r Retrying) Dispute(ctx context.Context, reference string) provider.Result {
	return r.retrier.Do(ctx, Read, func(ctx context.Context) provider.Result { return r.Provider.Dispute(ctx, reference) })
}
