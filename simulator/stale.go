package simulator

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Stale reads: the world as it was a moment ago. Stripe's search lags by design; its lists and reads do not, so these two
// are for tests of what happens if they ever should.

// maxPast is how many changes of one table can be taken back.
const maxPast = 2000

// earlier is what a table held under an id before a change.
type earlier[T row] struct {
	until   time.Time
	id      string
	row     T
	existed bool
}

// remember keeps what is about to be replaced.
func (t *table[T]) remember(id string, now time.Time) {
	old, existed := t.get(id)
	t.past = append(t.past, earlier[T]{now, id, old, existed})
	if len(t.past) > 2*maxPast {
		t.past = slices.Clone(t.past[maxPast:])
	}
}

// asOf returns the table as it was at a time, as far back as it remembers.
func (t *table[T]) asOf(at time.Time) *table[T] {
	old := newTable[T]()
	gone := map[string]bool{}
	changed := map[string]T{}
	for _, e := range slices.Backward(t.past) {
		if !e.until.After(at) {
			break
		}
		changed[e.id], gone[e.id] = e.row, !e.existed
	}
	for _, id := range t.order {
		v, isOld := changed[id]
		if !isOld {
			v = t.rows[id]
		}
		if !gone[id] {
			old.put(v)
		}
	}
	return old
}

// asOf returns the world as it was at a time, to be read only. The caller holds mu.
func (w *world) asOf(at time.Time) *world {
	past := newWorld(w.name, w.seed, w.clock.real, w.log, nil, nil)
	past.clock.set = clockSetting{FrozenAt: at}
	past.intents, past.charges, past.methods = w.intents.asOf(at), w.charges.asOf(at), w.methods.asOf(at)
	past.refunds, past.disputes, past.entries = w.refunds.asOf(at), w.disputes.asOf(at), w.entries.asOf(at)
	past.payouts, past.accounts, past.events = w.payouts.asOf(at), w.accounts.asOf(at), w.events.asOf(at)
	past.endpoints, past.deliveries, past.post = w.endpoints, w.deliveries, w.post
	past.searchable = w.searchable
	return past
}

// rememberPast makes the tables of a world keep what they replace from now on. The caller holds mu.
func (w *world) rememberPast() {
	now := w.clockNow
	w.intents.now, w.charges.now, w.methods.now = now, now, now
	w.refunds.now, w.disputes.now, w.entries.now = now, now, now
	w.payouts.now, w.accounts.now, w.events.now = now, now, now
}

func (w *world) clockNow() time.Time { return w.clock.now() }

// readStale makes a fault that lets reads of one kind see the world as it was: lag_ms before the call arrived, or until a
// time in RFC 3339, both by the virtual clock.
func readStale(isKind func(*call) bool) func(*call, fault) *answer {
	return func(c *call, f fault) *answer {
		if c.request.Method != http.MethodGet || !isKind(c) {
			return nil
		}
		c.readsAt = c.arrival.At.Add(-time.Duration(f.integer("lag_ms", 2000)) * time.Millisecond)
		if until, err := time.Parse(time.RFC3339, f.params["until"]); err == nil {
			c.readsAt = until
		}
		return nil
	}
}

func (c *call) searches() bool { return strings.HasSuffix(c.path, "/search") }

func (c *call) lists() bool { return c.id == "" && !c.searches() }

func (c *call) gets() bool { return c.id != "" }

func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}
