package stripe_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/provider"
	"payonce/provider/stripe"
)

// page is a list as Stripe shows it.
func page(more bool, data ...object) object {
	if data == nil {
		data = []object{}
	}
	return object{"object": "list", "url": "/v1/x", "has_more": more, "data": data}
}

// created is when the n-th object of a test was created.
func created(n int64) object { return object{"created": 1700000000 + n} }

func TestListAnswers(t *testing.T) {
	t.Parallel()
	at := func(n int64) time.Time { return time.Unix(1700000000+n, 0) }
	one, two := intent("processing", created(9)), intent("succeeded", object{"id": "pi_2"}, created(8))
	for name, c := range map[string]struct {
		q      provider.Query
		answer string
		want   provider.Outcome
		items  int
		next   string // "" for the last page
	}{
		"MoreFollows_TheLastOneIsTheCursor":  {provider.Query{}, page(true, one, two).json(), provider.Succeeded, 2, "pi_2"},
		"NothingFollows_Last":                {provider.Query{}, page(false, one).json(), provider.Succeeded, 1, ""},
		"NothingThere_Last":                  {provider.Query{}, page(false).json(), provider.Succeeded, 0, ""},
		"EmptyButMoreFollows_Unknown":        {provider.Query{}, page(true).json(), provider.Unknown, 0, ""},
		"CursorIsRepeated_Unknown":           {provider.Query{After: "pi_2"}, page(true, one, two).json(), provider.Unknown, 0, ""},
		"NoList_Unknown":                     {provider.Query{}, one.json(), provider.Unknown, 0, ""},
		"ResultOfASearch_Unknown":            {provider.Query{}, page(false, one).with(object{"object": "search_result"}).json(), provider.Unknown, 0, ""},
		"ListWithoutData_Unknown":            {provider.Query{}, object{"object": "list", "has_more": false}.json(), provider.Unknown, 0, ""},
		"ErrorWithStatus200_Unknown":         {provider.Query{}, refusal("api_error", ""), provider.Unknown, 0, ""},
		"EmptyObject_Unknown":                {provider.Query{}, `{}`, provider.Unknown, 0, ""},
		"CutCleanly_Unknown":                 {provider.Query{}, page(false, one, two).json()[:300], provider.Unknown, 0, ""},
		"NullInside_Unknown":                 {provider.Query{}, `{"object":"list","has_more":false,"data":[null]}`, provider.Unknown, 0, ""},
		"AnotherKindOfObjectInside_Unknown":  {provider.Query{}, page(false, one.with(object{"object": "charge"})).json(), provider.Unknown, 0, ""},
		"ObjectWithoutAnID_Unknown":          {provider.Query{}, page(false, one.with(object{"id": ""})).json(), provider.Unknown, 0, ""},
		"ObjectWithAnIDThatIsNone_Unknown":   {provider.Query{}, page(true, one.with(object{"id": "pi/1"})).json(), provider.Unknown, 0, ""},
		"LiveOneForATestKey_Unknown":         {provider.Query{}, page(false, one, two.with(object{"livemode": true})).json(), provider.Unknown, 0, ""},
		"AmountAsText_Unknown":               {provider.Query{}, page(false, one.with(object{"amount": "1"})).json(), provider.Unknown, 0, ""},
		"BeforeTheWindow_Unknown":            {provider.Query{From: at(9)}, page(false, one, two).json(), provider.Unknown, 0, ""},
		"AtTheEndOfTheWindow_Unknown":        {provider.Query{To: at(9)}, page(false, one).json(), provider.Unknown, 0, ""},
		"InTheWindow_Succeeded":              {provider.Query{From: at(8), To: at(10)}, page(false, one, two).json(), provider.Succeeded, 2, ""},
		"InAPartOfASecondOfTheWindow_Shown":  {provider.Query{From: at(8).Add(999), To: at(9).Add(1)}, page(false, one, two).json(), provider.Succeeded, 2, ""},
		"StateAndCurrencyUnknown_StillShown": {provider.Query{}, page(false, one.with(object{"status": "new", "currency": "sek"})).json(), provider.Succeeded, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, result := adapter(t, serve(t, says(200, c.answer)).URL).ListIntents(t.Context(), c.q)
			require.Equal(t, c.want, result.Outcome, "%v", result.Err)
			require.Len(t, got.Items, c.items)
			require.Equal(t, c.next, got.Next)
			require.Equal(t, c.want == provider.Succeeded && c.next == "", got.Last)
			require.Equal(t, c.want == provider.Unknown, result.Err != nil)
			require.NotContains(t, fmt.Sprint(got, result), private)
		})
	}
}

func TestListedIntent_OfAKindThatWeDoNotSell_ShownAsItIs(t *testing.T) {
	t.Parallel()
	foreign := intent("new", object{"currency": "sek", "metadata": object{}}, created(0))
	nonsense := intent("processing", object{"id": "pi_2", "currency": private}, created(0))
	longer := intent("processing", object{"id": "pi_3", "currency": "euro"}, created(0))
	got, result := adapter(t, serve(t, says(200, page(false, foreign, nonsense, longer).json())).URL).ListIntents(t.Context(), provider.Query{})
	require.Equal(t, provider.Succeeded, result.Outcome, "%v", result.Err)
	require.Equal(t, provider.Intent{
		Reference: reference, Amount: domain.Money{Amount: 1999, Currency: "SEK"}, Metadata: map[string]string{}, Created: time.Unix(1700000000, 0).UTC(),
	}, got.Items[0])
	require.Equal(t, domain.Money{Amount: 1999}, got.Items[1].Amount)
	require.Equal(t, domain.Money{Amount: 1999}, got.Items[2].Amount)
}

func TestListOfOneIntentsRefunds_AnothersAmongThem_Unknown(t *testing.T) {
	t.Parallel()
	s := serve(t, says(200, page(false, given("succeeded"), given("failed", object{"id": "re_2", "payment_intent": "pi_2"})).json()))
	a := adapter(t, s.URL)
	list, result := a.ListRefunds(t.Context(), reference, provider.Query{})
	require.Equal(t, provider.Unknown, result.Outcome)
	require.Zero(t, list)
	list, result = a.ListRefunds(t.Context(), "", provider.Query{})
	require.Equal(t, provider.Succeeded, result.Outcome)
	require.Len(t, list.Items, 2)
}

func TestLedgerAnswers(t *testing.T) {
	t.Parallel()
	eur := func(amount int64) domain.Money { return domain.Money{Amount: amount, Currency: domain.EUR} }
	movement := func(category string, changes object) object {
		return object{"id": "txn_1", "object": "balance_transaction", "amount": -500, "fee": 25, "net": -525, "currency": "eur", "reporting_category": category,
			"source": "re_1", "created": 1700000000, "available_on": 1700604800, "type": "refund", "status": "available"}.with(changes)
	}
	want := provider.BalanceTransaction{Reference: "txn_1", Amount: eur(-500), Fee: eur(25), Net: eur(-525), Source: "re_1",
		Created: time.Unix(1700000000, 0).UTC(), AvailableOn: time.Unix(1700604800, 0).UTC()}
	for category, kind := range map[string]provider.EntryKind{
		"charge": provider.EntryCharge, "refund": provider.EntryRefund, "refund_failure": provider.EntryRefundFailure, "dispute": provider.EntryDispute,
		"dispute_reversal": provider.EntryDisputeReversal, "payout": provider.EntryPayout, "payout_reversal": provider.EntryPayoutReversal,
		"fee": provider.EntryFee, "tax": provider.EntryOther, "": provider.EntryOther,
	} {
		s := serve(t, says(200, page(false, movement(category, nil), movement(category, object{"id": "txn_2", "source": nil})).json()))
		got, result := adapter(t, s.URL).ListBalanceTransactions(t.Context(), "", provider.Query{})
		require.Equal(t, provider.Succeeded, result.Outcome, "%v", result.Err)
		want.Kind, want.Category = kind, category
		require.Equal(t, want, got.Items[0])
		require.Empty(t, got.Items[1].Source)
	}
	payout := object{"id": "po_1", "object": "payout", "amount": 1939, "currency": "eur", "status": "failed", "automatic": true, "livemode": false,
		"balance_transaction": "txn_3", "reconciliation_status": "completed", "failure_code": "account_closed", "created": 1700000000, "arrival_date": 1700604800}
	for name, c := range map[string]struct {
		changes object
		want    func(*provider.Payout)
	}{
		"Failed":  {nil, func(p *provider.Payout) { p.Failure = &provider.Failure{Code: "account_closed"} }},
		"Paid":    {object{"status": "paid"}, func(p *provider.Payout) { p.Status = provider.PayoutPaid }},
		"Pending": {object{"status": "pending"}, func(p *provider.Payout) { p.Status = provider.PayoutPending }},
		"OnItsWayAndNotItemised": {object{"status": "in_transit", "reconciliation_status": "in_progress"},
			func(p *provider.Payout) { p.Status, p.Itemised = provider.PayoutInTransit, false }},
		"ByHandAndCanceled": {object{"status": "canceled", "automatic": false, "reconciliation_status": "not_applicable", "balance_transaction": nil},
			func(p *provider.Payout) {
				p.Status, p.Automatic, p.Itemised, p.Entry = provider.PayoutCanceled, false, false, ""
			}},
		"UnknownState": {object{"status": "sunk"}, func(p *provider.Payout) { p.Status = "" }},
	} {
		want := provider.Payout{Reference: "po_1", Status: provider.PayoutFailed, Amount: eur(1939), Itemised: true, Automatic: true, Entry: "txn_3",
			Created: time.Unix(1700000000, 0).UTC(), ArrivalDate: time.Unix(1700604800, 0).UTC()}
		c.want(&want)
		got, result := adapter(t, serve(t, says(200, page(false, payout.with(c.changes)).json())).URL).ListPayouts(t.Context(), provider.Query{})
		require.Equal(t, provider.Succeeded, result.Outcome, "%s: %v", name, result.Err)
		require.Equal(t, want, got.Items[0], name)
	}
}

func TestLists_OfSomethingElseOrOfTheOtherMode_Unknown(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(*stripe.Stripe) provider.Result{
		"refunds": func(s *stripe.Stripe) provider.Result {
			return listed(s.ListRefunds(t.Context(), "", provider.Query{}))
		},
		"entries": func(s *stripe.Stripe) provider.Result {
			return listed(s.ListBalanceTransactions(t.Context(), "", provider.Query{}))
		},
		"payouts":  func(s *stripe.Stripe) provider.Result { return listed(s.ListPayouts(t.Context(), provider.Query{})) },
		"disputes": func(s *stripe.Stripe) provider.Result { return listed(s.ListDisputes(t.Context(), provider.Query{})) },
		"events":   func(s *stripe.Stripe) provider.Result { return listed(s.ListEvents(t.Context(), provider.Query{})) },
	} {
		kind := map[string]string{"payouts": "payout", "disputes": "dispute", "events": "event"}[name]
		answers := map[string]string{"other": page(false, paid).json(), "null": `{"object":"list","data":[null]}`}
		if kind != "" {
			answers["live"] = page(false, object{"id": "x_1", "object": kind, "type": "x", "livemode": true}).json()
			require.Equal(t, provider.Succeeded, read(adapter(t, serve(t, says(200, page(false, object{"id": "x_1", "object": kind, "type": "x"}).json())).URL)).Outcome, name)
		}
		for situation, answer := range answers {
			require.Equal(t, provider.Unknown, read(adapter(t, serve(t, says(200, answer)).URL)).Outcome, "%s: %s", name, situation)
		}
	}
}

// A page may be larger than any one object, but not without end.
func TestListBody_LargeIsReadAndHugeIsNot(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]provider.Outcome{4 << 20: provider.Succeeded, 9 << 20: provider.Unknown} {
		body := page(false, paid.with(object{"x": strings.Repeat("x", size)})).json()
		require.Equal(t, want, doList(t, adapter(t, serve(t, says(200, body)).URL)).Outcome)
	}
}

// endless is a server whose list of refunds always says that more follows.
func endless(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Query().Get("starting_after"), "re_"))
	says(200, page(true, given("succeeded", object{"id": "re_" + strconv.Itoa(n+1)})).json())(w, r)
}

func TestRefundsOf_AllOrNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, endless)
	refunds, result := provider.RefundsOf(t.Context(), adapter(t, s.URL), reference)
	require.Equal(t, provider.Unknown, result.Outcome)
	require.ErrorContains(t, result.Err, "does not end")
	require.Empty(t, refunds)
	require.Len(t, s.seen(), 10)

	broken := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("starting_after") == "re_2" {
			says(500, refusal("api_error", ""))(w, r)
			return
		}
		endless(w, r)
	})
	refunds, result = provider.RefundsOf(t.Context(), adapter(t, broken.URL), reference)
	require.Equal(t, provider.Unknown, result.Outcome)
	require.Equal(t, 500, result.HTTPStatus)
	require.Empty(t, refunds, "half a list would make the other half again")
}
