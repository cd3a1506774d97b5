package simulator

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// profile is a named mix of faults for long runs. Its rules come after those that were made one by one. Its seed decides
// whom they strike and nothing else: the ids of the world stay what they are.
type profile struct {
	Name  string `json:"name"` // "" is none
	Seed  seed   `json:"seed"`
	Rules []rule `json:"rules"`
}

// part is one fault of a mix and how often it strikes.
type part struct {
	share  float64
	fault  string
	params map[string]string
}

// mixes are the parts of each profile. Each is drawn by itself, in this order, and the first that strikes wins.
var mixes = map[string][]part{
	// An ordinary bad day.
	"calm": {
		{0.01, "drop_after_effect", map[string]string{"mode": "rst"}},
		{0.02, "delay", map[string]string{"ms": "50"}},
		{0.02, "duplicate", nil},
		{0.02, "reorder", nil},
	},
	// Everything that can go wrong between two honest parties, often.
	"rough": {
		{0.03, "drop_after_effect", map[string]string{"mode": "fin"}},
		{0.01, "reset_before_effect", nil},
		{0.02, "error_after_effect", map[string]string{"status": "500"}},
		{0.02, "error_before_effect", map[string]string{"status": "503"}},
		{0.01, "html_error", map[string]string{"status": "502"}},
		{0.02, "rate_limit", nil},
		{0.01, "lock_timeout", nil},
		{0.01, "truncate", map[string]string{"mode": cutClean}},
		{0.01, "ok_should_retry", nil},
		{0.03, "delay", map[string]string{"ms": "100", "point": string(beforeResponse)}},
		{0.05, "duplicate", nil},
		{0.03, "lose", nil},
		{0.05, "reorder", map[string]string{"window": "2"}},
		{0.02, "twin_event", nil},
		{0.05, "early", nil},
	},
	// Requests go well, and nothing can be learned from webhooks alone.
	"webhook_storm": {
		{0.20, "duplicate", map[string]string{"n": "3"}},
		{0.15, "lose", nil},
		{0.15, "reorder", map[string]string{"window": "5"}},
		{0.10, "early", nil},
		{0.05, "twin_event", nil},
		{0.05, "bad_signature", nil},
		{0.05, "old_timestamp", nil},
		{0.05, "wrong_version", nil},
	},
}

// rulesOf makes the rules of a mix.
func rulesOf(name string) ([]rule, error) {
	rules := []rule{}
	for _, p := range mixes[name] {
		f, problem := newFault(p.fault, p.params)
		if problem != nil {
			return nil, fmt.Errorf("profile %s: %s", name, problem.Message)
		}
		r := rule{ID: name + ":" + p.fault, Fault: f, Match: condition{Probability: &p.share}}
		if faultKinds[p.fault].strike == nil {
			r.Match.Event = "*"
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func profileNames() []string { return slices.Sorted(maps.Keys(mixes)) }

// setProfile replaces the profile; "" ends it.
func (w *world) setProfile(name string, with *seed) (profile, error) {
	if _, known := mixes[name]; !known && name != "" {
		return profile{}, fmt.Errorf("there is no profile %q: the profiles are %v, and \"\" is none", name, profileNames())
	}
	rules, err := rulesOf(name)
	if err != nil {
		return profile{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	next := profile{Name: name, Seed: w.seed, Rules: rules}
	if with != nil {
		next.Seed = *with
	}
	return next, w.commit(change{Profile: &next})
}

func (c *control) chooseProfile() answer {
	ask := struct {
		Name string `json:"name"`
		Seed *seed  `json:"seed"`
	}{}
	if err := c.body(&ask); err != nil {
		return c.refuse(http.StatusBadRequest, "%v", err)
	}
	chosen, err := c.world.setProfile(ask.Name, ask.Seed)
	if err != nil {
		return c.refuse(http.StatusBadRequest, "%v", err)
	}
	return jsonAnswer(http.StatusOK, chosen)
}

func (c *control) showProfile() answer {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	shown := c.world.profile
	shown.Rules = append([]rule{}, shown.Rules...)
	return jsonAnswer(http.StatusOK, shown)
}
