package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/api"
	"payonce/migrations"
	"payonce/payment"
	"payonce/repository"
	"payonce/repository/repositorytest"
)

// Over HTTP a lost COMMIT is no event: the answer comes at once, as that of the first request.
func TestLostCommit_OfAnOrder_201AtOnceAndNoReplay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	proxy := repositorytest.NewProxy(t, b.db)
	store, err := repository.Open(repository.Options{URL: proxy.URL(t, b.db, nil)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	s := b.service
	cutOff := &payment.Service{Store: store, Provider: s.Provider, Present: s.Present, NewID: s.NewID, Log: s.Log,
		Lease: s.Lease, Retention: s.Retention, KeyHorizon: s.KeyHorizon, OrderTTL: s.OrderTTL, Grace: s.Grace}
	server := httptest.NewServer(contracted(t, api.New(api.Options{Payments: cutOff, SchemaVersion: migrations.Latest()})))
	t.Cleanup(server.Close)
	post := func(base, key string) answer {
		return b.do(t.Context(), base, http.MethodPost, "/v1/orders", b.orderBody("2"), header{"Authorization", "Bearer " + alpha},
			header{"Content-Type", "application/json"}, header{"Idempotency-Key", key})
	}
	require.Equal(t, http.StatusCreated, post(server.URL, "undisturbed").status)
	commits, _ := proxy.Seen() // the last one is the order's, those before it belong to reads
	require.Positive(t, commits)

	for _, moment := range []repositorytest.Moment{repositorytest.BeforeCommit, repositorytest.AfterCommit} {
		for _, way := range []repositorytest.Way{repositorytest.FIN, repositorytest.RST} {
			cut := repositorytest.Cut{Moment: moment, Way: way}
			for n := 1; n <= commits; n++ {
				situation := fmt.Sprintf("commit %d of %d, %s", n, commits, cut)
				orders := b.db.Count(t, `SELECT count(*) FROM orders`)
				proxy.Cut(cut, repositorytest.Nth(n))
				key := "order-" + strconv.Itoa(orders)
				first := post(server.URL, key)
				_, cuts := proxy.Seen()
				require.Equal(t, 1, cuts, situation)
				require.Equal(t, http.StatusCreated, first.status, "%s: %s", situation, first.body)
				require.Empty(t, first.header.Get("Idempotent-Replayed"), "%s: the caller has sent it once", situation)
				require.Empty(t, first.header.Get("Original-Request"), situation)

				replay := post(b.url, key)
				require.Equal(t, first.status, replay.status, situation)
				require.Equal(t, first.body, replay.body, situation)
				require.Equal(t, "true", replay.header.Get("Idempotent-Replayed"), situation)
				require.Equal(t, first.header.Get("Request-Id"), replay.header.Get("Original-Request"), situation)
				require.Equal(t, orders+1, b.db.Count(t, `SELECT count(*) FROM orders`), situation)
			}
		}
	}
}
