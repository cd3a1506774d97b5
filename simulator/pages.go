package simulator

import (
	"bytes"
	"embed"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// pageRows is how many lines of each kind the overview shows.
const pageRows = 50

//go:embed pages
var pageFiles embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"money": formatAmount,
	"unix":  func(at int64) string { return time.Unix(at, 0).UTC().Format("2006-01-02 15:04:05") },
	"at":    func(at time.Time) string { return at.Format("2006-01-02 15:04:05.000") },
}).ParseFS(pageFiles, "pages/*.html"))

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
	return a.with("X-Content-Type-Options", "nosniff").with("Referrer-Policy", "no-referrer")
}

func (c *control) style() answer {
	css, err := pageFiles.ReadFile("pages/style.css")
	if err != nil {
		return c.refuse(http.StatusNotFound, "%v", err)
	}
	return answer{status: http.StatusOK, contentType: "text/css; charset=utf-8", body: css}
}

// overviewPage is what GET /_sim shows.
type overviewPage struct {
	World   string
	Base    string // the path of the world's controls
	Now     time.Time
	Frozen  bool
	Ahead   time.Duration
	Seed    uint64
	Intents []intentRow
	Keys    []record
	Journal []Arrival // newest first
	Total   counts
	Alarms  []string
	Rules   []rule
	Waiting map[string]int // calls by barrier
	Worlds  []string
}

type counts struct{ Intents, Keys, Arrivals int }

type intentRow struct {
	intent
	Metadata []string // name=value, sorted; shadows the map of the intent
}

// overview shows a person what the simulator knows.
func (c *control) overview() answer {
	p := overviewPage{Base: c.path(""), Worlds: c.sim.worldNames(), Rules: c.world.listRules()}
	c.world.overview(&p)
	return c.page("overview.html", "'none'", p)
}

func (w *world) overview(p *overviewPage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p.World, p.Seed = w.name, uint64(w.seed)
	p.Now, p.Frozen = w.clock.now(), w.clock.frozen()
	p.Ahead = p.Now.Sub(w.clock.real()).Round(time.Second)
	p.Alarms = slices.Clone(w.alarms)
	for _, i := range w.intents.newest(pageRows) {
		row := intentRow{intent: i}
		for _, name := range slices.Sorted(maps.Keys(i.paymentIntent.Metadata)) {
			row.Metadata = append(row.Metadata, name+"="+i.paymentIntent.Metadata[name])
		}
		p.Intents = append(p.Intents, row)
	}
	keys := w.liveRecords()
	p.Keys = slices.Clone(keys[max(0, len(keys)-pageRows):])
	slices.Reverse(p.Keys)
	p.Journal = slices.Clone(w.journal[max(0, len(w.journal)-pageRows):])
	slices.Reverse(p.Journal)
	p.Total = counts{w.intents.size(), len(keys), len(w.journal)}
	p.Waiting = map[string]int{}
	for name, b := range w.barriers {
		p.Waiting[name] = b.waiting
	}
}

func (s *Simulator) worldNames() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := slices.Sorted(maps.Keys(s.worlds))
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
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
	var returnURL string
	i, problem := c.world.moveIntent(c.id, c.baseURL, func(e *effect, i intent) (intent, *apiError) {
		returnURL = i.returnURL() // the answer takes it off the intent
		return e.authenticate(i, outcome)
	})
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
