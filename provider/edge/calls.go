package edge

import (
	"context"
	"time"

	"payonce/provider"
)

// The port is written out and not embedded, so that a call that is new in the port cannot pass without limits.

// Name is the provider's.
func (e *Edge) Name() string { return e.next.Name() }

// CreateIntent is work: it moves no money, but it is where a payment begins.
func (e *Edge) CreateIntent(ctx context.Context, key string, p provider.IntentParams) provider.Result {
	return e.do(ctx, Work, func(ctx context.Context) provider.Result { return e.next.CreateIntent(ctx, key, p) })
}

// ConfirmIntent is work.
func (e *Edge) ConfirmIntent(ctx context.Context, key, reference string, p provider.ConfirmParams) provider.Result {
	return e.do(ctx, Work, func(ctx context.Context) provider.Result { return e.next.ConfirmIntent(ctx, key, reference, p) })
}

// CaptureIntent is work: held money can wait for days.
func (e *Edge) CaptureIntent(ctx context.Context, key, reference string, amount int64) provider.Result {
	return e.do(ctx, Work, func(ctx context.Context) provider.Result { return e.next.CaptureIntent(ctx, key, reference, amount) })
}

// CancelIntent is a fence.
func (e *Edge) CancelIntent(ctx context.Context, key, reference string) provider.Result {
	return e.do(ctx, Fence, func(ctx context.Context) provider.Result { return e.next.CancelIntent(ctx, key, reference) })
}

// Intent is a read.
func (e *Edge) Intent(ctx context.Context, reference string) provider.Result {
	return e.do(ctx, Read, func(ctx context.Context) provider.Result { return e.next.Intent(ctx, reference) })
}

// CreateRefund is work.
func (e *Edge) CreateRefund(ctx context.Context, key string, p provider.RefundParams) provider.Result {
	return e.do(ctx, Work, func(ctx context.Context) provider.Result { return e.next.CreateRefund(ctx, key, p) })
}

// Refund is a read.
func (e *Edge) Refund(ctx context.Context, reference string) provider.Result {
	return e.do(ctx, Read, func(ctx context.Context) provider.Result { return e.next.Refund(ctx, reference) })
}

// Dispute is a read.
func (e *Edge) Dispute(ctx context.Context, reference string) provider.Result {
	return e.do(ctx, Read, func(ctx context.Context) provider.Result { return e.next.Dispute(ctx, reference) })
}

// ListIntents is a read, as every page of every list is.
func (e *Edge) ListIntents(ctx context.Context, q provider.Query) (provider.Page[provider.Intent], provider.Result) {
	return listed(ctx, e, q, e.next.ListIntents)
}

// ListRefunds is a read.
func (e *Edge) ListRefunds(ctx context.Context, intent string, q provider.Query) (provider.Page[provider.Refund], provider.Result) {
	return listed(ctx, e, q, func(ctx context.Context, q provider.Query) (provider.Page[provider.Refund], provider.Result) {
		return e.next.ListRefunds(ctx, intent, q)
	})
}

// ListBalanceTransactions is a read.
func (e *Edge) ListBalanceTransactions(ctx context.Context, payout string, q provider.Query) (provider.Page[provider.BalanceTransaction], provider.Result) {
	return listed(ctx, e, q, func(ctx context.Context, q provider.Query) (provider.Page[provider.BalanceTransaction], provider.Result) {
		return e.next.ListBalanceTransactions(ctx, payout, q)
	})
}

// ListPayouts is a read.
func (e *Edge) ListPayouts(ctx context.Context, q provider.Query) (provider.Page[provider.Payout], provider.Result) {
	return listed(ctx, e, q, e.next.ListPayouts)
}

// ListDisputes is a read.
func (e *Edge) ListDisputes(ctx context.Context, q provider.Query) (provider.Page[provider.Dispute], provider.Result) {
	return listed(ctx, e, q, e.next.ListDisputes)
}

// ListEvents is a read.
func (e *Edge) ListEvents(ctx context.Context, q provider.Query) (provider.Page[provider.Event], provider.Result) {
	return listed(ctx, e, q, e.next.ListEvents)
}

// VerifyEvent sends nothing, so nothing limits it.
func (e *Edge) VerifyEvent(body []byte, signature string, secrets []string, now time.Time) (provider.Event, error) {
	return e.next.VerifyEvent(body, signature, secrets, now)
}

func listed[T any](ctx context.Context, e *Edge, q provider.Query,
	read func(context.Context, provider.Query) (provider.Page[T], provider.Result),
) (page provider.Page[T], result provider.Result) {
	result = e.do(ctx, Read, func(ctx context.Context) (result provider.Result) {
		page, result = read(ctx, q)
		return result
	})
	return page, result
}
