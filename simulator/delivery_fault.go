package simulator

import "time"

// reorderPatience is how long, by the virtual clock, a delivery waits to be overtaken by others.
const reorderPatience = 10 * time.Second

// The methods of a delivery's fault; nil is none.

func (f *fault) is(name string) bool { return f != nil && f.Name == name }

// copies is how many deliveries an event is owed to one endpoint as.
func (f *fault) copies() int {
	if f.is("duplicate") {
		return f.integer("n", 2)
	}
	return 1
}

// onDelivery does to a new delivery what its fault says.
func (f *fault) onDelivery(d *delivery) {
	switch {
	case f.is("lose"):
		d.State = deliveryLost
	case f.is("delay"):
		d.Due = d.Due.Add(time.Duration(f.integer("ms", 0)) * time.Millisecond)
	case f.is("reorder"):
		d.Behind, d.Due = f.integer("window", 1), d.Due.Add(reorderPatience)
	}
}

// faultOfEvent returns the fault that the rules have for an event of a change, or nil. The hit is noted in the change.
func (w *world) faultOfEvent(ev event, nth int, c *change) *fault {
	r, hit := w.ruleForEvent(ev, nth, c.Hits)
	if !hit {
		return nil
	}
	c.Hits = append(c.Hits, r.ID)
	return &r.Fault
}
