package strictjson

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// asSeen writes a text in ASCII as far as digits go: full-width, circled, raised and mathematical digits and those of
// other scripts as 0 to 9, all blanks and dashes as one kind of each, and without what cannot be seen. Whoever hides a
// card number from a program does not hide it from people.
func asSeen(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Map(plain, norm.NFKC.String(s))
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// hangulFillers are letters by their class, and nothing to the eye.
var hangulFillers = []rune{0x115f, 0x1160}

func plain(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return r
	case unicode.Is(unicode.Nd, r):
		return '0' + (r-zeroBefore(r))%10
	case unicode.Is(unicode.Zs, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
		return ' '
	case unicode.Is(unicode.Pd, r), r == '\u2212': // the minus sign
		return '-'
	case unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me), slices.Contains(hangulFillers, r):
		return -1
	default:
		return r
	}
}

// zeroBefore is where the row of digits begins that r stands in. Each row begins with a zero and has ten digits, or
// several times ten.
func zeroBefore(r rune) rune {
	for _, row := range unicode.Nd.R16 {
		if r >= rune(row.Lo) && r <= rune(row.Hi) {
			return rune(row.Lo)
		}
	}
	for _, row := range unicode.Nd.R32 {
		if r >= rune(row.Lo) && r <= rune(row.Hi) { //nolint:gosec // code points are far below the limits of a rune
			return rune(row.Lo) //nolint:gosec // as above
		}
	}
	return r
}

// prints are the groups in which the networks print their numbers.
var prints = [][]int{{4, 4, 4, 4}, {4, 4, 4, 4, 3}, {4, 6, 5}, {4, 6, 4}}

// cardIsPrinted looks for a number in printed groups, or digit by digit, with up to three characters between two groups
// that are neither letters nor digits.
func cardIsPrinted(s string) bool {
	for groups := range groupsOf(s) {
		for i := range groups {
			for _, print := range prints {
				if matches(groups[i:], print) && isCard([]byte(strings.Join(groups[i:i+len(print)], ""))) {
					return true
				}
			}
			singles := 0
			for singles < longestCard && i+singles < len(groups) && len(groups[i+singles]) == 1 {
				singles++
				if singles >= shortestCard && isCard([]byte(strings.Join(groups[i:i+singles], ""))) {
					return true
				}
			}
		}
	}
	return false
}

func matches(groups []string, print []int) bool {
	if len(groups) < len(print) {
		return false
	}
	for i, n := range print {
		if len(groups[i]) != n {
			return false
		}
	}
	return true
}

// groupsOf yields the groups of digits that stand close together.
func groupsOf(s string) func(func([]string) bool) {
	const farthest = 3
	return func(yield func([]string) bool) {
		var groups []string
		from, gap := -1, 0
		for i, r := range s + "\x00" {
			if r >= '0' && r <= '9' {
				if from < 0 {
					from = i
				}
				continue
			}
			if from >= 0 {
				groups, from, gap = append(groups, s[from:i]), -1, 0
			}
			gap++
			if len(groups) > 0 && (gap > farthest || unicode.IsLetter(r) || r == 0) {
				if !yield(groups) {
					return
				}
				groups = nil
			}
		}
	}
}
