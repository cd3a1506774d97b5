package client

import (
	"crypto/rand"
	"errors"
	"strings"
)

// Intent is the name of one thing that somebody wants done once. It is made when the wish is, stored with it, and given
// to every call that tries to fulfil it. The zero Intent is no intent, and calls refuse it.
type Intent struct{ key string }

// NewIntent makes the name of a new intent, with a random key that nobody can guess. Store [Intent.Key] before the first
// call: a key that is lost in a crash leaves an intent behind that nobody can ask about.
func NewIntent() Intent { return Intent{rand.Text()} }

// maxKey is the longest key, in characters.
const maxKey = 255

// StoredIntent is the intent with this key: one that was stored by an earlier run, or that the caller derives from
// something of its own which is unique to the wish. A key has 1 to 255 printable ASCII characters; it is given without
// the quotes that it may have in a header.
func StoredIntent(key string) (Intent, error) {
	switch {
	case key == "":
		return Intent{}, errors.New("idempotency key is empty")
	case len(key) > maxKey:
		return Intent{}, errors.New("idempotency key is longer than 255 characters")
	case key[0] == '"':
		return Intent{}, errors.New("idempotency key begins with a quote: give it as it is, not as a header has it")
	}
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return Intent{}, errors.New("idempotency key holds other characters than printable ASCII")
		}
	}
	return Intent{key}, nil
}

// Key is what to store. It opens nothing without an API key.
func (i Intent) Key() string { return i.key }

// IsZero reports whether this is no intent.
func (i Intent) IsZero() bool { return i.key == "" }

// header is the key as a structured-field string (RFC 9651, section 3.3.3), the form in which every character that a key
// may have survives.
func (i Intent) header() string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(i.key) + `"`
}
