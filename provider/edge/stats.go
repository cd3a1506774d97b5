package edge

import (
	"sync/atomic"

	"payonce/provider"
)

// Stats is how an edge stands and what it has done since it was made.
type Stats struct {
	AtWork    int    // calls that have a place
	Circuit   string // closed, half-open or open
	Opened    uint64 // how often the circuit opened
	NoPlace   uint64 // calls refused because no place got free in time
	NoToken   uint64 // calls refused by the rate limit, or because the limiter could not be asked
	NoCircuit uint64 // calls refused because the circuit was not closed
	// Outcomes counts what calls came to. The refused ones are among the not_sent.
	Outcomes map[provider.Outcome]uint64
}

// refusal is why a call was not sent.
type refusal int

const (
	refusedBusy refusal = iota
	refusedLimited
	refusedOpen
	refusals // how many there are
)

var outcomes = []provider.Outcome{provider.Succeeded, provider.Pending, provider.Declined, provider.Rejected, provider.NotSent, provider.Unknown}

type counts struct {
	refused  [refusals]atomic.Uint64
	outcomes [6]atomic.Uint64 // in the order of outcomes
}

func (c *counts) outcome(o provider.Outcome) {
	for n, known := range outcomes {
		if known == o {
			c.outcomes[n].Add(1)
		}
	}
}

// Stats is for metrics. The numbers are taken one after the other, so their sums can be off by the calls at work.
func (e *Edge) Stats() Stats {
	s := Stats{
		AtWork:    len(e.places.all),
		Circuit:   e.breaker.circuit.State().String(),
		Opened:    e.breaker.opened.Load(),
		NoPlace:   e.counts.refused[refusedBusy].Load(),
		NoToken:   e.counts.refused[refusedLimited].Load(),
		NoCircuit: e.counts.refused[refusedOpen].Load(),
		Outcomes:  map[provider.Outcome]uint64{},
	}
	for n, outcome := range outcomes {
		s.Outcomes[outcome] = e.counts.outcomes[n].Load()
	}
	return s
}
