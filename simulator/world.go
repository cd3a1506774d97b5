package simulator

import (
	"container/heap"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// errClosed refuses a commit in a world that was reset or closed while the call was on its way.
var errClosed = errors.New("the simulated world was reset or closed")

// world is the state of one simulated account. mu guards everything but the fields above it; see the package comment
// for how it may be held.
type world struct {
	name    string // "" is the root
	seed    seed
	log     *slog.Logger
	disk    *dataFile     // nil: memory only
	courier *http.Client  // sends deliveries
	closed  chan struct{} // closed when the world ends, which sets waiting calls free

	anywhere bool // webhooks may be sent to other machines

	moving sync.Mutex // held by who moves the clock; taken before mu
	mu     sync.Mutex
	clock  clock

	intents *table[intent]
	charges *table[charge]
	methods *table[method]

	events     *table[event]
	endpoints  *table[endpoint]
	deliveries *table[delivery]

	entries  *table[entry]
	refunds  *table[refund]
	disputes *table[dispute]
	payouts  *table[payout]
	accounts *table[account]

	records map[string]record // by idempotency key
	journal []Arrival         // line n is at n-1

	arrivals map[arrivalKind]int // how many of each kind arrived
	watched  watched

	searchable searchIndex

	rules     []rule
	profile   profile
	announced map[eventKind]int // how many events of each kind were made

	settings settings
	tasks    map[int]task // not done yet, by number
	lastN    int          // the last number a task or a delivery got
	agenda   agenda

	// What follows is about calls on their way and does not outlive the process.
	running  map[string]question // idempotency keys that are being executed
	busy     map[string]bool     // objects that are being executed on
	barriers map[string]*barrier
	delayed  map[string][]task // tasks that wait for a busy object
	timer    *time.Timer       // wakes the world for what is due next; nil before the first time
	post     *postOffice
	live     bool // false while the data file is read back: nothing may happen yet
}

func newWorld(name string, s seed, real func() time.Time, log *slog.Logger, disk *dataFile, courier *http.Client) *world {
	return &world{
		name: name, seed: s, log: log, disk: disk, courier: courier, closed: make(chan struct{}), clock: clock{real: real},
		settings: defaultSettings,

		intents: newTable[intent](), charges: newTable[charge](), methods: newTable[method](),
		events: newTable[event](), endpoints: newTable[endpoint](), deliveries: newTable[delivery](), post: newPostOffice(),
		entries: newTable[entry](), refunds: newTable[refund](), disputes: newTable[dispute](),
		payouts: newTable[payout](), accounts: newTable[account](), searchable: searchIndex{},

		records: map[string]record{}, arrivals: map[arrivalKind]int{}, announced: map[eventKind]int{},
		watched: watched{Succeeded: map[string][]string{}, PaidBack: map[string][]string{}},
		tasks:   map[int]task{}, delayed: map[string][]task{},
		running: map[string]question{}, busy: map[string]bool{}, barriers: map[string]*barrier{},
	}
}

// change is everything one step of a world's life touched: new versions of objects, an idempotency record, journal
// lines. It is the unit of commit, in memory and as a line of the data file.
type change struct {
	World      string        `json:"world,omitempty"`
	Begin      *beginning    `json:"begin,omitempty"` // the world starts empty
	Clock      *clockSetting `json:"clock,omitempty"`
	Intents    []intent      `json:"intents,omitempty"`
	Charges    []charge      `json:"charges,omitempty"`
	Methods    []method      `json:"methods,omitempty"`
	Entries    []entry       `json:"entries,omitempty"`
	Refunds    []refund      `json:"refunds,omitempty"`
	Disputes   []dispute     `json:"disputes,omitempty"`
	Payouts    []payout      `json:"payouts,omitempty"`
	Accounts   []account     `json:"accounts,omitempty"`
	Settings   *settings     `json:"settings,omitempty"`
	Events     []event       `json:"events,omitempty"`
	EventsGone []eventCount  `json:"events_gone,omitempty"`
	Endpoints  []endpoint    `json:"endpoints,omitempty"`
	Deliveries []delivery    `json:"deliveries,omitempty"`
	Rules      *[]rule       `json:"rules,omitempty"`
	Profile    *profile      `json:"profile,omitempty"`
	Watched    *watched      `json:"watched,omitempty"`
	Forgotten  []string      `json:"forgotten,omitempty"` // idempotency keys that were pruned early
	Hits       []string      `json:"hits,omitempty"`      // ids of rules
	Records    []record      `json:"records,omitempty"`
	Arrivals   []Arrival     `json:"arrivals,omitempty"`
	Tasks      []task        `json:"tasks,omitempty"`
	// TasksDone are the numbers of tasks that were done, or that turned out to have nothing to do.
	TasksDone []int `json:"tasks_done,omitempty"`
}

type beginning struct {
	Seed seed `json:"seed"`
}

// lasting reports whether losing the change would lose more than a journal line.
func (c change) lasting() bool {
	return c.Begin != nil || c.Clock != nil ||
		len(c.Entries)+len(c.Refunds)+len(c.Disputes)+len(c.Payouts)+len(c.Accounts)+
			len(c.Intents)+len(c.Charges)+len(c.Methods)+len(c.Records)+len(c.Events)+len(c.Tasks)+len(c.TasksDone) > 0 ||
		c.Settings != nil || len(c.Forgotten) > 0 || c.Rules != nil || c.Profile != nil || len(c.Endpoints) > 0
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
	w.owe(&c)
	if w.disk != nil {
		if err := w.disk.append(c); err != nil {
			return err
		}
	}
	known := len(w.watched.Alarms)
	w.apply(c)
	for _, alarm := range w.watched.Alarms[known:] {
		w.log.Error("money taken twice", "world", w.name, "alarm", alarm)
	}
	w.wake()
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
		w.searchable.put(i)
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
	w.applyMoney(c)
	if c.Watched != nil {
		w.watched = c.Watched.clone()
	}
	w.applyEvents(c)
	w.applyRules(c)
	for _, t := range c.Tasks {
		w.lastN = max(w.lastN, t.N)
		w.tasks[t.N] = t
		heap.Push(&w.agenda, due{t.Due, t.N})
	}
	for _, n := range c.TasksDone {
		delete(w.tasks, n)
	}
	for _, key := range c.Forgotten {
		delete(w.records, key)
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

// step is something that the buyer or the bank does to an intent; how it ends is a word of the control interface.
type step struct {
	name string
	run  func(e *effect, i intent, outcome string) (intent, *apiError)
}

var (
	stepAuthenticate = step{"authenticate", (*effect).authenticate}
	stepSettle       = step{"settle", (*effect).settle}
)

// moveIntent does to an intent what no API call asked for. It respects the object's lock. before is the intent as it was.
func (w *world) moveIntent(id, baseURL string, s step, outcome string) (i, before intent, problem *apiError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy[id] {
		return intent{}, intent{}, lockTimeout()
	}
	e := newEffect(w, cause(s.name, outcome, id), baseURL)
	before, ok := e.intent(id)
	if !ok {
		return intent{}, intent{}, missingInPath("intent", "payment_intent", id)
	}
	i, problem = s.run(e, before, outcome)
	if problem != nil {
		return i, before, problem
	}
	if err := w.commit(e.change); err != nil {
		w.log.Error("commit", "world", w.name, "payment_intent", id, "error", err)
		return intent{}, before, internalError("The simulator could not keep the change.")
	}
	return i, before, nil
}

// end sets every waiting call free and refuses every later commit.
func (w *world) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended() {
		return
	}
	close(w.closed)
	if w.timer != nil {
		w.timer.Stop()
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
		for _, version := range w.searchable[i.ID] {
			changes = append(changes, change{Intents: []intent{version}})
		}
	}
	changes = slices.AppendSeq(changes, w.snapshotMoney)
	seen := w.watched.clone()
	changes = append(changes, change{Watched: &seen}) // after the objects, whose last versions would tell another story
	changes = slices.AppendSeq(changes, w.snapshotEvents)
	for _, n := range slices.Sorted(maps.Keys(w.tasks)) {
		changes = append(changes, change{Tasks: []task{w.tasks[n]}})
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
