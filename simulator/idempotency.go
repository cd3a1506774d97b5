package simulator

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

const (
	// keyLifetime is how long an answer is remembered once it is stored. A later request with the same key executes as a
	// new one.
	keyLifetime = 24 * time.Hour
	// maxKeyLength is in characters.
	maxKeyLength = 255
)

// question is what was asked under a key: a repeated key must ask the same again, at the same endpoint.
type question struct {
	Path        string `json:"path"`
	Fingerprint string `json:"fingerprint"`
}

// record is the stored answer of a key: a snapshot of the first execution, whatever has become of the object since.
type record struct {
	Key string `json:"key"`
	question
	Status    int       `json:"status"`
	Body      string    `json:"body"` // text, since JSON inside JSON would not keep its exact bytes
	RequestID string    `json:"request_id"`
	StoredAt  time.Time `json:"stored_at"` // by the virtual clock
}

func (r record) expired(now time.Time) bool { return now.Sub(r.StoredAt) >= keyLifetime }

// liveRecords returns the records that are still remembered, oldest first. The caller holds mu.
func (w *world) liveRecords() []record {
	now := w.clock.now()
	var live []record
	for _, r := range w.records {
		if !r.expired(now) {
			live = append(live, r)
		}
	}
	slices.SortFunc(live, func(a, b record) int {
		return cmp.Or(a.StoredAt.Compare(b.StoredAt), cmp.Compare(a.Key, b.Key))
	})
	return live
}

// claimKey looks the idempotency key up: it replays a finished answer, refuses a key that is in use or asks something
// else, and otherwise claims the key for this call.
func (c *call) claimKey() *answer {
	if c.key == "" {
		return nil
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := question{Path: c.path, Fingerprint: c.arrival.Hash}
	if stored, ok := w.records[c.key]; ok && !stored.expired(w.clock.now()) {
		if stored.question != asked {
			return differentQuestion()
		}
		return c.replay(stored)
	}
	if running, ok := w.running[c.key]; ok {
		if running != asked {
			return differentQuestion()
		}
		return keyInUse()
	}
	w.running[c.key] = asked
	c.claimed = true
	return nil
}

func (c *call) replay(r record) *answer {
	c.arrival.Replayed = true
	c.originalRequest = r.RequestID
	a := answer{status: r.Status, contentType: "application/json", body: []byte(r.Body)}.with("Idempotent-Replayed", "true")
	a = a.finalIfError()
	return &a
}

// finalIfError tells the client library that asking again will not change a stored error, unless a fault has said
// something else.
func (a answer) finalIfError() answer {
	if a.status < http.StatusBadRequest || a.header["Stripe-Should-Retry"] != "" {
		return a
	}
	return a.with("Stripe-Should-Retry", "false")
}

func differentQuestion() *answer {
	a := errorAnswer(&apiError{
		status: http.StatusBadRequest, Type: typeIdempotency,
		Message: "Keys for idempotent requests can only be used with the same endpoint and the same parameters they were " +
			"first used with. Use another key if you meant to make a different request.",
	})
	return &a
}

func keyInUse() *answer {
	problem := invalid("", "idempotency_key_in_use", "Another request with this idempotency key is in progress.")
	problem.status = http.StatusConflict
	a := errorAnswer(problem)
	return &a
}

// recordOf makes the record that keeps an answer under the call's key. Its age counts from now and not from the request's
// arrival: an answer to a request that was held for long must not be forgotten as soon as it is there. The caller holds mu.
func (c *call) recordOf(a answer) record {
	return record{
		Key: c.key, question: question{Path: c.path, Fingerprint: c.arrival.Hash}, Status: a.status,
		Body: string(a.body), RequestID: c.requestID, StoredAt: c.world.clock.now(),
	}
}
