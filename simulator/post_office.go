package simulator

import (
	"container/heap"
	"iter"
	"maps"
	"slices"
	"time"
)

// postOffice is what a world knows about deliveries beside the deliveries themselves. All of it is rebuilt from them
// after a restart, but for what was on the wire: that is sent again. The world's mutex guards it.
type postOffice struct {
	byEvent map[string][]string // ids of the deliveries of an event
	pending map[int]string      // by the delivery's number
	boxes   map[string]*outbox  // by endpoint
	queued  map[string]bool     // deliveries that are ready in their endpoint's box
	sending map[string]bool     // deliveries that are on the wire
	// answering are the calls whose answer is on its way: an event is not told of before the answer that caused it.
	answering map[string]*answering
	changed   chan struct{} // closed and replaced whenever something was sent, or may be sent now
}

// outbox is what waits for one endpoint.
type outbox struct {
	ready     []string // due, in the order they are sent in
	overtaken []string // waiting to be overtaken, see delivery.Behind
	sending   int
}

// answering is a call whose answer is on its way.
type answering struct {
	held  []string // deliveries that wait for it
	early []string // deliveries that it waits for
}

func newPostOffice() *postOffice {
	return &postOffice{
		byEvent: map[string][]string{}, pending: map[int]string{}, boxes: map[string]*outbox{},
		queued: map[string]bool{}, sending: map[string]bool{}, answering: map[string]*answering{}, changed: make(chan struct{}),
	}
}

func (o *postOffice) box(endpointID string) *outbox {
	if o.boxes[endpointID] == nil {
		o.boxes[endpointID] = &outbox{}
	}
	return o.boxes[endpointID]
}

// note tells everybody who waits that something has changed.
func (o *postOffice) note() {
	close(o.changed)
	o.changed = make(chan struct{})
}

// applyDelivery is the part of apply about one delivery. The caller holds mu.
func (w *world) applyDelivery(d delivery) {
	before, known := w.deliveries.get(d.ID)
	w.deliveries.put(d)
	w.lastN = max(w.lastN, d.N)
	o := w.post
	if !known {
		o.byEvent[d.Event] = append(o.byEvent[d.Event], d.ID)
	}
	if d.State != deliveryPending {
		delete(o.pending, d.N)
		return
	}
	o.pending[d.N] = d.ID
	if known && d.Due.Equal(before.Due) {
		return
	}
	ev, _ := w.events.get(d.Event)
	call := o.answering[string(ev.Request.ID)]
	switch {
	case call != nil && !d.Fault.is("early"):
		call.held = append(call.held, d.ID)
		return
	case call != nil:
		call.early = append(call.early, d.ID)
	}
	w.expect(d)
}

// expect puts a delivery on the agenda.
func (w *world) expect(d delivery) {
	heap.Push(&w.agenda, due{d.Due, d.N})
	if d.Behind > 0 {
		box := w.post.box(d.Endpoint)
		box.overtaken = append(box.overtaken, d.ID)
	}
}

// answered lets go of the events of a call whose answer has left.
func (w *world) answered(requestID string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	call := w.post.answering[requestID]
	if call == nil {
		return
	}
	delete(w.post.answering, requestID)
	for _, id := range call.held {
		if d, _ := w.deliveries.get(id); d.State == deliveryPending {
			w.expect(d)
		}
	}
	w.post.note()
	w.wake()
}

// ready puts a delivery that is due into its endpoint's outbox.
func (w *world) ready(id string) {
	if w.post.queued[id] {
		return
	}
	w.post.queued[id] = true
	d, _ := w.deliveries.get(id)
	box := w.post.box(d.Endpoint)
	box.ready = append(box.ready, id)
}

// dispatch sends what is ready, as much at a time as the settings allow. The caller holds mu.
func (w *world) dispatch() {
	if !w.settings.WebhooksPaused && !w.ended() {
		w.sendReady()
	}
}

// sendReady is dispatch whether webhooks are paused or not. The caller holds mu.
func (w *world) sendReady() {
	for _, box := range w.post.boxes {
		for box.sending < w.settings.WebhookInFlight && len(box.ready) > 0 {
			id := box.ready[0]
			box.ready = box.ready[1:]
			delete(w.post.queued, id)
			w.send(id)
		}
	}
}

// send puts a delivery on the wire, unless it is there or has nowhere to go any more. The caller holds mu.
func (w *world) send(id string) {
	d, _ := w.deliveries.get(id)
	if d.State != deliveryPending || w.post.sending[id] {
		return
	}
	t, _ := w.endpoints.get(d.Endpoint)
	if !t.takes() {
		d.State = deliveryFailed
		w.keepDelivery(d)
		return
	}
	ev, _ := w.events.get(d.Event)
	l := w.write(d, t, ev)
	w.post.sending[id] = true
	w.post.box(d.Endpoint).sending++
	go func() { w.sent(id, l.send(w.courier, w.closed)) }()
}

// sent notes what an attempt has come to.
func (w *world) sent(id string, made attempt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d, _ := w.deliveries.get(id)
	delete(w.post.sending, id)
	box := w.post.box(d.Endpoint)
	box.sending--
	if !w.ended() {
		w.keepDelivery(d.after(made, w.settings.WebhookRetries))
	}
	for _, id := range slices.Clone(box.overtaken) {
		w.checkOvertaken(box, id)
	}
	w.dispatch()
	w.post.note()
}

func (w *world) keepDelivery(d delivery) {
	if err := w.commit(change{Deliveries: []delivery{d}}); err != nil {
		w.log.Error("note delivery", "world", w.name, "delivery", d.ID, "error", err)
	}
}

// checkOvertaken lets a delivery go that was overtaken by as many as it waited for.
func (w *world) checkOvertaken(box *outbox, id string) {
	d, _ := w.deliveries.get(id)
	if d.State == deliveryPending && d.Behind > 0 && !w.wasOvertaken(d) {
		return
	}
	box.overtaken = slices.DeleteFunc(box.overtaken, func(other string) bool { return other == id })
	if d.State == deliveryPending && d.Behind > 0 {
		w.ready(id)
	}
}

func (w *world) wasOvertaken(d delivery) bool {
	passed := 0
	for _, id := range w.deliveries.order[w.deliveries.place[d.ID]+1:] {
		other, _ := w.deliveries.get(id)
		if other.Endpoint == d.Endpoint && len(other.Attempts) > 0 {
			passed++
		}
		if passed == d.Behind {
			return true
		}
	}
	return false
}

// await waits in real time, without holding mu meanwhile, until the condition holds, the patience is over or the world
// has ended. The caller holds mu; the condition is asked with mu held.
func (w *world) await(holds func() bool, patience <-chan time.Time) bool {
	for !holds() {
		changed := w.post.changed
		w.mu.Unlock()
		over := false
		select {
		case <-changed:
		case <-patience:
			over = true
		case <-w.closed:
			over = true
		}
		w.mu.Lock()
		if over {
			return holds()
		}
	}
	return true
}

// owed reports whether a delivery is on the wire or will be at once.
func (w *world) owed(id string) bool {
	return w.post.sending[id] || w.post.queued[id] && !w.settings.WebhooksPaused
}

// anyOwed returns those of the deliveries that are on the wire or will be at once.
func (w *world) anyOwed(ids iter.Seq[string]) []string {
	var owed []string
	for id := range ids {
		if w.owed(id) {
			owed = append(owed, id)
		}
	}
	return owed
}

// awaitAttempts waits until none of the deliveries is on the wire or about to be.
func (w *world) awaitAttempts(ids []string) {
	w.await(func() bool {
		ids = w.anyOwed(slices.Values(ids))
		return len(ids) == 0
	}, nil)
}

// atRest reports whether nothing is on the wire or about to be, and no answer is on its way.
func (w *world) atRest() bool {
	w.happen()
	return len(w.post.answering) == 0 && len(w.post.sending) == 0 &&
		(len(w.post.queued) == 0 || w.settings.WebhooksPaused)
}

// catchUp waits until what has happened so far was told to the endpoints as far as it is due.
func (w *world) catchUp() {
	calls := maps.Clone(w.post.answering)
	w.await(func() bool {
		maps.DeleteFunc(calls, func(id string, _ *answering) bool { return w.post.answering[id] == nil })
		return len(calls) == 0
	}, nil)
	w.happen()
	w.awaitAttempts(slices.Concat(w.anyOwed(maps.Keys(w.post.sending)), w.anyOwed(maps.Keys(w.post.queued))))
}

// awaitEarly holds a call back until the events that come before its answer were told.
func (w *world) awaitEarly(requestID string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	call := w.post.answering[requestID]
	if call == nil || len(call.early) == 0 {
		return
	}
	w.happen()
	w.awaitAttempts(call.early)
}
