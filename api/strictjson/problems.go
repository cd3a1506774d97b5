package strictjson

import (
	"fmt"
	"strconv"
	"strings"
)

// maxProblems bounds how many mistakes are told; a body of nonsense must not make a huge answer.
const maxProblems = 32

// Problem is one mistake: where, as a JSON pointer (RFC 6901), and which rule was broken. It never repeats the value,
// which may be a secret in the wrong place.
type Problem struct {
	Pointer string
	Detail  string
}

// Error is everything that is wrong with a body, 32 problems at most; a last one without a pointer says how many more.
type Error struct {
	// Malformed tells the two classes apart: true for JSON that is wrong as such (syntax, duplicate, unknown or mis-cased
	// members, wrong types), false for well-formed values that are not allowed.
	Malformed bool
	Problems  []Problem
}

// Error implements the error interface.
func (e *Error) Error() string {
	texts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		texts[i] = strings.TrimSpace(p.Pointer + " " + p.Detail)
	}
	return strings.Join(texts, "; ")
}

// problems collects the mistakes of both classes.
type problems struct {
	shape, meaning class
}

// class keeps the first mistakes and counts the others.
type class struct {
	told   []Problem
	untold int
}

func (c *class) full() bool { return len(c.told) == maxProblems }

func (c *class) add(at pointer, format string, args []any) {
	if c.full() {
		c.untold++
		return
	}
	c.told = append(c.told, Problem{string(at), fmt.Sprintf(format, args...)})
}

func (p *problems) malformed(at pointer, format string, args ...any) { p.shape.add(at, format, args) }

func (p *problems) invalid(at pointer, format string, args ...any) { p.meaning.add(at, format, args) }

func (p *problems) err() error {
	malformed := len(p.shape.told) > 0
	found := p.meaning
	if malformed {
		found = p.shape
	}
	if len(found.told) == 0 {
		return nil
	}
	list := append([]Problem{}, found.told...)
	if found.untold > 0 {
		list = append(list, Problem{"", fmt.Sprintf("and %d more", found.untold)})
	}
	return &Error{malformed, list}
}

// pointer is a JSON pointer; "" is the whole body.
type pointer string

// member points to a member. Its name is the caller's text, so it is shown as far as is needed to find it and no further:
// a long one is cut, and a card number that was put in the place of a name is not repeated.
func (p pointer) member(name string) pointer {
	const longest = 64
	if LooksLikeCard(name[:min(len(name), 2*longest)]) { // far enough for a card number that begins in what is shown
		name = "(card number)"
	}
	if len(name) > longest {
		name = strings.ToValidUTF8(name[:longest], "") + "…"
	}
	return p + "/" + pointer(escapes.Replace(strings.ToValidUTF8(name, "\uFFFD")))
}

var escapes = strings.NewReplacer("~", "~0", "/", "~1")

func (p pointer) item(i int) pointer { return p + "/" + pointer(strconv.Itoa(i)) }
