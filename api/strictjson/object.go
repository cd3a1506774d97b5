package strictjson

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Object is a parsed object that remembers which of its members were asked for.
type Object struct {
	path    pointer
	members []member
	known   []string // the names that were asked for
	inner   []*Object
	all     *problems
}

// Read parses one body, which must be one JSON object and nothing else. Its error is an *Error that is malformed. What
// it can read past, such as a member given twice, is told by [Object.Err] together with everything else.
func Read(body []byte) (*Object, error) {
	all := &problems{}
	if len(bytes.TrimSpace(body)) == 0 {
		all.malformed("", "the body is empty")
		return nil, all.err()
	}
	p := &parser{in: string(body), way: make([]step, 0, maxDepth), all: all}
	v, ok := p.document()
	if ok && v.kind != kindObject {
		ok = false
		all.malformed("", "must be an object, not %s", v.kind)
	}
	if !ok {
		return nil, all.err()
	}
	return &Object{members: v.members, all: all}, nil
}

// Err tells everything that was found wrong, as an *Error, or nil. Call it when every member has been asked for: what
// nobody asked for is unknown, and unknown members are refused, because a misspelt one would otherwise silently not count.
func (o *Object) Err() error {
	o.refuseUnknown()
	return o.all.err()
}

func (o *Object) refuseUnknown() {
	var meant map[string]string // from spelling to name
	for i := range o.members {
		m := &o.members[i]
		if m.done {
			continue
		}
		m.done = true // told once, also when Err is called again
		if meant == nil {
			meant = map[string]string{}
			for _, name := range o.known {
				meant[spelling(name)] = name
			}
		}
		hint := ""
		if name, ok := meant[spelling(m.name)]; ok {
			hint = "; did you mean " + strconv.Quote(name) + "?"
		}
		o.malformed(m.name, "is not known here%s", hint)
	}
	for _, inner := range o.inner {
		inner.refuseUnknown()
	}
}

// spelling is what is left of a name when case and separators do not matter: productId and Product-ID are product_id.
func spelling(name string) string { return strings.ToLower(separators.Replace(name)) }

var separators = strings.NewReplacer("_", "", "-", "")

func (o *Object) malformed(name, format string, args ...any) {
	o.all.malformed(o.path.member(name), format, args...)
}

func (o *Object) invalid(name, format string, args ...any) {
	o.all.invalid(o.path.member(name), format, args...)
}

// Invalid adds a mistake that the caller found in the value of a member.
func (o *Object) Invalid(name, detail string) { o.invalid(name, "%s", detail) }

// Has reports whether a member is there, null included: a nullable member that reads as nil and is there was null.
func (o *Object) Has(name string) bool {
	_, ok := o.get(name)
	return ok
}

func (o *Object) get(name string) (value, bool) {
	o.known = append(o.known, name)
	for i := range o.members {
		if m := &o.members[i]; m.name == name {
			m.done = true
			return m.value, true
		}
	}
	return value{}, false
}

// want finds a member of one kind. ok is false when it is absent or null and may be, or when a mistake was noted.
func (o *Object) want(name string, k kind, r rules) (v value, ok bool) {
	v, found := o.get(name)
	switch {
	case !found && r.required:
		o.invalid(name, "is required")
	case !found:
	case v.kind == kindNull && r.nullable:
	case v.kind != k:
		o.malformed(name, "must be %s, not %s", k, v.kind)
	default:
		return v, true
	}
	return value{}, false
}

// Text reads a string; "" when it is absent.
func (o *Object) Text(name string, options ...Rule) string {
	text, _ := o.text(name, rulesOf(options))
	return text
}

// OptionalText is Text that tells absent from empty: nil when it is absent or null.
func (o *Object) OptionalText(name string, options ...Rule) *string {
	if text, ok := o.text(name, rulesOf(options)); ok {
		return &text
	}
	return nil
}

func (o *Object) text(name string, r rules) (string, bool) {
	v, ok := o.want(name, kindString, r)
	if !ok {
		return "", false
	}
	if reason := r.checkText(v.text); reason != "" {
		o.invalid(name, "%s", reason)
	}
	return v.text, true
}

// Int reads a whole number that fits in an int64, written as one: 1.0, 1e2, -0 and "1" are other things. 0 when absent.
func (o *Object) Int(name string, options ...Rule) int64 {
	n, _ := o.number(name, rulesOf(options))
	return n
}

// OptionalInt is Int that tells absent from 0: nil when it is absent or null.
func (o *Object) OptionalInt(name string, options ...Rule) *int64 {
	if n, ok := o.number(name, rulesOf(options)); ok {
		return &n
	}
	return nil
}

func (o *Object) number(name string, r rules) (int64, bool) {
	v, ok := o.want(name, kindNumber, r)
	if !ok {
		return 0, false
	}
	if v.text == "-0" || strings.ContainsAny(v.text, ".eE") {
		o.malformed(name, "must be a whole number, written without fraction, exponent or a sign on 0")
		return 0, false
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	if err != nil {
		o.malformed(name, "must be a whole number of 64 bits")
		return 0, false
	}
	if r.ranged && (n < r.from || n > r.to) {
		o.invalid(name, "must be from %d to %d", r.from, r.to)
	}
	return n, true
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
	inner := &Object{path: at, members: v.members, all: o.all}
	o.inner = append(o.inner, inner)
	return inner
}

// Objects reads a list of objects, calling each for every one; Length bounds how many there may be, at most 1000. A list
// that is too long is refused, and each is still called, a thousand times at most, to find what is wrong in the items.
func (o *Object) Objects(name string, each func(*Object), options ...Rule) {
	r := rulesOf(options)
	v, ok := o.want(name, kindList, r)
	if !ok {
		return
	}
	if !r.long {
		r.longest = maxItems
	}
	if r.longest = min(r.longest, maxItems); v.length < r.shortest || v.length > r.longest {
		o.invalid(name, "must have %s items", r.lengths())
	}
	at := o.path.member(name)
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
	if len(v.members) > maxPairs {
		o.invalid(name, "must have at most %d pairs", maxPairs)
	}
	at := o.path.member(name)
	pairs := make(map[string]string, min(len(v.members), maxPairs))
	for _, m := range v.members {
		switch n := utf8.RuneCountInString(m.name); {
		case m.value.kind != kindString:
			o.all.malformed(at.member(m.name), "must be a string, not %s", m.value.kind)
		case n < 1 || n > maxName:
			o.all.invalid(at.member(m.name), "must have a name of 1 to %d characters", maxName)
		case utf8.RuneCountInString(m.value.text) > maxText:
			o.all.invalid(at.member(m.name), "must be at most %d characters long", maxText)
		}
		pairs[m.name] = m.value.text
	}
	return pairs
}

// OneOf reads a string that must be one of a set; fallback when it is absent. Without a fallback it is required.
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
		o.invalid(name, "must be one of %s", strings.Join(names, ", "))
	}
	return T(v.text)
}
