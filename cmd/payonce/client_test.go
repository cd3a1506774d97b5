package main

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/client"
)

// The caller's half of the promise and ours, together: the whole program is killed while a charge is at the provider, and
// comes back. The caller has one intent, and does nothing but wait.
func TestClient_TheServiceIsKilledInTheMiddleOfACharge_PaidOnce(t *testing.T) {
	t.Parallel()
	binary, folder := built(t), t.TempDir()
	t.Cleanup(func() { resetDemo(t, binary, folder) })
	first := startDemo(t, binary, folder, "PAYONCE_LEASE=2s")
	c, err := client.New(first.shop, demoAlpha, client.Options{Attempts: 100, TotalTime: time.Minute})
	require.NoError(t, err)
	var product client.Product
	for p, err := range c.ListProducts(t.Context()) {
		require.NoError(t, err)
		product = p
		break
	}
	order, err := c.CreateOrder(t.Context(), client.NewIntent(), client.OrderParams{
		Items: []client.OrderLine{{ProductID: product.ID, Quantity: 2}}, Currency: "EUR", Customer: client.Customer{Email: "a@example.com"}})
	require.NoError(t, err)

	first.simulator(http.MethodPost, "/_sim/rules",
		`{"match":{"method":"POST","path_glob":"/v1/payment_intents/*/confirm"},"fault":{"name":"hold","barrier":"b","point":"before_effect"},"times":1}`)
	type outcome struct {
		charge client.Charge
		err    error
	}
	paid := make(chan outcome, 1)
	go func() {
		charge, err := c.AwaitCharge(t.Context(), client.NewIntent(), order.ID, client.ChargeParams{PaymentMethod: "pm_card_visa"})
		paid <- outcome{charge, err}
	}()
	first.simulator(http.MethodGet, "/_sim/barriers/b?wait=10s", "")
	first.kill()
	second := startDemo(t, binary, folder, "PAYONCE_LEASE=2s",
		"PAYONCE_ADDR="+strings.TrimPrefix(first.shop, "http://"), "PAYONCE_SIM_ADDR="+strings.TrimPrefix(first.sim, "http://"))

	got := <-paid
	require.NoError(t, got.err, second.log)
	require.Equal(t, "succeeded", string(got.charge.Status))
	require.Equal(t, order.Total, got.charge.AmountCaptured)
	require.Equal(t, 1, second.succeeded(order.ID), "the provider remembers one payment, and only one")
	second.interrupt()
}

// simulator speaks to the demo's simulator.
func (p *process) simulator(method, path, body string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(context.WithoutCancel(p.t.Context()), method, p.sim+path, strings.NewReader(body))
	require.NoError(p.t, err)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(p.t, err)
	require.NoError(p.t, answer.Body.Close())
	require.Less(p.t, answer.StatusCode, http.StatusBadRequest)
}
