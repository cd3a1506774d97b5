package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// pages holds one parsed template per page, each inside the common layout.
type pages map[string]*template.Template

// parsePages parses every page. The templates are part of the program, so one that does not parse is a bug and stops it.
func parsePages(asset func(string) string) pages {
	const folder, layout = "templates/", "templates/layout.html"
	helpers := template.FuncMap{"asset": asset}
	out := pages{}
	names, err := fs.Glob(files, folder+"*.html")
	if err != nil {
		panic("web: " + err.Error())
	}
	for _, name := range names {
		if name != layout {
			page := template.Must(template.New("layout.html").Funcs(helpers).ParseFS(files, layout, folder+"parts.html", name))
			out[strings.TrimSuffix(path.Base(name), ".html")] = page
		}
	}
	return out
}

// view is what the layout shows around a page.
type view struct {
	Title      string
	Token      string // proves that the page's forms are ours
	Units      int64  // in the cart
	Refresh    int    // seconds until a page without script loads itself again; 0: never
	Forget     string // scopes whose keys the script drops, separated by spaces
	Currency   string
	Currencies []string // empty: the page has no currency menu
	Back       string   // where the currency menu leads
	Page       any
}

// render writes a page. It is complete before the first byte goes out, so a template that breaks never leaves half a page
// that looks like a whole one.
func (v *visit) render(status int, name string, page view) error {
	page.Token = v.formToken()
	if v.cart == nil {
		// The badge in the header is worth asking for, but not worth failing for.
		if err := v.loadCart(); err != nil {
			v.shop.Log.DebugContext(v.r.Context(), "cart badge left out", "error", err)
		}
	}
	if v.cart != nil && v.cart.open() {
		page.Units = v.cart.units()
	}
	var out bytes.Buffer
	if err := v.shop.pages[name].Execute(&out, page); err != nil {
		return fmt.Errorf("page %s: %w", name, err)
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	return v.send(status, out.Bytes())
}

// renderJSON answers a script.
func (v *visit) renderJSON(status int, object any) error {
	body, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("answer to the script: %w", err)
	}
	v.w.Header().Set("Content-Type", "application/json")
	return v.send(status, body)
}

func (v *visit) send(status int, body []byte) error {
	v.w.WriteHeader(status)
	if _, err := v.w.Write(body); err != nil {
		v.shop.Log.DebugContext(v.r.Context(), "browser has gone", "error", err)
	}
	return nil
}

// apology is a page that only says something.
type apology struct {
	Headline, Text string
	RequestID      string // what the buyer may quote to the shop; names a request and holds nothing else
}

func (v *visit) apologise(status int, a apology) error {
	return v.render(status, "apology", view{Title: a.Headline, Page: a})
}

// fail turns the error that stopped a page into words. What the API or a library said stays in the log.
func (s *shop) fail(v *visit, err error) {
	var refused refusal
	errors.As(err, &refused)
	id := refused.answer.requestID
	switch {
	case refused.answer.is("not-found"):
		err = s.notFound(v)
	case errors.Is(err, errNoAnswer), refused.answer.temporary():
		s.Log.WarnContext(v.r.Context(), "page waits for the API", "path", v.r.URL.Path, "error", err)
		v.w.Header().Set("Retry-After", strconv.Itoa(max(1, int(refused.answer.retryAfter.Seconds()))))
		err = v.apologise(http.StatusServiceUnavailable, apology{"One moment, please",
			"The shop cannot reach its own back room right now. Nothing is lost: your cart and your orders are safe. Load the page again in a few seconds.", id})
	default:
		s.Log.ErrorContext(v.r.Context(), "page failed", "path", v.r.URL.Path, "error", err)
		err = v.apologise(http.StatusInternalServerError, apology{"That is our fault",
			"Something is set up wrongly in this shop, and trying again will not help. No payment was started by this page.", id})
	}
	if err != nil {
		s.Log.ErrorContext(v.r.Context(), "apology failed", "error", err)
		http.Error(v.w, "Something went wrong.", http.StatusInternalServerError)
	}
}

func (s *shop) notFound(v *visit) error {
	return v.apologise(http.StatusNotFound, apology{Headline: "There is nothing here",
		Text: "The address may have a typing error, or what was here is gone. Everything we sell is on the front page."})
}

// forged refuses a form that is not from one of our pages: too old, from another site, or without our cookie.
func (s *shop) forged(v *visit) error {
	return v.apologise(http.StatusForbidden, apology{Headline: "Please load the page again",
		Text: "This form was too old, came from another site, or your browser did not send our cookie. Nothing was done. Go back, load the page again and repeat it."})
}

func (s *shop) tooLarge(v *visit) error {
	return v.apologise(http.StatusRequestEntityTooLarge, apology{Headline: "That is too much text",
		Text: "What you sent is longer than any form of this shop. Nothing was done."})
}

func (s *shop) how(v *visit) error {
	return v.render(http.StatusOK, "how", view{Title: "How it works"})
}
