package simulator

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// params reads a form strictly. Reading a parameter makes it known; done reports the first unknown one, or else the
// first problem met while reading. So a handler reads everything and checks once.
type params struct {
	form    *node
	prefix  string // the name of the group these are members of, "" at the top
	top     *params
	groups  []*params
	known   map[string]bool
	problem *apiError // of the top one only
}

func newParams(form *node) *params {
	p := &params{form: form, known: map[string]bool{}}
	p.top = p
	return p
}

func (p *params) full(name string) string {
	if p.prefix == "" {
		return name
	}
	return p.prefix + "[" + name + "]"
}

func (p *params) fail(problem *apiError) {
	if p.top.problem == nil {
		p.top.problem = problem
	}
}

func (p *params) take(name string) *node {
	p.known[name] = true
	return p.form.members[name]
}

// done returns the first problem, or nil when every parameter was known and good.
func (p *params) done() *apiError {
	for _, name := range slices.Sorted(maps.Keys(p.form.members)) {
		if !p.known[name] {
			return invalid(p.full(name), "parameter_unknown", "Received unknown parameter: %s.", p.full(name))
		}
	}
	for _, group := range p.groups {
		if problem := group.done(); problem != nil {
			return problem
		}
	}
	return p.problem
}

func (p *params) require(name string) {
	if p.form.members[name] == nil {
		p.fail(invalid(p.full(name), "parameter_missing", "Missing required parameter: %s.", p.full(name)))
	}
}

// clearable reads a text that may be empty, which clears the field.
func (p *params) clearable(name string) (text string, given bool) {
	n := p.take(name)
	if n == nil {
		return "", false
	}
	if n.members != nil {
		p.fail(invalid(p.full(name), "", "Invalid string: %s.", p.full(name)))
		return "", false
	}
	return n.text, true
}

// optional is clearable with nil for a text that was not given, which leaves the field alone.
func (p *params) optional(name string) *string {
	text, given := p.clearable(name)
	if !given {
		return nil
	}
	return &text
}

// text reads a text; "" means that it was not given.
func (p *params) text(name string) string {
	text, given := p.clearable(name)
	if given && text == "" {
		p.fail(invalid(p.full(name), "parameter_invalid_empty",
			"You passed an empty string for '%s'. Leave the parameter out instead.", p.full(name)))
	}
	return text
}

func (p *params) oneOf(name string, values ...string) string {
	text := p.text(name)
	if text != "" && !slices.Contains(values, text) {
		p.fail(invalid(p.full(name), "", "Invalid %s: must be one of %s.", p.full(name), strings.Join(values, ", ")))
	}
	return text
}

func (p *params) boolean(name string) (value, given bool) {
	text := p.text(name)
	if text != "" && text != "true" && text != "false" {
		p.fail(invalid(p.full(name), "", "Invalid boolean: %s.", p.full(name)))
	}
	return text == "true", text != ""
}

// integer reads a whole number of at least least.
func (p *params) integer(name string, least int64) (value int64, given bool) {
	text := p.text(name)
	if text == "" {
		return 0, false
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		p.fail(invalid(p.full(name), codeInvalidInteger, "Invalid integer: %s.", p.full(name)))
		return 0, false
	}
	if value < least {
		p.fail(invalid(p.full(name), codeInvalidInteger,
			"This value must be greater than or equal to %d: %s.", least, p.full(name)))
	}
	return value, true
}

// texts reads a list of texts; given is true for an empty list too.
func (p *params) texts(name string) (list []string, given bool) {
	n := p.take(name)
	if n == nil {
		return nil, false
	}
	if n.members == nil && n.text == "" {
		return nil, true // name= is how clients send an empty list
	}
	items, ok := n.list()
	if n.members == nil || !ok {
		p.fail(invalid(p.full(name), "", "Invalid array: %s.", p.full(name)))
		return nil, false
	}
	for _, item := range items {
		if item.members != nil || item.text == "" {
			p.fail(invalid(p.full(name), "", "Invalid array of strings: %s.", p.full(name)))
			return nil, false
		}
		list = append(list, item.text)
	}
	return list, true
}

// group reads a nested object; nil when it was not given.
func (p *params) group(name string) *params {
	n := p.take(name)
	if n == nil {
		return nil
	}
	if n.members == nil {
		p.fail(invalid(p.full(name), "", "Invalid object: %s.", p.full(name)))
		return nil
	}
	g := &params{form: n, prefix: p.full(name), top: p.top, known: map[string]bool{}}
	p.groups = append(p.groups, g)
	return g
}
