package simulator

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The sizes a form may have; far beyond any honest request.
const (
	maxFormPairs = 1000
	maxFormDepth = 8
)

// node is one place in a decoded form: a text, or named members. A list is members named by index, whether it came as
// a[0]=x or as a[]=x, so that both spellings are the same form.
type node struct {
	text    string
	members map[string]*node // nil for a text
}

func newGroup() *node { return &node{members: map[string]*node{}} }

// parseForm decodes an application/x-www-form-urlencoded text with bracketed names.
func parseForm(encoded string) (*node, *apiError) {
	root := newGroup()
	if encoded == "" {
		return root, nil
	}
	pairs := strings.Split(encoded, "&")
	if len(pairs) > maxFormPairs {
		return newGroup(), invalid("", "", "More than %d parameters.", maxFormPairs)
	}
	for _, pair := range pairs {
		if pair == "" {
			continue
		}
		rawName, rawText, _ := strings.Cut(pair, "=")
		name, err1 := url.QueryUnescape(rawName)
		text, err2 := url.QueryUnescape(rawText)
		if err1 != nil || err2 != nil || !utf8.ValidString(name) || !utf8.ValidString(text) {
			return newGroup(), invalid("", "", "The form is not valid percent-encoded UTF-8.")
		}
		if problem := root.insert(name, text); problem != nil {
			return newGroup(), problem
		}
	}
	return root, nil
}

func (n *node) insert(name, text string) *apiError {
	path := splitName(name)
	if len(path) > maxFormDepth {
		return invalid(path[0], "", "Parameters are nested more than %d levels deep.", maxFormDepth)
	}
	at := n
	for _, step := range path[:len(path)-1] {
		next := at.members[at.index(step)]
		if next == nil {
			next = newGroup()
			at.members[at.index(step)] = next
		}
		if next.members == nil {
			return invalid(path[0], "", "Parameter %s is both a text and a group.", path[0])
		}
		at = next
	}
	last := at.index(path[len(path)-1])
	if old := at.members[last]; old != nil && old.members != nil {
		return invalid(path[0], "", "Parameter %s is both a text and a group.", path[0])
	}
	at.members[last] = &node{text: text} // the last of equal names counts
	return nil
}

// index turns the empty name of a[] into the next free index.
func (n *node) index(step string) string {
	if step != "" {
		return step
	}
	free := len(n.members)
	for n.members[strconv.Itoa(free)] != nil { // taken by an index that was written out
		free++
	}
	return strconv.Itoa(free)
}

// splitName takes a[b][c] apart. A name whose brackets do not match is one plain, and so unknown, name.
func splitName(name string) []string {
	head, rest, bracketed := strings.Cut(name, "[")
	if !bracketed || head == "" || !strings.HasSuffix(rest, "]") {
		return []string{name}
	}
	steps := strings.Split(strings.TrimSuffix(rest, "]"), "][")
	if slices.ContainsFunc(steps, func(s string) bool { return strings.ContainsAny(s, "[]") }) {
		return []string{name}
	}
	return append([]string{head}, steps...)
}

// list returns the members of a list in the order of their indexes; false when a name is not an index.
func (n *node) list() ([]*node, bool) {
	indexes := make([]int, 0, len(n.members))
	for name := range n.members {
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 {
			return nil, false
		}
		indexes = append(indexes, i)
	}
	slices.Sort(indexes)
	items := make([]*node, 0, len(indexes))
	for _, i := range indexes {
		item := n.members[strconv.Itoa(i)]
		if item == nil { // an index written as 00
			return nil, false
		}
		items = append(items, item)
	}
	return items, true
}

// member returns the node at a path of names, or nil.
func (n *node) member(path ...string) *node {
	for _, name := range path {
		if n == nil {
			return nil
		}
		n = n.members[name]
	}
	return n
}

// fingerprint hashes the form as a sorted tree, so that the order of the encoding does not matter.
func (n *node) fingerprint() string {
	sum := sha256.Sum256(n.canonical(nil))
	return hex.EncodeToString(sum[:])
}

func (n *node) canonical(out []byte) []byte {
	if n.members == nil {
		return strconv.AppendQuote(out, n.text)
	}
	out = append(out, '{')
	for _, name := range slices.Sorted(maps.Keys(n.members)) {
		out = append(strconv.AppendQuote(out, name), ':')
		out = append(n.members[name].canonical(out), ',')
	}
	return append(out, '}')
}

// cardNumberNames are the member names that hold raw card or account data anywhere in Stripe's API.
var cardNumberNames = []string{"number", "cvc", "account_number"}

// cardData returns the name of the first parameter that carries raw card data, or "".
func (n *node) cardData(prefix string) string {
	for _, name := range slices.Sorted(maps.Keys(n.members)) {
		full := name
		if prefix != "" {
			full = prefix + "[" + name + "]"
		}
		ownNames := strings.HasPrefix(full, "metadata[")
		if !ownNames && slices.Contains(cardNumberNames, name) || holdsCardNumber(n.members[name].text) {
			return full
		}
		if found := n.members[name].cardData(full); found != "" {
			return found
		}
	}
	return ""
}

// digitRuns finds what may be card numbers, with the blanks or dashes that people write between the groups. A run that goes
// on in letters, dashes or underscores is a part of some id.
var digitRuns = regexp.MustCompile(`(?:^|[^0-9A-Za-z_-])([2-6](?:[ -]?[0-9]){12,18})(?:$|[^0-9A-Za-z_-])`)

// holdsCardNumber reports whether a text holds the number of a card: its first digit and its check digit are right.
func holdsCardNumber(text string) bool {
	for _, found := range digitRuns.FindAllStringSubmatch(text, -1) {
		digits := strings.NewReplacer(" ", "", "-", "").Replace(found[1])
		sum := 0
		for n := range len(digits) {
			digit := int(digits[len(digits)-1-n] - '0')
			if n%2 == 1 {
				digit = digit*2/10 + digit*2%10
			}
			sum += digit
		}
		if sum%10 == 0 {
			return true
		}
	}
	return false
}
