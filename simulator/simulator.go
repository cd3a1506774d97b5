package simulator

import (
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Options are the settings of a simulator. The zero value is a simulator in memory.
type Options struct {
	// Seed decides every id and every chance. A data file keeps the seed it was started with.
	Seed uint64
	// Data is the path of the file that keeps the simulator's memory, so that one that was killed goes on where it
	// stopped: objects, events and what is owed of them, idempotency keys, journal, clock, rules, profile and settings, of
	// every world. Barriers are not kept. Only one simulator may use a file. "" keeps nothing.
	Data string
	// Now is the real time that the virtual clocks start from; nil is the system's.
	Now func() time.Time
	// Log gets the seed at the start, alarms and disk errors; nil is silence.
	Log *slog.Logger
	// PublicURL is the simulator's own address as a browser reaches it, for example http://127.0.0.1:12110; the pages
	// where a buyer authenticates are below it. "" takes the Host of the request that asks.
	PublicURL string
	// WebhooksAnywhere lets webhooks be sent to any https address. Otherwise they stay on this machine: who can reach the
	// simulator could make it post to whatever its network can reach.
	WebhooksAnywhere bool
}

// Simulator is a simulated Stripe: one root world and any number of isolated ones.
type Simulator struct {
	publicURL string
	anywhere  bool // see Options.WebhooksAnywhere
	now       func() time.Time
	log       *slog.Logger
	disk      *dataFile // nil: memory only
	courier   *http.Client

	mu     sync.Mutex // guards the map; taken before a world's mutex, never after it
	worlds map[string]*world
}

// New makes a simulator and, when Data is set, reads its memory back. It fails when the file cannot be read, is damaged
// anywhere but in its last line, or is in use by another simulator.
func New(o Options) (*Simulator, error) {
	s := &Simulator{publicURL: strings.TrimSuffix(o.PublicURL, "/"), now: o.Now, log: o.Log, worlds: map[string]*world{}, courier: newCourier()}
	s.anywhere = o.WebhooksAnywhere
	if s.now == nil {
		s.now = time.Now //nolint:forbidigo // the default of what comes in from outside
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if o.Data != "" {
		disk, err := openDataFile(o.Data, s.restore, s.snapshot)
		if err != nil {
			return nil, fmt.Errorf("simulator data %s: %w", o.Data, err)
		}
		s.disk = disk
		for _, w := range s.worlds {
			w.disk = disk
		}
	}
	for _, w := range s.worlds {
		w.mu.Lock()
		w.goLive()
		w.mu.Unlock()
	}
	if s.worlds[""] == nil {
		if err := s.begin("", seed(o.Seed)); err != nil {
			return nil, err
		}
	}
	s.log.Info("simulator ready", "seed", uint64(s.worlds[""].seed))
	return s, nil
}

// restore applies one line of the data file.
func (s *Simulator) restore(c change) error {
	if c.Begin != nil {
		s.worlds[c.World] = s.newWorld(c.World, c.Begin.Seed, nil)
	}
	w := s.worlds[c.World]
	if w == nil {
		return fmt.Errorf("world %q has no beginning", c.World)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.apply(c)
	return nil
}

// snapshot yields the changes that rebuild every world.
func (s *Simulator) snapshot(yield func(change) bool) {
	for _, w := range s.worlds {
		for c := range w.snapshot {
			if !yield(c) {
				return
			}
		}
	}
}

func (s *Simulator) newWorld(name string, with seed, disk *dataFile) *world {
	w := newWorld(name, with, s.now, s.log, disk, s.courier)
	w.anywhere = s.anywhere
	return w
}

// begin starts an empty world under a name. The caller holds mu, or is the only user.
func (s *Simulator) begin(name string, with seed) error {
	w := s.newWorld(name, with, s.disk)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.commit(change{Begin: &beginning{with}}); err != nil {
		return fmt.Errorf("begin world %q: %w", name, err)
	}
	s.worlds[name] = w
	w.goLive()
	return nil
}

// world returns the world of a name, new if need be. One that is only looked at is not kept: whoever tries out names
// would fill memory and disk with empty worlds.
func (s *Simulator) world(name string, onlyLook bool) (*world, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.worlds[name] == nil && onlyLook && !s.worlds[""].ended() {
		return s.newWorld(name, s.worlds[""].seed.derive(name), nil), nil
	}
	if s.worlds[name] == nil {
		if err := s.begin(name, s.worlds[""].seed.derive(name)); err != nil {
			return nil, err
		}
	}
	return s.worlds[name], nil
}

// Handler serves the API under /v1, the control interface under /_sim, and both again for each isolated world under
// /scn/{name}. Mount it at the root, or mount all three.
func (s *Simulator) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// worldName is what an isolated world may be called.
var worldName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

func (s *Simulator) serve(rw http.ResponseWriter, r *http.Request) {
	// Calls are held and the clock is advanced for as long as a test wants: a server's limit would cut the answer off.
	_ = http.NewResponseController(rw).SetWriteDeadline(time.Time{}) //nolint:errcheck // what has no deadline needs none cleared
	name, prefix, path := "", "", r.URL.Path
	if !utf8.ValidString(path) { // no object has such an id, and the journal could not keep it
		http.NotFound(rw, r)
		return
	}
	if rest, ok := strings.CutPrefix(path, "/scn/"); ok {
		var tail string
		name, tail, _ = strings.Cut(rest, "/")
		prefix, path = "/scn/"+name, "/"+tail
		if !worldName.MatchString(name) || name == "." || name == ".." { // which clients take out of a path
			http.NotFound(rw, r)
			return
		}
	}
	api := strings.HasPrefix(path, "/v1/")
	if !api && path != "/_sim" && !strings.HasPrefix(path, "/_sim/") {
		http.NotFound(rw, r)
		return
	}
	// Who waits in a world expects something to happen in it.
	w, err := s.world(name, r.Method == http.MethodGet && !r.URL.Query().Has("wait"))
	if err != nil {
		s.log.Error("begin world", "error", err)
		http.Error(rw, "the simulator cannot keep its memory", http.StatusInternalServerError)
		return
	}
	base := s.publicURL
	if base == "" {
		base = "http://" + r.Host
	}
	if api {
		w.serveAPI(rw, r, path, base+prefix) //nolint:contextcheck // what happens must not end with the request that caused it
		return
	}
	s.serveControl(w, rw, r, path, base+prefix)
}

// Audit counts what really happened in the root world.
func (s *Simulator) Audit() Audit { return s.root().audit() }

// Journal returns what arrived in the root world, in order of arrival.
func (s *Simulator) Journal() []Arrival { return s.root().journalLines() }

func (s *Simulator) root() *world {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.worlds[""]
}

// Close sets waiting calls free, refuses everything that comes later and closes the data file. It does not wait for
// calls that are on their way: stop the HTTP server first.
func (s *Simulator) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.worlds {
		w.end()
	}
	s.courier.CloseIdleConnections()
	if s.disk == nil {
		return nil
	}
	return s.disk.close()
}
