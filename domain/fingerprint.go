package domain

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"unicode/utf16"
)

// fingerprintVersion is stored in front of each fingerprint. A release that changes what a command contains raises it
// and keeps the old form, so that keys claimed before the upgrade still match.
const fingerprintVersion = "v1"

// Fingerprint identifies what was asked under a key: a version prefix, a colon and the SHA-256 of the operation and
// the canonical JSON of the typed command, in hex. Two requests with the same fingerprint have the same effect; spacing,
// member order and left-out defaults do not change it.
type Fingerprint string

// FingerprintOf hashes a typed command after defaults were applied, ids of the path included. The command must be made
// of strings, integers, booleans, lists, maps and structs; a float has no place in a command and is refused, since two
// different int64 values can be one float.
func FingerprintOf(op Operation, command any) (Fingerprint, error) {
	plain, err := json.Marshal(command)
	if err != nil {
		return "", fmt.Errorf("fingerprint of %s: %w", op, err)
	}
	canonical, err := canonicalJSON(plain)
	if err != nil {
		return "", fmt.Errorf("fingerprint of %s: %w", op, err)
	}
	sum := sha256.Sum256(append([]byte(string(op)+"\n"), canonical...))
	return Fingerprint(fmt.Sprintf("%s:%x", fingerprintVersion, sum)), nil
}

// canonicalJSON rewrites JSON in the form of RFC 8785: members sorted by UTF-16 code units, no spaces, the shortest
// string escapes. Integers keep all their digits, where the RFC would pass them through a double.
func canonicalJSON(in []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(in))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return appendCanonical(nil, v)
}

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
