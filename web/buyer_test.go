package web_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"payonce/web"
)

const site = "http://shop.example"

// buyer is a person with a browser that runs no scripts: it follows redirects, keeps cookies, and can send only what a
// form on a page holds.
type buyer struct {
	t       *testing.T
	shop    http.Handler
	cookies map[string]string
	headers map[string]string
	set     []*http.Cookie // every cookie the shop ever set
}

func optionsFor(api http.RoundTripper) web.Options {
	var made atomic.Int64
	return web.Options{
		API: api, BaseURL: site, SecretKey: "sk_test_shop", Now: func() time.Time { return noon }, TestCards: true,
		NewKey: func() string { return fmt.Sprintf("key-%d", made.Add(1)) }, Log: slog.New(slog.DiscardHandler),
	}
}

func newBuyer(t *testing.T, api http.RoundTripper) *buyer {
	t.Helper()
	return newBuyerOf(t, optionsFor(api))
}

func newBuyerOf(t *testing.T, o web.Options) *buyer {
	t.Helper()
	return &buyer{t: t, shop: web.New(o), cookies: map[string]string{}, headers: map[string]string{"Accept-Language": "de-DE,de;q=0.9"}}
}

// shown is the page a request ended on.
type shown struct {
	*buyer
	path     string
	status   int
	header   http.Header
	body     string
	document *html.Node
}

// once sends one request and follows nothing.
func (b *buyer) once(method, path string, form url.Values) *shown {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), method, site+path, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for name, value := range b.headers {
		r.Header.Set(name, value)
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	out := httptest.NewRecorder()
	b.shop.ServeHTTP(out, r)
	b.set = append(b.set, out.Result().Cookies()...)
	for _, c := range out.Result().Cookies() {
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		} else {
			b.cookies[c.Name] = c.Value
		}
	}
	document, err := html.Parse(strings.NewReader(out.Body.String()))
	require.NoError(b.t, err)
	return &shown{buyer: b, path: path, status: out.Code, header: out.Header(), body: out.Body.String(), document: document}
}

// follow goes where redirects lead, as a browser does.
func (b *buyer) follow(page *shown) *shown {
	b.t.Helper()
	for range 5 {
		if page.status != http.StatusSeeOther {
			return page
		}
		path, _, _ := strings.Cut(page.header.Get("Location"), "#")
		page = b.once(http.MethodGet, path, nil)
	}
	require.Fail(b.t, "redirects do not end", page.path)
	return nil
}

func (b *buyer) get(path string) *shown {
	b.t.Helper()
	return b.follow(b.once(http.MethodGet, path, nil))
}

// form is a form on a page with the values it would send.
type form struct {
	*buyer
	action string
	values url.Values
	fields map[string]bool
}

// form finds the page's form with this action; more pairs name=value tell several of them apart.
func (s *shown) form(action string, having ...string) *form {
	s.t.Helper()
	for _, node := range all(s.document, "form") {
		if attribute(node, "action") != action {
			continue
		}
		f := readForm(s.buyer, node)
		fits := true
		for _, pair := range having {
			name, value, _ := strings.Cut(pair, "=")
			fits = fits && f.values.Get(name) == value
		}
		if fits {
			return f
		}
	}
	require.Failf(s.t, "no such form", "%s %v on %s:\n%s", action, having, s.path, s.text())
	return nil
}

func (s *shown) hasForm(action string) bool {
	for _, node := range all(s.document, "form") {
		if attribute(node, "action") == action {
			return true
		}
	}
	return false
}

func readForm(b *buyer, node *html.Node) *form {
	f := &form{buyer: b, action: attribute(node, "action"), values: url.Values{}, fields: map[string]bool{}}
	for _, input := range all(node, "input") {
		name := attribute(input, "name")
		f.fields[name] = true
		if attribute(input, "type") != "radio" || has(input, "checked") {
			f.values.Set(name, attribute(input, "value"))
		}
	}
	for _, choice := range all(node, "select") {
		name := attribute(choice, "name")
		f.fields[name] = true
		for _, option := range all(choice, "option") {
			if has(option, "selected") || !f.values.Has(name) {
				f.values.Set(name, attribute(option, "value"))
			}
		}
	}
	return f
}

// fill types into a field that the form has.
func (f *form) fill(name, value string) *form {
	f.t.Helper()
	require.True(f.t, f.fields[name], "the form %s has no field %q", f.action, name)
	f.values.Set(name, value)
	return f
}

func (f *form) press() *shown {
	f.t.Helper()
	return f.follow(f.once(http.MethodPost, f.action, f.values))
}

// text is what a person reads on the page.
func (s *shown) text() string {
	var out strings.Builder
	for node := range s.document.Descendants() {
		if node.Type == html.TextNode && node.Parent.Data != "script" {
			out.WriteString(node.Data + " ")
		}
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

func (s *shown) says(words ...string) *shown {
	s.t.Helper()
	for _, one := range words {
		require.Contains(s.t, s.text(), one)
	}
	return s
}

func all(root *html.Node, tag string) (found []*html.Node) {
	for node := range root.Descendants() {
		if node.Type == html.ElementNode && node.Data == tag {
			found = append(found, node)
		}
	}
	return found
}

func attribute(node *html.Node, name string) string {
	for _, a := range node.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(node *html.Node, name string) bool {
	for _, a := range node.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

// put adds one unit of a product by the front page's button.
func (b *buyer) put(product string) *shown {
	b.t.Helper()
	return b.get("/").form("/cart/add", "product_id="+product).press()
}

// toCheckout fills a cart with a mug and the checkout's form with an e-mail address.
func (b *buyer) toCheckout() *form {
	b.t.Helper()
	b.put("prd_mug")
	return b.get("/checkout").form("/checkout").fill("email", "ada@example.com")
}

// ordersSent and chargesSent are the calls that started one, in the order they came.
func (f *fakeAPI) ordersSent() []fakeCall  { return f.sent("POST /v1/orders", "/orders") }
func (f *fakeAPI) chargesSent() []fakeCall { return f.sent("POST /v1/orders", "/charges") }

func (f *fakeAPI) sent(prefix, suffix string) (calls []fakeCall) {
	for _, call := range f.calls {
		if strings.HasPrefix(call.Line, prefix) && strings.HasSuffix(call.Line, suffix) {
			calls = append(calls, call)
		}
	}
	return calls
}
