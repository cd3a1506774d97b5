package simulator

import (
	"net/http"
	"time"
)

// Faults of the way back: the answer exists, and does not arrive as it should.

func drop(c *call, f fault) *answer {
	a := c.answer
	a.wire = map[string]wire{"rst": wireRST, "stall": wireStall}[f.params["mode"]]
	if a.wire == wireSent {
		a.wire = wireFIN
	}
	return &a
}

func isCut(text string) bool { return text == "fin" || text == "rst" || text == "stall" }

func empty(c *call, _ fault) *answer {
	a := c.answer
	a.status, a.body = http.StatusOK, nil
	return &a
}

// The ways to cut a body short.
const (
	cutShort = "short_length"   // fewer bytes than Content-Length says, then the end of the connection
	cutClean = "clean_json_cut" // an ordinary end, so that only the JSON tells
)

func isTruncation(text string) bool { return text == cutShort || text == cutClean }

// truncate sends only the first bytes of the answer, half of them unless the fault says how many.
func truncate(c *call, f fault) *answer {
	a := c.answer
	sent := min(f.integer("bytes", len(a.body)/2), len(a.body))
	if f.text("mode", cutShort) == cutClean {
		a.body = a.body[:sent]
		return &a
	}
	a.short, a.wire = sent, wireShort
	return &a
}

// askAgain tells the client to repeat a call that has gone well.
func askAgain(c *call, _ fault) *answer {
	a := c.answer.with("Stripe-Should-Retry", "true")
	return &a
}

// longestStall bounds how long a stalled connection is kept when its client never gives up.
const longestStall = 10 * time.Minute

// stall keeps a connection open without an answer until the client leaves.
func (c *call) stall() {
	timer := time.NewTimer(longestStall)
	defer timer.Stop()
	select {
	case <-c.request.Context().Done():
	case <-timer.C:
	case <-c.world.closed:
	}
}
