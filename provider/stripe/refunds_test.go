package stripe_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/provider"
)

// given is a refund of 5.00 EUR as Stripe shows it.
func given(status string, changes ...object) object {
	o := object{
		"id": "re_1", "object": "refund", "amount": 500, "currency": "eur", "status": status, "payment_intent": reference, "charge": "ch_1",
		"balance_transaction": "txn_1", "reason": "requested_by_customer", "created": 1700000000, "metadata": object{"refund_id": "rfd_1"},
	}
	for _, change := range changes {
		o = o.with(change)
	}
	return o
}

func TestRefundAnswers(t *testing.T) {
	t.Parallel()
	gone := &provider.Failure{Code: "expired_or_canceled_card"}
	shown := func(change func(*provider.Refund)) *provider.Refund {
		want := &provider.Refund{
			Reference: "re_1", Intent: reference, Attempt: "ch_1", Status: provider.RefundSucceeded, Entry: "txn_1", Reason: provider.RefundRequested,
			Amount: domain.Money{Amount: 500, Currency: domain.EUR}, Metadata: map[string]string{"refund_id": "rfd_1"}, Created: time.Unix(1700000000, 0).UTC(),
		}
		if change != nil {
			change(want)
		}
		return want
	}
	as := func(status provider.RefundStatus) *provider.Refund {
		return shown(func(r *provider.Refund) { r.Status = status })
	}
	failed := given("failed", object{"failure_reason": "expired_or_canceled_card"})
	failedShown := shown(func(r *provider.Refund) { r.Status, r.Failure = provider.RefundFailed, gone })
	for name, c := range map[string]struct {
		call   caller
		answer object
		want   provider.Outcome
		shows  *provider.Refund
	}{
		"Refunded_Succeeded":                       {doRefund, given("succeeded"), provider.Succeeded, shown(nil)},
		"RefundedAndTheBankIsWorking_Pending":      {doRefund, given("pending"), provider.Pending, as(provider.RefundPending)},
		"RefundedAndTheBuyerMustAct_Pending":       {doRefund, given("requires_action"), provider.Pending, as(provider.RefundPending)},
		"RefundedAndFailedAtOnce_Declined":         {doRefund, failed, provider.Declined, failedShown},
		"RefundedButCanceled_Unknown":              {doRefund, given("canceled"), provider.Unknown, as(provider.RefundCanceled)},
		"RefundedAnotherAmount_Unknown":            {doRefund, given("succeeded", object{"amount": 501}), provider.Unknown, nil},
		"RefundedInAnotherCurrency_Unknown":        {doRefund, given("succeeded", object{"currency": "usd"}), provider.Unknown, nil},
		"RefundedAnotherIntent_Unknown":            {doRefund, given("succeeded", object{"payment_intent": "pi_2"}), provider.Unknown, nil},
		"RefundedNoIntent_Unknown":                 {doRefund, given("succeeded", object{"payment_intent": nil}), provider.Unknown, nil},
		"LookedUp_Succeeded":                       {doLookUpRefund, given("succeeded"), provider.Succeeded, shown(nil)},
		"LookedUpAndPending_Succeeded":             {doLookUpRefund, given("pending"), provider.Succeeded, as(provider.RefundPending)},
		"LookedUpAndFailed_Succeeded":              {doLookUpRefund, failed, provider.Succeeded, failedShown},
		"LookedUpAndCanceled_Succeeded":            {doLookUpRefund, given("canceled"), provider.Succeeded, as(provider.RefundCanceled)},
		"LookedUpAnotherRefund_Unknown":            {doLookUpRefund, given("succeeded", object{"id": "re_2"}), provider.Unknown, nil},
		"LookedUpInAnUnknownCurrency_Unknown":      {doLookUpRefund, given("succeeded", object{"currency": "xts"}), provider.Unknown, nil},
		"LookedUpInAnUnknownState_Unknown":         {doLookUpRefund, given("lost_in_space"), provider.Unknown, nil},
		"LookedUpWithoutAState_Unknown":            {doLookUpRefund, given("", object{"status": nil}), provider.Unknown, nil},
		"LookedUpAndGotAnotherKindOfThing_Unknown": {doLookUpRefund, given("succeeded", object{"object": "charge"}), provider.Unknown, nil},
		"FailedWithoutSayingWhy_StillHasACode": {doLookUpRefund, given("failed"), provider.Succeeded,
			shown(func(r *provider.Refund) {
				r.Status, r.Failure = provider.RefundFailed, &provider.Failure{Code: "unspecified"}
			})},
		"WithoutAReasonOrAMovement_Succeeded": {doLookUpRefund, given("pending", object{"reason": nil, "balance_transaction": nil, "charge": nil}), provider.Succeeded,
			shown(func(r *provider.Refund) { r.Status, r.Reason, r.Entry, r.Attempt = provider.RefundPending, "", "", "" })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := c.call(t, adapter(t, serve(t, says(200, c.answer.json())).URL))
			want := provider.Result{Outcome: c.want, Refund: c.shows, RequestID: "req_1", HTTPStatus: 200}
			if c.want == provider.Declined {
				want.Failure = gone
			}
			require.Empty(t, cmp.Diff(want, got, cmpopts.IgnoreFields(provider.Result{}, "Err")))
			require.Equal(t, c.want == provider.Unknown, got.Err != nil, "%v", got.Err)
		})
	}
}

func TestDisputeAnswers(t *testing.T) {
	t.Parallel()
	dispute := func(status string, changes ...object) object {
		o := object{
			"id": "dp_1", "object": "dispute", "amount": 1999, "currency": "eur", "status": status, "payment_intent": reference, "charge": "ch_1",
			"reason": "fraudulent", "is_charge_refundable": false, "livemode": false, "created": 1700000000,
			"evidence_details": object{"due_by": 1700604800},
		}
		for _, change := range changes {
			o = o.with(change)
		}
		return o
	}
	for state, want := range map[string]provider.DisputeStatus{
		"warning_needs_response": provider.DisputeInquiry, "warning_under_review": provider.DisputeInquiry, "warning_closed": provider.DisputeInquiryClosed,
		"needs_response": provider.DisputeNeedsResponse, "under_review": provider.DisputeUnderReview, "won": provider.DisputeWon, "lost": provider.DisputeLost,
	} {
		got := doLookUpDispute(t, adapter(t, serve(t, says(200, dispute(state).json())).URL))
		require.Equal(t, provider.Result{Outcome: provider.Succeeded, RequestID: "req_1", HTTPStatus: 200, Dispute: &provider.Dispute{
			Reference: "dp_1", Intent: reference, Attempt: "ch_1", Status: want, Amount: domain.Money{Amount: 1999, Currency: domain.EUR},
			Reason: "fraudulent", DueBy: time.Unix(1700604800, 0).UTC(), Created: time.Unix(1700000000, 0).UTC(),
		}}, got, state)
	}
	for name, answer := range map[string]object{
		"unknown state": dispute("prevented"), "unknown currency": dispute("won", object{"currency": "xts"}), "another one": dispute("won", object{"id": "dp_2"}),
		"a live one": dispute("won", object{"livemode": true}), "another kind": dispute("won", object{"object": "charge"}), "nothing": {},
	} {
		got := doLookUpDispute(t, adapter(t, serve(t, says(200, answer.json())).URL))
		require.Equal(t, provider.Unknown, got.Outcome, name)
		require.Nil(t, got.Dispute, name)
		require.Error(t, got.Err, name)
	}
}

// Whether the same call may be sent again is a column of the tables, and as important as the outcome.
func TestRepeatable(t *testing.T) {
	t.Parallel()
	const invalid = "invalid_request_error"
	reads := map[string]bool{"look-up": true, "look-up of a refund": true, "look-up of a dispute": true, "list": true}
	always := func(string) bool { return true }
	never := func(string) bool { return false }
	onlyReads := func(call string) bool { return reads[call] }
	retry := func(says string) []string { return []string{"Stripe-Should-Retry", says} }
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   func(call string) bool
	}{
		"RateLimited":                       {says(429, refusal(invalid, "rate_limit")), always},
		"Locked":                            {says(429, refusal(invalid, "lock_timeout")), always},
		"KeyInUse":                          {says(409, refusal(invalid, "idempotency_key_in_use")), always},
		"RateLimitedAndStripeSaysNo":        {says(429, refusal(invalid, "rate_limit"), retry("false")...), never},
		"KeyInUseAndStripeSaysNo":           {says(409, refusal(invalid, ""), retry("false")...), never},
		"TooManyOfAnotherKind":              {says(429, refusal(invalid, "other")), never},
		"TooManyOfAnotherKindAndStripeYes":  {says(429, refusal(invalid, "other"), retry("true")...), always},
		"ServerError":                       {says(500, refusal("api_error", "")), onlyReads},
		"ServerErrorAndStripeSaysYes":       {says(500, refusal("api_error", ""), retry("true")...), onlyReads},
		"ServerErrorAndStripeSaysNo":        {says(500, refusal("api_error", ""), retry("false")...), never},
		"BadGateway":                        {says(502, refusal("api_error", "")), onlyReads},
		"PageOfTheEdge":                     {says(502, "<html>"), onlyReads},
		"EmptyBody":                         {says(200, ""), onlyReads},
		"Refused":                           {says(400, refusal(invalid, "")), never},
		"RefusedAndStripeSaysYes":           {says(400, refusal(invalid, ""), retry("true")...), never},
		"KeyReused":                         {says(400, refusal("idempotency_error", "")), never},
		"Declined":                          {says(402, refusal("card_error", "card_declined"), retry("true")...), never},
		"NoSuchObject":                      {says(404, refusal(invalid, "resource_missing")), never},
		"AnotherObject":                     {says(200, object{"id": "x", "object": "x"}.json()), never},
		"AnotherObjectThoughStripeSaysYes":  {says(200, object{"id": "x", "object": "x"}.json(), retry("true")...), never},
		"ServerErrorThatIsNotInTheRefusals": {says(599, refusal("api_error", "")), never},
	} {
		for call, do := range everyCall {
			t.Run(name+"/"+call, func(t *testing.T) {
				t.Parallel()
				require.Equal(t, c.want(call), do(t, adapter(t, serve(t, c.answer).URL)).Repeatable)
			})
		}
	}
}
