package strictjson

import "strings"

// HasCardNumber reports whether something that looks like a payment card's number stands anywhere in the object: in a
// string, a name or a number. Card data must not even reach a log, so a body with one is refused as a whole.
func (o *Object) HasCardNumber() bool { return cardIn(value{kind: kindObject, members: o.members}) }

func cardIn(v value) bool {
	if (v.kind == kindString || v.kind == kindNumber) && LooksLikeCard(v.text) {
		return true
	}
	for _, item := range v.items {
		if cardIn(item) {
			return true
		}
	}
	for _, m := range v.members {
		if LooksLikeCard(m.name) || cardIn(m.value) {
			return true
		}
	}
	return false
}

// LooksLikeCard finds a run of 13 to 19 digits, single blanks or dashes between them allowed, that begins like a card
// (2 to 6) and passes the check digit of ISO/IEC 7812. A run that touches a letter or an underscore is part of an id.
func LooksLikeCard(s string) bool {
	for i := 0; i < len(s); {
		if !digit(s[i]) {
			i++
			continue
		}
		digits, end := cardRun(s, i)
		free := (i == 0 || !wordy(s[i-1])) && (end == len(s) || !wordy(s[end]))
		if free && len(digits) >= 13 && len(digits) <= 19 && digits[0] >= '2' && digits[0] <= '6' && luhn(digits) {
			return true
		}
		i = end
	}
	return false
}

// cardRun reads the digits that begin at i, and where they end.
func cardRun(s string, i int) (digits string, end int) {
	var run strings.Builder
	for end = i; end < len(s); end++ {
		switch c := s[end]; {
		case digit(c):
			run.WriteByte(c)
		case (c == ' ' || c == '-') && end+1 < len(s) && digit(s[end+1]):
		default:
			return run.String(), end
		}
	}
	return run.String(), end
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func wordy(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
