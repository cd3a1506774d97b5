package edge_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/provider"
	"payonce/provider/edge"
)

// double is a provider whose calls all come to what it is told, and which remembers what arrived.
type double struct {
	answer atomic.Pointer[func(context.Context, string) provider.Result]

	mu      sync.Mutex
	arrived []string
	working int
	most    int
}

var well = provider.Result{Outcome: provider.Succeeded, HTTPStatus: 200}

func silent(err error) provider.Result { return provider.Result{Outcome: provider.Unknown, Err: err} }

func (d *double) comesTo(r provider.Result) {
	d.does(func(context.Context, string) provider.Result { return r })
}

func (d *double) does(answer func(ctx context.Context, call string) provider.Result) {
	d.answer.Store(&answer)
}

func (d *double) call(ctx context.Context, call string) provider.Result {
	d.mu.Lock()
	d.arrived = append(d.arrived, call)
	d.working++
	d.most = max(d.most, d.working)
	d.mu.Unlock()
	defer func() { d.mu.Lock(); d.working--; d.mu.Unlock() }()
	return (*d.answer.Load())(ctx, call)
}

// seen is what arrived since it was asked last.
func (d *double) seen() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := d.arrived
	d.arrived = nil
	return seen
}

func (d *double) Name() string { return "double" }

func (d *double) CreateIntent(ctx context.Context, key string, p provider.IntentParams) provider.Result {
	return d.call(ctx, "create "+key+" "+p.Description)
}

func (d *double) ConfirmIntent(ctx context.Context, key, reference string, p provider.ConfirmParams) provider.Result {
	return d.call(ctx, "confirm "+key+" "+reference+" "+p.PaymentMethod)
}

func (d *double) CaptureIntent(ctx context.Context, key, reference string, amount int64) provider.Result {
	return d.call(ctx, "capture "+key+" "+reference+" "+string(rune('0'+amount)))
}

func (d *double) CancelIntent(ctx context.Context, key, reference string) provider.Result {
	return d.call(ctx, "cancel "+key+" "+reference)
}

func (d *double) Intent(ctx context.Context, reference string) provider.Result {
	return d.call(ctx, "intent "+reference)
}

func (d *double) CreateRefund(ctx context.Context, key string, p provider.RefundParams) provider.Result {
	return d.call(ctx, "refund "+key+" "+p.Intent)
}

func (d *double) Refund(ctx context.Context, reference string) provider.Result {
	return d.call(ctx, "refund "+reference)
}

func (d *double) Dispute(ctx context.Context, reference string) provider.Result {
	return d.call(ctx, "dispute "+reference)
}

func (d *double) ListIntents(ctx context.Context, q provider.Query) (provider.Page[provider.Intent], provider.Result) {
	return page[provider.Intent](ctx, d, "intents", q)
}

func (d *double) ListRefunds(ctx context.Context, intent string, q provider.Query) (provider.Page[provider.Refund], provider.Result) {
	return page[provider.Refund](ctx, d, "refunds "+intent, q)
}

func (d *double) ListBalanceTransactions(ctx context.Context, payout string, q provider.Query) (provider.Page[provider.BalanceTransaction], provider.Result) {
	return page[provider.BalanceTransaction](ctx, d, "entries "+payout, q)
}

func (d *double) ListPayouts(ctx context.Context, q provider.Query) (provider.Page[provider.Payout], provider.Result) {
	return page[provider.Payout](ctx, d, "payouts", q)
}

func (d *double) ListDisputes(ctx context.Context, q provider.Query) (provider.Page[provider.Dispute], provider.Result) {
	return page[provider.Dispute](ctx, d, "disputes", q)
}

func (d *double) ListEvents(ctx context.Context, q provider.Query) (provider.Page[provider.Event], provider.Result) {
	return page[provider.Event](ctx, d, "events", q)
}

func (d *double) VerifyEvent(body []byte, signature string, _ []string, _ time.Time) (provider.Event, error) {
	return provider.Event{Reference: string(body), Type: signature}, nil
}

func page[T any](ctx context.Context, d *double, call string, q provider.Query) (provider.Page[T], provider.Result) {
	result := d.call(ctx, call+" "+q.After)
	return provider.Page[T]{Items: make([]T, 1), Next: "next"}, result
}

// bubble runs a test in a bubble of virtual time, with an edge in front of a double that answers well.
func bubble(t *testing.T, change func(*edge.Options), test func(*testing.T, *edge.Edge, *double)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &double{}
		d.comesTo(well)
		o := edge.Options{
			Places: 4, Reserved: 1, Wait: time.Second, Attempt: 10 * time.Second,
			Breaker: edge.BreakerOptions{Failures: 3, OpenFor: 20 * time.Second},
		}
		if change != nil {
			change(&o)
		}
		e, err := edge.New(d, o)
		require.NoError(t, err)
		test(t, e, d)
	})
}

func confirm(ctx context.Context, p provider.Provider) provider.Result {
	return p.ConfirmIntent(ctx, "k", "pi", provider.ConfirmParams{PaymentMethod: "pm"})
}

func look(ctx context.Context, p provider.Provider) provider.Result { return p.Intent(ctx, "pi") }

func fence(ctx context.Context, p provider.Provider) provider.Result {
	return p.CancelIntent(ctx, "k", "pi")
}

const (
	confirmed = "confirm k pi pm"
	looked    = "intent pi"
	fenced    = "cancel k pi"
	probed    = "intents "
)

// refused checks that a call was not sent and says when to come back.
func refused(t *testing.T, got provider.Result, because string, after time.Duration) {
	t.Helper()
	require.Equal(t, provider.NotSent, got.Outcome)
	require.ErrorContains(t, got.Err, because)
	require.Equal(t, after, got.RetryAfter)
	require.False(t, got.Repeatable, "what is shed must not come back at once")
}

var errCut = errors.Join(errors.New("stripe confirm"), io.ErrUnexpectedEOF)

func refundParams() provider.RefundParams {
	return provider.RefundParams{Intent: "pi", Amount: domain.Money{Amount: 1, Currency: domain.EUR}}
}
