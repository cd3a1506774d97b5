package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// rule says which arrivals, or which events, meet a fault. The first rule that matches wins; those that were made one by
// one come before those of the profile.
type rule struct {
	ID    string    `json:"id"`
	Match condition `json:"match"`
	Fault fault     `json:"fault"`
	Times int       `json:"times,omitempty"` // how many arrivals or events it may hit; 0 is no limit
	Off   bool      `json:"off,omitempty"`   // it is kept and strikes nothing
	Hits  int       `json:"hits"`
}

// condition is what a rule matches on; what is left out matches everything.
type condition struct {
	Method   string            `json:"method,omitempty"`
	PathGlob string            `json:"path_glob,omitempty"` // * is one segment, ** any number of them
	KeyGlob  string            `json:"key_glob,omitempty"`  // * is any text
	Metadata map[string]string `json:"metadata,omitempty"`  // of the request, or of the intent it names
	PM       string            `json:"pm,omitempty"`        // a test token or an id, of the request or of the intent
	// Event and Object make it a rule about events: the type, in which * is any text, and the id of the object.
	Event  string `json:"event,omitempty"`
	Object string `json:"object,omitempty"`
	// Nth and FromNth count, from 1, the arrivals of the same method, path and key, or the events of the same type about
	// the same object.
	Nth         int      `json:"nth,omitempty"`
	FromNth     int      `json:"from_nth,omitempty"`
	Probability *float64 `json:"probability,omitempty"`
}

// readRule decodes a rule strictly: a misspelt condition would silently match everything.
func readRule(text []byte) (rule, error) {
	r := rule{}
	if err := strictJSON(text, &r); err != nil {
		return r, err
	}
	r.Hits = 0
	r.Match.Method = strings.ToUpper(r.Match.Method)
	return r, r.check()
}

// check refuses a rule that makes no sense.
func (r rule) check() error {
	if r.Fault.Name == "" {
		return fmt.Errorf("rule: no fault")
	}
	if r.ID != "" && !isSegment(r.ID) {
		return fmt.Errorf("rule: the id %q could not be named in a path", r.ID)
	}
	if !slices.Contains([]string{"", http.MethodGet, http.MethodPost, http.MethodDelete}, r.Match.Method) {
		return fmt.Errorf("rule: no request has the method %q", r.Match.Method)
	}
	if p := r.Match.Probability; p != nil && !(*p >= 0 && *p <= 1) {
		return fmt.Errorf("rule: probability %v is not between 0 and 1", *p)
	}
	if r.Times < 0 || r.Match.Nth < 0 || r.Match.FromNth < 0 {
		return fmt.Errorf("rule: a count is negative")
	}
	return r.checkKind()
}

// ofEvents reports whether the condition is about events and not about arrivals.
func (m condition) ofEvents() bool { return m.Event != "" || m.Object != "" }

// checkKind refuses a rule that could never strike.
func (r rule) checkKind() error {
	kind := faultKinds[r.Fault.Name]
	switch m := r.Match; {
	case !m.ofEvents() && kind.strike == nil:
		return fmt.Errorf("rule: %s strikes webhooks, so match on an event or an object", r.Fault.Name)
	case m.ofEvents() && (!kind.webhook || r.Fault.params["point"] != ""):
		return fmt.Errorf("rule: %s strikes requests, so do not match on an event or an object", r.Fault.Name)
	case m.ofEvents() && (m.Method != "" || m.PathGlob != "" || m.PM != ""):
		return fmt.Errorf("rule: an event has no method, path or pm")
	default:
		return nil
	}
}

// putRule adds a rule at the end, or replaces the one with its id.
func (w *world) putRule(r rule) (rule, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n := len(w.rules) + 1; r.ID == ""; n++ {
		if id := "rule_" + strconv.Itoa(n); w.ruleIndex(id) < 0 {
			r.ID = id
		}
	}
	next := slices.Clone(w.rules)
	if n := w.ruleIndex(r.ID); n >= 0 {
		next[n] = r
	} else {
		next = append(next, r)
	}
	return r, w.commit(change{Rules: &next})
}

// switchRule turns a rule off, or on again.
func (w *world) switchRule(id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.ruleIndex(id)
	if n < 0 {
		return fmt.Errorf("there is no rule %q", id)
	}
	next := slices.Clone(w.rules)
	next[n].Off = !next[n].Off
	return w.commit(change{Rules: &next})
}

func (w *world) ruleIndex(id string) int {
	return slices.IndexFunc(w.rules, func(r rule) bool { return r.ID == id })
}

// dropRule removes a rule; false when there is none of that id.
func (w *world) dropRule(id string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.ruleIndex(id)
	if n < 0 {
		return false, nil
	}
	next := slices.Delete(slices.Clone(w.rules), n, n+1)
	return true, w.commit(change{Rules: &next})
}

func (w *world) dropRules() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.commit(change{Rules: &[]rule{}})
}

func (w *world) listRules() []rule {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]rule{}, w.rules...)
}

// applyRules is the part of apply about them. The caller holds mu.
func (w *world) applyRules(c change) {
	if c.Rules != nil {
		w.rules = slices.Clone(*c.Rules)
	}
	if c.Profile != nil {
		w.profile = *c.Profile
		w.profile.Rules = slices.Clone(w.profile.Rules)
	}
	for _, id := range c.Hits {
		for _, rules := range [][]rule{w.rules, w.profile.Rules} {
			if n := slices.IndexFunc(rules, func(r rule) bool { return r.ID == id }); n >= 0 {
				rules[n].Hits++
				break
			}
		}
	}
}

// firstMatch returns the first rule that matches and may still hit; hit are those that the same change has hit already.
// The caller holds mu.
func (w *world) firstMatch(hit []string, matches func(rule, seed) bool) (rule, bool) {
	for _, set := range []struct {
		rules []rule
		seed  seed
	}{{w.rules, w.seed}, {w.profile.Rules, w.profile.Seed}} {
		for _, r := range set.rules {
			hits := r.Hits
			for _, id := range hit {
				if id == r.ID {
					hits++
				}
			}
			if !r.Off && (r.Times == 0 || hits < r.Times) && matches(r, set.seed) {
				return r, true
			}
		}
	}
	return rule{}, false
}

// ruleFor returns the rule that strikes an arrival which is about to be noted. The caller holds mu.
func (w *world) ruleFor(c *call) (rule, bool) {
	return w.firstMatch(nil, func(r rule, s seed) bool { return w.matches(r, s, c) })
}

func (w *world) matches(r rule, s seed, c *call) bool {
	m := r.Match
	nth := w.arrivals[c.arrival.kind()] + 1
	if m.ofEvents() ||
		m.Method != "" && m.Method != c.arrival.Method ||
		m.PathGlob != "" && !matchPath(m.PathGlob, c.path) ||
		m.KeyGlob != "" && !matchText(m.KeyGlob, c.key) ||
		m.Nth != 0 && m.Nth != nth || m.FromNth > nth {
		return false
	}
	i := w.intentOf(c)
	for name, want := range m.Metadata {
		got := c.form.member("metadata", name)
		if got == nil && i.Metadata[name] != want || got != nil && got.text != want {
			return false
		}
	}
	if m.PM != "" && !w.paysWith(c, i, m.PM) {
		return false
	}
	// The draw depends on what arrives and on nothing else, so the same traffic meets the same faults in every run. A read
	// has no key; what tells it from others is the object in its path.
	what := c.route.template
	if c.key == "" {
		what = c.path
	}
	return m.Probability == nil || s.chance("rule", r.ID, c.arrival.Method, what, c.key, strconv.Itoa(nth)) < *m.Probability
}

// intentOf returns the payment intent that a call is about: the one its path names, or that of the charge or refund in its
// path or its parameters.
func (w *world) intentOf(c *call) intent {
	ids := []string{c.id}
	for _, param := range []string{"payment_intent", "charge"} {
		if n := c.form.member(param); n != nil {
			ids = append(ids, n.text)
		}
	}
	for _, id := range ids {
		if r, ok := w.refunds.get(id); ok {
			id = r.PaymentIntent.id
		}
		if ch, ok := w.charges.get(id); ok {
			id = ch.PaymentIntent.id
		}
		if i, ok := w.intents.get(id); ok {
			return i
		}
	}
	return intent{}
}

// ruleForEvent returns the rule that strikes an event which is about to be made, the nth of its kind. The caller holds mu.
func (w *world) ruleForEvent(ev event, nth int, hit []string) (rule, bool) {
	return w.firstMatch(hit, func(r rule, s seed) bool { return r.Match.admitsEvent(ev, nth) && r.strikes(s, ev) })
}

func (m condition) admitsEvent(ev event, nth int) bool {
	if !m.ofEvents() ||
		m.Event != "" && !matchText(m.Event, ev.Type) ||
		m.Object != "" && m.Object != ev.Subject ||
		m.KeyGlob != "" && !matchText(m.KeyGlob, string(ev.Request.IdempotencyKey)) ||
		m.Nth != 0 && m.Nth != nth || m.FromNth > nth {
		return false
	}
	about := ev.about()
	for name, want := range m.Metadata {
		if about.Metadata[name] != want {
			return false
		}
	}
	return true
}

func (r rule) strikes(s seed, ev event) bool {
	return r.Match.Probability == nil || s.chance("rule", r.ID, "event", ev.ID) < *r.Match.Probability
}

// paysWith reports whether a call uses a payment method, by its token or its id: the one in its parameters, or else
// the one attached to the intent it is about.
func (w *world) paysWith(c *call, i intent, pm string) bool {
	id := i.PaymentMethod.id
	if named := c.form.member("payment_method"); named != nil {
		id = named.text
	}
	m, _ := w.methods.get(id)
	return id == pm || m.Token == pm
}

// strictJSON decodes one JSON value and refuses members it does not know.
func strictJSON(text []byte, into any) error {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("JSON: %w", err)
	}
	if d.More() {
		return fmt.Errorf("JSON: more than one value")
	}
	return nil
}
