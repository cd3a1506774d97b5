package stripe_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
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

var everyCall = map[string]caller{"create": doCreate, "confirm": doConfirm, "cancel": doCancel, "look-up": doLookUp}

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
	b, err := json.Marshal(r.Intent)
	require.NoError(t, err)
	return fmt.Sprintf("%+v %s %+v %v", r, b, r.Failure, r.Err)
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
		"Canceled": {intent("canceled"), as(provider.IntentCanceled, nil)},
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

func TestHeadersOfAnswers(t *testing.T) {
	t.Parallel()
	const date = "Mon, 02 Jan 2006 15:04:05 GMT"
	for name, c := range map[string]struct {
		header []string
		want   provider.Result
	}{
		"Plain":                    {nil, provider.Result{RequestID: "req_1"}},
		"AnsweredFromMemory":       {[]string{"Idempotent-Replayed", "true"}, provider.Result{RequestID: "req_1", Replayed: true}},
		"RetryAfterSeconds":        {[]string{"Retry-After", "7"}, provider.Result{RequestID: "req_1", RetryAfter: 7 * time.Second}},
		"RetryAfterForEver_AnHour": {[]string{"Retry-After", "18446744073709551615"}, provider.Result{RequestID: "req_1", RetryAfter: time.Hour}},
		"RetryAfterDate_ByTheServersClock": {[]string{"Retry-After", "Mon, 02 Jan 2006 15:04:35 GMT", "Date", date},
			provider.Result{RequestID: "req_1", RetryAfter: 30 * time.Second}},
		"RetryAfterPastDate_None": {[]string{"Retry-After", "Mon, 02 Jan 2006 15:04:00 GMT", "Date", date}, provider.Result{RequestID: "req_1"}},
		"RetryAfterNegative_None": {[]string{"Retry-After", "-5"}, provider.Result{RequestID: "req_1"}},
		"RetryAfterNonsense_None": {[]string{"Retry-After", "soon"}, provider.Result{RequestID: "req_1"}},
		"RequestIDIsNoID_NotKept": {[]string{"Request-Id", "<script>"}, provider.Result{RequestID: "unreadable"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, says(503, refusal("api_error", ""), c.header...))
			got := doConfirm(t, adapter(t, s.URL))
			c.want.Outcome, c.want.HTTPStatus = provider.Unknown, 503
			require.Empty(t, cmp.Diff(c.want, got, cmpopts.IgnoreFields(provider.Result{}, "Err")))
		})
	}
}

func TestErrorText_SaysWhatSupportNeedsAndWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"Rejected": {says(400, refusal("invalid_request_error", "parameter_invalid_integer", object{"param": "metadata[order_id]"})),
			"stripe create, status 400, request req_1: invalid_request_error, parameter_invalid_integer, metadata[order_id]: the parameters were refused before execution"},
		"KeyReused": {says(400, refusal("idempotency_error", "")),
			"stripe create, status 400, request req_1: idempotency_error: the key was used before with other parameters, and what that call came to is not known"},
		"KeyInUse": {says(409, refusal("invalid_request_error", "idempotency_key_in_use")),
			"stripe create, status 409, request req_1: invalid_request_error, idempotency_key_in_use: an earlier request with this key is still being executed"},
		"ServerError": {says(500, refusal("api_error", "")),
			"stripe create, status 500, request req_1: api_error: it may have been executed, and the key would only repeat this answer"},
		"BadGateway": {says(502, refusal("api_error", "")),
			"stripe create, status 502, request req_1: api_error: the edge does not know whether execution began"},
		"Unavailable": {says(503, refusal("api_error", "")),
			"stripe create, status 503, request req_1: api_error: the edge does not know whether execution began"},
		"GatewayTimeout": {says(504, refusal("api_error", "")),
			"stripe create, status 504, request req_1: api_error: the edge does not know whether execution began"},
		"NotListed": {says(418, refusal("api_error", "")), "stripe create, status 418, request req_1: api_error: not in the table of refusals"},
		"NoCodes":   {says(418, refusal("", "")), "stripe create, status 418, request req_1: error without codes: not in the table of refusals"},
		"LongCode": {says(418, refusal(strings.Repeat("a", 101), "")),
			"stripe create, status 418, request req_1: unreadable: not in the table of refusals"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.EqualError(t, doCreate(t, adapter(t, serve(t, c.answer).URL)).Err, c.want)
		})
	}
}
