package stripe_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"payonce/provider"
)

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
