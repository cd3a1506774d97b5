package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPay_OrderAndChargeUnderOneKey(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	b := newBuyer(t, api)
	b.put("prd_mug")
	b.put("prd_mug")
	pay := b.get("/checkout").form("/checkout").fill("email", " ada@example.com ").fill("name", "Ada")
	page := pay.press()

	page.says("Paid. Thank you.", "39,98 €", "Visa", "a•••@example.com", "pi_of_chg_", "the bank's direct answer")
	require.NotContains(t, page.body, "ada@example.com")
	key := pay.values.Get("key")
	require.Len(t, api.ordersSent(), 1)
	require.Len(t, api.chargesSent(), 1)
	order, charge := api.ordersSent()[0], api.chargesSent()[0]
	require.Equal(t, key, order.Key)
	require.JSONEq(t, `{"cart_id":"`+pay.values.Get("cart_id")+`","currency":"EUR","customer":{"email":"ada@example.com","name":"Ada"},"expected_total":3998}`, order.Body)
	require.Equal(t, key, charge.Key)
	require.Equal(t, "wait=5", charge.Prefer)
	require.JSONEq(t, `{"payment_method":"pm_card_visa","return_url":"`+site+page.path+`/return"}`, charge.Body)
}

func TestPayPressedAgain_OnePayment(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	pay := newBuyer(t, api).toCheckout()
	first, second, third := pay.press(), pay.press(), pay.press()
	first.says("Paid. Thank you.")
	require.Equal(t, first.path, second.path)
	require.Equal(t, first.path, third.path)
	require.Len(t, api.orders, 1)
	require.Len(t, api.charges, 1)
}

// What can happen to the order: every answer of the API has a page, and the key lives or dies with the purchase.
func TestPay_OrderIsNotPlaced(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		change  func(*fakeAPI, *form)
		status  int
		says    string
		sameKey bool
	}{
		{"AddressOfNobody", func(_ *fakeAPI, f *form) { f.fill("email", "nobody") }, 422, "Use an address like name@example.com.", true},
		{"EmailMissing", func(_ *fakeAPI, f *form) { f.fill("email", "") }, 422, "Please fill this in.", true},
		{"CityMissing", func(_ *fakeAPI, f *form) { f.fill("line1", "High Street 1") }, 422, "Please fill this in.", true},
		{"CardNumberInAField", func(api *fakeAPI, f *form) { api.fail("orders.create", cardInText); f.fill("name", "4242 4242") }, 422, "Please never type a card number here", true},
		{"SignsThatJSONDoesNotTake", func(api *fakeAPI, _ *form) { api.fail("orders.create", "400 malformed-json") }, 400, "Please type it anew.", true},
		{"CartEmptiedInAnotherTab", func(api *fakeAPI, f *form) { api.carts[f.values.Get("cart_id")].Items = nil }, 422, "Go back to the cart", true},
		{"KeyTheAPIDoesNotTake", func(api *fakeAPI, _ *form) { api.fail("orders.create", "400 idempotency-key-invalid") }, 400, "It has a new one", false},
		{"KeyOfAnAnswerNoLongerKept", func(api *fakeAPI, _ *form) { api.fail("orders.create", "409 idempotency-key-expired") }, 409, "so it is a new purchase now", false},
		{"UnknownCard", func(_ *fakeAPI, f *form) { f.fill("payment_method", "pm_stolen") }, 422, "Choose one of the test cards.", true},
		{"KeyWithStrangeSigns", func(_ *fakeAPI, f *form) { f.fill("key", "a b,c") }, 422, "It has a new one", false},
		{"KeyMissing", func(_ *fakeAPI, f *form) { f.fill("key", "") }, 422, "It has a new one", false},
		{"OutOfStock", func(api *fakeAPI, _ *form) { api.product("prd_mug").Available = 0 }, 409, "Mug has just sold out", false},
		{"PriceChanged", func(api *fakeAPI, _ *form) { api.product("prd_mug").Prices[0].UnitAmount = 2099 }, 409, "The price has changed", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			api := stockedAPI()
			pay := newBuyer(t, api).toCheckout()
			key := pay.values.Get("key")
			row.change(api, pay)
			page := pay.press()
			require.Equal(t, row.status, page.status)
			page.says(row.says)
			require.NotContains(t, page.body, "pq:")
			require.NotContains(t, page.body, "regexp")
			require.Empty(t, api.orders)
			again := page.form("/checkout").values.Get("key")
			require.Equal(t, row.sameKey, again == key)
			if row.name == "CartEmptiedInAnotherTab" {
				return
			}
			require.Equal(t, again, page.get("/checkout").form("/checkout").values.Get("key"), "a reload keeps the key that the page has")
		})
	}
}

func TestPay_FormRefused_InputIsKept(t *testing.T) {
	t.Parallel()
	pay := newBuyer(t, stockedAPI()).toCheckout()
	pay.fill("email", "nobody").fill("line1", `"><script>alert(1)</script>`).fill("country", "KW").fill("payment_method", "pm_card_mastercard")
	page := pay.press()
	again := page.form("/checkout")
	for _, name := range []string{"email", "line1", "country", "payment_method", "key"} {
		require.Equal(t, pay.values.Get(name), again.values.Get(name), name)
	}
	require.NotContains(t, page.body, "<script>alert")
	again.fill("email", "ada@example.com").fill("line1", "High Street 1").fill("city", "Kuwait").press().says("Paid. Thank you.")
}

func TestPay_CardNumberTyped_IsNotShownAgain(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	pay := newBuyer(t, api).toCheckout()
	api.fail("orders.create", cardInText)
	page := pay.fill("name", "4242424242424242").press()
	require.NotContains(t, page.body, "4242424242424242")
}

func TestPay_OutOfStock_OneButtonTakesWhatIsLeft(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	b := newBuyer(t, api)
	b.put("prd_mug")
	b.get("/cart").form("/cart/items").fill("quantity", "9").press()
	pay := b.get("/checkout").form("/checkout").fill("email", "ada@example.com")
	api.product("prd_mug").Available = 4
	page := pay.press().says("Only 4 of Mug left", "nothing was charged")
	page.form("/cart/items").press().says("79,96 €")
	b.get("/checkout").form("/checkout").fill("email", "ada@example.com").press().says("Paid. Thank you.")
}

func TestPay_PriceChanged_NewTotalCanBeAccepted(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	pay := newBuyer(t, api).toCheckout()
	api.product("prd_mug").Prices[0].UnitAmount = 2099
	pay.press().says("20,99 €").form("/checkout").press().says("Paid. Thank you.")
}

func TestPay_CartAlreadyOrdered_LeadsToThatOrder(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	b := newBuyer(t, api)
	pay := b.toCheckout()
	paid := pay.press()
	otherTab := pay.fill("key", "another-key").press()
	otherTab.says("This cart has already become this order", "Paid. Thank you.")
	require.True(t, strings.HasPrefix(otherTab.path, paid.path))
	require.Equal(t, paid.path, b.get("/checkout").path, "the checkout of an ordered cart is its order")
	require.Len(t, api.charges, 1)
}

func TestPay_FormChangedUnderTheSameKey(t *testing.T) {
	t.Parallel()
	t.Run("AfterTheOrderWasPlaced_ShowsThatOrder", func(t *testing.T) {
		t.Parallel()
		api := stockedAPI()
		pay := newBuyer(t, api).toCheckout()
		pay.press()
		pay.fill("email", "bob@example.com").press().says("before you changed it", "Paid. Thank you.")
		require.Len(t, api.orders, 1)
	})
	t.Run("AfterARefusal_IsANewPurchaseWithANewKey", func(t *testing.T) {
		t.Parallel()
		api := stockedAPI()
		pay := newBuyer(t, api).toCheckout()
		api.product("prd_mug").Available = 0
		pay.press()
		api.product("prd_mug").Available = 40
		page := pay.fill("email", "bob@example.com").press().says("so it is a new purchase now")
		page.form("/checkout").press().says("Paid. Thank you.")
	})
	t.Run("AnotherCardAfterTheFirstWasCharged_ShowsWhatBecameOfIt", func(t *testing.T) {
		t.Parallel()
		api := stockedAPI()
		pay := newBuyer(t, api).toCheckout()
		pay.press()
		pay.fill("payment_method", "pm_card_mastercard").press().says("before you changed it", "Paid. Thank you.")
		require.Len(t, api.charges, 1)
	})
}

func TestCheckout_NothingToBuy_LeadsToTheCart(t *testing.T) {
	t.Parallel()
	b := newBuyer(t, stockedAPI())
	require.Equal(t, "/cart", b.get("/checkout").path)
	pay := b.toCheckout()
	pay.fill("cart_id", "cart_unknown").press().says("Your cart")
	pay.fill("cart_id", "../orders").press().says("Your cart")
}

func TestCheckout_ShopWithoutTestCards_TakesNoMoney(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	options := optionsFor(api)
	options.TestCards = false
	b := newBuyerOf(t, options)
	b.put("prd_mug")
	page := b.get("/checkout").says("not connected to a test account")
	require.NotContains(t, page.text(), "Pay €")
	f := page.form("/checkout")
	f.values.Set("payment_method", "pm_card_visa")
	f.values.Set("key", "some-key")
	require.Equal(t, http.StatusUnprocessableEntity, f.press().status)
	require.Empty(t, api.orders)
}

func TestCheckout_HasNoFieldForACardNumber(t *testing.T) {
	t.Parallel()
	pay := newBuyer(t, stockedAPI()).toCheckout()
	for name := range pay.fields {
		require.NotRegexp(t, `(?i)number|pan|cvc|cvv|expir`, name)
	}
}

// Once the order is placed, its page tells what became of the charge, whatever the API says to the charge itself.
func TestPay_ChargeIsRefusedWithoutACharge_OrderPageTells(t *testing.T) {
	t.Parallel()
	for refusal, says := range map[fault]string{
		"409 order-not-payable":       "Not paid yet",
		"409 charge-abandoned":        "Not paid yet",
		"409 idempotency-key-expired": "before you changed it",
		"422 idempotency-key-reused":  "before you changed it",
		"422 validation-failed":       "This card cannot be used here",
	} {
		t.Run(string(refusal), func(t *testing.T) {
			t.Parallel()
			api := stockedAPI()
			pay := newBuyer(t, api).toCheckout()
			api.fail("charges.create", refusal)
			page := pay.press().says(says)
			require.Len(t, api.orders, 1)
			page.form(strings.Split(page.path, "?")[0] + "/charges").press().says("Paid. Thank you.")
		})
	}
}
