package strictjson

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Object is a parsed object that remembers which of its members were asked for.
type Object struct {
	path    pointer
	members []member
	asked   map[string]bool
	inner   []*Object
	all     *problems
}

// Read parses one body, which must be one JSON object. Its error is an *Error that is malformed.
func Read(body []byte) (*Object, error) {
	all := &problems{}
	p := &parser{in: body, dups: all}
	p.space()
	v, err := p.value()
	if err == nil {
		if p.space(); p.at < len(p.in) {
			err = p.fail("something follows the end of the JSON")
		}
	}
	var broken *syntaxError
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		all.malformed("", "the body is empty")
	case errors.As(err, &broken):
		all.malformed(broken.path, "%s", broken)
	case v.kind != kindObject:
		all.malformed("", "must be an object, not %s", v.kind)
	}
	if err := all.err(); err != nil && (broken != nil || v.kind != kindObject) {
		return nil, err
	}
	return &Object{members: v.members, asked: map[string]bool{}, all: all}, nil
}

// Err tells everything that was found wrong, or nil. Call it when every member has been asked for: what nobody asked for
// is unknown, and unknown members are refused, because a misspelt one would otherwise silently not count.
func (o *Object) Err() error {
	o.unknown()
	return o.all.err()
}

func (o *Object) unknown() {
	for _, m := range o.members {
		if o.asked[m.name] {
			continue
		}
		o.asked[m.name] = true // told once, also when Err is called again
		detail := "is not known here"
		for known := range o.asked {
			if known != m.name && strings.EqualFold(known, m.name) {
				detail = "is not known here; did you mean " + strconv.Quote(known) + "?"
			}
		}
		o.all.malformed(o.path.member(m.name), "%s", detail)
	}
	for _, inner := range o.inner {
		inner.unknown()
	}
}

// Invalid adds a mistake that the caller found in the value of a member.
func (o *Object) Invalid(name, detail string) { o.all.invalid(o.path.member(name), "%s", detail) }

// Has reports whether a member is there, null included.
func (o *Object) Has(name string) bool {
	_, ok := o.get(name)
	return ok
}

func (o *Object) get(name string) (value, bool) {
	o.asked[name] = true
	for _, m := range o.members {
		if m.name == name {
			return m.value, true
		}
	}
	return value{}, false
}

// want finds a member of one kind. ok is false when it is absent or null and may be, or when a mistake was noted.
func (o *Object) want(name string, k kind, r rules) (v value, ok bool) {
	v, found := o.get(name)
	at := o.path.member(name)
	switch {
	case !found && r.required:
		o.all.invalid(at, "is required")
	case !found:
	case v.kind == kindNull && r.nullable:
	case v.kind != k:
		o.all.malformed(at, "must be %s, not %s", k, v.kind)
	default:
		return v, true
	}
	return value{}, false
}

// Text reads a string; "" when it is absent.
func (o *Object) Text(name string, options ...Rule) string {
	r := rulesOf(options)
	v, ok := o.want(name, kindString, r)
	if !ok {
		return ""
	}
	if reason := r.checkText(v.text); reason != "" {
		o.all.invalid(o.path.member(name), "%s", reason)
	}
	return v.text
}

// OptionalText is Text that tells absent from empty: nil when it is absent or null.
func (o *Object) OptionalText(name string, options ...Rule) *string {
	if v, found := o.get(name); !found || v.kind == kindNull && rulesOf(options).nullable {
		return nil
	}
	text := o.Text(name, options...)
	return &text
}

var integer = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// Int reads a whole number that fits in an int64, written as one: 1.0, 1e2 and "1" are other things. 0 when absent.
func (o *Object) Int(name string, options ...Rule) int64 {
	r := rulesOf(options)
	v, ok := o.want(name, kindNumber, r)
	if !ok {
		return 0
	}
	at := o.path.member(name)
	n, err := strconv.ParseInt(v.text, 10, 64)
	switch {
	case !integer.MatchString(v.text):
		o.all.malformed(at, "must be a whole number, without fraction and exponent")
	case err != nil:
		o.all.malformed(at, "is not a 64-bit whole number")
	case r.ranged && (n < r.from || n > r.to):
		o.all.invalid(at, "must be from %d to %d", r.from, r.to)
	}
	return n
}

// OptionalInt is Int that tells absent from 0.
func (o *Object) OptionalInt(name string, options ...Rule) *int64 {
	if v, found := o.get(name); !found || v.kind == kindNull && rulesOf(options).nullable {
		return nil
	}
	n := o.Int(name, options...)
	return &n
}

// OptionalBool reads true or false; nil when absent.
func (o *Object) OptionalBool(name string) *bool {
	if v, ok := o.want(name, kindBool, rules{}); ok {
		return &v.truth
	}
	return nil
}

// Object reads an object inside; nil when it is absent, or null and may be.
func (o *Object) Object(name string, options ...Rule) *Object {
	v, ok := o.want(name, kindObject, rulesOf(options))
	if !ok {
		return nil
	}
	return o.enter(o.path.member(name), v)
}

func (o *Object) enter(at pointer, v value) *Object {
	inner := &Object{path: at, members: v.members, asked: map[string]bool{}, all: o.all}
	o.inner = append(o.inner, inner)
	return inner
}

// Objects reads a list of objects, calling each for every one; Length bounds how many there may be.
func (o *Object) Objects(name string, each func(*Object), options ...Rule) {
	r := rulesOf(options)
	v, ok := o.want(name, kindList, r)
	if !ok {
		return
	}
	at := o.path.member(name)
	if n := len(v.items); r.long && (n < r.shortest || n > r.longest) {
		o.all.invalid(at, "must have from %d to %d items", r.shortest, r.longest)
	}
	for i, item := range v.items {
		if item.kind != kindObject {
			o.all.malformed(at.item(i), "must be an object, not %s", item.kind)
			continue
		}
		each(o.enter(at.item(i), item))
	}
}

// Metadata limits, in pairs and characters.
const (
	maxPairs, maxName, maxText = 50, 40, 500
)

// Metadata reads an object of strings: at most 50 pairs, names of 1 to 40 and values of at most 500 characters. nil when
// it is absent.
func (o *Object) Metadata(name string) map[string]string {
	v, ok := o.want(name, kindObject, rules{})
	if !ok {
		return nil
	}
	at := o.path.member(name)
	if len(v.members) > maxPairs {
		o.all.invalid(at, "must have at most %d pairs", maxPairs)
	}
	out := make(map[string]string, len(v.members))
	for _, m := range v.members {
		switch n := len([]rune(m.name)); {
		case m.value.kind != kindString:
			o.all.malformed(at.member(m.name), "must be a string, not %s", m.value.kind)
		case n < 1 || n > maxName:
			o.all.invalid(at.member(m.name), "must have a name of 1 to %d characters", maxName)
		case len([]rune(m.value.text)) > maxText:
			o.all.invalid(at.member(m.name), "must be at most %d characters long", maxText)
		}
		out[m.name] = m.value.text
	}
	return out
}

// OneOf reads a string that must be one of a set; fallback when it is absent.
func OneOf[T ~string](o *Object, name string, fallback T, allowed ...T) T {
	v, ok := o.want(name, kindString, rules{required: fallback == ""})
	if !ok {
		return fallback
	}
	if !slices.Contains(allowed, T(v.text)) {
		names := make([]string, len(allowed))
		for i, a := range allowed {
			names[i] = string(a)
		}
		o.all.invalid(o.path.member(name), "must be one of %s", strings.Join(names, ", "))
	}
	return T(v.text)
}
