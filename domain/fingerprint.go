package domain

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Fingerprint identifies what was asked under a key: the version of its form, a colon and the SHA-256 of the operation
// and the canonical JSON of the typed command, in hex. Two commands with the same fingerprint have the same effect;
// spacing, member order and left-out defaults of the request do not change it.
type Fingerprint string

// Intent is what a caller wants done: an operation and its typed command after defaults were applied, ids of the path
// included. Its fingerprint is kept with the key, so that the key cannot be used for anything else.
type Intent struct {
	operation Operation
	command   any // the command as plain JSON values, integers with all their digits
}

// NewIntent prepares an intent for comparison. The command must be made of strings, integers, booleans, lists, maps and
// structs; a float has no place in a command and is refused, since two different int64 values can be one float.
func NewIntent(op Operation, command any) (Intent, error) {
	text, err := json.Marshal(command)
	if err != nil {
		return Intent{}, fmt.Errorf("intent of %s: %w", op, err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var plain any
	if err := d.Decode(&plain); err != nil {
		return Intent{}, fmt.Errorf("intent of %s: %w", op, err)
	}
	if _, err := appendCanonical(nil, plain); err != nil {
		return Intent{}, fmt.Errorf("intent of %s: %w", op, err)
	}
	return Intent{op, plain}, nil
}

// fingerprintVersion is the form that new fingerprints have.
const fingerprintVersion = "v2"

// fingerprintForms are all forms that may be found under keys that are still kept. A release that changes what a
// fingerprint covers adds one and keeps the old: a key that was claimed before the upgrade must still match the same
// intent after it.
//
//   - v1 covers every member of the command, so a new optional member would have changed all fingerprints.
//   - v2 leaves out members that are null. A command may now gain an optional member, null when it is not given, and the
//     intents that do not use it keep their fingerprints.
var fingerprintForms = map[string]func(command any) any{
	"v1": func(command any) any { return command },
	"v2": withoutNulls,
}

// Fingerprint is the intent's fingerprint in the newest form.
func (i Intent) Fingerprint() Fingerprint { return i.fingerprint(fingerprintVersion) }

// ErrFingerprintVersion says that a fingerprint was made by a newer release, which this one cannot compare with. It
// happens while an upgrade is rolled out: the answer is neither "the same" nor "another", but "ask again".
var ErrFingerprintVersion = errors.New("the key was claimed by a newer release")

// Matches reports whether a kept fingerprint is of this intent, whichever release wrote it.
func (i Intent) Matches(kept Fingerprint) (bool, error) {
	version, _, _ := strings.Cut(string(kept), ":")
	if fingerprintForms[version] == nil {
		return false, fmt.Errorf("%w: fingerprint form %q", ErrFingerprintVersion, version)
	}
	return i.fingerprint(version) == kept, nil
}

func (i Intent) fingerprint(version string) Fingerprint {
	canonical, err := appendCanonical(nil, fingerprintForms[version](i.command))
	if err != nil {
		panic("domain: an intent was checked when it was made: " + err.Error())
	}
	sum := sha256.Sum256(append([]byte(string(i.operation)+"\n"), canonical...))
	return Fingerprint(fmt.Sprintf("%s:%x", version, sum))
}

// withoutNulls leaves out the members that are null, at every depth. Items of lists stay: there a null has a place.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			if member != nil {
				out[name] = withoutNulls(member)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withoutNulls(item)
		}
		return out
	default:
		return v
	}
}

// appendCanonical writes JSON in the form of RFC 8785: members sorted by UTF-16 code units, no spaces, the shortest
// string escapes. Integers keep all their digits, where the RFC would pass them through a double.
func appendCanonical(out []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(out, "null"...), nil
	case bool:
		return strconv.AppendBool(out, v), nil
	case json.Number:
		if _, err := strconv.ParseInt(v.String(), 10, 64); err != nil {
			return nil, fmt.Errorf("number %s is not an int64", v)
		}
		return append(out, v...), nil
	case string:
		return appendCanonicalString(out, v), nil
	case []any:
		return appendCanonicalList(out, v)
	case map[string]any:
		return appendCanonicalObject(out, v)
	default:
		return nil, fmt.Errorf("value of type %T", v)
	}
}

func appendCanonicalList(out []byte, list []any) ([]byte, error) {
	out = append(out, '[')
	var err error
	for i, item := range list {
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = appendCanonical(out, item); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

func appendCanonicalObject(out []byte, object map[string]any) ([]byte, error) {
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool { return lessUTF16(names[i], names[j]) })
	out = append(out, '{')
	var err error
	for i, name := range names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendCanonicalString(out, name), ':')
		if out, err = appendCanonical(out, object[name]); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func lessUTF16(a, b string) bool {
	x, y := utf16.Encode([]rune(a)), utf16.Encode([]rune(b))
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return len(x) < len(y)
}

func appendCanonicalString(out []byte, s string) []byte {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`}
	out = append(out, '"')
	for _, r := range s {
		switch escape, ok := short[r]; {
		case ok:
			out = append(out, escape...)
		case r < 0x20:
			out = append(out, fmt.Sprintf(`\u%04x`, r)...)
		default:
			out = append(out, string(r)...)
		}
	}
	return append(out, '"')
}
