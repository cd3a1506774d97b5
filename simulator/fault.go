package simulator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fault is something that goes wrong on purpose, with its parameters checked.
type fault struct {
	Name   string
	params map[string]string
	at     point
}

// faultKind is what a name means. A new kind of fault is one more entry in faultKinds.
type faultKind struct {
	at      point   // where it strikes
	points  []point // where the parameter "point" may move it, if anywhere
	webhook bool    // it strikes webhooks too, or only them when strike is nil
	params  checks
	must    []string // parameters that have no default
	// strike returns an answer that ends the call, or nil to let it go on. At before_response, c.answer is the answer
	// it may replace.
	strike func(c *call, f fault) *answer
}

// waitingPoints are where a call may be made to wait. after_effect is not among them: there the world's mutex is held.
var waitingPoints = []point{atAccept, beforeEffect, whileLocked, beforeResponse}

type checks = map[string]func(text string) bool

var staleChecks = checks{"lag_ms": isMilliseconds, "until": isTime}

var errorChecks = checks{"status": isErrorStatus, "store": isBoolean, "should_retry": isBoolean}

// faultKinds is every fault the simulator has.
var faultKinds = map[string]faultKind{
	"reset_before_effect": {at: beforeEffect, strike: reset},
	"error_before_effect": {at: beforeEffect, params: errorChecks, strike: answerError(false)},
	"error_after_effect":  {at: afterEffect, params: errorChecks, strike: answerError(true)},
	"html_error":          {at: atAccept, params: checks{"status": isErrorStatus}, strike: htmlError},
	"delay": {
		webhook: true, at: beforeEffect, points: waitingPoints, params: checks{"ms": isMilliseconds}, must: []string{"ms"},
		strike: delay,
	},
	"hold": {
		at: beforeEffect, points: waitingPoints, params: checks{"barrier": isSegment}, must: []string{"barrier"}, strike: hold,
	},

	"rate_limit":     {at: atRateLimit, params: checks{"reason": isWord, "retry_after": isCount}, strike: rateLimited},
	"key_in_use":     {at: atLookup, strike: answerKeyInUse},
	"prune_key":      {at: atLookup, params: checks{"key": isName, "age": isDuration}, strike: pruneKey},
	"lock_timeout":   {at: beforeEffect, strike: answerLockTimeout},
	"decline":        {at: inEffect, params: checks{"code": isWord, "decline_code": isWord}, strike: bankDeclines},
	"require_action": {at: inEffect, strike: bankAsks},
	"processing":     {at: inEffect, strike: bankTakesItsTime},

	"stale_get":    {at: atValidate, params: staleChecks, strike: readStale((*call).gets)},
	"stale_list":   {at: atValidate, params: staleChecks, strike: readStale((*call).lists)},
	"stale_search": {at: atValidate, params: staleChecks, strike: readStale((*call).searches)},

	"drop_after_effect": {at: beforeResponse, params: checks{"mode": isCut}, strike: drop},
	"truncate":          {at: beforeResponse, params: checks{"bytes": isCount, "mode": isTruncation}, strike: truncate},
	"empty_200":         {at: beforeResponse, strike: empty},
	"ok_should_retry":   {at: beforeResponse, strike: askAgain},

	"lose":          {webhook: true, at: atDelivery},
	"duplicate":     {webhook: true, at: atDelivery, params: checks{"n": isNumber(2, 10)}},
	"reorder":       {webhook: true, at: atDelivery, params: checks{"window": isNumber(1, 100)}},
	"twin_event":    {webhook: true, at: atDelivery},
	"early":         {webhook: true, at: atDelivery},
	"bad_signature": {webhook: true, at: atDelivery},
	"old_timestamp": {webhook: true, at: atDelivery, params: checks{"seconds": isCount}},
	"wrong_version": {webhook: true, at: atDelivery, params: checks{"version": isWord}},
}

func (c *call) strike(at point) *answer {
	for _, f := range c.faults {
		if f.at != at {
			continue
		}
		c.arrival.Faults = append(c.arrival.Faults, f.Name)
		if a := faultKinds[f.Name].strike(c, f); a != nil {
			return a
		}
	}
	return nil
}

// meets reports whether a fault strikes the call at a point.
func (c *call) meets(at point) bool {
	return slices.ContainsFunc(c.faults, func(f fault) bool { return f.at == at })
}

func newFault(name string, params map[string]string) (fault, *apiError) {
	kind, known := faultKinds[name]
	if !known {
		return fault{}, invalid("", "", "There is no fault %q: the faults are %s.", name,
			strings.Join(slices.Sorted(maps.Keys(faultKinds)), ", "))
	}
	f := fault{Name: name, params: params, at: kind.at}
	for _, param := range slices.Sorted(maps.Keys(params)) {
		if param == "point" && slices.Contains(kind.points, point(params[param])) {
			f.at = point(params[param])
			continue
		}
		check, known := kind.params[param]
		if !known || !check(params[param]) {
			return fault{}, invalid("", "", "Fault %s does not take %s=%s.", name, param, params[param])
		}
	}
	for _, param := range kind.must {
		if params[param] == "" {
			return fault{}, invalid("", "", "Fault %s needs %s.", name, param)
		}
	}
	return f, nil
}

// parseFaults reads X-Sim-Fault headers.
func parseFaults(headers []string) ([]fault, *apiError) {
	faults, problem := readFaults(strings.Join(headers, ","))
	for _, f := range faults {
		if faultKinds[f.Name].strike == nil {
			return nil, invalid("", "", "Fault %s strikes webhooks: make a rule that matches an event.", f.Name)
		}
	}
	return faults, problem
}

// readFaults reads a comma list of name;param=value;param=value.
func readFaults(text string) ([]fault, *apiError) {
	var faults []fault
	for item := range strings.SplitSeq(text, ",") {
		name, rest, _ := strings.Cut(strings.TrimSpace(item), ";")
		if name == "" {
			continue
		}
		params := map[string]string{}
		for pair := range strings.SplitSeq(rest, ";") {
			if param, value, _ := strings.Cut(strings.TrimSpace(pair), "="); param != "" {
				params[param] = value
			}
		}
		f, problem := newFault(name, params)
		if problem != nil {
			return nil, problem
		}
		faults = append(faults, f)
	}
	return faults, nil
}

// UnmarshalJSON reads {"name": ..., parameters}; a parameter may be written as a text, a number or a boolean.
func (f *fault) UnmarshalJSON(text []byte) error {
	var members map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // a number is read as it was written
	if err := d.Decode(&members); err != nil {
		return err
	}
	name, _ := members["name"].(string)
	delete(members, "name")
	params := make(map[string]string, len(members))
	for param, value := range members {
		params[param] = fmt.Sprint(value)
	}
	read, problem := newFault(name, params)
	if problem != nil {
		return fmt.Errorf("fault: %s", problem.Message)
	}
	*f = read
	return nil
}

// MarshalJSON writes the form that UnmarshalJSON reads.
func (f fault) MarshalJSON() ([]byte, error) {
	members := maps.Clone(f.params)
	if members == nil {
		members = map[string]string{}
	}
	members["name"] = f.Name
	return json.Marshal(members)
}

// integer and flag read a parameter that was checked before.
func (f fault) integer(param string, otherwise int) int {
	if n, err := strconv.Atoi(f.params[param]); err == nil {
		return n
	}
	return otherwise
}

func (f fault) text(param, otherwise string) string {
	if text := f.params[param]; text != "" {
		return text
	}
	return otherwise
}

// duration reads a length of time; false when none was given.
func (f fault) duration(param string) (time.Duration, bool) {
	d, err := time.ParseDuration(f.params[param])
	return d, err == nil
}

func (f fault) flag(param string, otherwise bool) bool {
	if text := f.params[param]; text != "" {
		return text == "true"
	}
	return otherwise
}

func isErrorStatus(text string) bool {
	return isNumber(400, 599)(text)
}

func isBoolean(text string) bool { return text == "true" || text == "false" }

// isNumber allows the whole numbers from least to most.
func isNumber(least, most int) func(string) bool {
	return func(text string) bool {
		n, err := strconv.Atoi(text)
		return err == nil && n >= least && n <= most
	}
}

var isCount = isNumber(0, math.MaxInt32)

func isDuration(text string) bool {
	d, err := time.ParseDuration(text)
	return err == nil && d >= 0
}

func isName(text string) bool { return text != "" }

// isSegment allows the names that can stand in the path of a control.
func isSegment(text string) bool {
	return text != "" && text != "." && text != ".." && !strings.Contains(text, "/")
}

// maxFaultWait is the longest time a fault can be given in milliseconds: longer ones are what barriers are for.
const maxFaultWait = 10 * time.Minute

func isMilliseconds(text string) bool {
	return isNumber(0, int(maxFaultWait/time.Millisecond))(text)
}

func reset(*call, fault) *answer { return &answer{wire: wireRST} }

func htmlError(_ *call, f fault) *answer {
	status := f.integer("status", http.StatusBadGateway)
	page := fmt.Sprintf("<html><head><title>%d %s</title></head><body>The edge could not serve this.</body></html>\n",
		status, http.StatusText(status))
	return &answer{status: status, contentType: "text/html; charset=utf-8", body: []byte(page)}
}

// answerError replaces the answer by an error of Stripe's own making; stored says whether the key remembers it unless
// the fault says otherwise.
func answerError(stored bool) func(*call, fault) *answer {
	return func(_ *call, f fault) *answer {
		problem := internalError("An error occurred on our end.")
		problem.status = f.integer("status", http.StatusInternalServerError)
		if problem.status < http.StatusInternalServerError {
			problem.Type = typeInvalidRequest
		}
		a := errorAnswer(problem)
		a.store = f.flag("store", stored)
		if retry := f.params["should_retry"]; retry != "" {
			a = a.with("Stripe-Should-Retry", retry)
		}
		return &a
	}
}

func delay(c *call, f fault) *answer {
	return c.wait(time.Duration(f.integer("ms", 0)) * time.Millisecond)
}

// wait waits in real time. A world that ends cuts the wait and the connection.
func (c *call) wait(d time.Duration) *answer {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.world.closed:
		return &answer{wire: wireFIN}
	}
}
