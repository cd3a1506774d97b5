package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/web"
)

func TestEveryAnswer_CarriesTheHeaders(t *testing.T) {
	t.Parallel()
	b := newBuyer(t, stockedAPI())
	for _, path := range []string{"/", "/cart", "/how", "/nowhere", "/checkout", "/static/shop.css", "/static/products/mug.svg", "/static/none", "/orders/ord_none"} {
		h := b.once(http.MethodGet, path, nil).header
		require.Equal(t, "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "+
			"form-action 'self'; base-uri 'none'; frame-ancestors 'none'", h.Get("Content-Security-Policy"), path)
		require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), path)
		require.Equal(t, "same-origin", h.Get("Referrer-Policy"), path)
	}
}

func TestPages_HoldNoInlineScriptOrStyle(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	b := newBuyer(t, api)
	b.put("prd_mug")
	pages := []*shown{b.get("/"), b.get("/cart"), b.get("/checkout"), b.get("/how"), b.get("/nowhere")}
	pages = append(pages, pages[2].form("/checkout").fill("email", "a@example.com").press())
	for _, page := range pages {
		for node := range page.document.Descendants() {
			for _, a := range node.Attr {
				require.NotEqual(t, "style", a.Key, page.path)
				require.False(t, strings.HasPrefix(a.Key, "on"), "%s: %s", page.path, a.Key)
			}
		}
		for _, script := range all(page.document, "script") {
			require.NotEmpty(t, attribute(script, "src"), page.path)
		}
		require.Empty(t, all(page.document, "style"), page.path)
	}
}

func TestForeignForm_IsRefusedAndDoesNothing(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		forge  func(*form)
		status int
	}{
		{"TokenMissing", func(f *form) { f.values.Del("token") }, http.StatusForbidden},
		{"TokenOfAnotherBrowser", func(f *form) { f.cookies["payonce_browser"] = "somebody-elses-browser" }, http.StatusForbidden},
		{"NoCookies", func(f *form) { clear(f.cookies) }, http.StatusForbidden},
		{"FromAnotherSite", func(f *form) { f.headers["Sec-Fetch-Site"] = "cross-site" }, http.StatusForbidden},
		{"FromANeighbour", func(f *form) { f.headers["Sec-Fetch-Site"] = "same-site" }, http.StatusForbidden},
		{"OldBrowserOnAnotherSite", func(f *form) { f.headers["Sec-Fetch-Site"], f.headers["Origin"] = "", "https://evil.example" }, http.StatusForbidden},
		{"AsJSON", func(f *form) { f.headers["Content-Type"] = "application/json" }, http.StatusForbidden},
		{"AsPlainText", func(f *form) { f.headers["Content-Type"] = "text/plain" }, http.StatusForbidden},
		{"TooLong", func(f *form) { f.values.Set("name", strings.Repeat("x", 20<<10)) }, http.StatusRequestEntityTooLarge},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			api := stockedAPI()
			b := newBuyer(t, api)
			pay := b.toCheckout()
			row.forge(pay)
			page := pay.press()
			require.Equal(t, row.status, page.status)
			page.says("Nothing was done.")
			require.Empty(t, api.orders)
			require.Empty(t, api.charges)

			honest := &buyer{t: t, shop: b.shop, cookies: map[string]string{}, headers: map[string]string{}}
			require.Equal(t, http.StatusOK, honest.toCheckout().press().status)
			require.Len(t, api.orders, 1, "a refusal is for one request; the shop goes on for everybody else")
		})
	}
}

func TestOldBrowserOnOurSite_IsLetIn(t *testing.T) {
	t.Parallel()
	pay := newBuyer(t, stockedAPI()).toCheckout()
	pay.headers["Sec-Fetch-Site"], pay.headers["Origin"] = "", site
	pay.press().says("Paid. Thank you.")
}

func TestEveryForm_CarriesTheToken(t *testing.T) {
	t.Parallel()
	b := newBuyer(t, stockedAPI())
	b.put("prd_mug")
	declined := b.get("/checkout").form("/checkout").fill("email", "a@example.com").fill("payment_method", "pm_card_visa_chargeDeclined").press()
	b.put("prd_mug")
	for _, page := range []*shown{b.get("/"), b.get("/cart"), b.get("/checkout"), declined} {
		for _, node := range all(page.document, "form") {
			require.NotEmpty(t, readForm(b, node).values.Get("token"), "%s: %s", page.path, attribute(node, "action"))
		}
	}
}

func TestCookies(t *testing.T) {
	t.Parallel()
	set := func(t *testing.T, secure bool) []*http.Cookie {
		t.Helper()
		options := optionsFor(stockedAPI())
		options.Secure = secure
		b := newBuyerOf(t, options)
		b.get("/").form("/currency").fill("currency", "USD").press()
		b.toCheckout().press().says("Paid. Thank you.")
		names := map[string]bool{}
		for _, c := range b.set {
			names[strings.TrimPrefix(c.Name, "__Host-")] = true
		}
		require.Len(t, names, 4, "browser, cart, currency, key: %v", names)
		return b.set
	}
	t.Run("Always_OutOfReachOfScriptsAndOtherSites", func(t *testing.T) {
		t.Parallel()
		for _, c := range set(t, false) {
			require.True(t, c.HttpOnly, c.Name)
			require.Equal(t, http.SameSiteLaxMode, c.SameSite, c.Name)
			require.Equal(t, "/", c.Path, c.Name)
		}
	})
	t.Run("ByHTTPS_BoundToTheHost", func(t *testing.T) {
		t.Parallel()
		for _, c := range set(t, true) {
			require.True(t, strings.HasPrefix(c.Name, "__Host-"), c.Name)
			require.True(t, c.Secure, c.Name)
			require.Empty(t, c.Domain, c.Name)
		}
	})
	t.Run("ByHTTPS_BrowserIsToldToStayThere", func(t *testing.T) {
		t.Parallel()
		options := optionsFor(stockedAPI())
		options.Secure = true
		require.NotEmpty(t, newBuyerOf(t, options).get("/").header.Get("Strict-Transport-Security"))
		require.Empty(t, newBuyer(t, stockedAPI()).get("/").header.Get("Strict-Transport-Security"))
	})
}

func TestAssets(t *testing.T) {
	t.Parallel()
	shop := web.New(optionsFor(stockedAPI()))
	get := func(path, etag string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("If-None-Match", etag)
		out := httptest.NewRecorder()
		shop.ServeHTTP(out, r)
		return out
	}
	t.Run("TypesAreRight", func(t *testing.T) {
		t.Parallel()
		for path, kind := range map[string]string{"/static/shop.css": "text/css; charset=utf-8", "/static/shop.js": "text/javascript; charset=utf-8", "/static/icon.svg": "image/svg+xml"} {
			require.Equal(t, kind, get(path, "").Header().Get("Content-Type"))
		}
	})
	t.Run("Unchanged_NotSentAgain", func(t *testing.T) {
		t.Parallel()
		first := get("/static/shop.css", "")
		require.Equal(t, http.StatusNotModified, get("/static/shop.css", first.Header().Get("ETag")).Code)
	})
	t.Run("OnlyTheRightVersionIsKeptForGood", func(t *testing.T) {
		t.Parallel()
		tag := strings.Trim(get("/static/shop.css", "").Header().Get("ETag"), `"`)
		require.Contains(t, get("/static/shop.css?v="+tag, "").Header().Get("Cache-Control"), "immutable")
		require.NotContains(t, get("/static/shop.css?v=old", "").Header().Get("Cache-Control"), "immutable")
	})
	t.Run("FoldersAreNotListed", func(t *testing.T) {
		t.Parallel()
		for _, path := range []string{"/static/", "/static/products/", "/static/products"} {
			require.Equal(t, http.StatusNotFound, get(path, "").Code, path)
		}
	})
	t.Run("EveryProductOfTheDemoHasAPicture", func(t *testing.T) {
		t.Parallel()
		for _, sku := range []string{"mug", "t-shirt", "notebook", "cap", "tote-bag", "poster", "pen-set", "espresso-cups"} {
			require.Equal(t, http.StatusOK, get("/static/products/"+sku+".svg", "").Code, sku)
		}
	})
}

func TestPages_EveryInputHasALabel(t *testing.T) {
	t.Parallel()
	b := newBuyer(t, stockedAPI())
	b.put("prd_mug")
	for _, path := range []string{"/", "/cart", "/checkout"} {
		page := b.get(path)
		labelled := map[string]bool{}
		for _, label := range all(page.document, "label") {
			labelled[attribute(label, "for")] = true
		}
		for _, input := range append(all(page.document, "input"), all(page.document, "select")...) {
			if kind := attribute(input, "type"); kind != "hidden" && kind != "radio" {
				require.True(t, labelled[attribute(input, "id")], "%s: %s", path, attribute(input, "name"))
			}
		}
	}
}

func TestHow_TellsItInPicturesAndWords(t *testing.T) {
	t.Parallel()
	page := newBuyer(t, transport(unreachable)).get("/how")
	require.Equal(t, http.StatusOK, page.status, "needs no API")
	page.says("The purchase gets a name", "The answer is lost. So what?")
	require.NotEmpty(t, all(page.document, "svg"))
}

func TestUnknownPath_FriendlyPage(t *testing.T) {
	t.Parallel()
	page := newBuyer(t, stockedAPI()).get("/wp-login.php")
	require.Equal(t, http.StatusNotFound, page.status)
	page.says("There is nothing here", "To the shop")
}
