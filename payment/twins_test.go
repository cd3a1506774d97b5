package payment_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/payment"
	"payonce/provider"
	"payonce/repository"
)

// hold takes the stock of the product in a transaction of its own, so that whoever orders it is stuck inside its
// transaction until release, or until PostgreSQL's lock_timeout of two seconds.
func (b *bundle) hold(s *payment.Service) (release func()) {
	b.t.Helper()
	held, end, over := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		over <- s.Store.InTx(context.WithoutCancel(asMerchant(b.t)), func(tx *repository.Tx) error {
			if _, err := tx.LockStock(asMerchant(b.t), merchant, []string{b.product}); err != nil {
				return err
			}
			close(held)
			<-end
			return nil
		})
	}()
	<-held
	return func() {
		b.t.Helper()
		close(end)
		require.NoError(b.t, <-over)
	}
}

// patientDatabase lets a test on a busy machine hold a row for longer than PostgreSQL would allow.
func patientDatabase(o *repository.Options) {
	o.URL += "&lock_timeout=60000&statement_timeout=60000&idle_in_transaction_session_timeout=60000"
}

// arriving is a context that tells when somebody begins to wait on it.
type arriving struct {
	context.Context //nolint:containedctx // it is a context
	arrived         func()
}

func (a arriving) Done() <-chan struct{} {
	a.arrived()
	return a.Context.Done()
}

// crowd starts n requests with the same key and returns when all of them wait for something.
func (b *bundle) crowd(n int, s *payment.Service, request payment.Request, cmd payment.CreateOrder) (answers func() []payment.Reply) {
	b.t.Helper()
	replies, failures := make([]payment.Reply, n), make([]error, n)
	var all, waiting sync.WaitGroup
	waiting.Add(n)
	for i := range n {
		all.Go(func() {
			ctx := arriving{asMerchant(b.t), sync.OnceFunc(waiting.Done)}
			replies[i], failures[i] = s.CreateOrder(ctx, again(request), cmd)
		})
	}
	waiting.Wait()
	return func() []payment.Reply {
		b.t.Helper()
		all.Wait()
		require.NoError(b.t, errors.Join(failures...))
		return replies
	}
}

// stuck returns when the request that works has claimed its key and waits for the stock that is held.
func (b *bundle) stuck() {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		return b.db.Count(b.t, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 1
	}, 30*time.Second, time.Millisecond)
}

// otherProcess is another service, with a pool of its own, over the same database.
func (b *bundle) otherProcess(conns int) *payment.Service {
	b.t.Helper()
	store, err := repository.Open(repository.Options{URL: b.db.URL, MaxConns: conns})
	require.NoError(b.t, err)
	b.t.Cleanup(func() { require.NoError(b.t, store.Close()) })
	other := b.service()
	other.Store = store
	return other
}

func TestTwins_TwoHundredWaitersOnOneKey_LeaveOtherTrafficAlone(t *testing.T) {
	t.Parallel()
	b := setup(t, patientDatabase, func(o *repository.Options) { o.MaxConns = 4 })
	here, there := b.Service, b.otherProcess(4)
	release := b.hold(b.otherProcess(1))
	request := b.request()
	request.Wait = time.Minute
	answersHere := b.crowd(200, here, request, b.orderCommand(1))
	answersThere := b.crowd(200, there, request, b.orderCommand(1))

	for range 100 {
		require.LessOrEqual(t, here.Store.InUse(), 1, "the one that works has a connection, and nobody else")
		require.LessOrEqual(t, there.Store.InUse(), 1, "the one that asks has a connection now and then")
		for _, s := range []*payment.Service{here, there} {
			_, err := s.CreateCart(asMerchant(t), b.request(), payment.CreateCart{Currency: domain.EUR, Metadata: map[string]string{}})
			require.NoError(t, err)
		}
	}
	release()
	first := 0
	for _, reply := range append(answersHere(), answersThere()...) {
		require.Equal(t, http.StatusCreated, reply.Answer.Status)
		if !reply.Replayed {
			first++
		}
	}
	require.Equal(t, 1, first)
	require.Equal(t, 1, b.db.Count(t, `SELECT count(*) FROM orders`))
}

func TestTwins_WhoDoesNotWantToWait_IsToldAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, patientDatabase)
	release := b.hold(b.otherProcess(1))
	request := b.request()
	request.Wait = time.Minute
	answers := b.crowd(1, b.Service, request, b.orderCommand(1))
	b.stuck()
	for place, s := range map[string]*payment.Service{"in the same process": b.Service, "in another": b.otherProcess(4)} {
		impatient := again(request)
		impatient.Wait = 0
		_, err := s.CreateOrder(asMerchant(t), impatient, b.orderCommand(1))
		require.Equal(t, domain.CodeKeyInProgress, domain.CodeOf(err), place)
	}
	release()
	require.False(t, answers()[0].Replayed)
}

func TestTwins_OtherPayloadWhileTheFirstRuns_IsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, patientDatabase)
	release := b.hold(b.otherProcess(1))
	request := b.request()
	request.Wait = time.Minute
	answers := b.crowd(1, b.Service, request, b.orderCommand(1))
	b.stuck()
	_, err := b.CreateOrder(asMerchant(t), again(request), b.orderCommand(2))
	require.Equal(t, domain.CodeKeyReused, domain.CodeOf(err))
	release()
	require.Equal(t, http.StatusCreated, answers()[0].Answer.Status, "the first is untouched")
}

func TestTwins_TheFirstComesToNothing_TheNextOneWorks(t *testing.T) {
	t.Parallel()
	b := setup(t, patientDatabase)
	release := b.hold(b.otherProcess(1))
	request := b.request()
	request.Wait = time.Minute
	var failing sync.Once
	b.Present = func(p payment.Presentation) domain.Answer {
		failing.Do(func() { panic("a bug in the rendering") })
		return present(p)
	}
	died := make(chan any)
	go func() {
		defer func() { died <- recover() }()
		_, _ = b.CreateOrder(asMerchant(t), request, b.orderCommand(1))
	}()
	b.stuck()
	answers := b.crowd(20, b.Service, request, b.orderCommand(1))
	release()
	require.Equal(t, "a bug in the rendering", <-died)
	first := 0
	for _, reply := range answers() {
		require.Equal(t, http.StatusCreated, reply.Answer.Status)
		if !reply.Replayed {
			first++
		}
	}
	require.Equal(t, 1, first)
	require.Equal(t, 1, b.db.Count(t, `SELECT count(*) FROM orders`))
}

func TestHangUp_BeforeTheClaimNothingHappens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	gone, hangUp := context.WithCancel(asMerchant(t))
	hangUp()
	request := b.request()
	_, err := b.CreateOrder(gone, request, b.orderCommand(1))
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, b.db.Count(t, `SELECT count(*) FROM idempotency_keys WHERE operation = 'orders.create'`))
}

func TestHangUp_AfterTheClaimTheAnswerIsStored(t *testing.T) {
	t.Parallel()
	b := setup(t, patientDatabase)
	release := b.hold(b.otherProcess(1))
	gone, hangUp := context.WithCancel(asMerchant(t))
	request := b.request()
	through := make(chan payment.Reply)
	go func() {
		reply, _ := b.CreateOrder(gone, request, b.orderCommand(1))
		through <- reply
	}()
	b.stuck()
	hangUp()
	release()
	first := <-through
	require.Equal(t, http.StatusCreated, first.Answer.Status)
	replay, err := b.CreateOrder(asMerchant(t), again(request), b.orderCommand(1))
	require.NoError(t, err)
	require.True(t, replay.Replayed)
	require.Equal(t, first.Answer, replay.Answer)
}

func TestPanic_WithTheKeyClaimed_TheSameKeyGoesOnAtOnce(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"create", "confirm"} {
		for _, executed := range []bool{false, true} {
			b := setup(t)
			order, request := b.order(1), b.request()
			b.between.before = func(k string) *provider.Result {
				if k == kind && !executed {
					panic("a bug")
				}
				return nil
			}
			b.between.after = func(k string, r provider.Result) provider.Result {
				if k == kind && executed {
					panic("a bug")
				}
				return r
			}
			require.PanicsWithValue(t, "a bug", func() { _, _ = b.CreateCharge(asMerchant(t), request, card(order, goodCard)) })
			b.mended()

			next := again(request)
			next.Wait = 0
			reply, err := b.CreateCharge(asMerchant(t), next, card(order, goodCard))
			require.NoError(t, err, "at %s", kind)
			require.Equal(t, http.StatusCreated, reply.Answer.Status)
			require.Equal(t, 1, b.audit(order).Succeeded)
		}
	}
}

func TestPanic_WhileTheAnswerIsRendered_TheSameKeyGoesOnAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order, request := b.order(1), b.request()
	whole := b.Present
	b.Present = func(payment.Presentation) domain.Answer { panic("a bug") }
	require.Panics(t, func() { _, _ = b.CreateCharge(asMerchant(t), request, card(order, goodCard)) })
	b.Present = whole
	next := again(request)
	next.Wait = 0
	reply, err := b.CreateCharge(asMerchant(t), next, card(order, goodCard))
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, reply.Answer.Status)
	require.Equal(t, 1, b.audit(order).Succeeded)
	require.Zero(t, b.Store.InUse(), "and no connection is lost")
}
