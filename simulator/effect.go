package simulator

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// effect is the work of one operation. It reads the world and collects the new versions of what it touches; it sees
// its own writes, and nobody else does before they are committed. It runs with the world's mutex held and never waits.
type effect struct {
	world   *world
	change  change
	now     time.Time // one instant for the whole effect
	key     string    // the idempotency key, or what stands for it when no API call asked, see cause; "" without one
	baseURL string    // where the world's pages are reached
	made    int       // ids drawn so far

	bank      func(behaviour) behaviour // what a fault makes of the card of a confirm; nil leaves it as it is
	requestID string                    // of the API call that asked for the work; "" when nobody called
}

func newEffect(w *world, key, baseURL string) *effect {
	return &effect{world: w, now: w.clock.now(), key: key, baseURL: baseURL}
}

// cause stands for the idempotency key of work that no API call asked for: what is done, and to which object. So its ids do
// not depend on how much else was done before, which may be in another order in the next run.
func cause(what ...string) string { return strings.Join(what, " ") }

// newID draws the id of a new object. It comes from the idempotency key when there is one, so that concurrent callers
// get the same ids in every run; without a key, from how many objects of the kind there are. The last number moves on
// when a key that was forgotten after 24 hours is executed again.
func newID[T row](e *effect, prefix string, t *table[T]) string {
	e.made++
	kind, source := "count", strconv.Itoa(t.size())
	if e.key != "" {
		kind, source = "key", e.key
	}
	return freshID(e, prefix, t, kind, source, strconv.Itoa(e.made))
}

// freshID draws an id from what it is for.
func freshID[T row](e *effect, prefix string, t *table[T], source ...string) string {
	for n := 0; ; n++ {
		id := prefix + e.world.seed.text(24, slices.Concat([]string{prefix}, source, []string{strconv.Itoa(n)})...)
		if !t.has(id) {
			return id
		}
	}
}

func (e *effect) intent(id string) (intent, bool) {
	return find(e.change.Intents, e.world.intents, id)
}

func (e *effect) charge(id string) (charge, bool) {
	return find(e.change.Charges, e.world.charges, id)
}

func (e *effect) method(id string) (method, bool) {
	return find(e.change.Methods, e.world.methods, id)
}

func (e *effect) putIntent(i intent) {
	i.ChangedAt = e.now
	e.change.Intents = replace(e.change.Intents, i)
}

func (e *effect) putCharge(c charge) { e.change.Charges = replace(e.change.Charges, c) }

func (e *effect) putMethod(m method) {
	m.bent = nil // a fault is about one attempt
	e.change.Methods = replace(e.change.Methods, m)
}
