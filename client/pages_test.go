package client_test

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/client"
)

func orderPage(hasMore string, ids ...string) step {
	orders := make([]string, len(ids))
	for i, id := range ids {
		orders[i] = strings.Replace(orderBody, "ord_1", id, 1)
	}
	return reply(http.StatusOK, `{"object":"list","data":[`+strings.Join(orders, ",")+`],"has_more":`+hasMore+`,"url":"/v1/orders"}`)
}

// walk ranges over a list of orders.
func walk(orders iter.Seq2[client.Order, error]) (ids []string, err error) {
	for order, failed := range orders {
		if failed != nil {
			return ids, failed
		}
		ids = append(ids, order.ID)
	}
	return ids, nil
}

func TestList_WalksOverAllPages(t *testing.T) {
	t.Parallel()
	b := setup(t, orderPage("true", "ord_5", "ord_4"), lost, orderPage("true", "ord_3", "ord_2"), orderPage("false", "ord_1"))
	list := b.client.ListOrders(t.Context(), client.OrderFilter{Status: client.OrderPaid, CustomerEmail: "a+b@example.com", CreatedAfter: b.now, CreatedBefore: b.now.Add(time.Hour)})
	ids, err := walk(list)
	require.NoError(t, err)
	require.Equal(t, []string{"ord_5", "ord_4", "ord_3", "ord_2", "ord_1"}, ids)
	const filter = "created_after=2026-05-01T12%3A00%3A00Z&created_before=2026-05-01T13%3A00%3A00Z&customer_email=a%2Bb%40example.com&limit=100"
	var sent []string
	for _, a := range b.sent() {
		sent = append(sent, strings.TrimPrefix(a.uri, "/v1/orders?"+filter))
	}
	require.Equal(t, []string{"&status=paid", "&starting_after=ord_4&status=paid", "&starting_after=ord_4&status=paid", "&starting_after=ord_2&status=paid"}, sent)

	b.plays(b.script...)
	again, err := walk(list)
	require.NoError(t, err)
	require.Equal(t, ids, again, "from the start")
}

func TestList_StopsWhereTheCallerDoes(t *testing.T) {
	t.Parallel()
	b := setup(t, orderPage("true", "ord_2", "ord_1"))
	for order, err := range b.client.ListOrders(t.Context(), client.OrderFilter{}) {
		require.NoError(t, err)
		require.Equal(t, "ord_2", order.ID)
		break
	}
	b.arrived(1)
}

func TestList_ServiceThatNeverEnds_IsNotFollowedForEver(t *testing.T) {
	t.Parallel()
	for situation, script := range map[string][]step{
		"more of nothing":    {orderPage("true")},
		"the same page":      {orderPage("true", "ord_1")},
		"pages in a circle":  {orderPage("true", "ord_3"), orderPage("true", "ord_2"), orderPage("true", "ord_3")},
		"nothing at the end": {orderPage("true", "ord_3"), orderPage("true")},
	} {
		b := setup(t, script...)
		_, err := walk(b.client.ListOrders(t.Context(), client.OrderFilter{}))
		require.ErrorContains(t, err, "shows nothing new", situation)
	}
}

func TestList_ErrorIsYieldedOnceAndEndsTheWalk(t *testing.T) {
	t.Parallel()
	b := setup(t, orderPage("true", "ord_2"), refuse(http.StatusForbidden, client.TypeForbidden, ""))
	var seen []error
	for _, err := range b.client.ListOrders(t.Context(), client.OrderFilter{}) {
		seen = append(seen, err)
	}
	require.Len(t, seen, 2)
	asProblem(t, seen[1], http.StatusForbidden, client.TypeForbidden)
}

func TestList_PageThatIsNone_IsAskedForAgain(t *testing.T) {
	t.Parallel()
	for _, page := range []string{`{}`, `{"object":"list","has_more":false}`, `{"object":"list","data":[{}],"has_more":false}`, orderBody} {
		b := setup(t, reply(http.StatusOK, page), orderPage("false", "ord_1"))
		ids, err := walk(b.client.ListOrders(t.Context(), client.OrderFilter{}))
		require.NoError(t, err)
		require.Equal(t, []string{"ord_1"}, ids, page)
	}
}

func TestList_ContextEnds(t *testing.T) {
	t.Parallel()
	b := setup(t, orderPage("true", "ord_1"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range b.client.ListOrders(ctx, client.OrderFilter{}) {
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
		cancel()
	}
	b.arrived(1)
}

func TestList_ChargesAndProducts(t *testing.T) {
	t.Parallel()
	b := setup(t, reply(http.StatusOK, `{"object":"list","data":[`+succeeded+`],"has_more":false}`))
	for charge, err := range b.client.ListCharges(t.Context(), client.ChargeFilter{OrderID: "ord_1", Status: client.ChargeSucceeded}) {
		require.NoError(t, err)
		require.True(t, charge.Decided())
	}
	require.Equal(t, "/v1/charges?limit=100&order_id=ord_1&status=succeeded", b.arrived(1).uri)

	b = setup(t, reply(http.StatusOK, `{"object":"list","data":[`+productBody+`],"has_more":false}`))
	for product, err := range b.client.ListProducts(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, "mug", product.SKU)
	}
	require.Equal(t, "/v1/products?limit=100", b.arrived(1).uri)
}
