package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"log/slog"
	"net/http"
	"time"
)

//go:embed templates static
var files embed.FS

// Options is what the shop needs from outside. All fields but Currency and Secure must be set.
type Options struct {
	API       http.RoundTripper // carries the shop's calls to the API
	BaseURL   string            // where buyers reach the shop, without a slash at the end; banks send them back here
	SecretKey string            // the merchant's API key; it may write, and never reaches a page, a cookie or a log
	Currency  string            // ISO 4217 code shown to new visitors; EUR when empty
	Now       func() time.Time
	NewKey    func() string // makes unguessable text of letters, digits, _ and -, at most 255 long
	Log       *slog.Logger
	TestCards bool // offers the provider's test cards; without it the shop can be looked at but takes no money
	Secure    bool // the shop is reached by https: cookies get Secure and the __Host- prefix
}

// shop is the handler behind every page.
type shop struct {
	Options
	api    *client
	assets *assets
	pages  pages
	mac    []byte // key of everything the shop signs; replicas with the same API key agree on it
}

// page answers one visit, or returns the error that kept it from doing so.
type page func(*visit) error

// New builds the shop. The handler serves every path that the API does not.
func New(o Options) http.Handler {
	if o.Currency == "" {
		o.Currency = "EUR"
	}
	// The signing key is derived, so that there is one secret less to configure, and one-way, so that it tells nothing.
	mac := sha256.Sum256([]byte("payonce web shop\x00" + o.SecretKey))
	s := &shop{Options: o, api: newClient(o.API, o.BaseURL, o.SecretKey), assets: loadAssets(), mac: mac[:]}
	s.pages = parsePages(s.assets.url)

	mux := http.NewServeMux()
	for pattern, p := range map[string]page{
		"GET /{$}":                  s.catalogue,
		"GET /cart":                 s.showCart,
		"POST /cart/add":            s.addToCart,
		"POST /cart/items":          s.setCartItem,
		"POST /currency":            s.switchCurrency,
		"GET /checkout":             s.showCheckout,
		"POST /checkout":            s.checkout,
		"GET /orders/{id}":          s.showOrder,
		"GET /orders/{id}/return":   s.returnToOrder,
		"GET /orders/{id}/state":    s.orderState,
		"POST /orders/{id}/charges": s.payOrder,
		"POST /orders/{id}/charges/{charge}/cancel": s.useAnotherCard,
		"GET /how": s.how,
		"/":        s.notFound,
	} {
		mux.Handle(pattern, s.visited(p))
	}
	mux.Handle("GET /static/", s.assets)

	sameSite := http.NewCrossOriginProtection()
	sameSite.SetDenyHandler(s.visited(s.forged))
	return s.guarded(sameSite.Handler(mux))
}

// policy lets a page load our own files and nothing else: no inline script or style, no frame around it, no form that
// posts elsewhere.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guarded sets the headers that every answer carries, refusals included.
func (s *shop) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // an order's address is all one needs to see it
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if s.Secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

// visited runs a page for one visit. A form is let in only when it came from one of our own pages.
func (s *shop) visited(p page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, answer := s.newVisit(w, r), p // p is shared by all visits and must not be assigned to
		if r.Method == http.MethodPost {
			if refuse := v.admitForm(); refuse != nil {
				answer = refuse
			}
		}
		if err := answer(v); err != nil {
			s.fail(v, err)
		}
	})
}

// sign is a short proof that the shop itself has seen these parts together.
func (s *shop) sign(parts ...string) string {
	mac := hmac.New(sha256.New, s.mac)
	for _, part := range parts {
		mac.Write([]byte(part))
		mac.Write([]byte{0}) // so that "a","bc" and "ab","c" differ
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
