package payment_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/payment"
	"payonce/provider"
	"payonce/repository"
)

func TestCharge_TakesTheOrdersTotalOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.between.exclusive = true
	order := b.order(2)
	request := b.request()

	first, err := b.CreateCharge(asMerchant(t), request, card(order, goodCard))
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, first.Answer.Status, string(first.Answer.Body))
	require.False(t, first.Replayed)

	paid, err := b.Store.Order(asMerchant(t), merchant, order)
	require.NoError(t, err)
	require.Equal(t, domain.OrderPaid, paid.Status)
	require.Equal(t, int64(3998), paid.AmountPaid)
	require.Equal(t, first.Resource, *paid.ChargeID)
	stock, err := b.Store.Stock(asMerchant(t), merchant, b.product)
	require.NoError(t, err)
	require.Equal(t, domain.Stock{ProductID: b.product, OnHand: 98, Reserved: 0}, stock)

	second, err := b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
	require.NoError(t, err)
	require.True(t, second.Replayed)
	require.Equal(t, request.RequestID, second.OriginalID)
	require.Equal(t, first.Answer, second.Answer, "byte for byte")

	require.Equal(t, money{Reference: order, PaymentIntents: 1, Succeeded: 1, Captured: 3998}, b.audit(order))
	require.Zero(t, b.between.busy.Load(), "no database connection is held while the provider is called")
	require.Equal(t, 1, b.db.Count(t, `SELECT count(*) FROM charge_history WHERE charge_id = $1 AND status = 'succeeded' AND resolved_by = 'response'`, first.Resource),
		"the database itself wrote down who proved it")
}

func TestCharge_WorksWithOneConnection(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *repository.Options) { o.MaxConns = 1 })
	reply, err := b.CreateCharge(asMerchant(t), b.request(), card(b.order(1), goodCard))
	require.NoError(t, err, "a use of the pool inside a transaction would wait for itself")
	require.Equal(t, http.StatusCreated, reply.Answer.Status)
}

func TestCharge_DeclineIsFinalAndANewKeyMayTryAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order, request := b.order(1), b.request()
	first, err := b.CreateCharge(asMerchant(t), request, card(order, badCard))
	require.NoError(t, err)
	require.Equal(t, http.StatusPaymentRequired, first.Answer.Status)
	second, err := b.CreateCharge(asMerchant(t), again(request), card(order, badCard))
	require.NoError(t, err)
	require.True(t, second.Replayed)
	require.Equal(t, first.Answer, second.Answer)

	charge, err := b.Store.Charge(asMerchant(t), merchant, first.Resource)
	require.NoError(t, err)
	require.Equal(t, domain.ChargeFailed, charge.Status)
	require.Equal(t, "card_declined", charge.Failure.Code)

	third, err := b.CreateCharge(asMerchant(t), b.request(), card(order, goodCard))
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, third.Answer.Status)
	require.Equal(t, 1, b.audit(order).Succeeded)
}

func TestCharge_UnusablePaymentMethodIsAProvedRefusal(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order := b.order(1)
	reply, err := b.CreateCharge(asMerchant(t), b.request(), card(order, "pm_nobody_knows"))
	require.NoError(t, err)
	require.Equal(t, http.StatusPaymentRequired, reply.Answer.Status)
	reply, err = b.CreateCharge(asMerchant(t), b.request(), card(order, goodCard))
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, reply.Answer.Status)
}

func TestCharge_FiftyAtOnceWithOneKey_OneIntentConfirmedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order, request := b.order(1), b.request()
	replies := make([]payment.Reply, 50)
	var all sync.WaitGroup
	for i := range replies {
		all.Go(func() {
			var err error
			replies[i], err = b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
			if err != nil {
				require.Equal(t, domain.CodeKeyInProgress, domain.CodeOf(err), "%v", err)
			}
		})
	}
	all.Wait()
	first := 0
	for _, reply := range replies {
		if reply.Answer.Status == 0 {
			continue
		}
		require.Equal(t, http.StatusCreated, reply.Answer.Status)
		require.Equal(t, replies[0].Resource, reply.Resource)
		if !reply.Replayed {
			first++
		}
	}
	require.Equal(t, 1, first)
	require.Equal(t, 1, b.executed("/v1/payment_intents"))
	require.Equal(t, 1, b.executed("/confirm"))
	require.Equal(t, money{Reference: order, PaymentIntents: 1, Succeeded: 1, Captured: 1999}, b.audit(order))
}

func TestCharge_FiftyAtOnceWithFiftyKeys_OnePayment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order := b.order(1)
	statuses := make([]int, 50)
	var all sync.WaitGroup
	for i := range statuses {
		all.Go(func() {
			reply, err := b.CreateCharge(asMerchant(t), b.request(), card(order, goodCard))
			require.NoError(t, err)
			statuses[i] = reply.Answer.Status
		})
	}
	all.Wait()
	count := map[int]int{}
	for _, status := range statuses {
		count[status]++
	}
	require.Equal(t, map[int]int{http.StatusCreated: 1, http.StatusConflict: 49}, count)
	require.Equal(t, 1, b.audit(order).PaymentIntents)
}

func TestCharge_SameKeyOtherPayment_RefusedAlsoWhileRunning(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order, request := b.order(1), b.request()
	var inside error
	b.between.before = func(kind string) *provider.Result {
		if kind == "confirm" {
			_, inside = b.service().CreateCharge(asMerchant(t), again(request), card(order, badCard))
		}
		return nil
	}
	_, err := b.CreateCharge(asMerchant(t), request, card(order, goodCard))
	require.NoError(t, err)
	require.Equal(t, domain.CodeKeyReused, domain.CodeOf(inside))
	_, err = b.CreateCharge(asMerchant(t), again(request), card(order, badCard))
	require.Equal(t, domain.CodeKeyReused, domain.CodeOf(err))
}

func TestCharge_WhileAnotherIsOpen_RefusedWithItsID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order := b.order(1)
	var inside payment.Reply
	b.between.before = func(kind string) *provider.Result {
		if kind == "confirm" {
			var err error
			inside, err = b.service().CreateCharge(asMerchant(t), b.request(), card(order, goodCard))
			require.NoError(t, err)
		}
		return nil
	}
	_, err := b.CreateCharge(asMerchant(t), b.request(), card(order, goodCard))
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"charge-in-progress"}`, string(inside.Answer.Body))
}

func TestCharge_WaitIsOverWhileAnotherRuns_InProgressWithPointer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order, request := b.order(1), b.request()
	var inside error
	b.between.before = func(kind string) *provider.Result {
		if kind == "confirm" {
			impatient := again(request)
			impatient.Wait = 0
			_, inside = b.service().CreateCharge(asMerchant(t), impatient, card(order, goodCard))
		}
		return nil
	}
	reply, err := b.CreateCharge(asMerchant(t), request, card(order, goodCard))
	require.NoError(t, err)
	var refusal *domain.Error
	require.ErrorAs(t, inside, &refusal)
	require.Equal(t, domain.CodeKeyInProgress, refusal.Code)
	require.Equal(t, domain.Fields{"resource": reply.Resource}, refusal.Fields)
	require.Positive(t, refusal.RetryAfter)
}

func TestCharge_CallerHangsUpAfterTheClaim_TheResultIsStillWrittenDown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order, request := b.order(1), b.request()
	ctx, hangUp := context.WithCancel(asMerchant(t))
	b.between.before = func(string) *provider.Result { hangUp(); return nil }
	_, err := b.CreateCharge(ctx, request, card(order, goodCard))
	require.NoError(t, err)
	reply, err := b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
	require.NoError(t, err)
	require.True(t, reply.Replayed)
	require.Equal(t, http.StatusCreated, reply.Answer.Status)
}

func TestCharge_NothingSent_SameKeyGoesOn(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"create", "confirm"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			order, request := b.order(1), b.request()
			down := true
			b.between.before = func(k string) *provider.Result {
				if k == kind && down {
					return &provider.Result{Outcome: provider.NotSent, Err: errors.New("connection refused")}
				}
				return nil
			}
			_, err := b.CreateCharge(asMerchant(t), request, card(order, goodCard))
			require.Equal(t, domain.CodeProviderUnavailable, domain.CodeOf(err))
			require.Zero(t, b.audit(order).Succeeded)

			down = false
			reply, err := b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
			require.NoError(t, err)
			require.Equal(t, http.StatusCreated, reply.Answer.Status)
			require.Equal(t, 1, b.audit(order).PaymentIntents)
		})
	}
}

func TestCharge_AnswerIsAboutSomethingElse_NeverTakenForSuccess(t *testing.T) {
	t.Parallel()
	for situation, spoil := range map[string]func(*provider.Intent){
		"other amount":    func(i *provider.Intent) { i.Amount.Amount-- },
		"other currency":  func(i *provider.Intent) { i.Amount.Currency = domain.USD },
		"other reference": func(i *provider.Intent) { i.Reference = "pi_other" },
		"other order":     func(i *provider.Intent) { i.Metadata["order_id"] = "ord_other" },
		"less received":   func(i *provider.Intent) { i.AmountReceived-- },
	} {
		t.Run(situation, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			order := b.order(1)
			b.between.after = func(kind string, r provider.Result) provider.Result {
				if kind == "confirm" {
					spoil(r.Intent)
				}
				return r
			}
			reply, err := b.CreateCharge(asMerchant(t), b.request(), card(order, goodCard))
			require.NoError(t, err)
			require.Equal(t, http.StatusAccepted, reply.Answer.Status)
			require.Positive(t, reply.RetryAfter)
			charge, err := b.Store.Charge(asMerchant(t), merchant, reply.Resource)
			require.NoError(t, err)
			require.Equal(t, domain.ChargeUnknown, charge.Status)
		})
	}
}

func TestOrder_FiftyAtOnceWithOneKey_OneOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	request := b.request()
	replies := make([]payment.Reply, 50)
	var all sync.WaitGroup
	for i := range replies {
		all.Go(func() {
			var err error
			replies[i], err = b.CreateOrder(asMerchant(t), again(request), b.orderCommand(2))
			require.NoError(t, err)
		})
	}
	all.Wait()
	first := 0
	for _, reply := range replies {
		require.Equal(t, replies[0].Answer, reply.Answer)
		if !reply.Replayed {
			first++
		}
	}
	require.Equal(t, 1, first)
	stock, err := b.Store.Stock(asMerchant(t), merchant, b.product)
	require.NoError(t, err)
	require.Equal(t, int64(2), stock.Reserved)
}

func TestOrder_LastUnit_SoldOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.SetStock(asMerchant(t), merchant, b.product, 1)
	require.NoError(t, err)
	count := map[int]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			reply, err := b.CreateOrder(asMerchant(t), b.request(), b.orderCommand(1))
			require.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			count[reply.Answer.Status]++
		})
	}
	all.Wait()
	require.Equal(t, map[int]int{http.StatusCreated: 1, http.StatusConflict: 19}, count)
}

func TestOrder_OutOfStockIsFinalAndReplayed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	request := b.request()
	first, err := b.CreateOrder(asMerchant(t), request, b.orderCommand(101))
	require.NoError(t, err)
	require.Equal(t, http.StatusConflict, first.Answer.Status)
	_, err = b.SetStock(asMerchant(t), merchant, b.product, 1000)
	require.NoError(t, err)
	second, err := b.CreateOrder(asMerchant(t), again(request), b.orderCommand(101))
	require.NoError(t, err)
	require.True(t, second.Replayed)
	require.Equal(t, first.Answer, second.Answer)
}

func TestOrder_RefusedByTheCatalogue_LeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	b := setup(t)
	request, command := b.request(), b.orderCommand(1)
	command.Items[0].ProductID = "prd_unknown"
	_, err := b.CreateOrder(asMerchant(t), request, command)
	require.Equal(t, domain.CodeValidationFailed, domain.CodeOf(err))
	reply, err := b.CreateOrder(asMerchant(t), again(request), b.orderCommand(1))
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, reply.Answer.Status)
}

func TestOrder_SameProductInTwoLines_IsOneLine(t *testing.T) {
	t.Parallel()
	b := setup(t)
	command := b.orderCommand(1)
	command.Items = append(command.Items, payment.OrderLine{ProductID: b.product, Quantity: 2})
	reply, err := b.CreateOrder(asMerchant(t), b.request(), command)
	require.NoError(t, err)
	var order domain.Order
	require.NoError(t, json.Unmarshal(reply.Answer.Body, &order))
	require.Len(t, order.Items, 1)
	require.Equal(t, int64(3*1999), order.Total)
}

func TestOrder_PricesAreFrozen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order := b.order(1)
	_, err := b.UpdateProduct(asMerchant(t), merchant, b.product, payment.UpdateProduct{Prices: []domain.Price{{Currency: domain.EUR, UnitAmount: 9999}}})
	require.NoError(t, err)
	placed, err := b.Store.Order(asMerchant(t), merchant, order)
	require.NoError(t, err)
	require.Equal(t, int64(1999), placed.Total)
}

func TestExpireOrders_GivesTheStockBackButNotUnderAnOpenCharge(t *testing.T) {
	t.Parallel()
	b := setup(t)
	forgotten, beingPaid := b.order(3), b.order(2)
	b.between.before = func(kind string) *provider.Result {
		if kind == "confirm" {
			return &provider.Result{Outcome: provider.Unknown}
		}
		return nil
	}
	_, err := b.CreateCharge(asMerchant(t), b.request(), card(beingPaid, goodCard))
	require.NoError(t, err)
	b.db.Exec(t, `UPDATE orders SET expires_at = now() - interval '1 minute'`)

	expired, err := b.ExpireOrders(asSystem(t), 10)
	require.NoError(t, err)
	require.Equal(t, 1, expired)
	order, err := b.Store.Order(asMerchant(t), merchant, forgotten)
	require.NoError(t, err)
	require.Equal(t, domain.OrderExpired, order.Status)
	stock, err := b.Store.Stock(asMerchant(t), merchant, b.product)
	require.NoError(t, err)
	require.Equal(t, int64(2), stock.Reserved, "the order that is being paid keeps its units")
	_, err = b.CreateCharge(asMerchant(t), b.request(), card(forgotten, goodCard))
	require.NoError(t, err, "refused with a stored answer")
}
