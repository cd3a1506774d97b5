package domain_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/domain"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestMoney_NeverWrapsAround(t *testing.T) {
	t.Parallel()
	_, ok := domain.Multiply(math.MaxInt64/2, 3)
	require.False(t, ok)
	_, ok = domain.Add(math.MaxInt64, 1)
	require.False(t, ok)
	_, ok = domain.Multiply(-1, 3)
	require.False(t, ok, "a negative factor is no quantity")
	product, ok := domain.Multiply(domain.MaxAmount, domain.MaxQuantity)
	require.True(t, ok)
	require.Equal(t, int64(999_999_990_000), product)
}

func TestCurrencies(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		situation string
		currency  domain.Currency
		total     int64
		allowed   bool
	}{
		{"the smallest charge in euros", domain.EUR, 50, true},
		{"below the smallest charge in euros", domain.EUR, 49, false},
		{"the smallest charge in pounds", domain.GBP, 30, true},
		{"yen have no decimals", domain.JPY, 50, true},
		{"dinars end in 0", domain.KWD, 1500, true},
		{"dinars that do not", domain.KWD, 1505, false},
		{"eight digits", domain.USD, 99_999_999, true},
		{"nine digits", domain.USD, 100_000_000, false},
	} {
		t.Run(row.situation, func(t *testing.T) {
			t.Parallel()
			rule, ok := row.currency.Rule()
			require.True(t, ok)
			require.Equal(t, row.allowed, rule.CheckTotal(row.total) == "")
		})
	}
	_, ok := domain.ParseCurrency("eur")
	require.True(t, ok, "case does not matter")
	_, ok = domain.ParseCurrency("XXX")
	require.False(t, ok)
}

func TestOrderSum(t *testing.T) {
	t.Parallel()
	order, ok := domain.Order{Shipping: 490, Tax: 10, Discount: 500, Items: []domain.OrderItem{
		{UnitAmount: 1999, Quantity: 2}, {UnitAmount: 1, Quantity: 3}}}.Sum()
	require.True(t, ok)
	require.Equal(t, int64(4001), order.Subtotal)
	require.Equal(t, int64(4001), order.Total)

	_, ok = domain.Order{Items: []domain.OrderItem{{UnitAmount: math.MaxInt64, Quantity: 2}}}.Sum()
	require.False(t, ok)
	_, ok = domain.Order{Discount: 2, Items: []domain.OrderItem{{UnitAmount: 1, Quantity: 1}}}.Sum()
	require.False(t, ok, "a discount cannot make the shop pay")
}

func TestOrderPayable(t *testing.T) {
	t.Parallel()
	open := domain.Order{Status: domain.OrderPendingPayment, ExpiresAt: noon}
	require.NoError(t, open.Payable(noon.Add(-time.Second)))
	require.Equal(t, domain.CodeOrderNotPayable, domain.CodeOf(open.Payable(noon)), "an order expires at its time, also when no loop has said so yet")
	paid, err := open.Pay("chg_1", 100, noon)
	require.NoError(t, err)
	require.Equal(t, domain.CodeOrderAlreadyPaid, domain.CodeOf(paid.Payable(noon.Add(-time.Hour))))
	_, err = paid.Pay("chg_2", 100, noon)
	require.Error(t, err, "an order is paid once")
}

func TestChargeMoves_OnlyForwardAndFinalStaysFinal(t *testing.T) {
	t.Parallel()
	for i, from := range domain.ChargeStatuses() {
		for j, to := range domain.ChargeStatuses() {
			want := !from.Final() && (j > i)
			require.Equal(t, want, from.CanBecome(to), "%s to %s", from, to)
			_, err := domain.Charge{Status: from}.Move(to, domain.ByResponse, noon)
			require.Equal(t, want, err == nil, "%s to %s", from, to)
		}
	}
}

func TestChargeMove_SaysWhoProvedIt(t *testing.T) {
	t.Parallel()
	c, err := domain.Charge{Status: domain.ChargeUnknown}.Move(domain.ChargeSucceeded, domain.ByReconciliation, noon)
	require.NoError(t, err)
	require.Equal(t, domain.ByReconciliation, *c.ResolvedBy)
	c, err = domain.Charge{Status: domain.ChargeCreated}.Move(domain.ChargeUnknown, domain.ByResponse, noon)
	require.NoError(t, err)
	require.Nil(t, c.ResolvedBy, "nothing is proved yet")
}

func TestBuyerMessage_NeverTellsAThief(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"lost_card", "stolen_card", "fraudulent", "pickup_card", "generic_decline", "something_new"} {
		require.Equal(t, "The card was declined. Please use another card.", domain.BuyerMessage("card_declined", reason))
	}
}

func TestRoles(t *testing.T) {
	t.Parallel()
	require.True(t, domain.RoleOperator.Includes(domain.RoleWrite))
	require.True(t, domain.RoleWrite.Includes(domain.RoleRead))
	require.False(t, domain.RoleRead.Includes(domain.RoleWrite))
	require.False(t, domain.Role("root").Includes(domain.RoleRead))
	require.False(t, domain.RoleOperator.Includes("nothing"))
}

func TestCodeOf_UnknownErrorsAreInternal(t *testing.T) {
	t.Parallel()
	require.Equal(t, domain.CodeInternal, domain.CodeOf(errors.New("pq: password is hunter2")))
	require.Equal(t, domain.CodeOutOfStock, domain.CodeOf(fmt.Errorf("place order: %w", domain.E(domain.CodeOutOfStock, nil, "none left"))))
	require.Empty(t, domain.CodeOf(nil))
}

func TestObjects_CarryTheirName(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]any{
		"product": domain.Product{ID: "prd_1"}, "cart": domain.Cart{ID: "cart_1"}, "order": domain.Order{ID: "ord_1"}, "charge": domain.Charge{ID: "chg_1"},
	} {
		body, err := json.Marshal(v)
		require.NoError(t, err)
		var members map[string]any
		require.NoError(t, json.Unmarshal(body, &members))
		require.Equal(t, name, members["object"])
		require.NotEmpty(t, members["id"])
	}
}
