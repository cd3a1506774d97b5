package strictjson

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rule is a condition on a member.
type Rule func(*rules)

type rules struct {
	required, nullable, ranged, long, multiline bool
	from, to                                    int64
	shortest, longest                           int
	pattern                                     func(string) bool
	hint                                        string
}

func rulesOf(options []Rule) (r rules) {
	for _, option := range options {
		option(&r)
	}
	return r
}

// Required refuses a body without the member.
func Required(r *rules) { r.required = true }

// Nullable lets null stand for absent.
func Nullable(r *rules) { r.nullable = true }

// Multiline lets a text hold line breaks and tabs. Other texts hold no control characters: in a name or an e-mail address
// a line break is an attack on whatever prints it.
func Multiline(r *rules) { r.multiline = true }

// Range bounds a number, both ends included.
func Range(from, to int64) Rule {
	return func(r *rules) { r.ranged, r.from, r.to = true, from, to }
}

// Length bounds a text in characters, or a list in items, both ends included.
func Length(shortest, longest int) Rule {
	return func(r *rules) { r.long, r.shortest, r.longest = true, shortest, longest }
}

// Matching wants a text to satisfy a condition; hint says which, after "must be".
func Matching(hint string, pattern func(string) bool) Rule {
	return func(r *rules) { r.pattern, r.hint = pattern, hint }
}

func (r rules) checkText(s string) string {
	n := utf8.RuneCountInString(s)
	control := func(c rune) bool {
		return unicode.IsControl(c) && !(r.multiline && (c == '\n' || c == '\r' || c == '\t'))
	}
	switch {
	case r.long && (n < r.shortest || n > r.longest):
		return fmt.Sprintf("must be from %d to %d characters long", r.shortest, r.longest)
	case r.long && r.shortest > 0 && strings.TrimSpace(s) == "":
		return "must not be blank"
	case strings.ContainsFunc(s, control):
		return "must not contain control characters"
	case r.pattern != nil && !r.pattern(s):
		return "must be " + r.hint
	}
	return ""
}
