package simulator

import (
	"iter"
	"maps"
	"slices"
)

// disputesOf yields the disputes of a charge, as they were before this effect, oldest first.
func (e *effect) disputesOf(chargeID string) iter.Seq[dispute] {
	return func(yield func(dispute) bool) {
		for d := range e.world.disputes.all {
			if d.Charge.id == chargeID && !yield(d) {
				return
			}
		}
	}
}

func (e *effect) blockedByDispute(chargeID string) bool {
	for d := range e.disputesOf(chargeID) {
		if !d.IsChargeRefundable {
			return true
		}
	}
	return false
}

// disputable is how much of a charge a bank can still ask for: what is neither refunded nor disputed already. An inquiry
// takes no money, so a dispute may follow it.
func (e *effect) disputable(c charge) int64 {
	if !c.Captured {
		return 0
	}
	left := c.AmountCaptured - c.AmountRefunded
	for d := range e.disputesOf(c.ID) {
		if d.Status != disputeWon && !d.inquiry() {
			left -= d.Amount
		}
	}
	return max(0, left)
}

// plannedDispute opens the next dispute of a test card's plan: an equal share of what is left for each that is to come.
func (e *effect) plannedDispute(chargeID string) {
	c, ok := e.charge(chargeID)
	if !ok {
		return
	}
	m, _ := e.method(c.PaymentMethod)
	plan, opened := m.behaviour().dispute, 0
	for range e.disputesOf(chargeID) {
		opened++
	}
	shares := plan.count - opened
	if shares <= 0 {
		return
	}
	// A charge that was refunded meanwhile leaves nothing to complain about, which is no error here.
	if _, problem := e.complain(c, plan.reason, plan.inquiry, int64(shares)); problem == nil && shares > 1 {
		e.later(disputeDelay, jobDispute, chargeID)
	}
}

// complain opens a dispute about one of so many equal shares of what is left of a charge.
func (e *effect) complain(c charge, reason string, inquiry bool, shares int64) (dispute, *apiError) {
	if !inquiry {
		e.failPendingRefunds(c.ID)
		c, _ = e.charge(c.ID)
	}
	left := e.disputable(c)
	if left == 0 {
		return dispute{}, invalid("charge", "", "Charge %s holds no money that could be disputed.", c.ID)
	}
	return e.openDispute(c, reason, inquiry, (left+shares-1)/shares), nil
}

// failPendingRefunds: money that the bank takes for a dispute cannot be on its way to the buyer as well.
func (e *effect) failPendingRefunds(chargeID string) {
	for r := range e.world.refunds.all {
		if r.Charge.id == chargeID && r.Status == refundPending {
			e.refundFails(r, failureDisputed)
		}
	}
}

func (e *effect) openDispute(c charge, reason string, inquiry bool, amount int64) dispute {
	status, period, caseType := disputeNeedsResponse, disputePeriod, "chargeback"
	if inquiry {
		status, period, caseType = warningNeedsResponse, inquiryPeriod, "inquiry"
	}
	d := dispute{
		ID: newID(e, "du_", e.world.disputes), Object: "dispute", Amount: amount, BalanceTransactions: []reference{},
		Charge: referTo(c.ID), Created: e.now.Unix(), Currency: c.Currency, Evidence: noEvidence(),
		EvidenceDetails: evidenceDetails{DueBy: e.now.Add(period).Unix()}, Metadata: map[string]string{},
		PaymentIntent: c.PaymentIntent, Reason: reason,
		PaymentMethodDetails: disputeMethodDetails{Type: "card", Card: disputeCard{
			Brand: c.PaymentMethodDetails.Card.Brand, CaseType: caseType,
		}},
	}.withStatus(status)
	e.putDispute(d)
	c.Disputed = true
	e.putCharge(c)
	e.announce("charge.dispute.created", e.showDispute(d, nil), nil)
	if !inquiry {
		d = e.moveDisputed(d, -1, reportedDispute)
		e.announce("charge.dispute.funds_withdrawn", e.showDispute(d, nil), nil)
	}
	e.later(period, jobDisputeDue, d.ID)
	return d
}

// moveDisputed takes a dispute's money and its fee from the balance (sign -1) or brings both back (sign 1).
func (e *effect) moveDisputed(d dispute, sign int64, reportedAs string) dispute {
	t := e.post(movement{
		kind: entryAdjustment, reportedAs: reportedAs, amount: sign * d.Amount,
		fee: -sign * fromCents(disputeFeeCents, d.Currency), feeFor: "Dispute fee", currency: d.Currency, source: d.ID,
	})
	d.BalanceTransactions = append(slices.Clone(d.BalanceTransactions), referTo(t.ID))
	e.putDispute(d)
	return d
}

// defence is what the merchant says to a dispute.
type defence struct {
	evidence map[string]string // "" takes a member back
	metadata metadataChange
	submit   bool // to the bank; what is not submitted is only kept
}

// defend keeps evidence and, when it is submitted, hands the dispute over to the bank for review.
func (e *effect) defend(d dispute, said defence) (dispute, *apiError) {
	if d.closed() && (said.submit || len(said.evidence) > 0) {
		return d, invalid("", "", "Dispute %s is closed (%s): it takes no more evidence.", d.ID, d.Status)
	}
	metadata, problem := said.metadata.apply(d.Metadata)
	if problem != nil {
		return d, problem
	}
	before := map[string]any{
		"evidence": d.Evidence, "evidence_details": d.EvidenceDetails, "metadata": d.Metadata, "status": d.Status,
	}
	d.Metadata, d.Evidence = metadata, maps.Clone(d.Evidence)
	for name, text := range said.evidence {
		d.Evidence[name] = nullable(text)
	}
	d.EvidenceDetails.HasEvidence = slices.ContainsFunc(evidenceNames, func(name string) bool { return d.Evidence[name] != "" })
	if said.submit {
		d.EvidenceDetails.SubmissionCount++
		d = d.withStatus(map[bool]string{false: disputeUnderReview, true: warningUnderReview}[d.inquiry()])
		if text := d.Evidence["uncategorized_text"]; text == winningEvidence || text == losingEvidence {
			e.later(reviewDelay, jobReviewEnds, d.ID)
		}
	}
	e.putDispute(d)
	e.announce("charge.dispute.updated", e.showDispute(d, nil), before)
	return d, nil
}

// closeDispute ends a dispute; an inquiry has no winner.
func (e *effect) closeDispute(d dispute, won bool) dispute {
	before := map[string]any{"status": d.Status}
	switch {
	case d.inquiry():
		d = d.withStatus(warningClosed)
	case won:
		d = e.moveDisputed(d.withStatus(disputeWon), 1, reportedDisputeReversal)
	default:
		d = d.withStatus(disputeLost)
	}
	e.putDispute(d)
	e.announce("charge.dispute.closed", e.showDispute(d, nil), before)
	if d.Status == disputeWon {
		e.announce("charge.dispute.funds_reinstated", e.showDispute(d, nil), nil)
	}
	return d
}

// disputeIsDue closes a dispute that nobody has answered in time.
func (e *effect) disputeIsDue(id string) {
	if d, ok := e.dispute(id); ok && d.awaitsResponse() {
		d.EvidenceDetails.PastDue = true
		e.closeDispute(d, false)
	}
}

// reviewEnds decides a dispute whose evidence says how it ends.
func (e *effect) reviewEnds(id string) {
	if d, ok := e.dispute(id); ok && !d.closed() {
		e.closeDispute(d, d.Evidence["uncategorized_text"] == winningEvidence)
	}
}
