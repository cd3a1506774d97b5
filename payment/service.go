package payment

import (
	"encoding/base32"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"

	"payonce/domain"
	"payonce/provider"
	"payonce/repository"
)

// Service runs the use cases. It holds no state that anything depends on, so any number of them, in any number of
// processes, can work on one database. It must not be copied.
type Service struct {
	Store    *repository.Store
	Provider provider.Provider
	// Present turns a result into the bytes a caller sees. It is called inside transactions and must do no I/O.
	Present func(Presentation) domain.Answer
	// NewID makes a new, unique id with a prefix such as "ord".
	NewID func(prefix string) string
	Log   *slog.Logger

	Retention  domain.RetentionPolicy // how long keys and their answers are remembered
	Lease      time.Duration          // how long an owner may hold a running key before another may recover it
	KeyHorizon time.Duration          // after this a provider key is never sent again; Stripe forgets after 24 h
	OrderTTL   time.Duration          // an order that is not paid by then expires
	Grace      time.Duration          // recovery leaves a charge alone for this long after something happened to it

	// Refusing says that the provider cannot be called at this time, and for how long. It is asked before anything of a
	// charge is written down: what is refused then was provably never sent. It may be nil.
	Refusing func() (wait time.Duration, refusing bool)

	// Resumed is told when a key is taken over from an owner who had not come to an end, and on whose behalf: a request
	// with the same key, or recovery. It may be nil.
	Resumed func(domain.ResolvedBy)

	twins twins
}

// Request is who asks for a keyed operation, and under which key.
type Request struct {
	MerchantID string
	Key        domain.Key
	RequestID  string
	Wait       time.Duration // how long to wait for another request that is running under the same key
}

// Result is what a use case came to: an object, or a final refusal.
type Result struct {
	Status   int    // HTTP status of the object's answer; refusals bring their own
	Location string // path of the object, for answers that made one
	Object   any
	Resource string // id of the object
	Err      error  // a refusal; then Object is what it is about, if anything
}

// Presentation is everything the bytes of an answer depend on. The request id is that of the first request, so that the
// answer is the same whoever renders it: the first request, a later one that resumes it, or recovery.
type Presentation struct {
	Operation domain.Operation
	RequestID string
	Instance  string // the path that was asked
	Result
}

// Reply is what a caller gets.
type Reply struct {
	Answer     domain.Answer
	Resource   string        // id of the object the key stands for; empty when there is none
	Replayed   bool          // the answer was stored by an earlier request ...
	OriginalID string        // ... with this request id
	ExpiresAt  time.Time     // the answer is kept until then
	RetryAfter time.Duration // set when the answer is provisional: ask again with the same key
}

// NewID makes an id from a UUIDv7: the prefix, an underscore and 26 characters that sort by creation time. It shows when
// it was made, so it is a name and never a secret.
func NewID(prefix string) string {
	id := uuid.Must(uuid.NewV7()) //nolint:forbidigo // this is what comes in from outside
	return prefix + "_" + strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(id[:]))
}
