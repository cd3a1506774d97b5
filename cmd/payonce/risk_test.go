package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMetrics_TellTheMoneyWhoseWhereaboutsNobodyKnows(t *testing.T) {
	t.Parallel()
	f := newShopfront(t)
	_, scrape := adminOf(t, f)
	shown := func() string { return scrape("/metrics", "127.0.0.1").Body.String() }
	require.Contains(t, shown(), `payonce_money_at_risk{currency="EUR"} 0`)
	require.Contains(t, shown(), `payonce_provider_circuit_open 0`)

	site := httptest.NewServer(newSite(f.config, f.service, nil).handler)
	t.Cleanup(site.Close)
	answer, release := f.holdCharge(context.WithoutCancel(t.Context()), f.order(site.URL))
	during := shown()
	require.NotContains(t, during, `payonce_money_at_risk{currency="EUR"} 0`)
	require.Contains(t, during, `payonce_undecided_charges{currency="EUR"} 1`)
	release()
	paid := <-answer
	require.NoError(t, paid.err)
	require.Equal(t, http.StatusCreated, paid.status, paid.text)
	require.Contains(t, shown(), `payonce_money_at_risk{currency="EUR"} 0`)
	require.Contains(t, shown(), `payonce_provider_calls_total{outcome="succeeded"}`)
}
