package simulator

import (
	"maps"
	"slices"
	"time"
)

// pageRows is how many lines of each kind the overview shows.
const pageRows = 50

// overviewPage is what GET /_sim shows.
type overviewPage struct {
	World  string
	Base   string // the path of the world's controls
	Live   bool   // it reloads itself
	Now    time.Time
	Frozen bool
	Ahead  time.Duration
	Seed   uint64
	Alarms []string
	Worlds []string
	Total  counts

	// Everything is listed newest first.
	Intents    []intentRow
	Refunds    []refund
	Disputes   []dispute
	Endpoints  []endpoint
	Events     []eventRow
	Deliveries []deliveryRow
	Paused     bool
	Pending    int // deliveries
	Keys       []record
	Journal    []Arrival

	Rules    []rule
	Profile  profile
	Profiles []string
	Faults   []string       // the names there are
	Waiting  map[string]int // calls by barrier
}

type counts struct{ Intents, Keys, Arrivals, Events, Deliveries int }

type intentRow struct {
	intent
	Metadata []string // name=value, sorted; shadows the map of the intent
}

type eventRow struct {
	event
	Pending int // endpoints
}

type deliveryRow struct {
	delivery
	URL string
}

// overview shows a person what the simulator knows.
func (c *control) overview() answer {
	p := overviewPage{
		Base: c.path(""), Live: c.request.URL.Query().Has("live"), Worlds: c.sim.worldNames(),
		Profiles: profileNames(), Faults: slices.Sorted(maps.Keys(faultKinds)),
	}
	c.world.overview(&p)
	return c.page("overview.html", "'self'", p)
}

func (w *world) overview(p *overviewPage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p.World, p.Seed = w.name, uint64(w.seed)
	p.Now, p.Frozen = w.clock.now(), w.clock.frozen()
	p.Ahead = p.Now.Sub(w.clock.real()).Round(time.Second)
	p.Alarms = slices.Clone(w.watched.Alarms)
	for _, i := range w.intents.newest(pageRows) {
		row := intentRow{intent: i}
		for _, name := range slices.Sorted(maps.Keys(i.paymentIntent.Metadata)) {
			row.Metadata = append(row.Metadata, name+"="+i.paymentIntent.Metadata[name])
		}
		p.Intents = append(p.Intents, row)
	}
	p.Refunds, p.Disputes = w.refunds.newest(pageRows), w.disputes.newest(pageRows)
	w.overviewWebhooks(p)
	keys := w.liveRecords()
	p.Keys = newestFirst(keys)
	p.Journal = newestFirst(w.journal)
	p.Total = counts{w.intents.size(), len(keys), len(w.journal), w.events.size(), w.deliveries.size()}
	p.Rules, p.Profile = slices.Clone(w.rules), w.profile
	p.Profile.Rules = slices.Clone(w.profile.Rules)
	p.Waiting = map[string]int{}
	for name, b := range w.barriers {
		p.Waiting[name] = b.waiting
	}
}

func (w *world) overviewWebhooks(p *overviewPage) {
	p.Paused, p.Pending = w.settings.WebhooksPaused, len(w.post.pending)
	for _, t := range w.endpoints.newest(maxEndpoints) {
		if !t.Deleted {
			p.Endpoints = append(p.Endpoints, t)
		}
	}
	for _, ev := range w.events.newest(pageRows) {
		p.Events = append(p.Events, eventRow{ev, w.showEvent(ev).PendingWebhooks})
	}
	for _, d := range w.deliveries.newest(pageRows) {
		t, _ := w.endpoints.get(d.Endpoint)
		p.Deliveries = append(p.Deliveries, deliveryRow{d, t.URL})
	}
}

// newestFirst returns the last rows, the last one first.
func newestFirst[T any](rows []T) []T {
	last := slices.Clone(rows[max(0, len(rows)-pageRows):])
	slices.Reverse(last)
	return last
}

func (s *Simulator) worldNames() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := slices.Sorted(maps.Keys(s.worlds))
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
