package simulator

import (
	"net/http"
	"slices"
)

// What the bank and the clock do with refunds, disputes and payouts, when a test or a person says so.

// happens does to the world what no API call asked for, and answers with what run returns; why is its cause.
func (c *control) happens(why string, run func(*effect) (any, *apiError)) answer {
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	e := newEffect(w, why, c.baseURL)
	shown, problem := run(e)
	if problem != nil {
		return errorAnswer(problem)
	}
	if err := w.commit(e.change); err != nil {
		w.log.Error("commit", "world", w.name, "control", c.request.URL.Path, "error", err)
		return errorAnswer(internalError("The simulator could not keep the change."))
	}
	return jsonAnswer(http.StatusOK, shown)
}

// inUse refuses to work on an object that a call is being executed on.
func (w *world) inUse(id string) *apiError {
	if w.busy[id] {
		return lockTimeout()
	}
	return nil
}

func decideRefundAs(outcome string) func(*control) answer {
	return func(c *control) answer {
		return c.happens(cause("refund", outcome, c.id), func(e *effect) (any, *apiError) {
			r, ok := e.refund(c.id)
			if !ok {
				return nil, missingInPath("refund", "refund", c.id)
			}
			if problem := e.world.inUse(r.Charge.id); problem != nil {
				return nil, problem
			}
			return e.decideRefund(r, outcome)
		})
	}
}

// openDispute lets a bank complain about all that is left of a charge.
func (c *control) openDispute() answer {
	ask := struct {
		Charge string `json:"charge"`
		Reason string `json:"reason"`
	}{Reason: "fraudulent"}
	if err := c.body(&ask); err != nil {
		return c.refuse(http.StatusBadRequest, "%v", err)
	}
	if !slices.Contains(disputeReasons, ask.Reason) {
		return c.refuse(http.StatusBadRequest, "there is no reason %q for a dispute: the reasons are %v", ask.Reason, disputeReasons)
	}
	return c.happens(cause("dispute", ask.Charge), func(e *effect) (any, *apiError) {
		ch, ok := e.charge(ask.Charge)
		if !ok {
			return nil, missingInBody("charge", "charge", ask.Charge)
		}
		if problem := e.world.inUse(ch.ID); problem != nil {
			return nil, problem
		}
		d, problem := e.complain(ch, ask.Reason, false, 1)
		return e.showDispute(d, nil), problem
	})
}

func decideDisputeAs(won bool) func(*control) answer {
	return func(c *control) answer {
		return c.happens(cause("decide dispute", c.id), func(e *effect) (any, *apiError) {
			d, ok := e.dispute(c.id)
			if !ok {
				return nil, missingInPath("dispute", "dispute", c.id)
			}
			if problem := e.world.inUse(d.ID); problem != nil {
				return nil, problem
			}
			if d.closed() {
				return nil, invalid("", "", "Dispute %s is closed (%s).", d.ID, d.Status)
			}
			return e.showDispute(e.closeDispute(d, won), nil), nil
		})
	}
}

// runPayouts pays out what is available, as the account's schedule would.
func (c *control) runPayouts() answer {
	return c.happens("pay out", func(e *effect) (any, *apiError) {
		return map[string][]payout{"payouts": e.payOut()}, nil
	})
}

func (c *control) failPayout() answer {
	return c.happens(cause("fail payout", c.id), func(e *effect) (any, *apiError) {
		po, ok := e.payout(c.id)
		if !ok {
			return nil, missingInPath("payout", "payout", c.id)
		}
		return e.failPayout(po)
	})
}
