package simulator

import (
	"bytes"
	"embed"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed pages
var pageFiles embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"money":   formatAmount,
	"unix":    func(at int64) string { return time.Unix(at, 0).UTC().Format("2006-01-02 15:04:05") },
	"id":      func(r reference) string { return r.id },
	"json":    func(v any) string { return string(marshal(v)) },
	"percent": func(share *float64) string { return strconv.FormatFloat(*share*100, 'g', 3, 64) + " %" },
	"params":  faultParams,
	"at":      func(at time.Time) string { return at.Format("2006-01-02 15:04:05.000") },
}).ParseFS(pageFiles, "pages/*.html"))

// faultParams writes the parameters of a fault as a header of a request would.
func faultParams(f fault) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(f.params)) {
		pairs = append(pairs, name+"="+f.params[name])
	}
	return strings.Join(pairs, ";")
}

// page renders a template under a policy that lets it run nothing and load nothing but its style sheet. formAction is
// where its forms may lead; browsers apply it to the redirect after a form too.
func (c *control) page(name, formAction string, data any) answer {
	var out bytes.Buffer
	if err := pages.ExecuteTemplate(&out, name, data); err != nil {
		return c.refuse(http.StatusInternalServerError, "page %s: %v", name, err)
	}
	a := answer{status: http.StatusOK, contentType: "text/html; charset=utf-8", body: out.Bytes()}
	a = a.with("Content-Security-Policy",
		"default-src 'none'; style-src 'self'; form-action "+formAction+"; base-uri 'none'; frame-ancestors 'none'")
	return a.with("X-Content-Type-Options", "nosniff").with("Referrer-Policy", "same-origin")
}

func (c *control) style() answer {
	css, err := pageFiles.ReadFile("pages/style.css")
	if err != nil {
		return c.refuse(http.StatusNotFound, "%v", err)
	}
	return answer{status: http.StatusOK, contentType: "text/css; charset=utf-8", body: css}
}

// path is the path of a control of this world, as the browser that asks for it sees the simulator.
func (c *control) path(rest string) string {
	if c.world.name == "" {
		return "/_sim" + rest
	}
	return "/scn/" + c.world.name + "/_sim" + rest
}

// authenticationPage is where a buyer plays their bank's question.
type authenticationPage struct {
	Style, Action string // paths
	Intent        paymentIntent
	ReturnURL     string // "" when there is nowhere to go
	Asked         bool   // the intent still waits for an answer
}

func (c *control) authenticatePage() answer {
	w := c.world
	w.mu.Lock()
	i, ok := w.intents.get(c.id)
	w.mu.Unlock()
	if !ok {
		return c.refuse(http.StatusNotFound, "there is no payment intent %q", c.id)
	}
	p := authenticationPage{
		Style: c.path("/style.css"), Action: c.path("/payment_intents/" + i.ID + "/authenticate"),
		Intent: i.paymentIntent, ReturnURL: i.returnURL(), Asked: i.Status == requiresAction,
	}
	return c.page("authenticate.html", formTargets(p.ReturnURL), p)
}

// formTargets is the policy for a form whose answer redirects to the shop.
func formTargets(returnURL string) string {
	u, err := url.Parse(returnURL)
	switch {
	case err != nil || u.Scheme == "" || strings.ContainsAny(u.Host, ";, '"): // no address may write policy
		return "'self'"
	case u.Host == "":
		return "'self' " + u.Scheme + ":"
	default:
		return "'self' " + u.Scheme + "://" + u.Host
	}
}

// authenticateForm takes the buyer's choice and sends them back to the shop, with the parameters that Stripe appends.
func (c *control) authenticateForm() answer {
	c.request.Body = http.MaxBytesReader(c.writer, c.request.Body, maxBody)
	outcome := c.request.PostFormValue("outcome")
	i, before, problem := c.world.moveIntent(c.id, c.baseURL, stepAuthenticate, outcome)
	returnURL := before.returnURL() // the buyer's choice takes it off the intent
	if problem != nil && problem.Code != codeUnexpectedState {
		return errorAnswer(problem)
	}
	target := c.path("/payment_intents/" + c.id + "/authenticate")
	if problem == nil && returnURL != "" && i.Status != requiresAction {
		target = returnTarget(returnURL, i.paymentIntent)
	}
	return answer{status: http.StatusSeeOther, contentType: "text/plain"}.with("Location", target)
}

func returnTarget(returnURL string, i paymentIntent) string {
	status := "succeeded"
	if i.Status == requiresPaymentMethod {
		status = "failed"
	}
	added := url.Values{
		"payment_intent": {i.ID}, "payment_intent_client_secret": {i.ClientSecret}, "redirect_status": {status},
	}.Encode()
	address, fragment, hasFragment := strings.Cut(returnURL, "#")
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	address += separator + added
	if hasFragment {
		address += "#" + fragment
	}
	return address
}
