package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCatalogue(t *testing.T) {
	t.Parallel()
	page := newBuyer(t, stockedAPI()).get("/")
	require.Equal(t, http.StatusOK, page.status)

	t.Run("WhatIsSold_HasPriceAndPicture", func(t *testing.T) {
		t.Parallel()
		page.says("Mug", "Holds what wakes you.", "19,99 €")
		require.Contains(t, page.body, `src="/static/products/mug.svg?v=`)
	})
	t.Run("FewLeft_SaysHowMany", func(t *testing.T) {
		t.Parallel()
		page.says("Only 2 left")
		require.NotContains(t, page.text(), "Only 40 left")
	})
	t.Run("SoldOut_CannotBeAdded", func(t *testing.T) {
		t.Parallel()
		page.says("Sold out")
		require.NotContains(t, page.body, `name="product_id" value="prd_cap"`)
	})
	t.Run("WithdrawnProduct_IsNotShown", func(t *testing.T) {
		t.Parallel()
		require.NotContains(t, page.text(), "Withdrawn thing")
	})
	t.Run("TextOfTheMerchant_IsNeverMarkup", func(t *testing.T) {
		t.Parallel()
		page.says("Keeps <b>rain</b> off.")
	})
	t.Run("PictureOfAnotherSite_BecomesOurs", func(t *testing.T) {
		t.Parallel()
		require.NotContains(t, page.body, "elsewhere.example")
		require.Contains(t, page.body, "/static/products/neutral.svg?v=")
	})
}

func TestCatalogue_NothingToSell_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	newBuyer(t, newFakeAPI()).get("/").says("The shelves are empty", "POST /v1/products")
}

func TestMoney_FollowsTheReaderAndTheCurrency(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ language, currency, price string }{
		{"de-DE,de;q=0.9,en;q=0.8", "EUR", "19,99 €"},
		{"en-GB,en", "EUR", "€19.99"},
		{"fr", "EUR", "19,99 €"},
		{"en-US", "USD", "$21.99"},
		{"en-US", "JPY", "¥3,200"},
		{"de", "JPY", "3.200 ¥"},
		{"en", "KWD", "KWD 6.700"},
		{"", "EUR", "€19.99"},
		{"*;q=0.1", "EUR", "€19.99"},
		{"../../etc", "EUR", "€19.99"},
		{strings.Repeat("x", 5000), "EUR", "€19.99"},
	} {
		t.Run(row.language[:min(len(row.language), 20)]+" "+row.currency, func(t *testing.T) {
			t.Parallel()
			b := newBuyer(t, stockedAPI())
			b.headers["Accept-Language"] = row.language
			page := b.get("/").form("/currency").fill("currency", row.currency).press()
			// Locales put no-break spaces between number and symbol; a reader sees a space.
			require.Contains(t, strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(page.text()), row.price)
		})
	}
}

func TestAPIDown_PageApologisesAndKeepsInternalsToItself(t *testing.T) {
	t.Parallel()
	page := newBuyer(t, transport(unreachable)).get("/")
	require.Equal(t, http.StatusServiceUnavailable, page.status)
	require.NotEmpty(t, page.header.Get("Retry-After"))
	page.says("One moment, please", "Nothing is lost")
	require.NotContains(t, page.body, "10.0.0.7")
}

func TestWrongAPIKey_PageBlamesTheShopAndNamesTheRequest(t *testing.T) {
	t.Parallel()
	options := optionsFor(stockedAPI())
	options.SecretKey = "sk_test_wrong"
	page := newBuyerOf(t, options).get("/")
	require.Equal(t, http.StatusInternalServerError, page.status)
	page.says("That is our fault", "req_1")
	require.NotContains(t, page.body, "sk_test_wrong")
	require.NotContains(t, page.body, "pq:")
}

func TestAPIBusyForHours_PageIsPromisedWithinAMinute(t *testing.T) {
	t.Parallel()
	page := newBuyer(t, answering(http.StatusServiceUnavailable, "Retry-After", "86400")).get("/")
	require.Equal(t, "60", page.header.Get("Retry-After"))
}

func TestAPIRedirects_SecretKeyStaysWhereItIs(t *testing.T) {
	t.Parallel()
	hosts := map[string]bool{}
	page := newBuyer(t, transport(func(r *http.Request) (*http.Response, error) {
		hosts[r.URL.Host] = true
		return answering(http.StatusTemporaryRedirect, "Location", "https://evil.example/v1/products")(r)
	})).get("/")
	require.Equal(t, http.StatusInternalServerError, page.status)
	require.Equal(t, map[string]bool{"shop.example": true}, hosts)
}
