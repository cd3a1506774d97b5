package api_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/api"
	"payonce/migrations"
)

// Answers that are in the document and that no other test of the suite gets.

func TestContract_ProductsAreListed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.get(alpha, "/v1/products?limit=1")
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Contains(t, got.body, b.mug)
}

func TestContract_AProductIsTakenOutOfACart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/v1/carts/" + b.post(alpha, "/v1/carts", "cart-8f14e45f", `{"currency":"EUR"}`).text("id")
	b.send(alpha, http.MethodPut, path+"/items/"+b.mug, `{"quantity":2}`)
	for range 2 { // the second time, it is out already
		got := b.send(alpha, http.MethodDelete, path+"/items/"+b.mug, "")
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.InDelta(t, 0, got.member("total"), 0)
	}
}

func TestContract_ASecondChargeWaitsForTheFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/v1/orders/" + b.order("order-8f14e45f") + "/charges"
	open := b.post(alpha, path, "charge-8f14e45f", `{"payment_method":"pm_card_authenticationRequired","return_url":"https://shop.example/back"}`)
	require.Equal(t, http.StatusCreated, open.status, open.body)
	require.Equal(t, "redirect", open.text("next_action.type"))
	second := b.post(alpha, path, "charge-c9f0f895", goodCard).problem(http.StatusConflict, "charge-in-progress")
	require.Equal(t, open.text("id"), second.text("charge_id"))
}

func TestContract_AnOrderThatHasEndedIsNeitherPaidNorSentElsewhere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order := b.order("order-8f14e45f")
	b.db.Exec(t, `ALTER TABLE orders DISABLE TRIGGER USER`)
	b.db.Exec(t, `UPDATE orders SET status = 'canceled' WHERE order_id = $1`, order)
	refused := b.post(alpha, "/v1/orders/"+order+"/charges", "charge-8f14e45f", goodCard).problem(http.StatusConflict, "order-not-payable")
	require.Equal(t, "canceled", refused.text("order_status"))
	b.send(alpha, http.MethodPut, "/v1/orders/"+order+"/shipping_address", `{"line1":"1 Street","city":"Town","postal_code":"12345","country":"DE"}`).
		problem(http.StatusConflict, "version-conflict")
}

func TestContract_WhoAsksTooMuchIsToldWhenToComeBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	server := httptest.NewServer(contracted(t, api.New(api.Options{
		Payments: b.service, SchemaVersion: migrations.Latest(), KeyRate: api.Rate{PerSecond: 0.001, Burst: 1},
	})))
	t.Cleanup(server.Close)
	auth := header{"Authorization", "Bearer " + alpha}
	require.Equal(t, http.StatusOK, b.do(t.Context(), server.URL, http.MethodGet, "/v1/orders", "", auth).status)
	b.do(t.Context(), server.URL, http.MethodGet, "/v1/orders", "", auth).problem(http.StatusTooManyRequests, "rate-limited")
}
