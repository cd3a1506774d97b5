package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A key may hold anything, slashes and dots too. None of it may lead out of the API's paths.
func TestShopAndAPI_AnEscapedPathStaysWhereItIs(t *testing.T) {
	t.Parallel()
	f := newShopfront(t, "PAYONCE_SHOP_KEY="+demoAlpha)
	site := httptest.NewServer(newSite(f.config, f.service, nil).handler)
	t.Cleanup(site.Close)
	for _, key := range []string{"../../../x", "../../..", "x/../../../../cart", "//", "plain"} {
		status, _, body := f.must(http.MethodPost, site.URL+"/v1/carts", `"`+key+`"`, `{"currency":"EUR"}`)
		require.Equal(t, http.StatusCreated, status, body)
		status, header, body := f.must(http.MethodGet, site.URL+"/v1/idempotency_keys/carts.create/"+url.PathEscape(key), "", "")
		require.Equal(t, http.StatusOK, status, body)
		require.True(t, strings.HasPrefix(header.Get("Request-Id"), "req_"))
	}
}
