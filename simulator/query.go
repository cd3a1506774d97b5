package simulator

import (
	"slices"
	"strconv"
	"strings"
)

// query is what a search asks for: clauses that must all be true, or of which one must.
//
//	clause   = ["-"] field operator value
//	field    = amount | created | currency | customer | metadata['name'] | status
//	operator = ":" | ">" | ">=" | "<" | "<="
//	value    = number | "text" | 'text' | null
//
// Clauses are joined by AND, which may be left out, or by OR; the two cannot be mixed, and there are no parentheses. A
// minus excludes what its clause finds, null finds what has no value, and texts are compared without regard to case.
type query struct {
	clauses []clause
	any     bool // joined by OR
}

type clause struct {
	not      bool
	field    string
	name     string // of the metadata
	operator string
	text     string
	number   int64
	null     bool
}

// The fields of a payment intent that can be searched, by the kind of their values.
var (
	numberFields = []string{"amount", "created"}
	tokenFields  = []string{"currency", "customer", "metadata", "status"}
)

// parseQuery reads a query. wrong says what is wrong with it, "" when nothing is.
func parseQuery(text string) (q query, wrong string) {
	s := &scanner{rest: text}
	joined := ""
	for s.skipBlanks(); s.rest != ""; s.skipBlanks() {
		if len(q.clauses) > 0 {
			word := s.joiner()
			if joined != "" && word != joined {
				return q, "AND and OR cannot be mixed"
			}
			joined = word
		}
		c, wrong := s.clause()
		if wrong != "" {
			return q, wrong
		}
		q.clauses = append(q.clauses, c)
	}
	if len(q.clauses) == 0 {
		return q, "it has no clause"
	}
	q.any = joined == "OR"
	return q, ""
}

// scanner walks through a query.
type scanner struct{ rest string }

func (s *scanner) skipBlanks() { s.rest = strings.TrimLeft(s.rest, " ") }

// take removes a prefix and reports whether it was there.
func (s *scanner) take(prefix string) (taken bool) {
	s.rest, taken = strings.CutPrefix(s.rest, prefix)
	return taken
}

// joiner reads AND or OR; nothing is AND.
func (s *scanner) joiner() string {
	for _, word := range []string{"AND", "OR"} {
		if n := len(word); len(s.rest) > n && strings.EqualFold(s.rest[:n], word) && s.rest[n] == ' ' {
			s.rest = s.rest[n:]
			s.skipBlanks()
			return word
		}
	}
	return "AND"
}

func (s *scanner) clause() (c clause, wrong string) {
	c.not = s.take("-")
	end := strings.IndexAny(s.rest, `:<>~[ "'`)
	if end <= 0 {
		return c, "a clause is a field, an operator and a value"
	}
	c.field, s.rest = s.rest[:end], s.rest[end:]
	isNumber := slices.Contains(numberFields, c.field)
	if !isNumber && !slices.Contains(tokenFields, c.field) {
		return c, "there is no field " + c.field
	}
	if c.field == "metadata" {
		var ok bool
		if c.name, ok = s.metadataName(); !ok {
			return c, "a name in the metadata is written metadata['name']"
		}
	}
	for _, operator := range []string{":", ">=", "<=", ">", "<"} {
		if s.take(operator) {
			c.operator = operator
			break
		}
	}
	switch {
	case c.operator == "" || c.operator != ":" && !isNumber:
		return c, "the field " + c.field + " cannot be compared like that"
	case isNumber:
		return c, s.number(&c)
	default:
		return c, s.text(&c)
	}
}

func (s *scanner) metadataName() (name string, ok bool) {
	if !s.take("[") {
		return "", false
	}
	name, ok = s.quoted()
	return name, ok && s.take("]")
}

// quoted reads a text in quotes of either kind; a backslash takes the next character as it is.
func (s *scanner) quoted() (string, bool) {
	if s.rest == "" || s.rest[0] != '"' && s.rest[0] != '\'' {
		return "", false
	}
	var text strings.Builder
	for n := 1; n < len(s.rest); n++ {
		switch {
		case s.rest[n] == s.rest[0]:
			s.rest = s.rest[n+1:]
			return text.String(), true
		case s.rest[n] == '\\' && n+1 < len(s.rest):
			n++
		}
		text.WriteByte(s.rest[n])
	}
	return "", false
}

func (s *scanner) number(c *clause) (wrong string) {
	word, _, _ := strings.Cut(s.rest, " ")
	s.rest = s.rest[len(word):]
	var err error
	if c.number, err = strconv.ParseInt(strings.Trim(word, `"'`), 10, 64); err != nil {
		return "the field " + c.field + " holds whole numbers"
	}
	return ""
}

func (s *scanner) text(c *clause) (wrong string) {
	if c.null = s.take("null"); c.null {
		return ""
	}
	var ok bool
	if c.text, ok = s.quoted(); !ok {
		return "texts stand in quotes"
	}
	return ""
}

// finds reports whether an intent is among what the query asks for.
func (q query) finds(i intent) bool {
	if q.any {
		return slices.ContainsFunc(q.clauses, func(c clause) bool { return c.finds(i) != c.not })
	}
	return !slices.ContainsFunc(q.clauses, func(c clause) bool { return c.finds(i) == c.not })
}

func (c clause) finds(i intent) bool {
	switch c.field {
	case "amount":
		return c.compares(i.Amount)
	case "created":
		return c.compares(i.Created)
	case "currency":
		return c.equals(i.Currency)
	case "customer":
		return c.equals(i.Customer.id)
	case "status":
		return c.equals(string(i.Status))
	default:
		return c.equals(i.Metadata[c.name])
	}
}

func (c clause) equals(text string) bool {
	if c.null || text == "" {
		return c.null && text == ""
	}
	return strings.EqualFold(text, c.text)
}

func (c clause) compares(n int64) bool {
	switch c.operator {
	case ">":
		return n > c.number
	case ">=":
		return n >= c.number
	case "<":
		return n < c.number
	case "<=":
		return n <= c.number
	default:
		return n == c.number
	}
}
