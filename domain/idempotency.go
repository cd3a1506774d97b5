package domain

import (
	"crypto/sha256"
	"errors"
	"strings"
	"time"
)

// Key is an idempotency key: the caller's name for one business intent, 1 to 255 printable ASCII characters. It is made
// once, when the intent is, and repeated on every retry. It is not a request id, a timestamp or a retry counter.
type Key string

// MaxKeyLength is the longest key, in characters.
const MaxKeyLength = 255

// Reasons a key is refused.
var (
	ErrKeyEmpty      = errors.New("must not be empty")
	ErrKeyTooLong    = errors.New("must be at most 255 characters long")
	ErrKeyCharacters = errors.New("must be printable ASCII; a bare key has no spaces and no commas")
	ErrKeyQuoting    = errors.New("must be a bare key or one well-formed quoted string")
)

// ParseKey reads the value of an Idempotency-Key header. The bare form abc and the structured-field string "abc"
// (RFC 9651) name the same key, so a client that quotes and one that does not can share an intent. A bare value with a
// comma or a space is refused: two header lines folded into one, or a list, would otherwise silently become one odd key.
func ParseKey(header string) (Key, error) {
	s := strings.Trim(header, " \t")
	quoted := strings.HasPrefix(s, `"`)
	if quoted {
		var ok bool
		if s, ok = unquoteKey(s); !ok {
			return "", ErrKeyQuoting
		}
	}
	if !quoted && strings.ContainsAny(s, " ,") {
		return "", ErrKeyCharacters
	}
	return KeyOf(s)
}

// KeyOf is the key of a plain text, without the quoting of a header.
func KeyOf(s string) (Key, error) {
	switch {
	case s == "":
		return "", ErrKeyEmpty
	case len(s) > MaxKeyLength:
		return "", ErrKeyTooLong
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return "", ErrKeyCharacters
		}
	}
	return Key(s), nil
}

// unquoteKey undoes the quotes and the two escapes of a structured-field string.
func unquoteKey(s string) (string, bool) {
	if len(s) < 2 || s[len(s)-1] != '"' {
		return "", false
	}
	var out strings.Builder
	for inner := s[1 : len(s)-1]; inner != ""; inner = inner[1:] {
		switch {
		case inner[0] == '"':
			return "", false
		case inner[0] != '\\':
		case len(inner) > 1 && (inner[1] == '"' || inner[1] == '\\'):
			inner = inner[1:]
		default:
			return "", false
		}
		out.WriteByte(inner[0])
	}
	return out.String(), true
}

// Hash is what is stored of a key. Keys are the caller's text and may hold anything, a customer's address included; a
// hash finds the record just as well and keeps nothing.
func (k Key) Hash() []byte {
	sum := sha256.Sum256([]byte(k))
	return sum[:]
}

// Operation names what a key is for. A key's scope is merchant + operation: the same text on another operation, or of
// another merchant, is another key.
type Operation string

// The keyed operations.
const (
	OpProductsCreate Operation = "products.create"
	OpCartsCreate    Operation = "carts.create"
	OpOrdersCreate   Operation = "orders.create"
	OpChargesCreate  Operation = "charges.create"
	OpChargesCapture Operation = "charges.capture"
	OpChargesCancel  Operation = "charges.cancel"
)

// Operations lists every keyed operation.
func Operations() []Operation {
	return []Operation{OpProductsCreate, OpCartsCreate, OpOrdersCreate, OpChargesCreate, OpChargesCapture, OpChargesCancel}
}

// RecoveryPoint is the last step of a keyed operation that is known to be durable. Whoever resumes the operation
// starts right after it.
type RecoveryPoint string

// The recovery points in the order they are reached. An operation that touches only our own database goes from nothing
// to finished in one transaction; only a charge stops in between.
const (
	// PointClaimed: the key is ours and nothing has been done. It exists only inside the claiming transaction.
	PointClaimed RecoveryPoint = "claimed"
	// PointChargeRecorded: the charge and the provider call "create" are written. Nothing may have been sent, or the
	// create may have been; no money can have moved.
	PointChargeRecorded RecoveryPoint = "charge_recorded"
	// PointIntentRecorded: the provider's intent id and the call "confirm" are written. Money may have moved; a look-up
	// of the intent tells.
	PointIntentRecorded RecoveryPoint = "intent_recorded"
	// PointAccepted: what was asked of a charge, to capture or to cancel it, is written on the charge together with the
	// provider call. It may have been sent; the intent tells. From here on it is carried through, whoever comes back.
	PointAccepted RecoveryPoint = "accepted"
	// PointFinished: the answer is stored. Replays repeat it.
	PointFinished RecoveryPoint = "finished"
)

// RecoveryPoints lists the points that can be found after a crash, in the order they are reached, for tests and tools
// that must cover them all.
func RecoveryPoints() []RecoveryPoint {
	return []RecoveryPoint{PointChargeRecorded, PointIntentRecorded, PointAccepted, PointFinished}
}

// Answer is what a caller is told: status, Location and body, byte for byte, so that a replay equals the first answer.
type Answer struct {
	Status   int
	Location string // may be empty
	Body     []byte
}

// KeyRef finds one key's record: its scope and the hash of its text.
type KeyRef struct {
	MerchantID string
	Operation  Operation
	Hash       []byte
}

// KeyRecord is what is remembered under one key.
type KeyRecord struct {
	KeyRef
	Fingerprint Fingerprint // empty in a tombstone
	Point       RecoveryPoint
	RequestID   string // of the request that claimed the key
	ResourceID  string // the object the key made; empty while unknown, and for a refusal that made none
	Status      int    // HTTP status of the answer; 0 while there is none
	Answer      *Answer
	CreatedAt   time.Time
	ExpiresAt   time.Time // the answer is kept until then
	Lease       Lease
	// Unwanted is how long ago somebody with the key was last at work on it, by the database's clock. Recovery does not count.
	Unwanted time.Duration
}

// Finished reports whether the intent has its answer for good, also when the answer's bytes are no longer kept.
func (r KeyRecord) Finished() bool { return r.Point == PointFinished }

// Expired reports whether the answer of a finished key is no longer kept. It goes by the time that the caller was told
// and not by when the purge came round, so the same key is never replayed and refused by turns. A key without an answer
// does not expire: its outcome is still owed.
func (r KeyRecord) Expired(now time.Time) bool {
	return r.Finished() && (r.Answer == nil || !now.Before(r.ExpiresAt))
}

// KeyStatus is the state of a key in one word.
type KeyStatus string

// The states of a key.
const (
	KeyInProgress  KeyStatus = "in_progress" // an owner is at work
	KeyRecoverable KeyStatus = "recoverable" // nobody is: the same request with the same key goes on
	KeyCompleted   KeyStatus = "completed"   // the same key gets the first answer again
	KeyExpired     KeyStatus = "expired"     // it was answered so long ago that only the pointer is left
)

// StatusAt is the state of the key at an instant of business time.
func (r KeyRecord) StatusAt(now time.Time) KeyStatus {
	switch {
	case r.Expired(now):
		return KeyExpired
	case r.Finished():
		return KeyCompleted
	case r.Lease.Live:
		return KeyInProgress
	default:
		return KeyRecoverable
	}
}

// Lease says who may advance a running key. The generation rises with every takeover, and every write of an owner
// names its generation, so an owner that was paused beyond its lease and wakes up writes nothing.
type Lease struct {
	Owner      string
	Generation int64
	Live       bool // by the database's clock when the record was read
}
