package simulator

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// maxPatience bounds how long a request may wait for a call to come to a barrier.
const maxPatience = time.Minute

// control is one request to the control interface under /_sim.
type control struct {
	sim     *Simulator
	world   *world
	request *http.Request
	writer  http.ResponseWriter
	id      string // the {id} of the path
	baseURL string // of the world
}

var controlRoutes = []route[func(*control) answer]{
	{"GET", "/_sim", (*control).overview},
	{"GET", "/_sim/style.css", (*control).style},
	{"POST", "/_sim/clock", (*control).moveClock},
	{"GET", "/_sim/clock", (*control).showClock},
	{"GET", "/_sim/journal", (*control).showJournal},
	{"GET", "/_sim/audit", (*control).showAudit},
	{"POST", "/_sim/reset", (*control).reset},
	{"POST", "/_sim/rules", (*control).addRule},
	{"GET", "/_sim/rules", (*control).showRules},
	{"DELETE", "/_sim/rules", (*control).deleteRules},
	{"DELETE", "/_sim/rules/{id}", (*control).deleteRules},
	{"GET", "/_sim/barriers/{id}", (*control).awaitBarrier},
	{"POST", "/_sim/barriers/{id}/release", (*control).releaseBarrier},
	{"POST", "/_sim/payment_intents/{id}/action", (*control).action},
	{"POST", "/_sim/payment_intents/{id}/settle", (*control).settle},
	{"GET", "/_sim/payment_intents/{id}/authenticate", (*control).authenticatePage},
	{"POST", "/_sim/payment_intents/{id}/authenticate", (*control).authenticateForm},
}

// crossOrigin stops pages of other sites from working the controls through a visitor's browser. Clients that are not
// browsers are not affected.
var crossOrigin = http.NewCrossOriginProtection()

func (s *Simulator) serveControl(w *world, rw http.ResponseWriter, r *http.Request, path, baseURL string) {
	found, id, ok := match(controlRoutes, r.Method, strings.TrimSuffix(path, "/"))
	c := &control{sim: s, world: w, request: r, writer: rw, id: id, baseURL: baseURL}
	switch {
	case !ok:
		c.refuse(http.StatusNotFound, "there is no %s %s", r.Method, path).send(rw)
	case crossOrigin.Check(r) != nil:
		c.refuse(http.StatusForbidden, "a page of another site may not work the simulator").send(rw)
	default:
		found.handle(c).send(rw)
	}
}

func (c *control) refuse(status int, format string, args ...any) answer {
	return errorAnswer(&apiError{status: status, Type: typeInvalidRequest, Message: fmt.Sprintf(format, args...)})
}

// body decodes the JSON body strictly; an empty one leaves into as it is.
func (c *control) body(into any) error {
	text, err := c.text()
	if err != nil || len(text) == 0 {
		return err
	}
	return strictJSON(text, into)
}

func (c *control) text() ([]byte, error) {
	text, err := io.ReadAll(http.MaxBytesReader(c.writer, c.request.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("request body: %w", err)
	}
	return text, nil
}

// moveClock advances the clock, or freezes it, or lets it run on from where it stands.
func (c *control) moveClock() answer {
	var ask struct {
		Advance string `json:"advance"`
		Freeze  *bool  `json:"freeze"`
	}
	if err := c.body(&ask); err != nil {
		return c.refuse(http.StatusBadRequest, "%v", err)
	}
	by := time.Duration(0)
	if ask.Advance != "" {
		var err error
		if by, err = time.ParseDuration(ask.Advance); err != nil || by < 0 {
			return c.refuse(http.StatusBadRequest, "advance: %q is not a duration like 25h; the clock only moves forward", ask.Advance)
		}
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	next := clock{real: w.clock.real, set: w.clock.advanced(by)}
	if ask.Freeze != nil && *ask.Freeze != next.frozen() {
		if *ask.Freeze {
			next.set = next.froze()
		} else {
			next.set = next.thawed()
		}
	}
	if err := w.commit(change{Clock: &next.set}); err != nil {
		return c.refuse(http.StatusInternalServerError, "%v", err)
	}
	return jsonAnswer(http.StatusOK, w.clock)
}

func (c *control) showClock() answer {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	return jsonAnswer(http.StatusOK, c.world.clock)
}

func (c *control) showJournal() answer {
	return jsonAnswer(http.StatusOK, map[string][]Arrival{"arrivals": c.world.journalLines()})
}

func (c *control) showAudit() answer { return jsonAnswer(http.StatusOK, c.world.audit()) }

// reset empties the world: objects, keys, journal, clock, rules. Calls that still wait in the old one are cut.
func (c *control) reset() answer {
	ask := struct {
		Seed *uint64 `json:"seed"`
	}{}
	if err := c.body(&ask); err != nil {
		return c.refuse(http.StatusBadRequest, "%v", err)
	}
	next := c.world.seed
	if ask.Seed != nil {
		next = seed(*ask.Seed)
	}
	if err := c.sim.reset(c.world, next); err != nil {
		return c.refuse(http.StatusInternalServerError, "%v", err)
	}
	return jsonAnswer(http.StatusOK, map[string]seed{"seed": next})
}

func (c *control) addRule() answer {
	text, err := c.text()
	if err != nil {
		return c.refuse(http.StatusBadRequest, "%v", err)
	}
	r, err := readRule(text)
	if err != nil {
		return c.refuse(http.StatusBadRequest, "%v", err)
	}
	return jsonAnswer(http.StatusCreated, c.world.putRule(r))
}

func (c *control) showRules() answer {
	return jsonAnswer(http.StatusOK, map[string][]rule{"rules": c.world.listRules()})
}

func (c *control) deleteRules() answer {
	if !c.world.dropRules(c.id) {
		return c.refuse(http.StatusNotFound, "there is no rule %q", c.id)
	}
	return c.showRules()
}

// awaitBarrier says how many calls wait at a barrier; with ?wait=10s only once one does, or when the time is over.
func (c *control) awaitBarrier() answer {
	patience := time.Duration(0)
	if text := c.request.URL.Query().Get("wait"); text != "" {
		var err error
		if patience, err = time.ParseDuration(text); err != nil || patience < 0 || patience > maxPatience {
			return c.refuse(http.StatusBadRequest, "wait: %q is not a duration up to %s", text, maxPatience)
		}
	}
	return jsonAnswer(http.StatusOK, map[string]any{"name": c.id, "waiting": c.world.awaitBarrier(c.id, patience)})
}

func (c *control) releaseBarrier() answer {
	return jsonAnswer(http.StatusOK, map[string]any{"name": c.id, "released": c.world.releaseBarrier(c.id)})
}

// action is the buyer's answer to an intent that asks for authentication.
func (c *control) action() answer {
	return c.outside((*effect).authenticate)
}

// settle is the bank's word on an intent that is processing.
func (c *control) settle() answer {
	return c.outside((*effect).settle)
}

func (c *control) outside(run func(*effect, intent, string) (intent, *apiError)) answer {
	ask := struct {
		Outcome string `json:"outcome"`
	}{}
	if err := c.body(&ask); err != nil {
		return c.refuse(http.StatusBadRequest, "%v", err)
	}
	i, problem := c.world.moveIntent(c.id, c.baseURL, func(e *effect, i intent) (intent, *apiError) {
		return run(e, i, ask.Outcome)
	})
	if problem != nil {
		return errorAnswer(problem)
	}
	return jsonAnswer(http.StatusOK, i.paymentIntent)
}

// reset replaces a world by an empty one of the same name.
func (s *Simulator) reset(old *world, next seed) error {
	old.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.worlds[old.name] != old {
		return errors.New("the world was reset by another request")
	}
	return s.begin(old.name, next)
}
