package strictjson

import (
	"fmt"
	"slices"
	"strings"
)

const (
	maxDepth = 8    // nested objects and lists; hostile nesting costs stack
	maxItems = 1000 // items of one list that are kept; the rest is read and counted, but nobody is called for it
)

// kind is the JSON type of a value.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindList
	kindObject
)

func (k kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "a list", "an object"}[k]
}

// value is one parsed JSON value. Numbers keep their text, so that nothing is rounded.
type value struct {
	kind    kind
	truth   bool
	text    string   // of a string, unescaped; of a number, as written
	items   []value  // of a list, as many as are kept
	length  int      // of a list, all of them
	members []member // of an object, in the order they came
}

type member struct {
	name  string
	value value
	done  bool // asked for, or reported already
}

// parser is a plain recursive-descent reader of RFC 8259. Broken syntax ends it; broken text and duplicate names are
// noted, and it goes on to find the others. It takes time and memory in proportion to the body.
type parser struct {
	in    string // one copy of the body; names and texts without escapes are parts of it
	at    int
	depth int
	way   []step // to the value that is being read; a pointer is made of it only when there is a mistake
	flaw  string // of the string that is being read
	all   *problems
}

// step is a member's name or, in a list, an item's index.
type step struct {
	name  string
	index int
	list  bool
}

// note adds a mistake at the current place. It never repeats what stands there.
func (p *parser) note(format string, args ...any) {
	if p.all.shape.full() {
		p.all.malformed("", "") // counted; a pointer through long names would cost their length each time
		return
	}
	var at pointer
	for _, s := range p.way {
		if s.list {
			at = at.item(s.index)
		} else {
			at = at.member(s.name)
		}
	}
	p.all.malformed(at, "at byte %d: %s", p.at, fmt.Sprintf(format, args...))
}

// fail notes a mistake behind which nothing can be read.
func (p *parser) fail(format string, args ...any) bool {
	p.note(format, args...)
	return false
}

func (p *parser) space() {
	for p.at < len(p.in) {
		switch p.in[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// next is the next byte, or 0 at the end, which begins nothing in JSON.
func (p *parser) next() byte {
	if p.at < len(p.in) {
		return p.in[p.at]
	}
	return 0
}

// document reads one value and makes sure that nothing follows.
func (p *parser) document() (value, bool) {
	p.space()
	v, ok := p.value()
	if !ok {
		return value{}, false
	}
	if p.space(); p.at < len(p.in) {
		return value{}, p.fail("something follows the end of the JSON")
	}
	return v, true
}

func (p *parser) value() (value, bool) {
	switch c := p.next(); {
	case p.at >= len(p.in):
		return value{}, p.fail("the value is missing")
	case c == '{':
		return p.object()
	case c == '[':
		return p.list()
	case c == '"':
		text, ok := p.text()
		return value{kind: kindString, text: text}, ok
	case c == '-' || digit(c):
		return p.number()
	case p.word("true"):
		return value{kind: kindBool, truth: true}, true
	case p.word("false"):
		return value{kind: kindBool}, true
	case p.word("null"):
		return value{}, true
	default:
		return value{}, p.fail("no value begins like this")
	}
}

func (p *parser) word(word string) bool {
	if !strings.HasPrefix(p.in[p.at:], word) {
		return false
	}
	p.at += len(word)
	return true
}

func (p *parser) number() (value, bool) {
	start := p.at
	if p.next() == '-' {
		p.at++
	}
	switch {
	case p.next() == '0':
		p.at++
	case !p.digits():
		return value{}, p.fail("the number has no digits")
	}
	if digit(p.next()) {
		return value{}, p.fail("a number must not begin with a needless 0")
	}
	if p.next() == '.' {
		p.at++
		if !p.digits() {
			return value{}, p.fail("the number has no digits after its point")
		}
	}
	if c := p.next(); c == 'e' || c == 'E' {
		p.at++
		if c := p.next(); c == '+' || c == '-' {
			p.at++
		}
		if !p.digits() {
			return value{}, p.fail("the number has no digits in its exponent")
		}
	}
	return value{kind: kindNumber, text: p.in[start:p.at]}, true
}

func (p *parser) digits() bool {
	start := p.at
	for digit(p.next()) {
		p.at++
	}
	return p.at > start
}

// enter goes into an object or a list. empty is true when it ends at once.
func (p *parser) enter(end byte) (empty, ok bool) {
	if p.depth++; p.depth > maxDepth {
		return false, p.fail("nested deeper than %d", maxDepth)
	}
	p.at++
	if p.space(); p.next() == end {
		p.at++
		p.depth--
		return true, true
	}
	return false, true
}

// inside reads the value that the step leads to.
func (p *parser) inside(s step) (value, bool) {
	p.way = append(p.way, s)
	if !s.list {
		if p.space(); p.next() != ':' {
			return value{}, p.fail("the colon after a member's name is missing")
		}
		p.at++
		p.space()
	}
	v, ok := p.value()
	if !ok {
		return value{}, false
	}
	p.way = p.way[:len(p.way)-1]
	return v, true
}

// separator reads what follows an element: a comma, or the end of the list or object.
func (p *parser) separator(end byte) (more, ok bool) {
	p.space()
	switch p.next() {
	case ',':
		p.at++
		p.space()
		return true, true
	case end:
		p.at++
		p.depth--
		return false, true
	default:
		return false, p.fail("a comma or %q is missing", end)
	}
}

func (p *parser) list() (value, bool) {
	list := value{kind: kindList}
	empty, ok := p.enter(']')
	for more := !empty; ok && more; {
		var item value
		if item, ok = p.inside(step{index: list.length, list: true}); !ok {
			break
		}
		if list.length++; list.length <= maxItems {
			list.items = append(list.items, item)
		}
		more, ok = p.separator(']')
	}
	return list, ok
}

func (p *parser) object() (value, bool) {
	object := value{kind: kindObject}
	var names nameSet
	empty, ok := p.enter('}')
	for more := !empty; ok && more; {
		if p.next() != '"' {
			return value{}, p.fail("a member's name is missing")
		}
		m := member{}
		if m.name, ok = p.text(); !ok {
			break
		}
		if m.done = names.hold(object.members, m.name); m.done {
			p.way = append(p.way, step{name: m.name})
			p.note("the member is given twice")
			p.way = p.way[:len(p.way)-1]
		}
		if m.value, ok = p.inside(step{name: m.name}); !ok {
			break
		}
		object.members = append(object.members, m)
		more, ok = p.separator('}')
	}
	return object, ok
}

// nameSet finds names that come twice. Most objects are small, and looking through a few members is faster than a map; a
// hostile object of thousands must not be looked through for each of them.
type nameSet map[string]bool

// hold reports whether one of the members so far has the name.
func (s *nameSet) hold(members []member, name string) bool {
	const few = 16
	if len(members) < few {
		return slices.ContainsFunc(members, func(m member) bool { return m.name == name })
	}
	if *s == nil {
		*s = nameSet{}
		for _, m := range members {
			(*s)[m.name] = true
		}
	}
	twice := (*s)[name]
	(*s)[name] = true
	return twice
}
