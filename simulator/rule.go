package simulator

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// rule says which arrivals meet a fault. The first rule that matches wins.
type rule struct {
	ID    string    `json:"id"`
	Match condition `json:"match"`
	Fault fault     `json:"fault"`
	Times int       `json:"times,omitempty"` // how many arrivals it may hit; 0 is no limit
	Hits  int       `json:"hits"`
}

// condition is what a rule matches on; what is left out matches everything.
type condition struct {
	Method   string            `json:"method,omitempty"`
	PathGlob string            `json:"path_glob,omitempty"` // * is one segment, ** any number of them
	KeyGlob  string            `json:"key_glob,omitempty"`  // * is any text
	Metadata map[string]string `json:"metadata,omitempty"`  // of the request, or of the intent it names
	PM       string            `json:"pm,omitempty"`        // a test token or an id, of the request or of the intent
	// Nth and FromNth count the arrivals of the same method, path and key, from 1.
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
	if r.Fault.Name == "" {
		return r, fmt.Errorf("rule: no fault")
	}
	if p := r.Match.Probability; p != nil && (*p < 0 || *p > 1) {
		return r, fmt.Errorf("rule: probability %v is not between 0 and 1", *p)
	}
	if r.Times < 0 || r.Match.Nth < 0 || r.Match.FromNth < 0 {
		return r, fmt.Errorf("rule: a count is negative")
	}
	r.Hits = 0
	return r, nil
}

// putRule adds a rule at the end, or replaces the one with its id.
func (w *world) putRule(r rule) rule {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n := len(w.rules) + 1; r.ID == ""; n++ {
		if id := "rule_" + strconv.Itoa(n); w.ruleIndex(id) < 0 {
			r.ID = id
		}
	}
	if n := w.ruleIndex(r.ID); n >= 0 {
		w.rules[n] = &r
	} else {
		w.rules = append(w.rules, &r)
	}
	return r
}

func (w *world) ruleIndex(id string) int {
	return slices.IndexFunc(w.rules, func(r *rule) bool { return r.ID == id })
}

// dropRules removes one rule, or all of them for an empty id; false when there is no such rule.
func (w *world) dropRules(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if id == "" {
		w.rules = nil
		return true
	}
	n := w.ruleIndex(id)
	if n < 0 {
		return false
	}
	w.rules = slices.Delete(w.rules, n, n+1)
	return true
}

func (w *world) listRules() []rule {
	w.mu.Lock()
	defer w.mu.Unlock()
	rules := make([]rule, 0, len(w.rules))
	for _, r := range w.rules {
		rules = append(rules, *r)
	}
	return rules
}

// ruleFor returns the fault that the rules have for an arrival that was just noted. The caller holds mu.
func (w *world) ruleFor(c *call) (fault, bool) {
	for _, r := range w.rules {
		if (r.Times == 0 || r.Hits < r.Times) && w.matches(r, c) {
			r.Hits++
			return r.Fault, true
		}
	}
	return fault{}, false
}

func (w *world) matches(r *rule, c *call) bool {
	m := r.Match
	nth := w.arrivals[c.arrival.kind()]
	if m.Method != "" && m.Method != c.arrival.Method ||
		m.PathGlob != "" && !matchPath(m.PathGlob, c.path) ||
		m.KeyGlob != "" && !matchText(m.KeyGlob, c.key) ||
		m.Nth != 0 && m.Nth != nth || m.FromNth > nth {
		return false
	}
	i, _ := w.intents.get(c.id)
	for name, want := range m.Metadata {
		got := c.form.member("metadata", name)
		if got == nil && i.Metadata[name] != want || got != nil && got.text != want {
			return false
		}
	}
	if m.PM != "" && !w.paysWith(c, i, m.PM) {
		return false
	}
	// The draw depends on what arrives and on nothing else, so the same traffic meets the same faults in every run.
	return m.Probability == nil ||
		w.seed.chance("rule", r.ID, c.arrival.Method, c.route.template, c.key, strconv.Itoa(nth)) < *m.Probability
}

// paysWith reports whether a call uses a payment method, by its token or its id: the one in its parameters, or else
// the one attached to the intent it names.
func (w *world) paysWith(c *call, i intent, pm string) bool {
	id := i.PaymentMethod.id
	if named := c.form.member("payment_method"); named != nil {
		id = named.text
	}
	m, _ := w.methods.get(id)
	return id == pm || m.Token == pm
}

// matchPath matches path segments; ** stands for any number of them, none included.
func matchPath(glob, path string) bool {
	return matchSegments(strings.Split(glob, "/"), strings.Split(path, "/"))
}

func matchSegments(glob, path []string) bool {
	if len(glob) == 0 {
		return len(path) == 0
	}
	if glob[0] == "**" {
		return matchSegments(glob[1:], path) || len(path) > 0 && matchSegments(glob, path[1:])
	}
	return len(path) > 0 && matchText(glob[0], path[0]) && matchSegments(glob[1:], path[1:])
}

// matchText matches a text in which * stands for any characters.
func matchText(glob, text string) bool {
	parts := strings.Split(glob, "*")
	if len(parts) == 1 {
		return glob == text
	}
	first, last := parts[0], parts[len(parts)-1]
	if !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return strings.HasSuffix(text, last)
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
