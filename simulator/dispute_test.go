package simulator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"
)

// disputed pays with a token that is made for it and waits for the dispute.
func (b *bench) disputed(token string) (charge, dispute string) {
	b.t.Helper()
	_, charge = b.paid(token)
	b.passes("10s")
	data, _ := b.get("/v1/disputes?charge=" + charge).at("data").([]any)
	require.Len(b.t, data, 1)
	return charge, idsOf(data)[0]
}

func TestTokensThatAreDisputed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		token, reason, status string
		refundable            bool
		ledger                []string // newest first, above the charge
	}{
		{"pm_card_createDispute", "fraudulent", "needs_response", false, []string{"adjustment/dispute -1250 1500 -2750"}},
		{"pm_card_createDisputeProductNotReceived", "product_not_received", "needs_response", false, []string{"adjustment/dispute -1250 1500 -2750"}},
		{"pm_card_createDisputeInquiry", "fraudulent", "warning_needs_response", true, nil},
	} {
		t.Run(c.token, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			intent, charge := b.paid(c.token)
			b.passes("9s")
			require.Empty(t, b.get("/v1/disputes").at("data"))
			require.Equal(t, false, b.get("/v1/charges/"+charge).at("disputed"))
			b.passes("1s")
			require.Equal(t, true, b.get("/v1/charges/"+charge).at("disputed"))

			p := &stripe.DisputeListParams{Charge: stripe.String(charge)}
			p.AddExpand("data.charge.payment_intent")
			it := b.stripe.Disputes.List(p)
			require.True(t, it.Next())
			d := it.Dispute()
			require.False(t, it.Next())
			require.Regexp(t, `^du_[0-9A-Za-z]{24}$`, d.ID)
			require.EqualValues(t, 1250, d.Amount)
			require.Equal(t, []string{c.reason, c.status}, []string{string(d.Reason), string(d.Status)})
			require.Equal(t, []string{intent, intent}, []string{d.PaymentIntent.ID, d.Charge.PaymentIntent.ID})
			require.Equal(t, c.refundable, d.IsChargeRefundable)
			require.False(t, d.EvidenceDetails.HasEvidence || d.EvidenceDetails.PastDue)
			require.Greater(t, d.EvidenceDetails.DueBy, d.Created)
			require.Len(t, d.BalanceTransactions, len(c.ledger), "shown whole without being asked")
			for _, line := range d.BalanceTransactions {
				require.EqualValues(t, -2750, line.Net)
			}
			require.Equal(t, append(c.ledger, "charge/charge 1250 66 1184"), b.ledger(""))

			refund := b.refund(intent)
			if c.refundable {
				require.Equal(t, "succeeded", refund.at("status"))
			} else {
				require.Equal(t, "charge_disputed", refund.at("error", "code"))
			}
		})
	}
}

func TestMultipleDisputes_ShareTheCharge(t *testing.T) {
	t.Parallel()
	b := start(t)
	_, charge := b.paid("pm_card_createMultipleDisputes", "amount=1251")
	b.passes("10s")
	require.Len(t, b.get("/v1/disputes?charge="+charge).at("data"), 1)
	b.passes("1h")
	data, _ := b.get("/v1/disputes?charge=" + charge).at("data").([]any)
	require.Len(t, data, 2)
	amounts := []any{}
	for _, item := range data {
		amounts = append(amounts, reply{body: item.(map[string]any)}.at("amount"))
	}
	require.Equal(t, []any{625.0, 626.0}, amounts)
	require.Equal(t, 400, b.control("/disputes", `{"charge":"`+charge+`"}`).status, "nothing is left to complain about")
}

func TestDisputes_OfWhatIsLeftOnly(t *testing.T) {
	t.Parallel()
	b := start(t)
	refunded, _ := b.paid("pm_card_createDispute")
	b.refund(refunded)
	b.passes("1h")
	require.Empty(t, b.get("/v1/disputes").at("data"), "a refunded charge is not disputed")

	intent, charge := b.paid("pm_card_visa", "metadata[order_id]=order_2")
	b.refund(intent, "amount=250")
	d := b.control("/disputes", `{"charge":"`+charge+`","reason":"duplicate"}`)
	require.Equal(t, []any{1000.0, "duplicate", "needs_response"}, []any{d.at("amount"), d.at("reason"), d.at("status")})

	for name, body := range map[string]string{
		"no such charge": `{"charge":"ch_none"}`, "no such reason": `{"charge":"` + charge + `","reason":"spite"}`,
		"no charge": `{}`, "no JSON": `{`,
		"held only": `{"charge":"` + b.get("/v1/payment_intents/"+b.intentIn("requires_capture")).at("latest_charge").(string) + `"}`,
	} {
		require.Equal(t, 400, b.control("/disputes", body).status, name)
	}
}

func TestDispute_StopsARefundThatIsOnItsWay(t *testing.T) {
	t.Parallel()
	b := start(t)
	intent, charge := b.paid("pm_card_pendingRefund")
	refund := b.refund(intent).id()
	d := b.control("/disputes", `{"charge":"`+charge+`"}`)
	require.EqualValues(t, 1250, d.at("amount"))
	r := b.get("/v1/refunds/" + refund)
	require.Equal(t, []any{"failed", "charge_for_pending_refund_disputed"}, []any{r.at("status"), r.at("failure_reason")})
	b.passes("2h")
	require.Equal(t, "failed", b.get("/v1/refunds/"+refund).at("status"))
}

func TestEvidence_DecidesADispute(t *testing.T) {
	t.Parallel()
	const dispute, inquiry = "pm_card_createDispute", "pm_card_createDisputeInquiry"
	for _, c := range []struct {
		token, evidence, review, end string
		balance                      float64 // what the dispute has cost in the end
	}{
		{dispute, "winning_evidence", "under_review", "won", 0},
		{dispute, "losing_evidence", "under_review", "lost", -2750},
		{dispute, "what can I say", "under_review", "under_review", -2750},
		{inquiry, "winning_evidence", "warning_under_review", "warning_closed", 0},
		{inquiry, "losing_evidence", "warning_under_review", "warning_closed", 0},
	} {
		t.Run(c.token+" "+c.evidence, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			_, id := b.disputed(c.token)
			p := &stripe.DisputeParams{Evidence: &stripe.DisputeEvidenceParams{
				UncategorizedText: stripe.String(c.evidence), CustomerName: stripe.String("Ada"),
			}}
			d, err := b.stripe.Disputes.Update(id, p)
			require.NoError(t, err)
			require.Equal(t, c.review, string(d.Status))
			require.Equal(t, "Ada", d.Evidence.CustomerName)
			require.True(t, d.EvidenceDetails.HasEvidence)
			require.EqualValues(t, 1, d.EvidenceDetails.SubmissionCount)

			b.passes("40h")
			r := b.get("/v1/disputes/" + id)
			require.Equal(t, c.end, r.at("status"))
			sum := 0.0
			lines, _ := r.at("balance_transactions").([]any)
			for _, line := range lines {
				net, _ := line.(map[string]any)["net"].(float64)
				sum += net
			}
			require.Equal(t, c.balance, sum)
		})
	}
}

func TestEvidence_CanBeGatheredBeforeItIsSubmitted(t *testing.T) {
	t.Parallel()
	b := start(t)
	_, id := b.disputed("pm_card_createDispute")
	draft := b.send("POST", "/v1/disputes/"+id, "evidence[uncategorized_text]=winning_evidence&evidence[receipt]=file_1&submit=false")
	require.Equal(t, []any{"needs_response", true, 0.0},
		[]any{draft.at("status"), draft.at("evidence_details", "has_evidence"), draft.at("evidence_details", "submission_count")})
	noted := b.send("POST", "/v1/disputes/"+id, "metadata[case]=7")
	require.Equal(t, []any{"needs_response", "7"}, []any{noted.at("status"), noted.at("metadata", "case")}, "a note is no answer")
	taken := b.send("POST", "/v1/disputes/"+id, "evidence[receipt]=&submit=false")
	require.Nil(t, taken.at("evidence", "receipt"))
	b.passes("1h")
	require.Equal(t, "needs_response", b.get("/v1/disputes/"+id).at("status"))
	require.Equal(t, "under_review", b.send("POST", "/v1/disputes/"+id, "submit=true").at("status"))
	b.passes("10s")
	require.Equal(t, "won", b.get("/v1/disputes/"+id).at("status"))
	require.Equal(t, 400, b.send("POST", "/v1/disputes/"+id, "evidence[receipt]=file_2").status)
	require.Equal(t, 200, b.send("POST", "/v1/disputes/"+id, "metadata[case]=8").status)
	require.Equal(t, "evidence[colour]", b.send("POST", "/v1/disputes/"+id, "evidence[colour]=red").at("error", "param"))
	require.Equal(t, "dispute", b.send("POST", "/v1/disputes/du_none", "").at("error", "param"))
}

func TestAcceptedDispute_IsLost(t *testing.T) {
	t.Parallel()
	b := start(t)
	charge, id := b.disputed("pm_card_createDispute")
	d, err := b.stripe.Disputes.Close(id, nil)
	require.NoError(t, err)
	require.Equal(t, stripe.DisputeStatusLost, d.Status)
	require.False(t, d.IsChargeRefundable)
	_, err = b.stripe.Disputes.Close(id, nil)
	require.Equal(t, 400, stripeError(t, err).HTTPStatusCode)
	require.Equal(t, "charge_disputed", b.send("POST", "/v1/refunds", "charge="+charge).at("error", "code"))

	_, other := b.disputed("pm_card_createDispute")
	b.send("POST", "/v1/disputes/"+other, "evidence[receipt]=file_1")
	_, err = b.stripe.Disputes.Close(other, nil)
	require.Equal(t, 400, stripeError(t, err).HTTPStatusCode, "the bank has it already")
}

func TestUnansweredDispute_IsLostWhenItIsDue(t *testing.T) {
	t.Parallel()
	for token, end := range map[string]string{"pm_card_createDispute": "lost", "pm_card_createDisputeInquiry": "warning_closed"} {
		t.Run(token, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			_, id := b.disputed(token)
			b.passes("720h")
			r := b.get("/v1/disputes/" + id)
			require.Equal(t, []any{end, true}, []any{r.at("status"), r.at("evidence_details", "past_due")})
		})
	}
}

func TestAnsweredDispute_IsNotLostByTime(t *testing.T) {
	t.Parallel()
	b := start(t)
	_, won := b.disputed("pm_card_createDispute")
	b.control("/disputes/"+won+"/win", "")
	_, reviewed := b.disputed("pm_card_createDispute")
	b.send("POST", "/v1/disputes/"+reviewed, "evidence[receipt]=file_1")
	b.passes("720h")
	require.Equal(t, "won", b.get("/v1/disputes/"+won).at("status"))
	r := b.get("/v1/disputes/" + reviewed)
	require.Equal(t, []any{"under_review", false}, []any{r.at("status"), r.at("evidence_details", "past_due")})
}

func TestBank_DecidesADispute(t *testing.T) {
	t.Parallel()
	b := start(t)
	intent, charge := b.paid("pm_card_visa", "capture_method=automatic")
	id := b.control("/disputes", `{"charge":"`+charge+`"}`).id()
	won := b.control("/disputes/"+id+"/win", "")
	require.Equal(t, []any{"won", true}, []any{won.at("status"), won.at("is_charge_refundable")})
	require.Equal(t, true, b.get("/v1/charges/"+charge).at("disputed"), "that stays")
	require.Equal(t, 400, b.control("/disputes/"+id+"/lose", "").status)
	require.Equal(t, 404, b.control("/disputes/du_none/lose", "").status)
	require.Equal(t, 200, b.refund(intent, "amount=250").status, "the money is the merchant's again")

	again := b.control("/disputes", `{"charge":"`+charge+`"}`)
	require.EqualValues(t, 1000, again.at("amount"))
	require.Equal(t, "lost", b.control("/disputes/"+again.id()+"/lose", "").at("status"))
	data, _ := b.get("/v1/disputes?payment_intent=" + intent).at("data").([]any)
	require.Equal(t, []string{again.id(), id}, idsOf(data))
	require.Empty(t, b.get("/v1/disputes?created[gt]=1740830400").at("data"))
	require.Equal(t, "resource_missing", b.get("/v1/disputes?charge=ch_none").at("error", "code"))
	require.Equal(t, "dispute", b.get("/v1/disputes/du_none").at("error", "param"))
}
