package client

import (
	"context"
	"net/http"
	"time"
)

// Operation is what a key is for. The same key on another operation is another key, so one intent may name an order and
// its charge.
type Operation string

// The keyed operations of this package.
const (
	OpProductsCreate Operation = "products.create"
	OpCartsCreate    Operation = "carts.create"
	OpOrdersCreate   Operation = "orders.create"
	OpChargesCreate  Operation = "charges.create"
	OpChargesCapture Operation = "charges.capture"
	OpChargesCancel  Operation = "charges.cancel"
)

// KeyState is the state of a key in one word.
type KeyState string

// The states of a key.
const (
	KeyInProgress  KeyState = "in_progress" // a request is at work on it
	KeyRecoverable KeyState = "recoverable" // none is: the same request with the same key goes on
	KeyCompleted   KeyState = "completed"   // the same request gets the first answer again
	KeyExpired     KeyState = "expired"     // it was answered so long ago that only the resource is known
)

// KeyStatus is what the service remembers under a key.
type KeyStatus struct {
	Object         string    `json:"object"`
	Operation      Operation `json:"operation"`
	Status         KeyState  `json:"status"`
	RecoveryPoint  string    `json:"recovery_point"`  // the last step that is known to be durable
	Resource       string    `json:"resource"`        // id of what the key made; empty while unknown
	ResponseStatus int       `json:"response_status"` // HTTP status of the answer; 0 while there is none
	CreatedAt      time.Time `json:"created_at"`
	ExpiresAt      time.Time `json:"expires_at"` // the answer is kept until then

	Answer Answer `json:"-"`
}

func (k KeyStatus) complete() bool { return k.Object == "idempotency_key" && k.Status != "" }

// Policy is how the service treats keys.
type Policy struct {
	Object     string            `json:"object"`
	Header     string            `json:"header"`     // the header that carries a key
	MaxLength  int               `json:"max_length"` // of a key, in characters
	Scope      []string          `json:"scope"`      // within what a key is unique
	InProgress TwinPolicy        `json:"in_progress"`
	Operations []OperationPolicy `json:"operations"`

	Answer Answer `json:"-"`
}

func (p Policy) complete() bool { return p.Object == "idempotency_policy" && len(p.Operations) > 0 }

// TwinPolicy is how long a request waits whose key another one is still using, in seconds: by itself, and at most.
type TwinPolicy struct {
	WaitSeconds    int64 `json:"wait_seconds"`
	MaxWaitSeconds int64 `json:"max_wait_seconds"`
}

// OperationPolicy is how long the keys of one operation are remembered: an answer is replayed for RetentionSeconds, and
// for TombstoneSeconds after that it is still known that the key was used.
type OperationPolicy struct {
	Operation        Operation         `json:"operation"`
	Method           string            `json:"method"`
	Path             string            `json:"path"`
	RetentionSeconds int64             `json:"retention_seconds"`
	TombstoneSeconds int64             `json:"tombstone_seconds"`
	Reasons          []RetentionReason `json:"reasons"`
}

// RetentionReason is a delay after which the same request can truly come again.
type RetentionReason struct {
	Name          string `json:"name"`
	WithinSeconds int64  `json:"within_seconds"`
	Why           string `json:"why"`
}

// GetKeyStatus tells what is known under an intent's key, without asking for anything to be done. A problem of the type
// not-found says that nothing is: the key was never used, or longer ago than keys are remembered.
func (c *Client) GetKeyStatus(ctx context.Context, operation Operation, intent Intent) (KeyStatus, error) {
	k, answer, err := do[KeyStatus](ctx, c, call{name: "get key status", method: http.MethodGet, path: []string{"idempotency_keys", string(operation), intent.Key()}})
	k.Answer = answer
	return k, err
}

// GetPolicy tells how the service treats keys.
func (c *Client) GetPolicy(ctx context.Context) (Policy, error) {
	p, answer, err := do[Policy](ctx, c, call{name: "get idempotency policy", method: http.MethodGet, path: []string{"idempotency_policy"}})
	p.Answer = answer
	return p, err
}
