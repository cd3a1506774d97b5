package client_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/client"
)

// What must not get out, and what a key may look like.

func TestAPIKey_IsNeverPrinted(t *testing.T) {
	t.Parallel()
	b := setupWith(t, client.Options{Attempts: 1}, lost)
	_, open := b.createOrder()
	b.plays(refuse(http.StatusUnauthorized, client.TypeUnauthenticated, ""))
	_, refused := b.createOrder()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d"} {
		require.Contains(t, fmt.Sprintf(verb, b.client), "client of "+b.url)
		require.NotContains(t, fmt.Sprintf(verb, b.client), apiKey)
	}
	for _, verb := range []string{"%v", "%+v", "%#v"} {
		for _, value := range []any{*b.client, struct{ inner client.Client }{*b.client}, open, refused} {
			require.NotContains(t, fmt.Sprintf(verb, value), apiKey)
		}
	}
}

func TestErrors_HoldNeitherAddressesNorKeys(t *testing.T) {
	t.Parallel()
	b := setup(t, lost)
	for _, err := range b.client.ListOrders(t.Context(), client.OrderFilter{CustomerEmail: "jane@example.com"}) {
		require.Error(t, err)
		require.NotContains(t, err.Error(), "jane")
	}
	_, err := b.createOrder()
	b.asUnknown(err)
	require.NotContains(t, err.Error(), b.intent.Key(), "a key may hold whatever the caller has put in")
}

func TestRedirect_DoesNotTakeTheAPIKeyAlong(t *testing.T) {
	t.Parallel()
	var visits atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	t.Cleanup(elsewhere.Close)
	b := setup(t, reply(http.StatusPermanentRedirect, "", "Location", elsewhere.URL))
	_, err := b.createOrder()
	b.asUnknown(err)
	_, err = b.client.GetOrder(t.Context(), "ord_1")
	asProblem(t, err, http.StatusPermanentRedirect, "")
	require.Zero(t, visits.Load())
}

func TestIntents_AreAllDifferent(t *testing.T) {
	t.Parallel()
	seen := map[client.Intent]bool{}
	for range 1000 {
		seen[client.NewIntent()] = true
	}
	require.Len(t, seen, 1000)
}

func TestNoIntent_NothingIsSent(t *testing.T) {
	t.Parallel()
	b := setup(t, reply(http.StatusCreated, orderBody))
	b.intent = client.Intent{}
	_, err := b.createOrder()
	require.ErrorContains(t, err, "NewIntent")
	require.Empty(t, b.sent())
}

func TestStoredIntent_KeysThatTheContractAllows(t *testing.T) {
	t.Parallel()
	for key, header := range map[string]string{
		"a":                      `"a"`,
		"order 7, second try":    `"order 7, second try"`,
		`with "quotes" and \`:    `"with \"quotes\" and \\"`,
		strings.Repeat("k", 255): `"` + strings.Repeat("k", 255) + `"`,
	} {
		b := setup(t, reply(http.StatusCreated, orderBody))
		var err error
		b.intent, err = client.StoredIntent(key)
		require.NoError(t, err)
		_, err = b.createOrder()
		require.NoError(t, err)
		require.Equal(t, header, b.arrived(1).key)
	}
	for _, key := range []string{"", strings.Repeat("k", 256), "é", "line\nbreak", "\x7f", `"quoted"`} {
		_, err := client.StoredIntent(key)
		require.Error(t, err, key)
	}
}
