package simulator

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// maxPatience bounds how long a request may wait for something to happen.
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
	{"POST", "/_sim/page", (*control).pageForm},
	{"POST", "/_sim/clock", (*control).moveClock},
	{"GET", "/_sim/clock", (*control).showClock},
	{"GET", "/_sim/journal", (*control).showJournal},
	{"GET", "/_sim/audit", (*control).showAudit},
	{"POST", "/_sim/reset", (*control).reset},
	{"POST", "/_sim/rules", (*control).addRule},
	{"GET", "/_sim/rules", (*control).showRules},
	{"DELETE", "/_sim/rules", (*control).deleteRules},
	{"DELETE", "/_sim/rules/{id}", (*control).deleteRule},
	{"GET", "/_sim/profile", (*control).showProfile},
	{"POST", "/_sim/profile", (*control).chooseProfile},
	{"GET", "/_sim/settings", (*control).showSettings},
	{"POST", "/_sim/settings", (*control).changeSettings},
	{"POST", "/_sim/webhooks/pause", (*control).pauseWebhooks},
	{"POST", "/_sim/webhooks/resume", (*control).resumeWebhooks},
	{"POST", "/_sim/webhooks/flush", (*control).flushWebhooks},
	{"GET", "/_sim/deliveries", (*control).showDeliveries},
	{"POST", "/_sim/events/{id}/redeliver", (*control).redeliver},
	{"POST", "/_sim/webhook_endpoints/{id}/roll_secret", (*control).rollSecret},
	{"GET", "/_sim/barriers/{id}", (*control).awaitBarrier},
	{"POST", "/_sim/barriers/{id}/release", (*control).releaseBarrier},
	{"POST", "/_sim/payment_intents/{id}/action", (*control).action},
	{"POST", "/_sim/payment_intents/{id}/settle", (*control).settle},
	{"POST", "/_sim/refunds/{id}/succeed", decideRefundAs(outcomeSucceed)},
	{"POST", "/_sim/refunds/{id}/fail", decideRefundAs(outcomeFail)},
	{"POST", "/_sim/disputes", (*control).openDispute},
	{"POST", "/_sim/disputes/{id}/win", decideDisputeAs(true)},
	{"POST", "/_sim/disputes/{id}/lose", decideDisputeAs(false)},
	{"POST", "/_sim/payouts/run", (*control).runPayouts},
	{"POST", "/_sim/payouts/{id}/fail", (*control).failPayout},
	{"GET", "/_sim/payment_intents/{id}/authenticate", (*control).authenticatePage},
	{"POST", "/_sim/payment_intents/{id}/authenticate", (*control).authenticateForm},
}

// crossOrigin stops pages of other sites from working the controls through a visitor's browser. Clients that are not
// browsers are not affected.
var crossOrigin = http.NewCrossOriginProtection()

func (s *Simulator) serveControl(w *world, rw http.ResponseWriter, r *http.Request, path, baseURL string) {
	if path == "/_sim/" { // as people write it; anywhere else an id is missing after the slash
		path = "/_sim"
	}
	found, id, ok := match(controlRoutes, r.Method, path)
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

// body decodes the JSON body strictly; an empty one leaves into as it is. It may not be called with a mutex held.
func (c *control) body(into any) error {
	text, err := c.text()
	if err != nil {
		return err
	}
	return readJSON(text, into)
}

func readJSON(text []byte, into any) error {
	if len(text) == 0 {
		return nil
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
	if err := c.world.setClock(ask.Advance, ask.Freeze); err != nil {
		return c.refuse(http.StatusBadRequest, "%v", err)
	}
	return c.showClock()
}

// setClock advances the clock by a duration, "" for none, and then freezes it or lets it run; nil leaves that as it is.
func (w *world) setClock(advance string, freeze *bool) error {
	by := time.Duration(0)
	if advance != "" {
		var err error
		if by, err = time.ParseDuration(advance); err != nil || by < 0 {
			return fmt.Errorf("advance: %q is not a duration like 25h; the clock only moves forward", advance)
		}
	}
	w.moving.Lock() // advance gives mu free now and then
	defer w.moving.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if by > 0 && by > latestTime.Sub(w.clock.now()) {
		return fmt.Errorf("advance: the clock would pass %s, which is as far as it goes", latestTime.Format(time.DateOnly))
	}
	if err := w.advance(by); err != nil {
		return err
	}
	next := w.clock.set
	if freeze != nil && *freeze != w.clock.frozen() {
		next = w.clock.thawed()
		if *freeze {
			next = w.clock.froze()
		}
	}
	return w.commit(change{Clock: &next})
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
	r, err = c.world.putRule(r)
	if err != nil {
		return c.refuse(http.StatusInternalServerError, "%v", err)
	}
	return jsonAnswer(http.StatusCreated, r)
}

func (c *control) showRules() answer {
	return jsonAnswer(http.StatusOK, map[string][]rule{"rules": c.world.listRules()})
}

func (c *control) deleteRules() answer {
	if err := c.world.dropRules(); err != nil {
		return c.refuse(http.StatusInternalServerError, "%v", err)
	}
	return c.showRules()
}

func (c *control) deleteRule() answer {
	found, err := c.world.dropRule(c.id)
	switch {
	case err != nil:
		return c.refuse(http.StatusInternalServerError, "%v", err)
	case !found:
		return c.refuse(http.StatusNotFound, "there is no rule %q", c.id)
	default:
		return c.showRules()
	}
}

// awaitBarrier says how many calls wait at a barrier; with ?wait=10s only once one does, or when the time is over.
func (c *control) awaitBarrier() answer {
	patience, bad := c.patience()
	if bad != nil {
		return *bad
	}
	return jsonAnswer(http.StatusOK, map[string]any{"name": c.id, "waiting": c.world.awaitBarrier(c.id, patience)})
}

// patience is how long, in real time, the caller will wait: none unless ?wait= says so.
func (c *control) patience() (time.Duration, *answer) {
	text := c.request.URL.Query().Get("wait")
	if text == "" {
		return 0, nil
	}
	patience, err := time.ParseDuration(text)
	if err != nil || patience < 0 || patience > maxPatience {
		a := c.refuse(http.StatusBadRequest, "wait: %q is not a duration up to %s", text, maxPatience)
		return 0, &a
	}
	return patience, nil
}

func (c *control) releaseBarrier() answer {
	return jsonAnswer(http.StatusOK, map[string]any{"name": c.id, "released": c.world.releaseBarrier(c.id)})
}

// action is the buyer's answer to an intent that asks for authentication.
func (c *control) action() answer {
	return c.outside(stepAuthenticate)
}

// settle is the bank's word on an intent that is processing.
func (c *control) settle() answer {
	return c.outside(stepSettle)
}

func (c *control) outside(s step) answer {
	ask := struct {
		Outcome string `json:"outcome"`
	}{}
	if err := c.body(&ask); err != nil {
		return c.refuse(http.StatusBadRequest, "%v", err)
	}
	i, _, problem := c.world.moveIntent(c.id, c.baseURL, s, ask.Outcome)
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
