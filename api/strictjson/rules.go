package strictjson

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rule is a condition on a member.
type Rule func(rules) rules

type rules struct {
	required, nullable, ranged, long, multiline bool
	from, to                                    int64
	shortest, longest                           int
	pattern                                     func(string) bool
	hint                                        string
}

func rulesOf(options []Rule) (r rules) {
	for _, option := range options {
		r = option(r)
	}
	return r
}

// Required refuses a body without the member, or with a blank text in it.
func Required(r rules) rules {
	r.required = true
	return r
}

// Nullable lets null stand for absent. [Object.Has] tells them apart.
func Nullable(r rules) rules {
	r.nullable = true
	return r
}

// Multiline lets a text hold line breaks and tabs. Other texts hold no control characters: in a name or an e-mail address
// a line break is an attack on whatever prints it.
func Multiline(r rules) rules {
	r.multiline = true
	return r
}

// Range bounds a number, both ends included.
func Range(from, to int64) Rule {
	return func(r rules) rules {
		r.ranged, r.from, r.to = true, from, to
		return r
	}
}

// Length bounds a text in characters (Unicode code points), or a list in items, both ends included.
func Length(shortest, longest int) Rule {
	return func(r rules) rules {
		r.long, r.shortest, r.longest = true, shortest, longest
		return r
	}
}

// Matching wants a text to satisfy a condition; hint says which, after "must be".
func Matching(hint string, pattern func(string) bool) Rule {
	return func(r rules) rules {
		r.pattern, r.hint = pattern, hint
		return r
	}
}

func (r rules) lengths() string {
	switch {
	case r.shortest <= 0:
		return fmt.Sprintf("at most %d", r.longest)
	case r.shortest == r.longest:
		return fmt.Sprintf("exactly %d", r.longest)
	default:
		return fmt.Sprintf("from %d to %d", r.shortest, r.longest)
	}
}

func (r rules) checkText(s string) string {
	n := utf8.RuneCountInString(s)
	control := func(c rune) bool {
		return unicode.IsControl(c) && !(r.multiline && (c == '\n' || c == '\r' || c == '\t'))
	}
	switch {
	case r.long && (n < r.shortest || n > r.longest):
		return "must be " + r.lengths() + " characters long"
	case (r.required || r.shortest > 0) && strings.TrimSpace(s) == "":
		return "must not be blank"
	case strings.ContainsFunc(s, control):
		return "must not contain control characters"
	case r.pattern != nil && !r.pattern(s):
		return "must be " + r.hint
	}
	return ""
}
