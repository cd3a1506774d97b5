package simulator_test

import (
	"net/url"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"

	"payonce/simulator"
)

func (b *bench) found(query string, more ...string) reply {
	b.t.Helper()
	path := "/v1/payment_intents/search?query=" + url.QueryEscape(query)
	for _, pair := range more {
		path += "&" + pair
	}
	return b.get(path)
}

func TestSearch_NeverSeesWhatWasJustWritten(t *testing.T) {
	t.Parallel()
	b := start(t)
	id := b.intent()
	ids := func(query string) []string {
		data, _ := b.found(query).at("data").([]any)
		return idsOf(data)
	}
	require.Empty(t, ids("amount:1250"), "a list would show it")
	b.passes("9s")
	require.Empty(t, ids("amount:1250"))
	b.passes("1s")
	require.Equal(t, []string{id}, ids("amount:1250"))

	b.post("k", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa")
	require.Equal(t, []string{id}, ids("status:'requires_payment_method'"), "it still finds the past")
	require.Empty(t, ids("status:'succeeded'"))
	data, _ := b.found("amount:1250").at("data").([]any)
	require.Equal(t, "requires_payment_method", reply{body: data[0].(map[string]any)}.at("status"))
	b.passes("10s")
	require.Equal(t, []string{id}, ids("status:'succeeded'"))
	require.Empty(t, ids("status:'requires_payment_method'"))
}

func TestSearch_LagsTheSameAfterARestart(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "sim.jsonl")
	b := startWith(t, simulator.Options{Seed: 1, Data: data})
	id := b.intent()
	b.passes("10s")
	b.post("k", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa")
	for range 2 {
		b = b.restart(data)
		require.Len(t, b.found("status:'requires_payment_method'").at("data"), 1)
	}
	b.passes("10s")
	require.Len(t, b.found("status:'succeeded'").at("data"), 1)
}

func TestSearchQueries(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.control("/clock", `{"freeze":true}`)
	owner := b.customer()
	names := map[string]string{}
	for _, form := range []struct{ name, pairs string }{
		{"small", "amount=100&currency=eur&metadata[order_id]=o1&metadata[it's]=quoted"},
		{"large", "amount=5000&currency=eur&metadata[order_id]=o2&customer=" + owner},
		{"dollars", "amount=5000&currency=usd&metadata[order_id]=O3&payment_method=pm_card_visa"},
	} {
		names[b.send("POST", "/v1/payment_intents", form.pairs+"&payment_method_types[]=card").id()] = form.name
		b.passes("1s")
	}
	b.passes("10s")
	for query, want := range map[string][]string{
		"amount:5000":                                {"dollars", "large"},
		"amount>100":                                 {"dollars", "large"},
		"amount>=100":                                {"dollars", "large", "small"},
		"amount<5000":                                {"small"},
		"amount<=100":                                {"small"},
		`amount:"100"`:                               {"small"},
		"created>1740830400":                         {"dollars", "large"},
		"created:1740830400":                         {"small"},
		"currency:'EUR'":                             {"large", "small"},
		"currency:'usd' amount:5000":                 {"dollars"},
		"amount:5000 AND currency:'usd'":             {"dollars"},
		"amount:100 OR currency:'usd'":               {"dollars", "small"},
		"amount:100 or amount:5000":                  {"dollars", "large", "small"},
		"-currency:'usd'":                            {"large", "small"},
		"metadata['order_id']:'o2'":                  {"large"},
		`metadata["order_id"]:"o3"`:                  {"dollars"},
		`metadata['it\'s']:"quoted"`:                 {"small"},
		"-metadata['it\\'s']:null":                   {"small"},
		"metadata['it\\'s']:null":                    {"dollars", "large"},
		"customer:'" + owner + "'":                   {"large"},
		"customer:null":                              {"dollars", "small"},
		"status:'requires_confirmation'":             {"dollars"},
		"status:'succeeded'":                         nil,
		"metadata['nothing']:''":                     nil,
		"  amount:100  ":                             {"small"},
		"amount>100 AND -currency:'usd' amount<9999": {"large"},
	} {
		r := b.found(query)
		require.Equal(t, 200, r.status, query)
		data, _ := r.at("data").([]any)
		var got []string
		for _, id := range idsOf(data) {
			got = append(got, names[id])
		}
		require.Equal(t, want, got, query)
	}
}

func TestSearchesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	b := start(t)
	for _, query := range []string{
		" ", "amount", "amount:", "amount:'x'", "amount:1.5", "colour:'red'", "status:succeeded", "status>'a'", "status~'suc'",
		"metadata:'x'", "metadata[order_id]:'x'", "metadata['order_id':'x'", "metadata['order_id]:'x'", "status:'open", ":1",
		"amount:1 AND amount:2 OR amount:3", "amount:1 OR amount:2 amount:3", "(amount:1)", "-", "amount:1 AND", "amount!1",
	} {
		r := b.found(query)
		require.Equal(t, []any{400, "invalid_request_error", "query"}, []any{r.status, r.at("error", "type"), r.at("error", "param")}, query)
	}
	require.Equal(t, "parameter_missing", b.get("/v1/payment_intents/search").at("error", "code"))
	require.Equal(t, "starting_after", b.found("amount:1", "starting_after=pi_1").at("error", "param"))
}

func TestSearchPages_MeetAtTheirEdges(t *testing.T) {
	t.Parallel()
	b := start(t)
	want := b.five()
	b.passes("10s")
	var got []string
	page := []string{"limit=2"}
	for {
		r := b.found("amount:1250", page...)
		require.Equal(t, "search_result", r.at("object"))
		data, _ := r.at("data").([]any)
		require.NotEmpty(t, data)
		got = append(got, idsOf(data)...)
		if r.at("has_more") == false {
			require.Nil(t, r.at("next_page"))
			break
		}
		next, _ := r.at("next_page").(string)
		page = []string{"limit=2", "page=" + next}
	}
	require.Equal(t, []string{want[4], want[3], want[2], want[1], want[0]}, got)

	first := b.found("amount:1250", "limit=2")
	next, _ := first.at("next_page").(string)
	require.Equal(t, "page", b.found("amount:1251", "page="+next).at("error", "param"), "a page belongs to its query")
	require.Equal(t, "page", b.found("amount:1250", "page=x").at("error", "param"))

	p := &stripe.PaymentIntentSearchParams{SearchParams: stripe.SearchParams{Query: "amount:1250", Limit: stripe.Int64(2)}}
	it := b.stripe.PaymentIntents.Search(p)
	n := 0
	for ; it.Next(); n++ {
		require.EqualValues(t, 1250, it.PaymentIntent().Amount)
	}
	require.NoError(t, it.Err())
	require.Equal(t, 5, n)
}
