package simulator

import (
	"slices"
	"time"
)

// Arrival is one line of the journal: one request that arrived whole, whatever became of it. A client library or an
// HTTP transport may send a request several times without telling its caller; only here can the arrivals be counted.
type Arrival struct {
	N          int       `json:"n"`          // from 1, without gaps
	Connection string    `json:"connection"` // the client's end of it, address:port
	Method     string    `json:"method"`
	Path       string    `json:"path"` // without the prefix of an isolated world
	Key        string    `json:"key"`  // the idempotency key, "" without one
	Hash       string    `json:"hash"` // of the canonical parameters; "" when they could not be or must not be read
	Faults     []string  `json:"faults"`
	Executed   bool      `json:"executed"` // this arrival changed objects, a declined attempt included
	Replayed   bool      `json:"replayed"` // the answer came from the key's memory
	Status     int       `json:"status"`   // what the client was sent; 0 while on its way, or when nothing was sent
	RequestID  string    `json:"request_id"`
	At         time.Time `json:"at"` // by the virtual clock
}

// arrivalKind groups the arrivals that a rule's nth counts.
type arrivalKind struct{ method, path, key string }

func (a Arrival) kind() arrivalKind { return arrivalKind{a.Method, a.Path, a.Key} }

func (w *world) journalLines() []Arrival {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.journal)
}
