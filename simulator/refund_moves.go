package simulator

// refundOrder is what one request for a refund asks for.
type refundOrder struct {
	param    string // which parameter named the charge, for the error
	amount   int64  // 0 is all that remains
	reason   string
	metadata metadataChange
}

// refundable returns the money of a charge that is left, or why none of it can be given back.
func (e *effect) refundable(c charge, param string) (int64, *apiError) {
	switch {
	case c.Status != chargeSucceeded:
		return 0, invalid(param, "", "There is no successful charge to refund.")
	case !c.Captured:
		return 0, invalid(param, "", "Charge %s was not captured. Cancel its PaymentIntent instead.", c.ID)
	case e.blockedByDispute(c.ID):
		return 0, invalid("", "charge_disputed", "Charge %s has been disputed and cannot be refunded.", c.ID)
	case c.Refunded:
		return 0, invalid("", "charge_already_refunded", "Charge %s has already been refunded.", c.ID)
	default:
		return c.AmountCaptured - c.AmountRefunded, nil
	}
}

// giveBack executes a refund. Nothing but the money that is left stops a second one for the same purpose: that is for the
// caller to know.
func (e *effect) giveBack(c charge, order refundOrder) (refund, *apiError) {
	left, problem := e.refundable(c, order.param)
	if problem != nil {
		return refund{}, problem
	}
	amount := order.amount
	if amount == 0 {
		amount = left
	}
	if amount > left {
		return refund{}, invalid("amount", "",
			"The refund of %d is greater than the %d of charge %s that have not been refunded.", amount, left, c.ID)
	}
	metadata, problem := order.metadata.apply(nil)
	if problem != nil {
		return refund{}, problem
	}
	r := refund{
		ID: newID(e, "re_", e.world.refunds), Object: "refund", Amount: amount, Charge: referTo(c.ID),
		Created: e.now.Unix(), Currency: c.Currency, Metadata: metadata, PaymentIntent: c.PaymentIntent,
		Reason: nullable(order.reason), Status: refundPending,
		DestinationDetails: destinationDetails{Type: "card", Card: destinationCard{
			ReferenceStatus: "pending", ReferenceType: "acquirer_reference_number", Type: "refund",
		}},
	}
	m, _ := e.method(c.PaymentMethod)
	course := m.behaviour().refund
	if course != refundsLater {
		r = e.payBack(r)
	}
	e.putRefund(r)
	if course != refundsAtOnce {
		e.later(refundDelay, jobBankAnswersRefund, r.ID)
	}
	e.setRefunded(c, c.AmountRefunded+amount)
	e.announceRefund("refund.created", r, nil)
	return r, nil
}

// payBack takes a refund's money from the balance. The fee of the charge is not returned.
func (e *effect) payBack(r refund) refund {
	t := e.post(movement{kind: entryRefund, amount: -r.Amount, currency: r.Currency, source: r.ID})
	r.BalanceTransaction, r.Status = referTo(t.ID), refundSucceeded
	return r
}

// setRefunded writes the sum of a charge's refunds. When the sum grows the charge tells of it, and names no refund.
func (e *effect) setRefunded(c charge, amount int64) {
	before := map[string]any{"amount_refunded": c.AmountRefunded}
	if all := amount == c.AmountCaptured; all != c.Refunded {
		before["refunded"] = c.Refunded
		c.Refunded = all
	}
	grows := amount > c.AmountRefunded
	c.AmountRefunded = amount
	e.putCharge(c)
	if grows {
		e.announceRefund("charge.refunded", c, before)
	}
}

// bankAnswersRefund is what becomes of a refund to a card that was made for it, unless somebody has decided before.
func (e *effect) bankAnswersRefund(id string) {
	r, ok := e.refund(id)
	if !ok {
		return
	}
	c, _ := e.charge(r.Charge.id)
	m, _ := e.method(c.PaymentMethod)
	switch {
	case r.Status == refundPending:
		e.refundSucceeds(r)
	case r.Status == refundSucceeded && m.behaviour().refund == refundFailsLater:
		e.refundFails(r, failureCardGone)
	}
}

func (e *effect) refundSucceeds(r refund) refund {
	before := map[string]any{"balance_transaction": nil, "status": r.Status}
	r = e.payBack(r)
	e.putRefund(r)
	e.announceChanged(r, before)
	return r
}

// refundFails returns a refund's money, when it had left, to the balance, and to what is left of the charge: the buyer
// has not got it and must be paid some other way.
func (e *effect) refundFails(r refund, reason string) refund {
	before := map[string]any{"status": r.Status}
	if r.BalanceTransaction.id != "" {
		t := e.post(movement{kind: entryRefundFailure, amount: r.Amount, currency: r.Currency, source: r.ID})
		r.FailureBalanceTransaction = referTo(t.ID)
	}
	r.FailureReason, r.Status = reason, refundFailed
	e.putRefund(r)
	c, _ := e.charge(r.Charge.id)
	e.setRefunded(c, c.AmountRefunded-r.Amount)
	e.announceChanged(r, before)
	e.announceRefund("refund.failed", r, before)
	return r
}

// announceChanged tells of a refund that has changed, in both families of events.
func (e *effect) announceChanged(r refund, before map[string]any) {
	e.announceRefund("charge.refund.updated", r, before)
	e.announceRefund("refund.updated", r, before)
}

// decideRefund is the bank's word when a person or a test gives it.
func (e *effect) decideRefund(r refund, outcome string) (refund, *apiError) {
	switch {
	case outcome == outcomeSucceed && r.Status == refundPending:
		return e.refundSucceeds(r), nil
	case outcome == outcomeFail && r.Status != refundFailed:
		return e.refundFails(r, failureCardGone), nil
	default:
		return r, invalid("", "", "Refund %s has a status of %s: it cannot %s.", r.ID, r.Status, outcome)
	}
}
