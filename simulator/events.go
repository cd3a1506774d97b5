package simulator

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// maxEventTypes is how many types one list may ask for.
const maxEventTypes = 20

// prepareGetEvent serves GET /v1/events/{id}.
func prepareGetEvent(c *call) (operation, *apiError) {
	c.params.expand("event", "")
	if problem := c.params.done(); problem != nil {
		return operation{}, problem
	}
	ev, ok := c.world.events.get(c.id)
	if !ok || ev.expired(c.world.clock.now()) {
		return operation{}, missingInPath("id", "event", c.id)
	}
	return operation{run: func(e *effect) (any, *apiError) { return e.world.showEvent(ev), nil }}, nil
}

// prepareListEvents serves GET /v1/events.
func prepareListEvents(c *call) (operation, *apiError) {
	p, w := c.params, c.world
	page := readPage(p)
	kinds, several := p.texts("types")
	if kind := p.text("type"); kind != "" {
		if several {
			p.fail(invalid("types", "", "Give type or types, not both."))
		}
		kinds = []string{kind}
	}
	if len(kinds) > maxEventTypes {
		p.fail(invalid("types", "", "A list is of at most %d types.", maxEventTypes))
	}
	success, bySuccess := p.boolean("delivery_success")
	p.expand("event", "data.")
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	now := w.clock.now()
	return listing(c, w.events, page, "event", func(ev event) bool {
		return !ev.expired(now) && page.created.admits(ev.Created) &&
			(len(kinds) == 0 || slices.ContainsFunc(kinds, func(kind string) bool { return matchText(kind, ev.Type) })) &&
			(!bySuccess || w.reachedAll(ev) == success)
	}, func(e *effect, ev event) any { return e.world.showEvent(ev) })
}

// showEvent returns an event as the API shows it now. The caller holds mu.
func (w *world) showEvent(ev event) eventObject {
	shown := ev.eventObject
	for _, d := range w.bestDeliveries(ev) {
		if d.State == deliveryPending {
			shown.PendingWebhooks++
		}
	}
	return shown
}

// reachedAll reports whether every endpoint that an event was meant for has taken it. The caller holds mu.
func (w *world) reachedAll(ev event) bool {
	for _, d := range w.bestDeliveries(ev) {
		if d.State != deliveryDone {
			return false
		}
	}
	return true
}

// bestDeliveries returns, for each endpoint that an event was meant for, the delivery that got furthest.
func (w *world) bestDeliveries(ev event) map[string]delivery {
	best := map[string]delivery{}
	for _, id := range w.post.byEvent[ev.ID] {
		d, _ := w.deliveries.get(id)
		if b, known := best[d.Endpoint]; !known || d.State.beats(b.State) {
			best[d.Endpoint] = d
		}
	}
	return best
}

// applyEvents is the part of apply about events and where they go. The caller holds mu.
func (w *world) applyEvents(c change) {
	if c.Settings != nil {
		w.settings = *c.Settings
	}
	for _, gone := range c.EventsGone {
		w.announced[eventKind{gone.Type, gone.Subject}] += gone.Count
	}
	for _, ev := range c.Events {
		w.events.put(ev)
		w.announced[ev.eventKind()]++
	}
	for _, t := range c.Endpoints {
		w.endpoints.put(t)
	}
	for _, d := range c.Deliveries {
		w.applyDelivery(d)
	}
}

// eventsGone counts the events that were made and have expired since, sorted. The caller holds mu.
func (w *world) eventsGone(now time.Time) []eventCount {
	gone := maps.Clone(w.announced)
	for ev := range w.events.all {
		if !ev.expired(now) {
			gone[ev.eventKind()]--
		}
	}
	counts := []eventCount{}
	for kind, n := range gone {
		if n > 0 {
			counts = append(counts, eventCount{kind.kind, kind.subject, n})
		}
	}
	slices.SortFunc(counts, func(a, b eventCount) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Type, b.Type))
	})
	return counts
}

// snapshotEvents yields the changes that rebuild it, leaving out what has expired. The caller holds mu.
func (w *world) snapshotEvents(yield func(change) bool) {
	settings, rules, profile := w.settings, w.rules, w.profile
	if !yield(change{Settings: &settings, Rules: &rules, Profile: &profile}) {
		return
	}
	for t := range w.endpoints.all {
		if !yield(change{Endpoints: []endpoint{t}}) {
			return
		}
	}
	now := w.clock.now()
	for gone := range slices.Chunk(w.eventsGone(now), 100) {
		if !yield(change{EventsGone: gone}) {
			return
		}
	}
	for ev := range w.events.all {
		if ev.expired(now) {
			continue
		}
		c := change{Events: []event{ev}}
		for _, id := range w.post.byEvent[ev.ID] {
			d, _ := w.deliveries.get(id)
			c.Deliveries = append(c.Deliveries, d)
		}
		if !yield(c) {
			return
		}
	}
}
