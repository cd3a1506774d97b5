package simulator

import (
	"net/http"
	"regexp"
)

// Faults of the bank and of Stripe's own rules, which answer a call in the way the real ones would.

var isWord = regexp.MustCompile(`^[a-z0-9_-]+$`).MatchString

// The bank's say about one confirm, whatever the card is like.

func bankDeclines(c *call, f fault) *answer {
	no := decline{code: f.text("code", codeCardDeclined), declineCode: f.text("decline_code", ""), message: "The card was declined."}
	if no.code == codeCardDeclined && no.declineCode == "" {
		no.declineCode = "generic_decline"
	}
	c.bank = func(b behaviour) behaviour {
		b.decline, b.authentication = &no, neverAsks
		return b
	}
	return nil
}

func bankAsks(c *call, _ fault) *answer {
	c.bank = func(b behaviour) behaviour {
		b.authentication = alwaysAsks
		return b
	}
	return nil
}

func bankTakesItsTime(c *call, _ fault) *answer {
	c.bank = func(b behaviour) behaviour {
		b.decline, b.authentication, b.settlement = nil, neverAsks, settlesLater
		return b
	}
	return nil
}

// rateLimited sheds a call before anything is looked at.
func rateLimited(_ *call, f fault) *answer {
	problem := invalid("", "rate_limit", "Too many requests: slow down.")
	problem.status = http.StatusTooManyRequests
	a := errorAnswer(problem).with("Stripe-Rate-Limited-Reason", f.text("reason", "global-rate"))
	if seconds := f.params["retry_after"]; seconds != "" {
		a = a.with("Retry-After", seconds)
	}
	return &a
}

func answerLockTimeout(*call, fault) *answer {
	a := errorAnswer(lockTimeout())
	return &a
}

func answerKeyInUse(*call, fault) *answer { return keyInUse() }

// pruneKey forgets answers early: the call's own key, those that a glob matches, or those of an age.
func pruneKey(c *call, f fault) *answer {
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	var forgotten []string
	for key, r := range w.records {
		age, aged := f.duration("age")
		if glob := f.text("key", ""); glob != "" && !matchText(glob, key) ||
			aged && w.clock.now().Sub(r.StoredAt) < age ||
			glob == "" && !aged && key != c.key {
			continue
		}
		forgotten = append(forgotten, key)
	}
	if len(forgotten) == 0 {
		return nil
	}
	if err := w.commit(change{Forgotten: forgotten}); err != nil {
		a := errorAnswer(internalError("The simulator could not keep the change."))
		return &a
	}
	return nil
}
