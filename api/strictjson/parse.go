package strictjson

import (
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	maxDepth    = 8    // nested objects and lists; hostile nesting costs stack
	maxElements = 1000 // members of one object or items of one list; the caller's own limits are lower
)

// kind is the JSON type of a value.
type kind int

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
	text    string // of a string, unescaped; of a number, as written
	items   []value
	members []member // in the order they came
}

type member struct {
	name  string
	value value
}

// parser is a plain recursive-descent reader of RFC 8259. The first syntax error ends it; duplicate names do not.
type parser struct {
	in    []byte
	at    int
	depth int
	path  pointer
	dups  *problems
}

// syntaxError says where in the body the JSON breaks off. It never repeats what stands there.
type syntaxError struct {
	path   pointer
	offset int
	reason string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("at byte %d: %s", e.offset, e.reason) }

func (p *parser) fail(format string, args ...any) error {
	return &syntaxError{p.path, p.at, fmt.Sprintf(format, args...)}
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

func (p *parser) next() byte {
	if p.at < len(p.in) {
		return p.in[p.at]
	}
	return 0
}

func (p *parser) value() (value, error) {
	switch c := p.next(); {
	case p.at >= len(p.in):
		return value{}, p.fail("the value is missing")
	case c == '{':
		return p.object()
	case c == '[':
		return p.list()
	case c == '"':
		text, err := p.text()
		return value{kind: kindString, text: text}, err
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	default:
		return p.word()
	}
}

func (p *parser) word() (value, error) {
	for word, v := range map[string]value{"true": {kind: kindBool, truth: true}, "false": {kind: kindBool}, "null": {}} {
		if len(p.in)-p.at >= len(word) && string(p.in[p.at:p.at+len(word)]) == word {
			p.at += len(word)
			return v, nil
		}
	}
	return value{}, p.fail("no value begins like this")
}

func (p *parser) number() (value, error) {
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
	if c := p.next(); c >= '0' && c <= '9' {
		return value{}, p.fail("a number must not begin with a needless 0")
	}
	return value{kind: kindNumber, text: string(p.in[start:p.at])}, nil
}

func (p *parser) digits() bool {
	start := p.at
	for c := p.next(); c >= '0' && c <= '9'; c = p.next() {
		p.at++
	}
	return p.at > start
}

func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return p.fail("nested deeper than %d", maxDepth)
	}
	p.at++
	p.space()
	return nil
}

func (p *parser) list() (value, error) {
	if err := p.enter(); err != nil {
		return value{}, err
	}
	defer func(path pointer) { p.depth--; p.path = path }(p.path)
	list, outer := value{kind: kindList}, p.path
	for i := 0; p.next() != ']' || i > 0; i++ {
		if i == maxElements {
			return value{}, p.fail("a list has more than %d items", maxElements)
		}
		p.path = outer.item(i)
		item, err := p.value()
		if err != nil {
			return value{}, err
		}
		list.items = append(list.items, item)
		if more, err := p.separator(']'); err != nil || !more {
			return list, err
		}
	}
	p.at++
	return list, nil
}

func (p *parser) object() (value, error) {
	if err := p.enter(); err != nil {
		return value{}, err
	}
	defer func(path pointer) { p.depth--; p.path = path }(p.path)
	object, outer, seen := value{kind: kindObject}, p.path, map[string]bool{}
	for i := 0; p.next() != '}' || i > 0; i++ {
		if i == maxElements {
			return value{}, p.fail("an object has more than %d members", maxElements)
		}
		if p.next() != '"' {
			return value{}, p.fail("a member's name is missing")
		}
		name, err := p.text()
		if err != nil {
			return value{}, err
		}
		p.path = outer.member(name)
		if seen[name] {
			p.dups.malformed(p.path, "is given twice")
		}
		seen[name] = true
		p.space()
		if p.next() != ':' {
			return value{}, p.fail("the colon after a member's name is missing")
		}
		p.at++
		p.space()
		v, err := p.value()
		if err != nil {
			return value{}, err
		}
		object.members = append(object.members, member{name, v})
		p.path = outer
		if more, err := p.separator('}'); err != nil || !more {
			return object, err
		}
	}
	p.at++
	return object, nil
}

// separator reads what follows an element: a comma, or the end of the list or object.
func (p *parser) separator(end byte) (more bool, err error) {
	p.space()
	switch p.next() {
	case ',':
		p.at++
		p.space()
		return true, nil
	case end:
		p.at++
		return false, nil
	default:
		return false, p.fail("a comma or %q is missing", end)
	}
}

// text reads a string. Broken UTF-8, lone surrogates and NUL are refused: the first two would change silently on their
// way, and PostgreSQL cannot store the third.
func (p *parser) text() (string, error) {
	p.at++
	var out []byte
	for {
		c := p.next()
		switch {
		case p.at >= len(p.in):
			return "", p.fail("the string does not end")
		case c == '"':
			p.at++
			return string(out), nil
		case c < 0x20:
			return "", p.fail("a control character in a string must be escaped")
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
		default:
			r, size := utf8.DecodeRune(p.in[p.at:])
			if r == utf8.RuneError && size <= 1 {
				return "", p.fail("the text is not UTF-8")
			}
			out = append(out, p.in[p.at:p.at+size]...)
			p.at += size
		}
	}
}

func (p *parser) escape() (rune, error) {
	p.at++
	c := p.next()
	if short, ok := map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}[c]; ok {
		p.at++
		return short, nil
	}
	if c != 'u' {
		return 0, p.fail("an unknown escape in a string")
	}
	r, err := p.hex()
	switch {
	case err != nil:
		return 0, err
	case r == 0:
		return 0, p.fail("NUL characters are not accepted")
	case !utf16.IsSurrogate(r):
		return r, nil
	case p.next() != '\\' || p.at+1 >= len(p.in) || p.in[p.at+1] != 'u':
		return 0, p.fail("half a surrogate pair")
	}
	p.at++
	low, err := p.hex()
	if err != nil {
		return 0, err
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, p.fail("half a surrogate pair")
	}
	return r, nil
}

// hex reads the u and four digits of an escape.
func (p *parser) hex() (rune, error) {
	if p.at+5 > len(p.in) {
		return 0, p.fail("an escape in a string is cut off")
	}
	digits := string(p.in[p.at+1 : p.at+5])
	n, err := strconv.ParseUint(digits, 16, 16)
	if err != nil || digits[0] == '+' || digits[0] == '_' {
		return 0, p.fail("an escape in a string has no four hexadecimal digits")
	}
	p.at += 5
	return rune(n), nil
}
