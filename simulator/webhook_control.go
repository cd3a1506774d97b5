package simulator

import (
	"maps"
	"net/http"
	"slices"
	"time"
)

// defaultRoll is how long an old signing secret goes on signing beside a new one.
const defaultRoll = 24 * time.Hour

func (c *control) showSettings() answer {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	return jsonAnswer(http.StatusOK, c.world.settings)
}

// changeSettings changes those that the body names.
func (c *control) changeSettings() answer {
	text, err := c.text() // before the world is locked: a client may take as long as it likes to send it
	if err != nil {
		return c.refuse(http.StatusBadRequest, "%v", err)
	}
	return c.alterSettings(func(s *settings) error { return readJSON(text, s) })
}

func (c *control) pauseWebhooks() answer {
	return c.alterSettings(func(s *settings) error { s.WebhooksPaused = true; return nil })
}

func (c *control) resumeWebhooks() answer {
	return c.alterSettings(func(s *settings) error { s.WebhooksPaused = false; return nil })
}

func (c *control) alterSettings(alter func(*settings) error) answer {
	chosen, err := c.world.choose(alter)
	if err != nil {
		return c.refuse(http.StatusBadRequest, "%v", err)
	}
	return jsonAnswer(http.StatusOK, chosen)
}

// flushWebhooks answers when everything that was owed has been tried once.
func (c *control) flushWebhooks() answer {
	return jsonAnswer(http.StatusOK, map[string]int{"sent": c.world.flush()})
}

// flush makes an attempt at every delivery that is pending, due or not, paused or not, and returns how many there were.
func (w *world) flush() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ids []string
	for _, n := range slices.Sorted(maps.Keys(w.post.pending)) {
		id := w.post.pending[n]
		ids = append(ids, id)
		if !w.post.sending[id] {
			w.ready(id)
		}
	}
	left := slices.Clone(ids)
	w.await(func() bool {
		w.sendReady()
		left = slices.DeleteFunc(left, func(id string) bool { return !w.post.queued[id] && !w.post.sending[id] })
		return len(left) == 0
	}, nil)
	return len(ids)
}

// redeliver sends an event once more to every endpoint that wants it, and answers with what came of it; while webhooks
// are paused, with what is owed.
func (c *control) redeliver() answer {
	made, problem := c.world.redeliver(c.id)
	if problem != nil {
		return errorAnswer(problem)
	}
	return jsonAnswer(http.StatusOK, map[string][]delivery{"deliveries": made})
}

func (w *world) redeliver(eventID string) ([]delivery, *apiError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ev, ok := w.events.get(eventID)
	if !ok || ev.expired(w.clock.now()) {
		return nil, missingInPath("id", "event", eventID)
	}
	again := change{}
	for t := range w.endpoints.all {
		if t.wants(ev.Type) {
			d := w.newDelivery(ev, t, w.lastN+len(again.Deliveries)+1, nil, again.Deliveries)
			d.Once = true
			again.Deliveries = append(again.Deliveries, d)
		}
	}
	if err := w.commit(again); err != nil {
		w.log.Error("commit", "world", w.name, "event", eventID, "error", err)
		return nil, internalError("The simulator could not keep the change.")
	}
	w.happen()
	ids := make([]string, 0, len(again.Deliveries))
	for _, d := range again.Deliveries {
		ids = append(ids, d.ID)
	}
	w.awaitAttempts(ids)
	made := []delivery{}
	for _, id := range ids {
		d, _ := w.deliveries.get(id)
		made = append(made, d)
	}
	return made, nil
}

// showDeliveries is the log of what was sent, or is owed, to whom: all of it, or that of one event or one object. With
// ?wait=10s it waits until nothing is on the wire or about to be.
func (c *control) showDeliveries() answer {
	patience, bad := c.patience()
	if bad != nil {
		return *bad
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	w, query := c.world, c.request.URL.Query()
	w.mu.Lock()
	defer w.mu.Unlock()
	atRest := w.await(w.atRest, timer.C)
	return jsonAnswer(http.StatusOK, map[string]any{
		"deliveries": w.deliveryLog(query.Get("event"), query.Get("object")), "at_rest": atRest,
	})
}

// rollSecret gives an endpoint a new signing secret; the old one signs too for expires_in, a day unless said otherwise.
func (c *control) rollSecret() answer {
	ask := struct {
		ExpiresIn string `json:"expires_in"`
	}{ExpiresIn: defaultRoll.String()}
	if err := c.body(&ask); err != nil {
		return c.refuse(http.StatusBadRequest, "%v", err)
	}
	period, err := time.ParseDuration(ask.ExpiresIn)
	if err != nil || period < 0 {
		return c.refuse(http.StatusBadRequest, "expires_in: %q is not a duration like 24h", ask.ExpiresIn)
	}
	return c.happens(cause("roll secret", c.id), func(e *effect) (any, *apiError) {
		t, ok := e.endpoint(c.id)
		if !ok || t.Deleted {
			return nil, missingInPath("webhook_endpoint", "webhook endpoint", c.id)
		}
		if problem := e.world.inUse(t.ID); problem != nil {
			return nil, problem
		}
		t, secret := e.roll(t, period)
		return map[string]string{"id": t.ID, "secret": secret}, nil
	})
}
