package simulator_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"
)

// five creates five intents, one virtual second apart, oldest first.
func (b *bench) five() []string {
	b.t.Helper()
	b.control("/clock", `{"freeze":true}`)
	var ids []string
	for range 5 {
		ids = append(ids, b.intent())
		b.control("/clock", `{"advance":"1s"}`)
	}
	return ids
}

func (b *bench) listed(query string) (ids []string, more any) {
	b.t.Helper()
	r := b.get("/v1/payment_intents?" + query)
	require.Equal(b.t, 200, r.status, r.text)
	data, _ := r.at("data").([]any)
	for _, item := range data {
		id, _ := reply{body: item.(map[string]any)}.at("id").(string)
		ids = append(ids, id)
	}
	return ids, r.at("has_more")
}

func TestPages_AreNewestFirstAndMeetAtTheirEdges(t *testing.T) {
	t.Parallel()
	b := start(t)
	i := b.five()
	for _, c := range []struct {
		query string
		ids   []string
		more  bool
	}{
		{"", []string{i[4], i[3], i[2], i[1], i[0]}, false},
		{"limit=2", []string{i[4], i[3]}, true},
		{"limit=2&starting_after=" + i[3], []string{i[2], i[1]}, true},
		{"limit=2&starting_after=" + i[1], []string{i[0]}, false},
		{"limit=2&starting_after=" + i[0], nil, false},
		{"limit=5", []string{i[4], i[3], i[2], i[1], i[0]}, false},
		{"limit=2&ending_before=" + i[0], []string{i[2], i[1]}, true},
		{"limit=2&ending_before=" + i[2], []string{i[4], i[3]}, false},
		{"ending_before=" + i[4], nil, false},
		{fmt.Sprint("created=", noon.Unix()+2), []string{i[2]}, false},
		{fmt.Sprint("created[gt]=", noon.Unix()+2), []string{i[4], i[3]}, false},
		{fmt.Sprint("created[gte]=", noon.Unix()+2), []string{i[4], i[3], i[2]}, false},
		{fmt.Sprint("created[lt]=", noon.Unix()+2), []string{i[1], i[0]}, false},
		{fmt.Sprint("created[lte]=", noon.Unix()+2, "&limit=1"), []string{i[2]}, true},
		{fmt.Sprint("created[gte]=", noon.Unix()+1, "&created[lt]=", noon.Unix()+3, "&limit=2"), []string{i[2], i[1]}, false},
		{fmt.Sprint("created[gt]=", noon.Unix()+9), nil, false},
	} {
		ids, more := b.listed(c.query)
		require.Equal(t, c.ids, ids, c.query)
		require.Equal(t, c.more, more, c.query)
	}
}

func TestClientsIterator_SeesEveryObjectOnce(t *testing.T) {
	t.Parallel()
	b := start(t)
	want := b.five()
	p := &stripe.PaymentIntentListParams{CreatedRange: &stripe.RangeQueryParams{GreaterThanOrEqual: noon.Unix()}}
	p.Limit = stripe.Int64(2)
	p.AddExpand("data.latest_charge")
	var got []string
	it := b.stripe.PaymentIntents.List(p)
	for it.Next() {
		got = append([]string{it.PaymentIntent().ID}, got...)
	}
	require.NoError(t, it.Err())
	require.Equal(t, want, got)
}

func TestNewObjects_DoNotShiftLaterPages(t *testing.T) {
	t.Parallel()
	b := start(t)
	i := b.five()
	first, _ := b.listed("limit=2")
	b.intent()
	second, _ := b.listed("limit=2&starting_after=" + first[1])
	require.Equal(t, []string{i[2], i[1]}, second)
}

func TestChargesOfOneIntent(t *testing.T) {
	t.Parallel()
	b := start(t)
	paid, other := b.intentIn("succeeded"), b.intentIn("succeeded")
	it := b.stripe.Charges.List(&stripe.ChargeListParams{PaymentIntent: stripe.String(paid)})
	require.True(t, it.Next())
	require.Equal(t, paid, it.Charge().PaymentIntent.ID)
	require.False(t, it.Next())
	require.Len(t, b.get("/v1/charges").at("data"), 2)
	require.NotEqual(t, paid, other)

	r := b.get("/v1/charges?expand[]=data.payment_intent&payment_intent=" + paid)
	ch, _ := r.at("data").([]any)[0].(map[string]any)
	require.Equal(t, "succeeded", reply{body: ch}.at("payment_intent", "status"))
}

func TestPaymentMethod_ResolvesByTokenAndById(t *testing.T) {
	t.Parallel()
	b := start(t)
	byToken, err := b.stripe.PaymentMethods.Get("pm_card_amex", nil)
	require.NoError(t, err)
	require.Equal(t, stripe.PaymentMethodCardBrandAmex, byToken.Card.Brand)
	byID, err := b.stripe.PaymentMethods.Get(byToken.ID, nil)
	require.NoError(t, err)
	require.Equal(t, byToken.Card, byID.Card)

	pi, err := b.stripe.PaymentIntents.Confirm(b.intent(), confirmParams(byToken.ID))
	require.NoError(t, err)
	require.Equal(t, byToken.ID, pi.PaymentMethod.ID, "a real payment method keeps its id")
}
