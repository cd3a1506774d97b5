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

// Error is everything that is wrong with a body.
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

// problems collects mistakes of both classes.
type problems struct {
	shape, meaning []Problem
}

func (p *problems) malformed(at pointer, format string, args ...any) {
	p.shape = append(p.shape, Problem{string(at), fmt.Sprintf(format, args...)})
}

func (p *problems) invalid(at pointer, format string, args ...any) {
	p.meaning = append(p.meaning, Problem{string(at), fmt.Sprintf(format, args...)})
}

func (p *problems) err() error {
	list, malformed := p.meaning, false
	if len(p.shape) > 0 {
		list, malformed = p.shape, true
	}
	if len(list) == 0 {
		return nil
	}
	if rest := len(list) - maxProblems; rest > 0 {
		list = append(append([]Problem{}, list[:maxProblems]...), Problem{"", fmt.Sprintf("and %d more", rest)})
	}
	return &Error{malformed, list}
}

// pointer is a JSON pointer; "" is the whole body.
type pointer string

func (p pointer) member(name string) pointer {
	const longest = 64 // a name is the caller's text; enough to find it, not enough to fill a log
	if len(name) > longest {
		name = strings.ToValidUTF8(name[:longest], "") + "…"
	}
	if strings.ContainsAny(name, "~/") {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
	}
	return p + "/" + pointer(name)
}

func (p pointer) item(i int) pointer { return p + "/" + pointer(strconv.Itoa(i)) }
