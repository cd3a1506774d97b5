package web

import (
	"crypto/hmac"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The cookies. Each holds one plain value; none holds personal data.
const (
	browserCookie  = "payonce_browser"  // random name of this browser; forms and cart keys are bound to it
	cartCookie     = "payonce_cart"     // id of the cart, kept after it was ordered: the next cart's key is derived from it
	currencyCookie = "payonce_currency" // what prices are shown in
	keyCookie      = "payonce_key"      // the key of the purchase under way
)

const (
	rememberCart = 30 * 24 * time.Hour
	rememberKey  = 24 * time.Hour // the API keeps answers much longer; a purchase that is a day old is looked at anew
	maxForm      = 16 << 10       // bytes; the longest honest form has about 2000
)

// visit is one request to the shop with what is known about the browser behind it.
type visit struct {
	shop    *shop
	w       http.ResponseWriter
	r       *http.Request
	browser string
	money   money
	cart    *cart // nil until loadCart
}

var (
	idSyntax  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	keySyntax = regexp.MustCompile(`^[A-Za-z0-9_-]{1,255}$`)
)

func (s *shop) newVisit(w http.ResponseWriter, r *http.Request) *visit {
	v := &visit{shop: s, w: w, r: r, money: moneyFor(r.Header.Get("Accept-Language"))}
	if v.browser = v.cookie(browserCookie); !keySyntax.MatchString(v.browser) {
		v.browser = s.NewKey()
		v.setCookie(browserCookie, v.browser, rememberCart)
	}
	return v
}

// cookieName adds the prefix that keeps a neighbouring host or a plain-text page from planting our cookies. Browsers
// accept the prefix only together with Secure.
func (s *shop) cookieName(name string) string {
	if s.Secure {
		return "__Host-" + name
	}
	return name
}

func (v *visit) cookie(name string) string {
	c, err := v.r.Cookie(v.shop.cookieName(name))
	if err != nil {
		return ""
	}
	return c.Value
}

// setCookie keeps a value in the browser; an empty one is forgotten. No script can read it, and other sites' forms do not
// carry it.
func (v *visit) setCookie(name, value string, life time.Duration) {
	c := &http.Cookie{Name: v.shop.cookieName(name), Value: value, Path: "/", MaxAge: int(life.Seconds()), HttpOnly: true,
		Secure: v.shop.Secure, SameSite: http.SameSiteLaxMode}
	if value == "" {
		c.MaxAge = -1
	}
	// A page that drops one key and makes the next would set the cookie twice; browsers need not keep that order.
	h := v.w.Header()
	h["Set-Cookie"] = slices.DeleteFunc(h["Set-Cookie"], func(line string) bool { return strings.HasPrefix(line, c.Name+"=") })
	http.SetCookie(v.w, c)
}

// formToken proves that a form was rendered by us for this browser.
func (v *visit) formToken() string { return v.shop.sign("form", v.browser) }

// admitForm reads the form of a POST and returns the page that refuses it, or nil. Sec-Fetch-Site and Origin have been
// looked at before; the token holds also where neither is sent.
func (v *visit) admitForm() page {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	var tooLarge *http.MaxBytesError
	switch err := v.r.ParseForm(); {
	case errors.As(err, &tooLarge):
		return v.shop.tooLarge
	case err != nil:
		return v.shop.forged
	case !hmac.Equal([]byte(v.r.PostForm.Get("token")), []byte(v.formToken())):
		return v.shop.forged
	}
	return nil
}

func (v *visit) field(name string) string { return v.r.PostForm.Get(name) }

// idField is a form's id, or "" when it cannot be one. Ids become parts of API paths, so nothing else may pass.
func (v *visit) idField(name string) string {
	if id := v.field(name); idSyntax.MatchString(id) {
		return id
	}
	return ""
}

// seeOther sends the browser on with a GET, so that a reload repeats nothing.
func (v *visit) seeOther(path string) error {
	http.Redirect(v.w, v.r, path, http.StatusSeeOther)
	return nil
}
