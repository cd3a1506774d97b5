package simulator

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// deliveryState says what has become of a delivery.
type deliveryState string

const (
	deliveryPending deliveryState = "pending"
	deliveryDone    deliveryState = "delivered"
	deliveryFailed  deliveryState = "failed" // given up: it is not tried again
	deliveryLost    deliveryState = "lost"   // by a fault: it was never sent
)

// beats reports whether a state is further than another one, of a second delivery of the same event.
func (s deliveryState) beats(other deliveryState) bool {
	order := []deliveryState{deliveryLost, deliveryFailed, deliveryPending, deliveryDone}
	return slices.Index(order, s) > slices.Index(order, other)
}

// delivery is one event that is owed to one endpoint.
type delivery struct {
	ID       string        `json:"id"`
	N        int           `json:"n"` // from the world's count, see world.lastN: deliveries are made in this order
	Event    string        `json:"event"`
	Type     string        `json:"type"`
	Subject  string        `json:"object"` // the id of the object that the event is about
	Endpoint string        `json:"endpoint"`
	Copy     int           `json:"copy"` // 0 is the one that was owed first
	State    deliveryState `json:"state"`
	Due      time.Time     `json:"due"` // when the next attempt may be made, by the virtual clock
	Behind   int           `json:"behind,omitempty"`
	Once     bool          `json:"once,omitempty"` // a failure is final
	Fault    *fault        `json:"fault,omitempty"`
	Attempts []attempt     `json:"attempts"`
}

func (d delivery) key() string { return d.ID }

// attempt is one time a delivery was sent.
type attempt struct {
	At     time.Time `json:"at"`              // by the virtual clock
	Status int       `json:"status"`          // what the endpoint answered; 0 for nothing
	Error  string    `json:"error,omitempty"` // why it was nothing
}

// succeeded: any 2xx is a success, and nothing else is. A redirect is not followed.
func (a attempt) succeeded() bool { return a.Status >= 200 && a.Status <= 299 }

// The pauses before a delivery is tried again. Stripe publishes only that test mode tries three more times within a few
// hours, and live mode for up to three days with growing pauses.
var testRetries = []time.Duration{time.Minute, time.Hour, 3 * time.Hour}

const (
	liveRetryFirst   = 5 * time.Minute // doubled each time
	liveRetryLongest = 12 * time.Hour
	liveRetryPeriod  = 3 * 24 * time.Hour
)

// nextAttempt returns when a delivery that has failed is tried again; false when it is given up.
func (d delivery) nextAttempt(retries string) (time.Time, bool) {
	failures := len(d.Attempts)
	last := d.Attempts[failures-1].At
	if d.Once {
		return time.Time{}, false
	}
	if retries == retriesTest {
		if failures > len(testRetries) {
			return time.Time{}, false
		}
		return last.Add(testRetries[failures-1]), true
	}
	pause := liveRetryLongest
	if doublings := failures - 1; doublings < 8 { // beyond that it is longer than the longest anyway
		pause = min(liveRetryFirst<<doublings, liveRetryLongest)
	}
	next := last.Add(pause)
	return next, next.Sub(d.Attempts[0].At) <= liveRetryPeriod
}

// after returns the delivery as it is after an attempt.
func (d delivery) after(made attempt, retries string) delivery {
	d.Attempts = append(slices.Clone(d.Attempts), made)
	d.Behind = 0
	if made.succeeded() {
		d.State = deliveryDone
		return d
	}
	next, again := d.nextAttempt(retries)
	if !again {
		d.State = deliveryFailed
		return d
	}
	d.Due = next
	return d
}

// owe adds to a change what its events owe to the endpoints: a delivery to each that wants them, and what the faults of
// the rules make of that. The caller holds mu.
func (w *world) owe(c *change) {
	n := w.lastN
	for _, t := range c.Tasks {
		n = max(n, t.N)
	}
	for i, ev := range slices.Clone(c.Events) {
		f := w.faultOfEvent(ev, w.nth(ev, c.Events[:i]), c)
		evs := []event{ev}
		if f.is("twin_event") {
			twin := w.twinOf(ev)
			c.Events = append(c.Events, twin)
			evs = append(evs, twin)
		}
		for _, ev := range evs {
			for t := range w.endpoints.all {
				if !t.wants(ev.Type) {
					continue
				}
				for range f.copies() {
					n++
					c.Deliveries = append(c.Deliveries, w.newDelivery(ev, t, n, f, c.Deliveries))
				}
			}
		}
	}
}

// newDelivery makes a delivery of an event; made are those of the same change.
func (w *world) newDelivery(ev event, t endpoint, n int, f *fault, made []delivery) delivery {
	d := delivery{
		N: n, Event: ev.ID, Type: ev.Type, Subject: ev.Subject, Endpoint: t.ID, State: deliveryPending, Due: w.clock.now(),
		Fault: f, Attempts: []attempt{},
	}
	for _, other := range made {
		if other.Event == ev.ID && other.Endpoint == t.ID {
			d.Copy++
		}
	}
	for _, id := range w.post.byEvent[ev.ID] {
		if other, _ := w.deliveries.get(id); other.Endpoint == t.ID {
			d.Copy++
		}
	}
	d.ID = "dlv_" + w.seed.text(24, "delivery", ev.ID, t.ID, strconv.Itoa(d.Copy))
	f.onDelivery(&d)
	return d
}

// twinOf makes a second event of the same change: Stripe sends one now and then, and only the object inside tells that
// nothing new has happened.
func (w *world) twinOf(ev event) event {
	ev.ID = "evt_" + w.seed.text(24, "twin", ev.ID)
	return ev
}

// deliveryLog returns the deliveries in the order they were owed in, of one event or one object where that is given. The
// caller holds mu.
func (w *world) deliveryLog(eventID, subject string) []delivery {
	rows := []delivery{}
	for d := range w.deliveries.all {
		if admits(eventID, d.Event) && admits(subject, d.Subject) {
			rows = append(rows, d)
		}
	}
	slices.SortStableFunc(rows, func(a, b delivery) int { return cmp.Compare(a.N, b.N) })
	return rows
}
