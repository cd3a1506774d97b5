package api

import (
	"regexp"
	"strconv"
	"time"

	"payonce/api/strictjson"
)

const (
	keyHeader = "Idempotency-Key"
	// hintHeader tells a caller that its key was taken but does not look like the name of one intent. It is advice: a key
	// means nothing to us, and refusing one that works for somebody would help nobody.
	hintHeader = "Idempotency-Key-Hint"
)

// shortestKey is the length below which two intents are likely to get the same key by accident.
const shortestKey = 8

var (
	emailLike = regexp.MustCompile(`^[^@\s]+@[^@\s]+\.[^@\s.]+$`)
	dateLike  = regexp.MustCompile(`^(19|20)\d\d-\d\d-\d\d([T _]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$`)
)

// keyHint names what is wrong with a key's looks, or is empty:
//
//   - timestamp: a retry a moment later would have another key, so the key protects nothing.
//   - email-address: all intents of one customer would be one, and the address would spread with the key.
//   - card-number: as above, and worse.
//   - too-short: a counter or a word, which somebody else of the same merchant will use too.
func keyHint(key string) string {
	switch {
	case isTimestamp(key):
		return "timestamp"
	case emailLike.MatchString(key):
		return "email-address"
	case strictjson.LooksLikeCard(key):
		return "card-number"
	case len(key) < shortestKey:
		return "too-short"
	default:
		return ""
	}
}

// isTimestamp recognises a date, and a Unix time in seconds, milli-, micro- or nanoseconds between 2001 and 2040.
func isTimestamp(key string) bool {
	if dateLike.MatchString(key) {
		return true
	}
	unit := map[int]time.Duration{10: time.Second, 13: time.Millisecond, 16: time.Microsecond, 19: time.Nanosecond}[len(key)]
	n, err := strconv.ParseInt(key, 10, 64)
	if unit == 0 || err != nil {
		return false
	}
	year := time.Unix(0, 0).Add(time.Duration(n) * unit).UTC().Year()
	if unit == time.Second {
		year = time.Unix(n, 0).UTC().Year()
	}
	return year >= 2001 && year <= 2040
}
