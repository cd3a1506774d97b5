package api

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"payonce/domain"
)

// keyState is the wire form of what is remembered under an idempotency key. The key itself is not repeated: it is not
// known here, only its hash.
type keyState struct {
	Object         string               `json:"object"`
	Operation      domain.Operation     `json:"operation"`
	Status         domain.KeyStatus     `json:"status"`
	RecoveryPoint  domain.RecoveryPoint `json:"recovery_point"`
	Resource       *string              `json:"resource"`
	ResponseStatus *int                 `json:"response_status"`
	CreatedAt      time.Time            `json:"created_at"`
	ExpiresAt      time.Time            `json:"expires_at"`
}

// getKey tells what became of an intent without asking for it again: for operators, and for callers who want to know
// before they decide. A key that was never used, or of another merchant, is not there.
func (a *API) getKey(c echo.Context) error {
	op := domain.Operation(c.Param("operation"))
	key, err := keyInPath(c.Request().URL)
	if err != nil || !slices.Contains(domain.Operations(), op) {
		return domain.E(domain.CodeNotFound, nil, "no such key")
	}
	record, found, err := a.store.Key(c.Request().Context(), domain.KeyRef{MerchantID: callerOf(c).MerchantID, Operation: op, Hash: key.Hash()})
	if err != nil {
		return err
	}
	if !found {
		return domain.E(domain.CodeNotFound, nil, "no such key")
	}
	state := keyState{
		Object: "idempotency_key", Operation: op, Status: record.StatusAt(a.store.Now()), RecoveryPoint: record.Point,
		CreatedAt: record.CreatedAt, ExpiresAt: record.ExpiresAt,
	}
	if record.ResourceID != "" {
		state.Resource = &record.ResourceID
	}
	if record.Finished() {
		state.ResponseStatus = &record.Status
	}
	return object(c, state)
}

// keyInPath is the key at the end of the path. It is taken from the path as it was sent: a key may hold anything that the
// header may, an escaped slash or percent sign too, and the router's own parameter is escaped in some cases and not in
// others.
func keyInPath(u *url.URL) (domain.Key, error) {
	escaped := u.EscapedPath()
	text, err := url.PathUnescape(escaped[strings.LastIndexByte(escaped, '/')+1:])
	if err != nil {
		return "", err
	}
	return domain.KeyOf(text)
}

// keyPolicy is the wire form of the idempotency contract, for programs.
type keyPolicy struct {
	Object     string         `json:"object"`
	Header     string         `json:"header"`
	MaxLength  int            `json:"max_length"`
	Scope      []string       `json:"scope"`
	InProgress waiting        `json:"in_progress"`
	Operations []keyRetention `json:"operations"`
}

type waiting struct {
	WaitSeconds    int64 `json:"wait_seconds"`     // how long a request waits for its twin
	MaxWaitSeconds int64 `json:"max_wait_seconds"` // the most it may ask for with Prefer: wait=N
}

type keyRetention struct {
	Operation        domain.Operation `json:"operation"`
	Method           string           `json:"method"`
	Path             string           `json:"path"`
	RetentionSeconds int64            `json:"retention_seconds"` // the whole answer is kept
	TombstoneSeconds int64            `json:"tombstone_seconds"` // after that, the key is recognised and never run again
	Reasons          []keyReason      `json:"reasons"`
}

type keyReason struct {
	Name          string `json:"name"`
	WithinSeconds int64  `json:"within_seconds"`
	Why           string `json:"why"`
}

// getKeyPolicy tells the contract as this installation keeps it.
func (a *API) getKeyPolicy(c echo.Context) error {
	policy := keyPolicy{
		Object: "idempotency_policy", Header: keyHeader, MaxLength: domain.MaxKeyLength, Scope: []string{"merchant", "operation"},
		InProgress: waiting{wholeSeconds(defaultWait), wholeSeconds(maxWait)}, Operations: []keyRetention{},
	}
	for _, r := range a.routes() {
		if r.operation == "" {
			continue
		}
		kept := a.payments.Retention.For(r.operation)
		row := keyRetention{
			Operation: r.operation, Method: r.method, Path: pathTemplate(r.path),
			RetentionSeconds: wholeSeconds(kept.Answer), TombstoneSeconds: wholeSeconds(kept.Tombstone),
		}
		for _, reason := range domain.RetentionReasons(r.operation) {
			row.Reasons = append(row.Reasons, keyReason{reason.Name, wholeSeconds(reason.Within), reason.Why})
		}
		policy.Operations = append(policy.Operations, row)
	}
	return object(c, policy)
}

func wholeSeconds(d time.Duration) int64 { return int64(d / time.Second) }

// pathTemplate writes a route's path as everybody but echo does: /v1/orders/{id}.
func pathTemplate(path string) string {
	steps := strings.Split(path, "/")
	for i, step := range steps {
		if name, ok := strings.CutPrefix(step, ":"); ok {
			steps[i] = "{" + name + "}"
		}
	}
	return strings.Join(steps, "/")
}
