package stripe_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/provider"
	"payonce/provider/stripe"
)

func TestRequests_ExactlyWhatStripeGets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call func(*testing.T, *stripe.Stripe) provider.Result
		want arrival
		key  string
	}{
		"Create": {doCreate, arrival{Method: "POST", Path: "/v1/payment_intents", Body: "amount=1999&capture_method=automatic&currency=eur" +
			"&description=Order+ord_1&metadata[charge_id]=chg_1&metadata[order_id]=ord_1&payment_method_types[0]=card"}, "chg_1:create:1"},
		"CreateForLaterCaptureInYenWithoutDescription": {func(t *testing.T, s *stripe.Stripe) provider.Result {
			return s.CreateIntent(t.Context(), "k", provider.IntentParams{Amount: domain.Money{Amount: 500, Currency: domain.JPY}, CaptureMethod: domain.CaptureManual})
		}, arrival{Method: "POST", Path: "/v1/payment_intents", Body: "amount=500&capture_method=manual&currency=jpy&payment_method_types[0]=card"}, "k"},
		"Confirm": {doConfirm, arrival{Method: "POST", Path: "/v1/payment_intents/pi_1/confirm", Body: "payment_method=pm_card_visa"}, "chg_1:confirm:1"},
		"ConfirmWithReturnURL": {func(t *testing.T, s *stripe.Stripe) provider.Result {
			return s.ConfirmIntent(t.Context(), "k", reference, provider.ConfirmParams{PaymentMethod: "pm_1", ReturnURL: "https://shop.example/back?o=1"})
		}, arrival{Method: "POST", Path: "/v1/payment_intents/pi_1/confirm",
			Body: "payment_method=pm_1&return_url=https%3A%2F%2Fshop.example%2Fback%3Fo%3D1"}, "k"},
		"Cancel":      {doCancel, arrival{Method: "POST", Path: "/v1/payment_intents/pi_1/cancel", Body: "cancellation_reason=abandoned"}, "chg_1:cancel:1"},
		"Capture":     {doCapture, arrival{Method: "POST", Path: "/v1/payment_intents/pi_1/capture"}, "chg_1:capture:1"},
		"CapturePart": {capturing(500), arrival{Method: "POST", Path: "/v1/payment_intents/pi_1/capture", Body: "amount_to_capture=500"}, "chg_1:capture:1"},
		"LookUp":      {doLookUp, arrival{Method: "GET", Path: "/v1/payment_intents/pi_1", Query: "expand[0]=latest_charge"}, ""},
		"Refund": {doRefund, arrival{Method: "POST", Path: "/v1/refunds",
			Body: "amount=500&metadata[refund_id]=rfd_1&payment_intent=pi_1&reason=requested_by_customer"}, "rfd_1:1"},
		"RefundWithoutAReason": {func(t *testing.T, s *stripe.Stripe) provider.Result {
			return s.CreateRefund(t.Context(), "k", provider.RefundParams{Intent: reference, Amount: domain.Money{Amount: 1, Currency: domain.JPY}})
		}, arrival{Method: "POST", Path: "/v1/refunds", Body: "amount=1&payment_intent=pi_1"}, "k"},
		"LookUpOfARefund":  {doLookUpRefund, arrival{Method: "GET", Path: "/v1/refunds/re_1"}, ""},
		"LookUpOfADispute": {doLookUpDispute, arrival{Method: "GET", Path: "/v1/disputes/dp_1"}, ""},
		"List":             {doList, arrival{Method: "GET", Path: "/v1/payment_intents", Query: "limit=100"}, ""},
		"ListOfAWindowAfterAnObject": {func(t *testing.T, s *stripe.Stripe) provider.Result {
			_, result := s.ListEvents(t.Context(), provider.Query{After: "evt_1", Limit: 5, From: time.Unix(1000, 999).UTC(), To: time.Unix(2000, 1).UTC()})
			return result
		}, arrival{Method: "GET", Path: "/v1/events", Query: "created[gte]=1000&created[lt]=2001&limit=5&starting_after=evt_1"}, ""},
		"ListOfRefunds": {func(t *testing.T, s *stripe.Stripe) provider.Result {
			_, result := s.ListRefunds(t.Context(), reference, provider.Query{})
			return result
		}, arrival{Method: "GET", Path: "/v1/refunds", Query: "limit=100&payment_intent=pi_1"}, ""},
		"ListOfBalanceTransactions": {func(t *testing.T, s *stripe.Stripe) provider.Result {
			_, result := s.ListBalanceTransactions(t.Context(), "po_1", provider.Query{To: time.Unix(2000, 0)})
			return result
		}, arrival{Method: "GET", Path: "/v1/balance_transactions", Query: "created[lt]=2000&limit=100&payout=po_1"}, ""},
		"ListOfPayouts": {func(t *testing.T, s *stripe.Stripe) provider.Result {
			_, result := s.ListPayouts(t.Context(), provider.Query{})
			return result
		}, arrival{Method: "GET", Path: "/v1/payouts", Query: "limit=100"}, ""},
		"ListOfDisputes": {func(t *testing.T, s *stripe.Stripe) provider.Result {
			_, result := s.ListDisputes(t.Context(), provider.Query{})
			return result
		}, arrival{Method: "GET", Path: "/v1/disputes", Query: "limit=100"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, says(200, paid.json()))
			a := adapter(t, s.URL)
			c.call(t, a)
			c.call(t, a)
			got := s.seen()
			require.Len(t, got, 2)
			for _, arrived := range got {
				header := arrived.Header
				arrived.Header = nil
				require.Empty(t, cmp.Diff(c.want, arrived), "a repeated call is the same request, byte for byte")
				require.Equal(t, c.key, header.Get("Idempotency-Key"))
				require.Equal(t, "Bearer "+testKey, header.Get("Authorization"))
				require.Equal(t, "2024-06-20", header.Get("Stripe-Version"))
				require.Empty(t, header.Values("X-Stripe-Client-Telemetry"))
			}
		})
	}
}

func TestImpossibleCalls_RefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	with := func(change func(*provider.IntentParams)) provider.IntentParams {
		p := params()
		change(&p)
		return p
	}
	long := make([]byte, 256)
	for i := range long {
		long[i] = 'k'
	}
	s := serve(t, says(200, paid.json()))
	a := adapter(t, s.URL)
	confirmWith := provider.ConfirmParams{PaymentMethod: "pm_card_visa"}
	for name, got := range map[string]provider.Result{
		"create without key":         a.CreateIntent(t.Context(), "", params()),
		"create, blank key":          a.CreateIntent(t.Context(), " ", params()),
		"create, key with blank":     a.CreateIntent(t.Context(), "k ", params()),
		"create, key with line feed": a.CreateIntent(t.Context(), "k\nX: 1", params()),
		"create, key not ASCII":      a.CreateIntent(t.Context(), "ké", params()),
		"create, key too long":       a.CreateIntent(t.Context(), string(long), params()),
		"create, amount 0":           a.CreateIntent(t.Context(), "k", with(func(p *provider.IntentParams) { p.Amount.Amount = 0 })),
		"create, amount negative":    a.CreateIntent(t.Context(), "k", with(func(p *provider.IntentParams) { p.Amount.Amount = -1999 })),
		"create, currency unknown":   a.CreateIntent(t.Context(), "k", with(func(p *provider.IntentParams) { p.Amount.Currency = "XTS" })),
		"create, no currency":        a.CreateIntent(t.Context(), "k", with(func(p *provider.IntentParams) { p.Amount.Currency = "" })),
		"create, no capture method":  a.CreateIntent(t.Context(), "k", with(func(p *provider.IntentParams) { p.CaptureMethod = "" })),
		"confirm without key":        a.ConfirmIntent(t.Context(), "", reference, confirmWith),
		"confirm without reference":  a.ConfirmIntent(t.Context(), "k", "", confirmWith),
		"confirm, path in reference": a.ConfirmIntent(t.Context(), "k", "pi_1/cancel?", confirmWith),
		"confirm, dots as reference": a.ConfirmIntent(t.Context(), "k", "..", confirmWith),
		"confirm without method":     a.ConfirmIntent(t.Context(), "k", reference, provider.ConfirmParams{}),
		"cancel without key":         a.CancelIntent(t.Context(), "", reference),
		"cancel without reference":   a.CancelIntent(t.Context(), "k", ""),
		"look-up without reference":  a.Intent(t.Context(), ""),
		"capture without key":        a.CaptureIntent(t.Context(), "", reference, 0),
		"capture, amount negative":   a.CaptureIntent(t.Context(), "k", reference, -1),
		"capture without reference":  a.CaptureIntent(t.Context(), "k", "", 1),
		"refund without key":         a.CreateRefund(t.Context(), "", refundParams()),
		"refund without intent":      a.CreateRefund(t.Context(), "k", provider.RefundParams{Amount: refundParams().Amount}),
		"refund, path in intent":     a.CreateRefund(t.Context(), "k", provider.RefundParams{Intent: "pi/1", Amount: refundParams().Amount}),
		"refund, amount 0":           a.CreateRefund(t.Context(), "k", provider.RefundParams{Intent: reference, Amount: domain.Money{Currency: domain.EUR}}),
		"refund, currency unknown":   a.CreateRefund(t.Context(), "k", provider.RefundParams{Intent: reference, Amount: domain.Money{Amount: 1, Currency: "XTS"}}),
		"refund, reason unknown":     a.CreateRefund(t.Context(), "k", provider.RefundParams{Intent: reference, Amount: refundParams().Amount, Reason: "x"}),
		"look-up of no refund":       a.Refund(t.Context(), ""),
		"look-up of no dispute":      a.Dispute(t.Context(), ".."),
		"list after a path":          listed(a.ListIntents(t.Context(), provider.Query{After: "pi/1"})),
		"list, intent is a path":     listed(a.ListRefunds(t.Context(), "pi/1", provider.Query{})),
		"list, payout is a path":     listed(a.ListBalanceTransactions(t.Context(), "po/1", provider.Query{})),
		"list, page too large":       listed(a.ListEvents(t.Context(), provider.Query{Limit: 101})),
		"list, page negative":        listed(a.ListPayouts(t.Context(), provider.Query{Limit: -1})),
	} {
		require.Equal(t, provider.NotSent, got.Outcome, name)
		require.False(t, got.Repeatable, name)
		require.Error(t, got.Err, name)
	}
	require.Empty(t, s.seen())
}

func listed(_ any, result provider.Result) provider.Result { return result }

func TestOptions(t *testing.T) {
	t.Parallel()
	const live = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"
	for name, c := range map[string]struct {
		options stripe.Options
		wrong   string
	}{
		"TestKey":                     {stripe.Options{SecretKey: testKey}, ""},
		"RestrictedTestKey":           {stripe.Options{SecretKey: "rk_test_1"}, ""},
		"LiveKeyToStripe":             {stripe.Options{SecretKey: live}, ""},
		"LiveKeyToStripeByName":       {stripe.Options{SecretKey: live, BaseURL: "https://api.stripe.com/"}, ""},
		"LiveKeyElsewhere_Refused":    {stripe.Options{SecretKey: live, BaseURL: "https://api.stripe.com.example"}, "live key"},
		"LiveKeyToASimulator_Refused": {stripe.Options{SecretKey: live, BaseURL: "http://127.0.0.1:1"}, "live key"},
		"RestrictedLiveKey_Refused":   {stripe.Options{SecretKey: "rk_live_1", BaseURL: "https://sim.example"}, "live key"},
		"NoKey_Refused":               {stripe.Options{}, "empty"},
		"PublishableKey_Refused":      {stripe.Options{SecretKey: "pk_test_1"}, "begin with"},
		"KeyWithLineFeed_Refused":     {stripe.Options{SecretKey: testKey + "\n"}, "printable"},
		"LoopbackByAddress":           {stripe.Options{SecretKey: testKey, BaseURL: "http://127.0.0.1:12111"}, ""},
		"LoopbackByVersion6":          {stripe.Options{SecretKey: testKey, BaseURL: "http://[::1]:12111/scn/one"}, ""},
		"LoopbackByName":              {stripe.Options{SecretKey: testKey, BaseURL: "http://localhost:12111"}, ""},
		"PlainHTTPElsewhere_Refused":  {stripe.Options{SecretKey: testKey, BaseURL: "http://api.stripe.com"}, "https"},
		"LooksLikeLoopback_Refused":   {stripe.Options{SecretKey: testKey, BaseURL: "http://127.0.0.1.example"}, "https"},
		"AnotherScheme_Refused":       {stripe.Options{SecretKey: testKey, BaseURL: "ftp://127.0.0.1"}, "https"},
		"NoScheme_Refused":            {stripe.Options{SecretKey: testKey, BaseURL: "api.stripe.com"}, "scheme, host"},
		"NoHost_Refused":              {stripe.Options{SecretKey: testKey, BaseURL: "https:///v1"}, "scheme, host"},
		"UserInURL_Refused":           {stripe.Options{SecretKey: testKey, BaseURL: "https://u:p@sim.example"}, "scheme, host"},
		"QueryInURL_Refused":          {stripe.Options{SecretKey: testKey, BaseURL: "https://sim.example?x=1"}, "scheme, host"},
		"NotAURL_Refused":             {stripe.Options{SecretKey: testKey, BaseURL: "https://a b"}, "not a URL"},
		"NegativeTimeout_Refused":     {stripe.Options{SecretKey: testKey, Timeout: -1}, "negative"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := stripe.New(c.options)
			if c.wrong == "" {
				require.NoError(t, err)
				require.Equal(t, "stripe", s.Name())
				return
			}
			require.ErrorContains(t, err, c.wrong)
			require.NotContains(t, err.Error(), "1zdp7dc")
		})
	}
}

func TestBaseURLWithAPath_KeptInFrontOfV1(t *testing.T) {
	t.Parallel()
	s := serve(t, says(200, paid.json()))
	require.Equal(t, provider.Succeeded, doLookUp(t, adapter(t, s.URL+"/scn/one/")).Outcome)
	require.Equal(t, "/scn/one/v1/payment_intents/pi_1", s.seen()[0].Path)
}

func TestLiveKey_AnswersMustBeLive(t *testing.T) {
	t.Parallel()
	for live, want := range map[bool]provider.Outcome{true: provider.Succeeded, false: provider.Unknown} {
		// The request that was meant for Stripe is carried to the test server.
		s := serve(t, says(200, paid.with(object{"livemode": live}).json()))
		a := adapter(t, "", func(o *stripe.Options) { o.SecretKey, o.Transport = "sk_live_1", redirected{s.URL} })
		require.Equal(t, want, doConfirm(t, a).Outcome)
	}
}

// redirected carries every request to a test server.
type redirected struct{ url string }

func (r redirected) RoundTrip(req *http.Request) (*http.Response, error) {
	there, err := http.NewRequestWithContext(req.Context(), req.Method, r.url+req.URL.Path, req.Body)
	if err != nil {
		return nil, err
	}
	there.Header = req.Header
	return (&http.Transport{DisableKeepAlives: true}).RoundTrip(there)
}
