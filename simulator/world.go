package simulator

import (
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// errClosed refuses a commit in a world that was reset or closed while the call was on its way.
var errClosed = errors.New("the simulated world was reset or closed")

// world is the state of one simulated account. mu guards everything but the fields above it; see the package comment
// for how it may be held.
type world struct {
	name   string // "" is the root
	seed   seed
	log    *slog.Logger
	disk   *dataFile     // nil: memory only
	closed chan struct{} // closed when the world ends, which sets waiting calls free

	mu    sync.Mutex
	clock clock

	intents *table[intent]
	charges *table[charge]
	methods *table[method]
	records map[string]record // by idempotency key
	journal []Arrival         // line n is at n-1

	arrivals  map[arrivalKind]int // how many of each kind arrived
	succeeded map[string][]string // reference to the intents that succeeded for it, see watch
	alarms    []string

	// What follows is about calls on their way and does not outlive the process.
	running  map[string]question // idempotency keys that are being executed
	busy     map[string]bool     // objects that are being executed on
	barriers map[string]*barrier
	rules    []*rule
}

func newWorld(name string, s seed, real func() time.Time, log *slog.Logger, disk *dataFile) *world {
	return &world{
		name: name, seed: s, log: log, disk: disk, closed: make(chan struct{}), clock: clock{real: real},
		intents: newTable[intent](), charges: newTable[charge](), methods: newTable[method](),
		records: map[string]record{}, arrivals: map[arrivalKind]int{}, succeeded: map[string][]string{},
		running: map[string]question{}, busy: map[string]bool{}, barriers: map[string]*barrier{},
	}
}

// change is everything one step of a world's life touched: new versions of objects, an idempotency record, journal
// lines. It is the unit of commit, in memory and as a line of the data file.
type change struct {
	World    string        `json:"world,omitempty"`
	Begin    *beginning    `json:"begin,omitempty"` // the world starts empty
	Clock    *clockSetting `json:"clock,omitempty"`
	Intents  []intent      `json:"intents,omitempty"`
	Charges  []charge      `json:"charges,omitempty"`
	Methods  []method      `json:"methods,omitempty"`
	Records  []record      `json:"records,omitempty"`
	Arrivals []Arrival     `json:"arrivals,omitempty"`
}

type beginning struct {
	Seed seed `json:"seed"`
}

// lasting reports whether losing the change would lose more than a journal line.
func (c change) lasting() bool {
	return c.Begin != nil || c.Clock != nil || len(c.Intents)+len(c.Charges)+len(c.Methods)+len(c.Records) > 0
}

func (w *world) ended() bool {
	select {
	case <-w.closed:
		return true
	default:
		return false
	}
}

// commit writes a change to disk and then makes it visible. When it returns an error nothing has changed. The caller
// holds mu.
func (w *world) commit(c change) error {
	if w.ended() {
		return errClosed
	}
	c.World = w.name
	if w.disk != nil {
		if err := w.disk.append(c); err != nil {
			return err
		}
	}
	known := len(w.alarms)
	w.apply(c)
	for _, alarm := range w.alarms[known:] {
		w.log.Error("money taken twice", "world", w.name, "alarm", alarm)
	}
	return nil
}

// apply makes a change visible. It is the only writer of the state that outlives the process: a live commit and the
// replay of the data file go through it alike, so that a restarted simulator cannot differ from one that went on. The
// caller holds mu.
func (w *world) apply(c change) {
	if c.Clock != nil {
		w.clock.set = *c.Clock
	}
	for _, i := range c.Intents {
		before, _ := w.intents.get(i.ID)
		w.intents.put(i)
		if i.Status == succeeded && before.Status != succeeded {
			w.watch(i)
		}
	}
	for _, ch := range c.Charges {
		w.charges.put(ch)
	}
	for _, m := range c.Methods {
		w.methods.put(m)
	}
	for _, r := range c.Records {
		w.records[r.Key] = r
	}
	for _, a := range c.Arrivals {
		w.note(a)
	}
}

// note writes a line of the journal, or its later version.
func (w *world) note(a Arrival) {
	if a.N <= len(w.journal) {
		w.journal[a.N-1] = a
		return
	}
	a.N = len(w.journal) + 1
	w.journal = append(w.journal, a)
	w.arrivals[a.kind()]++
}

// moveIntent does to an intent what no API call asked for: a step of the buyer or the bank. It respects the object's
// lock.
func (w *world) moveIntent(id, baseURL string, run func(*effect, intent) (intent, *apiError)) (intent, *apiError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy[id] {
		return intent{}, lockTimeout()
	}
	e := newEffect(w, "", baseURL)
	i, ok := e.intent(id)
	if !ok {
		return intent{}, missingInPath("intent", "payment_intent", id)
	}
	i, problem := run(e, i)
	if problem != nil {
		return i, problem
	}
	if err := w.commit(e.change); err != nil {
		w.log.Error("commit", "world", w.name, "payment_intent", id, "error", err)
		return intent{}, internalError("The simulator could not keep the change.")
	}
	return i, nil
}

// end sets every waiting call free and refuses every later commit.
func (w *world) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended() {
		close(w.closed)
	}
}

// snapshot yields the changes that rebuild the world from nothing, leaving out what has expired.
func (w *world) snapshot(yield func(change) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	setting := w.clock.set
	changes := []change{{Begin: &beginning{w.seed}, Clock: &setting}}
	for m := range w.methods.all {
		changes = append(changes, change{Methods: []method{m}})
	}
	for ch := range w.charges.all {
		changes = append(changes, change{Charges: []charge{ch}})
	}
	for i := range w.intents.all {
		changes = append(changes, change{Intents: []intent{i}})
	}
	for _, r := range w.liveRecords() {
		changes = append(changes, change{Records: []record{r}})
	}
	for lines := range slices.Chunk(w.journal, 100) {
		changes = append(changes, change{Arrivals: lines})
	}
	for _, c := range changes {
		c.World = w.name
		if !yield(c) {
			return
		}
	}
}
