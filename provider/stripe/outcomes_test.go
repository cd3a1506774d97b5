package stripe_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/provider"
	"payonce/provider/stripe"
)

type caller func(*testing.T, *stripe.Stripe) provider.Result

var everyCall = map[string]caller{
	"create": doCreate, "confirm": doConfirm, "capture": doCapture, "cancel": doCancel, "look-up": doLookUp,
	"refund": doRefund, "look-up of a refund": doLookUpRefund, "look-up of a dispute": doLookUpDispute, "list": doList,
}

// A case is one answer of the server and what it proves about one call, or about every call when call is nil.
type answerCase struct {
	name    string
	call    caller
	answer  http.HandlerFunc
	want    provider.Outcome
	shows   provider.IntentStatus // the state of the result's intent; empty when there must be none
	failure *provider.Failure
	more    func(*testing.T, provider.Result)
}

func (c answerCase) run(t *testing.T) {
	calls := everyCall
	if c.call != nil {
		calls = map[string]caller{"": c.call}
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var logged logs
			s := serve(t, c.answer)
			got := call(t, adapter(t, s.URL, logTo(&logged)))
			require.Equal(t, c.want, got.Outcome, "%v", got.Err)
			require.Empty(t, cmp.Diff(c.failure, got.Failure))
			if c.shows == "" {
				require.Nil(t, got.Intent)
			} else {
				require.NotNil(t, got.Intent)
				require.Equal(t, c.shows, got.Intent.Status)
			}
			if c.more != nil {
				c.more(t, got)
			}
			if fine := got.Outcome == provider.Succeeded || got.Outcome == provider.Pending || got.Outcome == provider.Declined; fine {
				require.NoError(t, got.Err)
			} else {
				require.Error(t, got.Err)
			}
			require.Len(t, s.seen(), 1, "one call is one request, whatever comes back")
			require.NotContains(t, everything(t, got)+logged.String(), private)
			require.NotContains(t, everything(t, got)+logged.String(), testKey)
		})
	}
}

// everything is all the text of a result.
func everything(t *testing.T, r provider.Result) string {
	t.Helper()
	b, err := json.Marshal([]any{r.Intent, r.Refund, r.Dispute})
	require.NoError(t, err)
	return fmt.Sprintf("%+v %s %+v %v", r, b, r.Failure, r.Err)
}

func capturing(amount int64) caller {
	return func(t *testing.T, s *stripe.Stripe) provider.Result {
		t.Helper()
		return s.CaptureIntent(t.Context(), "chg_1:capture:1", reference, amount)
	}
}

func code(c string) *provider.Failure { return &provider.Failure{Code: c} }

func TestRefusals(t *testing.T) {
	t.Parallel()
	const invalid = "invalid_request_error"
	shows := func(o object) object { return object{"payment_intent": o} }
	declined := refusal("card_error", "card_declined", object{"decline_code": "lost_card"})
	declinedShowing := func(o object) http.HandlerFunc {
		return says(402, refusal("card_error", "card_declined", object{"decline_code": "lost_card"}, shows(o)))
	}
	lostCard := &provider.Failure{Code: "card_declined", DeclineCode: "lost_card"}
	movedOn := func(o object) http.HandlerFunc {
		return says(400, refusal(invalid, "payment_intent_unexpected_state", shows(o)))
	}
	for _, c := range []answerCase{
		{name: "ParameterRefused_Rejected", answer: says(400, refusal(invalid, "parameter_unknown")), want: provider.Rejected, failure: code("parameter_unknown")},
		{name: "RefusedWithoutACode_RejectedUnderItsType", answer: says(400, refusal(invalid, "")), want: provider.Rejected, failure: code(invalid)},
		{name: "IntentMovedOn_RejectedAndShowsWhereTo", call: doConfirm, answer: movedOn(paid), want: provider.Rejected,
			failure: code("payment_intent_unexpected_state"), shows: provider.IntentSucceeded},
		{name: "CancelOfACanceledIntent_RejectedAndShowsTheFence", call: doCancel, answer: movedOn(intent("canceled")), want: provider.Rejected,
			failure: code("payment_intent_unexpected_state"), shows: provider.IntentCanceled},
		{name: "IntentMovedOnButNotShown_Unknown", answer: says(400, refusal(invalid, "payment_intent_unexpected_state")), want: provider.Unknown},
		{name: "IntentMovedOnToAStateWeDoNotKnow_Unknown", call: doConfirm, answer: movedOn(intent("requires_prayer")), want: provider.Unknown},
		{name: "IntentMovedOnButAnotherIsShown_Unknown", call: doConfirm, answer: movedOn(paid.with(object{"id": "pi_2"})), want: provider.Unknown},
		{name: "IntentMovedOnButALiveOneIsShown_Unknown", call: doConfirm, answer: movedOn(paid.with(object{"livemode": true})), want: provider.Unknown},
		{name: "KeyUsedWithOtherParameters_UnknownSinceTheFirstUseMayHavePaid", answer: says(400, refusal("idempotency_error", "")), want: provider.Unknown},
		{name: "CardErrorWithStatus400_Unknown", answer: says(400, declined), want: provider.Unknown},
		{name: "KeyNotAccepted_Rejected", answer: says(401, refusal(invalid, "api_key_expired")), want: provider.Rejected, failure: code("api_key_expired")},
		{name: "KeyNotAcceptedInTheOldForm_Rejected", answer: says(401, refusal("authentication_error", "")), want: provider.Rejected, failure: code("authentication_error")},
		{name: "LoginOfSomethingInBetween_Unknown", answer: says(401, `{"error":{"message":"log in first"}}`), want: provider.Unknown},
		{name: "CardDeclined_Declined", call: doConfirm, answer: says(402, declined), want: provider.Declined, failure: lostCard},
		{name: "CardDeclinedAndIntentShown_Declined", call: doConfirm, answer: declinedShowing(failed), want: provider.Declined, failure: lostCard, shows: provider.IntentFailed},
		{name: "CardDeclinedButIntentIsPaid_Unknown", call: doConfirm, answer: declinedShowing(paid), want: provider.Unknown, shows: provider.IntentSucceeded},
		{name: "CardDeclinedButBankIsWorking_Unknown", call: doConfirm, answer: declinedShowing(intent("processing")), want: provider.Unknown, shows: provider.IntentProcessing},
		{name: "CardDeclinedButAnotherIntentIsShown_Unknown", call: doConfirm, answer: declinedShowing(failed.with(object{"id": "pi_2"})), want: provider.Unknown},
		{name: "CreateCannotBeDeclined_Unknown", call: doCreate, answer: says(402, declined), want: provider.Unknown},
		{name: "CancelCannotBeDeclined_Unknown", call: doCancel, answer: says(402, declined), want: provider.Unknown},
		{name: "CaptureCannotBeDeclined_Unknown", call: doCapture, answer: says(402, declined), want: provider.Unknown},
		{name: "RefundCannotBeDeclinedByACard_Unknown", call: doRefund, answer: says(402, declined), want: provider.Unknown},
		{name: "CaptureAfterTheBankLetGo_Rejected", call: doCapture, answer: says(400, refusal(invalid, "charge_expired_for_capture")), want: provider.Rejected, failure: code("charge_expired_for_capture")},
		{name: "CaptureTooLarge_Rejected", call: doCapture, answer: says(400, refusal(invalid, "amount_too_large")), want: provider.Rejected, failure: code("amount_too_large")},
		{name: "CaptureOfAPaidIntent_RejectedAndShowsIt", call: doCapture, answer: movedOn(paid), want: provider.Rejected,
			failure: code("payment_intent_unexpected_state"), shows: provider.IntentSucceeded},
		{name: "EverythingRefunded_Rejected", call: doRefund, answer: says(400, refusal(invalid, "charge_already_refunded")), want: provider.Rejected, failure: code("charge_already_refunded")},
		{name: "RefundOfDisputedMoney_Rejected", call: doRefund, answer: says(400, refusal(invalid, "charge_disputed")), want: provider.Rejected, failure: code("charge_disputed")},
		{name: "RefundBeyondTheBalance_Rejected", call: doRefund, answer: says(400, refusal(invalid, "balance_insufficient")), want: provider.Rejected, failure: code("balance_insufficient")},
		{name: "RefundBeyondWhatIsLeft_Rejected", call: doRefund, answer: says(400, refusal(invalid, "", object{"param": "amount"})), want: provider.Rejected, failure: code(invalid)},
		{name: "ListAfterSomethingGone_Rejected", call: doList, answer: says(400, refusal(invalid, "resource_missing", object{"param": "starting_after"})), want: provider.Rejected, failure: code("resource_missing")},
		{name: "LookUpCannotBeDeclined_Unknown", call: doLookUp, answer: says(402, declined), want: provider.Unknown},
		{name: "PaymentRequiredButNotByTheCard_Unknown", call: doConfirm, answer: says(402, refusal(invalid, "")), want: provider.Unknown},
		{name: "KeyMayNotDoThis_Rejected", answer: says(403, refusal(invalid, "")), want: provider.Rejected, failure: code(invalid)},
		{name: "NoSuchObject_Rejected", answer: says(404, refusal(invalid, "resource_missing")), want: provider.Rejected, failure: code("resource_missing")},
		{name: "MethodNotAllowed_UnknownSinceNotListed", answer: says(405, refusal(invalid, "")), want: provider.Unknown},
		{name: "SameKeyStillExecuting_Unknown", answer: says(409, refusal(invalid, "idempotency_key_in_use")), want: provider.Unknown},
		{name: "RateLimited_NotSent", answer: says(429, refusal(invalid, "rate_limit")), want: provider.NotSent},
		{name: "IntentLockedByAnotherRequest_NotSent", answer: says(429, refusal(invalid, "lock_timeout")), want: provider.NotSent},
		{name: "TooManyRequestsOfAnotherKind_Unknown", answer: says(429, refusal("card_error", "card_decline_rate_limit_exceeded")), want: provider.Unknown},
		{name: "ServerError_UnknownSinceItMayHavePaid", answer: says(500, refusal("api_error", "")), want: provider.Unknown},
		{name: "BadGateway_Unknown", answer: says(502, refusal("api_error", "")), want: provider.Unknown},
		{name: "Unavailable_Unknown", answer: says(503, refusal("api_error", "")), want: provider.Unknown},
		{name: "GatewayTimeout_Unknown", answer: says(504, refusal("api_error", "")), want: provider.Unknown},
		{name: "ServerErrorInTheWordsOfADecline_Unknown", call: doConfirm, answer: says(500, declined), want: provider.Unknown},
		{name: "CodeIsNoCode_NotPassedOn", answer: says(400, refusal(invalid, private+" <b>\n")), want: provider.Rejected, failure: code("unreadable")},
	} {
		t.Run(c.name, func(t *testing.T) { t.Parallel(); c.run(t) })
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	ok := func(o object) http.HandlerFunc { return says(200, o.json()) }
	for _, c := range []answerCase{
		{name: "Created_Succeeded", call: doCreate, answer: ok(intent("requires_payment_method")), want: provider.Succeeded, shows: provider.IntentUnconfirmed},
		{name: "CreatedWithAnotherAmount_Unknown", call: doCreate, answer: ok(intent("requires_payment_method", object{"amount": 199900})), want: provider.Unknown},
		{name: "CreatedInAnotherCurrency_Unknown", call: doCreate, answer: ok(intent("requires_payment_method", object{"currency": "usd"})), want: provider.Unknown},
		{name: "CreatedForManualCapture_Unknown", call: doCreate, answer: ok(intent("requires_payment_method", object{"capture_method": "manual"})), want: provider.Unknown},
		{name: "CreatedAndPaidAtOnce_UnknownAsCreateTakesNothing", call: doCreate, answer: ok(paid), want: provider.Unknown, shows: provider.IntentSucceeded},

		{name: "ConfirmedAndPaid_Succeeded", call: doConfirm, answer: ok(paid), want: provider.Succeeded, shows: provider.IntentSucceeded},
		{name: "ConfirmedAndHeld_Succeeded", call: doConfirm, answer: ok(intent("requires_capture")), want: provider.Succeeded, shows: provider.IntentAuthorized},
		{name: "ConfirmedAndBuyerMustAct_Pending", call: doConfirm, answer: ok(intent("requires_action")), want: provider.Pending, shows: provider.IntentRequiresAction},
		{name: "ConfirmedAndBankIsWorking_Pending", call: doConfirm, answer: ok(intent("processing")), want: provider.Pending, shows: provider.IntentProcessing},
		{name: "ConfirmedButUnconfirmed_Unknown", call: doConfirm, answer: ok(intent("requires_confirmation")), want: provider.Unknown, shows: provider.IntentUnconfirmed},
		{name: "ConfirmedButFailed_UnknownAsADeclineIs402", call: doConfirm, answer: ok(failed), want: provider.Unknown, shows: provider.IntentFailed},
		{name: "ConfirmedButCanceled_Unknown", call: doConfirm, answer: ok(intent("canceled")), want: provider.Unknown, shows: provider.IntentCanceled},

		{name: "Canceled_Succeeded", call: doCancel, answer: ok(intent("canceled")), want: provider.Succeeded, shows: provider.IntentCanceled},
		{name: "CanceledButPaid_UnknownAsNoFenceStands", call: doCancel, answer: ok(paid), want: provider.Unknown, shows: provider.IntentSucceeded},

		{name: "CapturedWhole_Succeeded", call: doCapture, answer: ok(paid), want: provider.Succeeded, shows: provider.IntentSucceeded},
		{name: "CapturedPart_Succeeded", call: capturing(500), answer: ok(paid.with(object{"amount_received": 500})), want: provider.Succeeded, shows: provider.IntentSucceeded},
		{name: "CapturedLessThanAll_Unknown", call: doCapture, answer: ok(paid.with(object{"amount_received": 500})), want: provider.Unknown},
		{name: "CapturedAnotherPart_UnknownAsAnotherCaptureWon", call: capturing(500), answer: ok(paid), want: provider.Unknown},
		{name: "CapturedButHeld_Unknown", call: doCapture, answer: ok(intent("requires_capture")), want: provider.Unknown, shows: provider.IntentAuthorized},
		{name: "CapturedButCanceled_Unknown", call: doCapture, answer: ok(intent("canceled")), want: provider.Unknown, shows: provider.IntentCanceled},

		{name: "AnotherIntent_Unknown", call: doConfirm, answer: ok(paid.with(object{"id": "pi_2"})), want: provider.Unknown},
		{name: "LiveIntentForATestKey_Unknown", answer: ok(paid.with(object{"livemode": true})), want: provider.Unknown},
		{name: "UnknownState_Unknown", answer: ok(intent("requires_prayer")), want: provider.Unknown},
		{name: "UnknownCurrency_Unknown", answer: ok(paid.with(object{"currency": "xts"})), want: provider.Unknown},
		{name: "AnotherKindOfObject_Unknown", answer: ok(paid.with(object{"object": "setup_intent"})), want: provider.Unknown},
		{name: "EmptyID_Unknown", answer: ok(paid.with(object{"id": ""})), want: provider.Unknown},
		{name: "AmountAsText_Unknown", answer: ok(paid.with(object{"amount": "1999"})), want: provider.Unknown},
		{name: "ErrorWithStatus200_Unknown", answer: says(200, refusal("card_error", "card_declined")), want: provider.Unknown},
		{name: "EmptyObject_Unknown", answer: says(200, `{}`), want: provider.Unknown},
		{name: "EmptyBody_Unknown", answer: says(200, ``), want: provider.Unknown},
		{name: "JSONCutCleanly_Unknown", answer: says(200, paid.json()[:200]), want: provider.Unknown},
		{name: "OnlyTheIDAsText_Unknown", answer: says(200, `"pi_1"`), want: provider.Unknown},
		{name: "PageInsteadOfJSON_Unknown", answer: says(200, "<html>"+private), want: provider.Unknown},
		{name: "AcceptedForLater_UnknownAsOnly200SaysDone", answer: says(202, paid.json()), want: provider.Unknown},
		{name: "RefusedByAPage_Unknown", answer: says(400, "<html>"+private), want: provider.Unknown},
		{name: "RefusedWithoutAnError_Unknown", answer: says(400, object{"detail": private}.json()), want: provider.Unknown},
		{name: "ShedByAPage_Unknown", answer: says(429, "<html>"), want: provider.Unknown},
		{name: "EdgeTroubleOnAPage_Unknown", answer: says(502, "<html>"+private), want: provider.Unknown},
		{name: "RedirectToItself_UnknownAndNotFollowed", answer: says(307, "", "Location", "/v1/payment_intents"), want: provider.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) { t.Parallel(); c.run(t) })
	}
}

func TestLookUp_EveryState(t *testing.T) {
	t.Parallel()
	redirect := object{"next_action": object{"type": "redirect_to_url", "redirect_to_url": object{"url": "https://bank.example/3ds"}}}
	script := object{"next_action": object{"type": "use_stripe_sdk", "use_stripe_sdk": object{}}}
	old := object{"last_payment_error": cardDeclined, "latest_charge": "ch_1"}
	declined := &provider.Failure{Code: "card_declined", DeclineCode: "lost_card"}
	base := provider.Intent{
		Reference: reference, Amount: domain.Money{Amount: 1999, Currency: domain.EUR},
		Metadata: map[string]string{"charge_id": "chg_1", "order_id": "ord_1"},
	}
	as := func(status provider.IntentStatus, change func(*provider.Intent)) provider.Intent {
		want := base
		want.Status = status
		if change != nil {
			change(&want)
		}
		return want
	}
	for name, c := range map[string]struct {
		shown object
		want  provider.Intent
	}{
		"New_Unconfirmed":      {intent("requires_payment_method"), as(provider.IntentUnconfirmed, nil)},
		"AfterARefusal_Failed": {failed, as(provider.IntentFailed, func(i *provider.Intent) { i.LatestAttempt, i.LastFailure = "ch_1", declined })},
		"FailureWithoutACode_NamedByItsType": {intent("requires_payment_method", object{"last_payment_error": object{"type": "api_error"}}),
			as(provider.IntentFailed, func(i *provider.Intent) { i.LastFailure = code("api_error") })},
		"FailureWithoutAnything_StillHasACode": {intent("requires_payment_method", object{"last_payment_error": object{}}),
			as(provider.IntentFailed, func(i *provider.Intent) { i.LastFailure = code("unspecified") })},
		"ToBeConfirmed_Unconfirmed": {intent("requires_confirmation"), as(provider.IntentUnconfirmed, nil)},
		"ToBeConfirmedAfterARefusal_UnconfirmedAndTheOldFailureIsHistory": {intent("requires_confirmation", old),
			as(provider.IntentUnconfirmed, func(i *provider.Intent) { i.LatestAttempt = "ch_1" })},
		"ToAuthenticate_ShowsWhere": {intent("requires_action", redirect),
			as(provider.IntentRequiresAction, func(i *provider.Intent) { i.NextActionURL = "https://bank.example/3ds" })},
		"ToAuthenticateByScript_ShowsNoURL": {intent("requires_action", script), as(provider.IntentRequiresAction, nil)},
		"Processing":                        {intent("processing"), as(provider.IntentProcessing, nil)},
		"Held_Authorized":                   {intent("requires_capture", object{"latest_charge": "ch_1"}), as(provider.IntentAuthorized, func(i *provider.Intent) { i.LatestAttempt = "ch_1" })},
		"Succeeded_ShowsWhatWasReceived": {paid,
			as(provider.IntentSucceeded, func(i *provider.Intent) { i.LatestAttempt, i.AmountReceived = "ch_1", 1999 })},
		"Canceled_ShowsWhy":                          {intent("canceled", object{"cancellation_reason": "automatic"}), as(provider.IntentCanceled, func(i *provider.Intent) { i.CanceledReason = "automatic" })},
		"CanceledForAReasonThatIsNoCode_NotPassedOn": {intent("canceled", object{"cancellation_reason": private + "<"}), as(provider.IntentCanceled, func(i *provider.Intent) { i.CanceledReason = "unreadable" })},
		"HeldWithItsCharge_ShowsHowMuchAndUntilWhen": {intent("requires_capture", object{"amount_capturable": 1999, "created": 1700000000, "latest_charge": object{
			"id": "ch_1", "object": "charge", "payment_method_details": object{"card": object{"capture_before": 1700604800}}}}),
			as(provider.IntentAuthorized, func(i *provider.Intent) {
				i.LatestAttempt, i.AmountCapturable = "ch_1", 1999
				i.Created, i.CaptureBefore = time.Unix(1700000000, 0).UTC(), time.Unix(1700604800, 0).UTC()
			})},
		"PaidWithItsCharge_NothingIsHeldAnyMore": {paid.with(object{"latest_charge": object{"id": "ch_1", "payment_method_details": object{"card": object{"capture_before": 1700604800}}}}),
			as(provider.IntentSucceeded, func(i *provider.Intent) { i.LatestAttempt, i.AmountReceived = "ch_1", 1999 })},
		"ThreeDecimalsAndCapitals_SameAmount": {intent("processing", object{"currency": "KWD", "amount": 1230}),
			as(provider.IntentProcessing, func(i *provider.Intent) { i.Amount = domain.Money{Amount: 1230, Currency: domain.KWD} })},
		"LatestChargeExpanded_SameID": {intent("processing", object{"latest_charge": object{"id": "ch_1", "object": "charge"}}),
			as(provider.IntentProcessing, func(i *provider.Intent) { i.LatestAttempt = "ch_1" })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, says(200, c.shown.json()))
			got := doLookUp(t, adapter(t, s.URL))
			want := provider.Result{Outcome: provider.Succeeded, Intent: &c.want, RequestID: "req_1", HTTPStatus: 200}
			require.Empty(t, cmp.Diff(want, got, cmpopts.EquateErrors()))
		})
	}
}
