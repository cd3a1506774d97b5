package simulator

import "net/http"

// point is a named place in the pipeline where faults strike.
type point string

const (
	atAccept       point = "accept"
	atAuth         point = "auth"
	atRateLimit    point = "ratelimit"
	atValidate     point = "validate"
	atLookup       point = "idem_lookup"
	beforeEffect   point = "before_effect"
	whileLocked    point = "locked"
	inEffect       point = "effect"       // a fault here bends what the bank says
	afterEffect    point = "after_effect" // inside the commit: a fault here may replace the answer, never wait
	beforeResponse point = "before_response"
	atDelivery     point = "delivery" // of events, on their way out
)

// pipeline is Stripe's processing order. At each point the faults strike first, then the step runs; the first answer
// ends the walk. after_effect is struck inside execute and before_response by deliver.
var pipeline = []struct {
	at   point
	step func(*call) *answer
}{
	{atAccept, (*call).accept},
	{atAuth, (*call).authenticate},
	{atRateLimit, nil},
	{atValidate, (*call).validate},
	{atLookup, (*call).claimKey},
	{beforeEffect, (*call).lockObject},
	{whileLocked, (*call).execute},
}

// run walks a call through the pipeline and returns what is to be sent.
func (c *call) run() answer {
	defer c.release() // deliver has done it, unless an operation panicked
	for _, p := range pipeline {
		if a := c.strike(p.at); a != nil {
			return c.deliver(c.keep(*a))
		}
		if p.step == nil {
			continue
		}
		if a := p.step(c); a != nil {
			return c.deliver(*a)
		}
	}
	panic("the pipeline ended without an answer: execute always has one")
}

// validate finds the route and checks the form, and that what it names has existed once. What can come and go, a customer
// or a webhook endpoint, is left to the operation: a stored answer must be replayed whatever has become of it since, and a
// call that waits on its way must not act on what is gone when it arrives. What is refused is not stored, so that the same
// key may be used again with better parameters.
func (c *call) validate() *answer {
	problem := c.formProblem
	if problem == nil {
		problem = c.prepare()
	}
	if problem == nil {
		return nil
	}
	a := errorAnswer(problem)
	return &a
}

func (c *call) prepare() *apiError {
	if c.route.handle == nil {
		problem := invalid("", "", "Unrecognized request URL (%s: %s).", c.request.Method, c.path)
		problem.status = http.StatusNotFound
		return problem
	}
	if n := len([]rune(c.key)); n > maxKeyLength {
		return invalid("", "", "Idempotency keys have at most %d characters; this one has %d.", maxKeyLength, n)
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if !c.readsAt.IsZero() {
		c.past = w.asOf(c.readsAt)
		c.world = c.past
		defer func() { c.world = w }()
	}
	op, problem := c.route.handle(c)
	c.operation = op
	return problem
}

// lockObject makes the call the only one that executes on its object. Stripe waits a moment before it gives up; the
// simulator gives up at once, which is the harder case.
func (c *call) lockObject() *answer {
	id := c.operation.object
	if id == "" {
		return nil
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy[id] {
		a := errorAnswer(lockTimeout())
		return &a
	}
	w.busy[id] = true
	c.locked = id
	return nil
}

func lockTimeout() *apiError {
	problem := invalid("", "lock_timeout", "This object cannot be accessed right now because another request is using it.")
	problem.status = http.StatusTooManyRequests
	return problem
}

// execute runs the operation and commits effect, idempotency record and journal line together.
func (c *call) execute() *answer {
	w := c.world
	if takes := c.operation.takes; takes > 0 {
		if cut := c.wait(takes); cut != nil {
			return cut
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c.strike(inEffect)
	e := newEffect(w, c.key, c.baseURL)
	if c.past != nil {
		e = newEffect(c.past, c.key, c.baseURL)
	}
	e.requestID, e.bank = c.requestID, c.bank
	body, problem := c.operation.run(e)
	if c.past != nil || problem != nil && problem.parameters {
		e.change = change{} // what is read from the past changes nothing now, and what was asked wrongly never does
	}
	if len(e.change.Events) > 0 {
		w.post.answering[c.requestID] = &answering{}
	}

	a := jsonAnswer(http.StatusOK, body)
	if problem != nil {
		a = errorAnswer(problem)
	}
	a.store = problem == nil || !problem.parameters
	reading := c.request.Method == http.MethodGet
	c.arrival.Executed = !reading && (problem == nil || problem.status == http.StatusPaymentRequired)
	if replaced := c.strike(afterEffect); replaced != nil {
		a = *replaced
	}
	return c.commit(a, e.change)
}

// keep stores an answer that a fault gave instead of executing, when the fault wants it stored.
func (c *call) keep(a answer) answer {
	if !a.store || !c.claimed {
		return a
	}
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	return *c.commit(a, change{})
}

// commit makes a change, the answer's record and the journal line one. The caller holds the world's mutex.
func (c *call) commit(a answer, ch change) *answer {
	w := c.world
	if a.store && c.claimed {
		ch.Records = append(ch.Records, c.recordOf(a))
		a = a.finalIfError()
	}
	if ch.lasting() {
		ch.Arrivals = []Arrival{c.arrivalNow()}
		if err := w.commit(ch); err != nil {
			w.log.Error("commit", "world", w.name, "request_id", c.requestID, "error", err)
			c.arrival.Executed = false
			a = errorAnswer(internalError("The simulator could not keep the change."))
		}
	}
	return &a
}

// deliver lets the last faults have their way with an answer.
func (c *call) deliver(a answer) answer {
	c.release() // whatever happens from here on, the key and the object are free
	c.answer = a
	c.world.awaitEarly(c.requestID)
	if c.meets(beforeResponse) {
		c.world.answered(c.requestID) // nobody else waits for an answer that is held up
	}
	if replaced := c.strike(beforeResponse); replaced != nil {
		return *replaced
	}
	return a
}

// release gives back the key and the object.
func (c *call) release() {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	if c.claimed {
		delete(c.world.running, c.key)
		c.claimed = false
	}
	if c.locked != "" {
		c.world.unbusy(c.locked)
		c.locked = ""
	}
}
