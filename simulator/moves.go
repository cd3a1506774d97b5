package simulator

import "slices"

// move is something that is done to a payment intent by an API call.
type move string

const (
	moveConfirm      move = "confirm"
	moveCapture      move = "capture"
	moveCancel       move = "cancel"
	moveUpdateAmount move = "update the amount of"
	moveUpdateMethod move = "update the payment method of"
)

// legal is the state machine of a payment intent: in which states each move is allowed. succeeded and canceled are in
// no row, which makes them final: a canceled intent is a fence that no confirm of any age can pass.
var legal = map[move][]intentStatus{
	moveConfirm:      {requiresPaymentMethod, requiresConfirmation, requiresAction},
	moveCapture:      {requiresCapture},
	moveCancel:       {requiresPaymentMethod, requiresConfirmation, requiresAction, requiresCapture},
	moveUpdateAmount: {requiresPaymentMethod, requiresConfirmation, requiresAction},
	moveUpdateMethod: {requiresPaymentMethod, requiresConfirmation, requiresAction, requiresCapture},
}

// refuses returns the error of a move that the intent's state does not allow, or nil.
func (i intent) refuses(m move) *apiError {
	if slices.Contains(legal[m], i.Status) {
		return nil
	}
	return unexpectedState(i.paymentIntent,
		"You cannot %s this PaymentIntent because it has a status of %s.", m, i.Status)
}

// confirmation is what one confirm asks for.
type confirmation struct {
	method        string // token or id; "" is the attached one
	returnURL     string
	captureMethod string // "" leaves it as it is
	offSession    bool
	errorOnAction bool // decline instead of asking the buyer to act
}

// confirm executes one attempt.
func (e *effect) confirm(i intent, ask confirmation) (intent, *apiError) {
	if refusal := i.refuses(moveConfirm); refusal != nil {
		if i.Status == canceled {
			i.FencedConfirms++
			e.putIntent(i)
		}
		return i, refusal
	}
	m, problem := e.attachForConfirm(&i, ask.method)
	if problem != nil {
		return i, problem
	}
	if ask.captureMethod != "" {
		i.CaptureMethod = ask.captureMethod
	}
	i.NextAction = nil // a new attempt abandons the action of the last one
	if i.Authenticated || !m.asks(ask.offSession) {
		return e.attempt(i, m)
	}
	switch {
	case ask.offSession:
		return e.declined(i, m, *authenticationMissing)
	case ask.errorOnAction:
		return e.notHandled(i, m)
	default:
		return e.requireAction(i, ask.returnURL), nil
	}
}

// attachForConfirm attaches the payment method of an attempt and consumes it: one that belongs to no customer is good
// for one intent, and after a decline not even for that.
func (e *effect) attachForConfirm(i *intent, named string) (method, *apiError) {
	attached := i.PaymentMethod.id
	if named == "" && attached == "" {
		return method{}, unexpectedState(i.paymentIntent,
			"You cannot confirm this PaymentIntent because it is missing a payment method.")
	}
	if named == "" {
		named = attached
	}
	m, problem := e.methodFor(named)
	if problem != nil {
		return method{}, problem
	}
	if problem := i.checkOwner(m); problem != nil {
		return method{}, problem
	}
	if m.Customer.id == "" && m.UsedBy != "" && (m.UsedBy != i.ID || m.ID != attached) {
		return method{}, methodUsedUp(m)
	}
	if m.ID != attached {
		i.Authenticated = false
	}
	m.UsedBy = i.ID
	e.putMethod(m)
	i.PaymentMethod = referTo(m.ID)
	m.bent = e.bank
	return m, nil
}

// attempt sends a payment, authenticated where the card asks for it, to the bank.
func (e *effect) attempt(i intent, m method) (intent, *apiError) {
	switch b := m.behaviour(); {
	case b.decline != nil:
		return e.declined(i, m, *b.decline)
	case b.settlement != settlesAtOnce:
		c := e.newCharge(i, m)
		c.Status = chargePending
		e.putCharge(c)
		i.LatestCharge, i.LastPaymentError, i.Status = referTo(c.ID), nil, processing
		e.putIntent(i)
		e.announce("payment_intent.processing", i.paymentIntent, nil)
		e.announce("charge.pending", c, nil)
		e.later(settlementTime, jobSettle, i.ID)
		return i, nil
	default:
		return e.approved(i, e.newCharge(i, m), m), nil
	}
}

func (e *effect) newCharge(i intent, m method) charge {
	return charge{
		ID: newID(e, "ch_", e.world.charges), Object: "charge", Amount: i.Amount, Created: e.now.Unix(),
		Currency: i.Currency, Customer: i.Customer, Description: i.Description, Metadata: i.Metadata,
		PaymentIntent: referTo(i.ID), PaymentMethod: m.ID, PaymentMethodDetails: detailsOf(m, i.Authenticated), ReceiptEmail: i.ReceiptEmail,
		StatementDescriptorSuffix: i.StatementDescriptorSuffix,
	}
}

// approved is the bank's yes, at once or after a while: the money is taken, or held when it is to be captured by hand.
func (e *effect) approved(i intent, c charge, m method) intent {
	c.Status, c.Paid, c.Outcome = chargeSucceeded, true, approvedOutcome(m.behaviour().riskLevel)
	e.setUp(i, m)
	i.LatestCharge, i.LastPaymentError, i.Authenticated = referTo(c.ID), nil, false
	if i.CaptureMethod == captureManual {
		c.PaymentMethodDetails.Card.CaptureBefore = e.now.Add(authorizationPeriod).Unix()
		e.putCharge(c)
		i.AmountCapturable, i.Status = i.Amount, requiresCapture
		e.putIntent(i)
		e.announce("charge.succeeded", c, nil)
		e.announce("payment_intent.amount_capturable_updated", i.paymentIntent, nil)
		e.later(authorizationPeriod, jobExpireAuthorization, i.ID)
		return i
	}
	return e.take(i, c, i.Amount, "charge.succeeded")
}

// take moves the money: the only way into succeeded. said is the event that tells of it on the charge. The charge has its
// balance transaction at once only where the caller asked to wait for that: by capturing synchronously.
func (e *effect) take(i intent, c charge, amount int64, said string) intent {
	c.Captured, c.AmountCaptured = true, amount
	e.putCharge(c)
	i.AmountReceived, i.AmountCapturable, i.Status = amount, 0, succeeded
	e.putIntent(i)
	if i.CaptureMethod == captureAutomatic {
		c = e.book(c)
	} else {
		e.later(asyncCaptureDelay, jobBook, c.ID)
	}
	e.announce(said, c, nil)
	e.announce("payment_intent.succeeded", i.paymentIntent, nil)
	if m, _ := e.method(c.PaymentMethod); m.behaviour().dispute.count > 0 {
		e.later(disputeDelay, jobDispute, c.ID)
	}
	return i
}

// declined records a failed attempt and sends the intent back for another payment method.
func (e *effect) declined(i intent, m method, d decline) (intent, *apiError) {
	c := e.newCharge(i, m)
	e.fail(&c, d)
	i.LatestCharge = referTo(c.ID)
	return e.refused(i, m, &apiError{
		Type: typeCard, Code: d.code, DeclineCode: d.declineCode, Message: d.message, Charge: c.ID,
	})
}

func (e *effect) fail(c *charge, d decline) {
	c.Status, c.FailureCode, c.FailureMessage = chargeFailed, nullable(d.code), nullable(d.message)
	c.Outcome = declinedOutcome(d)
	e.putCharge(*c)
	e.announce("charge.failed", *c, nil)
}

// notHandled declines an attempt whose caller said that it cannot let the buyer act. The bank was not asked: no charge.
func (e *effect) notHandled(i intent, m method) (intent, *apiError) {
	return e.refused(i, m, &apiError{
		Type: typeCard, Code: codeAuthenticationReq, DeclineCode: "authentication_not_handled",
		Message: "This payment requires the buyer to act, and the request asked for an error in that case.",
	})
}

// refused ends an attempt without money: the error stays on the intent as evidence, and is what the API answers.
func (e *effect) refused(i intent, m method, why *apiError) (intent, *apiError) {
	shown := m.paymentMethod
	why.PaymentMethod = &shown
	i.LastPaymentError = why.withDocURL()
	i.PaymentMethod, i.NextAction, i.Authenticated = reference{}, nil, false
	i.Status = requiresPaymentMethod
	e.putIntent(i)
	e.announce("payment_intent.payment_failed", i.paymentIntent, nil)

	answered := *why
	answered.status = 402
	answered.PaymentIntent = &i.paymentIntent
	return i, &answered
}

func (e *effect) requireAction(i intent, returnURL string) intent {
	page := e.baseURL + "/_sim/payment_intents/" + i.ID + "/authenticate"
	i.NextAction = &nextAction{Type: "use_stripe_sdk", UseStripeSDK: &useStripeSDK{
		StripeJS: page, Type: "three_d_secure_redirect",
	}}
	if returnURL != "" {
		i.NextAction = &nextAction{Type: "redirect_to_url", RedirectToURL: &redirectToURL{ReturnURL: returnURL, URL: page}}
	}
	i.LastPaymentError, i.Status = nil, requiresAction
	e.putIntent(i)
	e.announce("payment_intent.requires_action", i.paymentIntent, nil)
	return i
}

// capture takes amount of what is held; the rest is released.
func (e *effect) capture(i intent, amount int64, given bool, metadata metadataChange) (intent, *apiError) {
	if refusal := i.refuses(moveCapture); refusal != nil {
		return i, refusal
	}
	if !given {
		amount = i.AmountCapturable
	}
	if amount > i.AmountCapturable {
		return i, invalid("amount_to_capture", codeAmountTooLarge,
			"The amount to capture is greater than the %d that can be captured.", i.AmountCapturable)
	}
	merged, problem := metadata.apply(i.Metadata)
	if problem != nil {
		return i, problem
	}
	i.Metadata = merged
	c, _ := e.charge(i.LatestCharge.id)
	return e.take(i, c, amount, "charge.captured"), nil
}

// cancel ends an intent for good and lets go of what is held.
func (e *effect) cancel(i intent, reason string) (intent, *apiError) {
	if refusal := i.refuses(moveCancel); refusal != nil {
		return i, refusal
	}
	if i.Status == requiresCapture {
		e.release(i, "charge.refunded")
	}
	return e.end(i, reason), nil
}

// release gives back what is held for an intent. No money has moved, so no balance transaction says anything about it.
// said is the event that tells of it.
func (e *effect) release(i intent, said string) {
	c, _ := e.charge(i.LatestCharge.id)
	before := map[string]any{"amount_refunded": c.AmountRefunded, "refunded": c.Refunded}
	c.Refunded, c.AmountRefunded = true, c.Amount
	e.putCharge(c)
	e.announce(said, c, before)
}

func (e *effect) end(i intent, reason string) intent {
	at := e.now.Unix()
	i.CanceledAt, i.CancellationReason = &at, nullable(reason)
	i.AmountCapturable, i.NextAction, i.Authenticated, i.Status = 0, nil, false, canceled
	e.putIntent(i)
	e.announce("payment_intent.canceled", i.paymentIntent, nil)
	return i
}
