package strictjson

import (
	"regexp"
	"strconv"
)

// HasCardNumber reports whether something that looks like a payment card's number stands anywhere in the object: in a
// string, a name or a number, asked for or not. Card data must not even reach a log, so a body with one is refused as a
// whole. Items behind the first thousand of a list, which is refused anyway, are not looked at.
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

const shortestCard, longestCard = 13, 19 // digits, by ISO/IEC 7812-1

// LooksLikeCard finds 13 to 19 digits in a text that begin like a card of some network and pass the check digit of ISO/IEC
// 7812: in one piece, with single blanks or dashes between them, or in the groups in which cards are printed with whatever
// between those. It may be used on any text, such as a header or a query, and sees digits as a reader does: see asSeen.
//
// Digits within a word that has letters before and behind them, or among them, are part of an id or a hash; digits behind
// a decimal point are a fraction, and up to 15 of them behind a plus sign are a telephone number (ITU-T E.164). None of
// these count.
func LooksLikeCard(s string) bool {
	s = asSeen(s)
	return cardIsPrinted(s) || cardInText(s) && cardInText(uuids.ReplaceAllString(s, ";"))
}

// uuids are full of digits and dashes. Some would pass for a card, so they are taken out when a text is suspected.
var uuids = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)

func cardInText(s string) bool {
	for i := 0; i < len(s); {
		if !digit(s[i]) {
			i++
			continue
		}
		end, n := runEnd(s, i)
		if n >= shortestCard && cardInRun(s, i, end) {
			return true
		}
		i = end
	}
	return false
}

// runEnd is where the digits that begin at i end, and how many they are.
func runEnd(s string, i int) (end, n int) {
	for end = i; end < len(s); end++ {
		switch c := s[end]; {
		case digit(c):
			n++
		case (c == ' ' || c == '-') && end+1 < len(s) && digit(s[end+1]):
		default:
			return end, n
		}
	}
	return end, n
}

// cardInRun looks at one run of digits: at all of it, and, since people write "number expiry code" in a row, at each part
// of it that consists of whole groups. Groups of one or two digits are dates and lists of numbers, not parts of a card.
func cardInRun(s string, start, end int) bool {
	digits, groups := split(s[start:end])
	if start > 0 && s[start-1] == '+' && len(digits) <= 15 {
		return false
	}
	if start > 0 && (partOfID(s, start) || start > 1 && s[start-1] == '.' && digit(s[start-2])) {
		groups = groups[1:]
	}
	if end < len(s) && len(groups) > 0 && partOfID(s, end-1) {
		groups = groups[:len(groups)-1]
	}
	if len(groups) == 0 {
		return false
	}
	if isCard(digits[groups[0].from:groups[len(groups)-1].to]) {
		return true
	}
	for i, first := range groups {
		for _, last := range groups[i:] {
			if last.to-last.from < 3 || last.to-first.from > longestCard {
				break
			}
			if isCard(digits[first.from:last.to]) {
				return true
			}
		}
	}
	return false
}

// group is a part of digits between two separators.
type group struct{ from, to int }

func split(run string) (digits []byte, groups []group) {
	from := 0
	for i := range len(run) {
		if digit(run[i]) {
			digits = append(digits, run[i])
			continue
		}
		groups = append(groups, group{from, len(digits)})
		from = len(digits)
	}
	return digits, append(groups, group{from, len(digits)})
}

// issuers are the ranges in which the networks issue cards, by the first four digits, with their numbers' lengths. A mere
// first digit would take every tenth time stamp (20261201005307) and bar code for a card.
var issuers = []struct{ from, to, shortest, longest int }{
	{2200, 2204, 16, 19}, // Mir
	{2221, 2720, 16, 16}, // Mastercard
	{3000, 3059, 14, 19}, // Diners Club
	{3095, 3095, 14, 19},
	{3400, 3499, 15, 15}, // American Express
	{3528, 3589, 16, 19}, // JCB
	{3600, 3699, 14, 19}, // Diners Club
	{3700, 3799, 15, 15}, // American Express
	{3800, 3999, 14, 19}, // Diners Club
	{4000, 4999, 13, 13}, // Visa
	{4000, 4999, 16, 16},
	{4000, 4999, 19, 19},
	{5000, 5099, 16, 19}, // Maestro, Dankort
	{5100, 5599, 16, 16}, // Mastercard
	{5600, 5899, 16, 19}, // Maestro
	{6000, 6999, 16, 19}, // Discover, UnionPay, RuPay, Maestro
}

func isCard(digits []byte) bool {
	if len(digits) < shortestCard || len(digits) > longestCard || !luhn(digits) {
		return false
	}
	prefix, _ := strconv.Atoi(string(digits[:4])) //nolint:errcheck // they are digits
	for _, r := range issuers {
		if prefix >= r.from && prefix <= r.to && len(digits) >= r.shortest && len(digits) <= r.longest {
			return true
		}
	}
	return false
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// partOfID reports whether the digit at i stands in a word with letters in more than one place. A name in front of a
// number, or a letter behind it, leaves it a number.
func partOfID(s string, i int) bool {
	from, to := i, i
	for from > 0 && (letter(s[from-1]) || digit(s[from-1])) {
		from--
	}
	for to < len(s) && (letter(s[to]) || digit(s[to])) {
		to++
	}
	places := 0
	for at := from; at < to; at++ {
		if letter(s[at]) && (at == from || digit(s[at-1])) {
			places++
		}
	}
	return places > 1
}

func luhn(digits []byte) bool {
	sum := 0
	for i := range digits {
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
