package payment_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/payment"
	"payonce/repository"
	"payonce/repository/repositorytest"
)

// Commits whose answer is lost. Whether the server got COMMIT or not, the caller sees the same, so here every COMMIT of
// every keyed operation is lost in every way. What must hold is always the same, see survives.

// intention is what somebody wants under one key.
type intention struct {
	ask func(context.Context, *payment.Service, payment.Request) (payment.Reply, error)
	// once asserts that it has happened, and once only. It is given the answer.
	once func(payment.Reply)
}

// effect is what a keyed operation comes to.
type effect struct {
	name           string
	status         int   // of the right answer
	sold, reserved int64 // units, the order that it is about included
	later          []int // the COMMITs, from 1, whose loss only the same key sent again resolves
	want           func(*bundle) intention
}

var effects = []effect{
	{"a product", http.StatusCreated, 0, 0, nil, (*bundle).wantsProduct},
	{"a cart", http.StatusCreated, 0, 0, nil, (*bundle).wantsCart},
	{"an order", http.StatusCreated, 0, 1, nil, (*bundle).wantsOrder},
	{"a charge", http.StatusCreated, 1, 0, nil, func(b *bundle) intention { return b.wantsCharge(goodCard, domain.ChargeSucceeded, 1999) }},
	{"a declined charge", http.StatusPaymentRequired, 0, 1, nil, func(b *bundle) intention { return b.wantsCharge(badCard, domain.ChargeFailed, 0) }},
	{"a capture", http.StatusOK, 1, 0, nil, (*bundle).wantsCapture},
	{"a cancellation", http.StatusOK, 0, 1, []int{3}, (*bundle).wantsCancellation},
}

// theCharge is the effect with the longest chain.
func theCharge() effect {
	return effects[slices.IndexFunc(effects, func(e effect) bool { return e.name == "a charge" })]
}

func (b *bundle) wantsProduct() intention {
	sku := payment.NewID("sku")
	return intention{
		ask: func(ctx context.Context, s *payment.Service, r payment.Request) (payment.Reply, error) {
			return s.CreateProduct(ctx, r, payment.CreateProduct{SKU: sku, Name: "Jug", Active: true,
				Prices: []domain.Price{{Currency: domain.EUR, UnitAmount: 2999}}, Metadata: map[string]string{}})
		},
		once: b.oneMore("products", "product_id"),
	}
}

func (b *bundle) wantsCart() intention {
	return intention{
		ask: func(ctx context.Context, s *payment.Service, r payment.Request) (payment.Reply, error) {
			return s.CreateCart(ctx, r, payment.CreateCart{Currency: domain.EUR, Metadata: map[string]string{}})
		},
		once: b.oneMore("carts", "cart_id"),
	}
}

func (b *bundle) wantsOrder() intention {
	return intention{
		ask: func(ctx context.Context, s *payment.Service, r payment.Request) (payment.Reply, error) {
			return s.CreateOrder(ctx, r, b.orderCommand(1))
		},
		once: b.oneMore("orders", "order_id"),
	}
}

// oneMore asserts that a table has got one row more since, the one that the answer is about.
func (b *bundle) oneMore(table, id string) func(payment.Reply) {
	b.t.Helper()
	before := b.db.Count(b.t, `SELECT count(*) FROM `+table)
	return func(reply payment.Reply) {
		b.t.Helper()
		require.Equal(b.t, before+1, b.db.Count(b.t, `SELECT count(*) FROM `+table))
		require.Equal(b.t, 1, b.db.Count(b.t, `SELECT count(*) FROM `+table+` WHERE `+id+` = $1`, reply.Resource))
	}
}

func (b *bundle) wantsCharge(method string, status domain.ChargeStatus, captured int64) intention {
	order, confirms := b.order(1), b.executed("/confirm")
	return intention{
		ask: func(ctx context.Context, s *payment.Service, r payment.Request) (payment.Reply, error) {
			return s.CreateCharge(ctx, r, card(order, method))
		},
		once: func(reply payment.Reply) {
			require.Equal(b.t, status, b.charge(reply.Resource).Status)
			require.Equal(b.t, confirms+1, b.executed("/confirm"))
			b.moved(order, captured)
		},
	}
}

func (b *bundle) wantsCapture() intention {
	order, charge := b.held()
	captures := b.executed("/capture")
	return intention{
		ask: func(ctx context.Context, s *payment.Service, r payment.Request) (payment.Reply, error) {
			return s.CaptureCharge(ctx, r, all(charge))
		},
		once: func(reply payment.Reply) {
			require.Equal(b.t, charge, reply.Resource)
			require.Equal(b.t, domain.ChargeSucceeded, b.charge(charge).Status)
			require.Equal(b.t, captures+1, b.executed("/capture"))
			b.moved(order, 1999)
		},
	}
}

func (b *bundle) wantsCancellation() intention {
	order, charge := b.held()
	return intention{
		ask: func(ctx context.Context, s *payment.Service, r payment.Request) (payment.Reply, error) {
			return s.CancelCharge(ctx, r, payment.CancelCharge{ChargeID: charge})
		},
		once: func(reply payment.Reply) {
			require.Equal(b.t, charge, reply.Resource)
			require.Equal(b.t, domain.ChargeCanceled, b.charge(charge).Status)
			b.moved(order, 0)
		},
	}
}

// moved asserts what the provider and the order say about the order's money.
func (b *bundle) moved(order string, captured int64) {
	b.t.Helper()
	require.Equal(b.t, 1, b.db.Count(b.t, `SELECT count(*) FROM charges WHERE order_id = $1`, order))
	audit := b.audit(order)
	require.Equal(b.t, 1, audit.PaymentIntents)
	require.Equal(b.t, captured, audit.Captured)
	placed, err := b.Store.Order(asMerchant(b.t), merchant, order)
	require.NoError(b.t, err)
	require.Equal(b.t, captured, placed.AmountPaid)
	require.Equal(b.t, captured > 0, placed.Status == domain.OrderPaid)
}

// cutOff is another process, which reaches the database through a network that is cut where when says. For a black hole
// its patience with a silent network is a fraction of what it is in life, and so is the server's with an abandoned
// transaction; the order stays the same: the server gives up first.
func (b *bundle) cutOff(cut repositorytest.Cut, when func(int) bool) (*payment.Service, *repositorytest.Proxy) {
	b.t.Helper()
	proxy, o, settings := repositorytest.NewProxy(b.t, b.db), repository.Options{}, url.Values{}
	if cut.Way == repositorytest.BlackHole {
		o.Silence = 600 * time.Millisecond
		settings.Set("idle_in_transaction_session_timeout", "300")
	}
	o.URL = proxy.URL(b.t, b.db, settings)
	store, err := repository.Open(o)
	require.NoError(b.t, err)
	b.t.Cleanup(func() { require.NoError(b.t, store.Close()) })
	s := b.service()
	s.Store = store
	b.between.store, b.between.exclusive = store, true
	proxy.Cut(cut, when)
	return s, proxy
}

// commitsOf is how many COMMITs work makes when nothing is cut, those of its reads included.
func (b *bundle) commitsOf(prepare func(*bundle) (work func(*payment.Service))) int {
	b.t.Helper()
	work := prepare(b)
	s, proxy := b.cutOff(repositorytest.Cut{}, nil)
	work(s)
	commits, _ := proxy.Seen()
	require.Positive(b.t, commits)
	b.between.exclusive = false
	return commits
}

// tryAgain reports whether a caller is honestly told that the outcome is not known yet.
func tryAgain(reply payment.Reply, err error) bool {
	switch {
	case err == nil:
		return reply.Answer.Status == http.StatusAccepted && reply.RetryAfter > 0
	case domain.CodeOf(err) == domain.CodeKeyInProgress:
		return true
	default:
		return repository.Unavailable(err)
	}
}

// survives loses commits of one request and asserts what must hold whichever it was:
//
//   - The caller gets the right answer, or is told to try again.
//   - The same key, sent to another process, gets the right answer: the same one, if there was one.
//   - It has happened once, here and at the provider, and nothing is left open or held.
func (b *bundle) survives(e effect, cut repositorytest.Cut, when func(int) bool) (answered bool) {
	b.t.Helper()
	t, before := b.t, b.stock()
	want, request := e.want(b), b.request()
	s, proxy := b.cutOff(cut, when)
	first, err := want.ask(asMerchant(t), s, request)
	_, cuts := proxy.Seen()
	require.Positive(t, cuts, "nothing was cut")
	b.holdsNothing(s)
	answered = err == nil && first.RetryAfter == 0
	if answered {
		require.Equal(t, e.status, first.Answer.Status, string(first.Answer.Body))
		require.False(t, first.Replayed, "this request is the first one, whatever its commits went through")
	} else {
		require.True(t, tryAgain(first, err), "%+v %v", first, err)
		b.leaseEnds()
	}

	second, err := want.ask(asMerchant(t), b.Service, again(request))
	require.NoError(t, err)
	require.Equal(t, e.status, second.Answer.Status, string(second.Answer.Body))
	if answered {
		require.True(t, second.Replayed)
		require.Equal(t, first.Answer, second.Answer)
		require.Equal(t, first.Resource, second.Resource)
		require.Equal(t, first.ExpiresAt, second.ExpiresAt)
	}
	third, err := want.ask(asMerchant(t), b.Service, again(request))
	require.NoError(t, err)
	require.True(t, third.Replayed)
	require.Equal(t, second.Answer, third.Answer)

	want.once(second)
	b.left(before, e.sold, e.reserved)
	return answered
}

// holdsNothing asserts that a process that was cut off holds nothing any more, and held nothing at a provider call.
func (b *bundle) holdsNothing(s *payment.Service) {
	b.t.Helper()
	require.Zero(b.t, s.Store.InUse(), "a connection is still taken")
	require.Zero(b.t, s.Store.Stats().InUse, "a place at the database is still taken")
	require.Zero(b.t, b.between.busy.Load(), "the provider was called with a connection in use")
	b.between.exclusive = false
}

func (b *bundle) stock() domain.Stock {
	b.t.Helper()
	stock, err := b.Store.Stock(asMerchant(b.t), merchant, b.product)
	require.NoError(b.t, err)
	return stock
}

// left asserts what has gone from the stock since, and that no key is left open.
func (b *bundle) left(before domain.Stock, sold, reserved int64) {
	b.t.Helper()
	now := b.stock()
	require.Equal(b.t, before.OnHand-sold, now.OnHand)
	require.Equal(b.t, before.Reserved+reserved, now.Reserved)
	require.Zero(b.t, b.db.Count(b.t, `SELECT count(*) FROM idempotency_keys WHERE recovery_point <> 'finished'`))
}

// everyCut runs a test for the cuts and every COMMIT that work makes. The cuts have a database each and go on together:
// they mostly wait for a silent network.
func everyCut(t *testing.T, cuts []repositorytest.Cut, prepare func(*bundle) (work func(*payment.Service)), test func(b *bundle, cut repositorytest.Cut, n int)) {
	t.Helper()
	commits := setup(t).commitsOf(prepare)
	var all sync.WaitGroup
	defer all.Wait()
	for _, cut := range cuts {
		all.Go(func() {
			t.Run(cut.String(), func(t *testing.T) {
				b := setup(t)
				for n := 1; n <= commits && !t.Failed(); n++ {
					t.Run(fmt.Sprintf("commit %d of %d", n, commits), func(t *testing.T) {
						b.t = t
						test(b, cut, n)
					})
				}
			})
		})
	}
}

// asking is the work of one request.
func asking(want func(*bundle) intention) func(*bundle) func(*payment.Service) {
	return func(b *bundle) func(*payment.Service) {
		wanted := want(b)
		return func(s *payment.Service) {
			_, err := wanted.ask(asMerchant(b.t), s, b.request())
			require.NoError(b.t, err)
		}
	}
}

func TestLostCommit_OfAnyOperation_OneEffectAndNoWrongAnswer(t *testing.T) {
	t.Parallel()
	for _, effect := range effects {
		t.Run(effect.name, func(t *testing.T) {
			t.Parallel()
			everyCut(t, repositorytest.Cuts(), asking(effect.want), func(b *bundle, cut repositorytest.Cut, n int) {
				answered := b.survives(effect, cut, repositorytest.Nth(n))
				require.Equal(b.t, !slices.Contains(effect.later, n), answered, "resolved before the caller hears anything")
			})
		})
	}
}

// A charge that meets too many commits in doubt in a row gives up, and the key is all its caller needs.
func TestLostCommits_InARow_OneEffectAndNoWrongAnswer(t *testing.T) {
	t.Parallel()
	charge := theCharge()
	cuts := slices.DeleteFunc(repositorytest.Cuts(), func(c repositorytest.Cut) bool { return c.Way != repositorytest.FIN })
	for row := 2; row <= 3; row++ {
		t.Run(fmt.Sprintf("%d in a row", row), func(t *testing.T) {
			t.Parallel()
			everyCut(t, cuts, asking(charge.want), func(b *bundle, cut repositorytest.Cut, n int) {
				b.survives(charge, cut, func(at int) bool { return n <= at && at < n+row })
			})
		})
	}
}

// In life a silent network takes as long to be noticed as recording may take at all. The commit is resolved all the same.
func TestLostCommit_SilenceAsLongAsInLife_StillResolved(t *testing.T) {
	t.Parallel()
	charge := theCharge()
	b := setup(t)
	commits := b.commitsOf(asking(charge.want))
	want := charge.want(b)
	s, proxy := b.cutOff(repositorytest.Cut{}, nil) // with the patience of life
	proxy.Cut(repositorytest.Cut{Moment: repositorytest.AfterCommit, Way: repositorytest.BlackHole}, repositorytest.Nth(commits))
	reply, err := want.ask(asMerchant(t), s, b.request())
	require.NoError(t, err)
	require.Equal(t, charge.status, reply.Answer.Status)
	want.once(reply)
}

func TestLostCommit_OfRecovery_EndsAsIfNothingHadHappened(t *testing.T) {
	t.Parallel()
	cuts := []repositorytest.Cut{
		{Moment: repositorytest.BeforeCommit, Way: repositorytest.FIN},
		{Moment: repositorytest.AfterCommit, Way: repositorytest.FIN},
		{Moment: repositorytest.BeforeCommit, Way: repositorytest.BlackHole}, // the transaction in doubt lives on for a while
	}
	for _, row := range []struct {
		crash          string
		sent           bool
		status         domain.ChargeStatus
		captured       int64
		sold, reserved int64
	}{
		{"before the intent was confirmed", false, domain.ChargeCanceled, 0, 0, 1},
		{"after the intent was confirmed", true, domain.ChargeSucceeded, 1999, 1, 0},
	} {
		t.Run(row.crash, func(t *testing.T) {
			t.Parallel()
			broken := func(b *bundle) (order string, request payment.Request) {
				order, request = b.order(1), b.request()
				b.dies("confirm", row.sent)
				b.killed(func() { _, _ = b.CreateCharge(asMerchant(b.t), request, card(order, goodCard)) })
				b.mended()
				b.longAgo()
				return order, request
			}
			recovering := func(b *bundle) func(*payment.Service) {
				broken(b)
				return func(s *payment.Service) {
					settled, err := s.Recover(asSystem(b.t), 10)
					require.NoError(b.t, err)
					require.Equal(b.t, 1, settled)
				}
			}
			everyCut(t, cuts, recovering, func(b *bundle, cut repositorytest.Cut, n int) {
				t, before := b.t, b.stock()
				order, request := broken(b)
				s, proxy := b.cutOff(cut, repositorytest.Nth(n))
				settled, err := s.Recover(asSystem(t), 10)
				require.True(t, err == nil || repository.Unavailable(err), "%v", err)
				_, cuts := proxy.Seen()
				require.Equal(t, 1, cuts)
				b.holdsNothing(s)

				b.longAgo()
				later, err := b.Recover(asSystem(t), 10)
				require.NoError(t, err)
				require.Equal(t, 1, settled+later, "settled once, and said so once")
				reply, err := b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
				require.NoError(t, err)
				require.True(t, reply.Replayed)
				require.Equal(t, row.status, b.charge(reply.Resource).Status)
				b.moved(order, row.captured)
				b.left(before, row.sold, row.reserved)
			})
		})
	}
}
