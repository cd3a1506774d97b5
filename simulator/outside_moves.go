package simulator

import "time"

// What the buyer and the bank do to an intent without an API call of the merchant. The outcomes are words of the
// control interface.
const (
	outcomeSucceed = "succeed"
	outcomeFail    = "fail"
	outcomeAbandon = "abandon"
)

// authenticate is the buyer's answer to the card's question.
func (e *effect) authenticate(i intent, outcome string) (intent, *apiError) {
	if i.Status != requiresAction {
		return i, unexpectedState(i.paymentIntent, "This PaymentIntent has a status of %s: nobody is asked to act.", i.Status)
	}
	m, _ := e.method(i.PaymentMethod.id)
	switch outcome {
	case outcomeAbandon: // the buyer walks away: nothing happens, which is what makes it hard
		return i, nil
	case outcomeFail:
		i, _ = e.refused(i, m, &apiError{
			Type: typeInvalidRequest, Code: "payment_intent_authentication_failure",
			Message: "The buyer could not be authenticated.",
		})
		return i, nil
	case outcomeSucceed:
		i.Authenticated, i.NextAction = true, nil
		if i.ConfirmationMethod == "manual" {
			i.Status = requiresConfirmation // the merchant's server confirms once more
			e.putIntent(i)
			return i, nil
		}
		// A decline here is a state of the intent and nobody's answer: the merchant is not on the line.
		i, _ = e.attempt(i, m)
		return i, nil
	default:
		return i, unknownOutcome(outcome)
	}
}

// settle is the bank's late word on a payment that was processing. Without an outcome the test token decides.
func (e *effect) settle(i intent, outcome string) (intent, *apiError) {
	if i.Status != processing {
		return i, unexpectedState(i.paymentIntent, "This PaymentIntent has a status of %s: nothing is left to settle.", i.Status)
	}
	m, _ := e.method(i.PaymentMethod.id)
	c, _ := e.charge(i.LatestCharge.id)
	if outcome == "" {
		outcome = outcomeSucceed
		if m.behaviour().settlement == failsLater {
			outcome = outcomeFail
		}
	}
	switch outcome {
	case outcomeSucceed:
		return e.approved(i, c, m), nil
	case outcomeFail:
		no := *cardDeclined("generic_decline")
		e.fail(&c, no)
		i, _ = e.refused(i, m, &apiError{
			Type: typeCard, Code: no.code, DeclineCode: no.declineCode, Message: no.message, Charge: c.ID,
		})
		return i, nil
	default:
		return i, unknownOutcome(outcome)
	}
}

// settlementTime is how long a payment that is processing takes, when nobody says otherwise before.
const settlementTime = time.Hour

// settleLater is settle when its time has come. A later attempt of the same intent has a time of its own.
func (e *effect) settleLater(id string) {
	i, _ := e.intent(id)
	c, ok := e.charge(i.LatestCharge.id)
	if ok && i.Status == processing && e.now.Sub(time.Unix(c.Created, 0)) >= settlementTime {
		_, _ = e.settle(i, "") // it is processing, which is all that could refuse it
	}
}

// expireAuthorization lets go of money that nobody has captured in time.
func (e *effect) expireAuthorization(id string) {
	if i, ok := e.intent(id); ok && i.Status == requiresCapture {
		e.release(i, "charge.expired")
		e.end(i, "automatic")
	}
}

func unknownOutcome(outcome string) *apiError {
	return invalid("outcome", "", "There is no outcome %q here: say %s or %s.", outcome, outcomeSucceed, outcomeFail)
}
