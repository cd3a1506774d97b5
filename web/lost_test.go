package web_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever gets lost between shop and API, the page holds the same form with the same key ready, and pressing again pays
// once.
func TestPay_NoAnswer_PressingAgainPaysOnce(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, operation string
		faults          []fault
		status          int
		says            string
	}{
		{"OrderDone_AnswerLost", "orders.create", []fault{answerLost}, 503, "Nothing is lost"},
		{"OrderNotDone_503", "orders.create", []fault{down}, 503, "Nothing is lost"},
		{"OrderNotDone_500", "orders.create", []fault{crashed}, 503, "Nothing is lost"},
		{"TooManyRequests", "orders.create", []fault{"429 rate-limited"}, 503, "Nothing is lost"},
		{"OrderUnderTheSameKeyAtWork", "orders.create", []fault{twinAtWork}, 409, "Still working"},
		{"ChargeDone_AnswerLost", "charges.create", []fault{answerLost}, 503, "Nothing is lost"},
		{"ChargeNotSent_503", "charges.create", []fault{down}, 503, "Nothing is lost"},
		{"ChargeNobodyKnows_500", "charges.create", []fault{crashed}, 503, "Nothing is lost"},
		{"ChargeUnderTheSameKeyAtWork", "charges.create", []fault{twinAtWork}, 409, "Still working"},
		{"EverythingAtOnce", "charges.create", []fault{answerLost, down, crashed, twinAtWork}, 503, "Nothing is lost"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			api := stockedAPI()
			pay := newBuyer(t, api).toCheckout().fill("name", "Ada")
			api.fail(row.operation, row.faults...)
			page := pay.press()
			require.Equal(t, row.status, page.status)
			require.NotEmpty(t, page.header.Get("Retry-After"))
			page.says(row.says, pay.values.Get("key"))
			require.NotContains(t, page.body, "10.0.0.7")
			for range row.faults {
				again := page.form("/checkout")
				require.Equal(t, pay.values, again.values, "the very same form")
				page = again.press()
			}
			page.says("Paid. Thank you.")
			require.Len(t, api.orders, 1)
			require.Len(t, api.charges, 1)
			for _, call := range append(api.ordersSent(), api.chargesSent()...) {
				require.Equal(t, pay.values.Get("key"), call.Key)
			}
		})
	}
}

func TestPay_TwinAtWork_ScriptAsksAgainAfterTheAPIsTime(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	pay := newBuyer(t, api).toCheckout()
	api.fail("charges.create", twinAtWork)
	page := pay.press()
	require.Contains(t, page.body, `data-submit-after="1"`)
	require.Equal(t, "1", page.header.Get("Retry-After"))
}

func TestPay_NoAnswerToTheCharge_OrderPageCanBeLookedAt(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	b := newBuyer(t, api)
	pay := b.toCheckout()
	api.fail("charges.create", answerLost)
	pay.press().says("Your order is placed")
	require.Contains(t, b.get("/checkout").text(), "Paid. Thank you.", "the money had come all the same, and the page knows")
}

func TestPay_APIMisconfigured_SaysThatTryingAgainIsNoUse(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	pay := newBuyer(t, api).toCheckout()
	api.fail("orders.create", "401 unauthenticated")
	page := pay.press()
	require.Equal(t, http.StatusInternalServerError, page.status)
	page.says("That is our fault", "req_")
}

func TestPay_OutcomeUnknown(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) (*fakeAPI, *buyer, *form, *shown) {
		t.Helper()
		api := stockedAPI()
		b := newBuyer(t, api)
		pay := b.toCheckout()
		api.fail("charges.create", bankSilent)
		return api, b, pay, pay.press()
	}

	t.Run("PageWaits_AndNeverSaysPaidOrFailed", func(t *testing.T) {
		t.Parallel()
		_, _, _, page := start(t)
		page.says("We are finding out what happened", "do not pay again")
		require.NotContains(t, page.text(), "Thank you")
		require.NotContains(t, page.text(), "refused")
		require.NotContains(t, page.body, "Pay 19,99")
		require.Contains(t, page.body, `<noscript><meta http-equiv="refresh" content="4"></noscript>`, "without scripts, as often as the API says")
		require.Equal(t, "4", page.header.Get("Retry-After"))
	})
	t.Run("SameKey_CanAskAgain", func(t *testing.T) {
		t.Parallel()
		api, _, pay, page := start(t)
		again := page.form(page.path + "/charges")
		require.Equal(t, pay.values.Get("key"), again.values.Get("key"))
		require.Equal(t, "pm_card_visa", again.values.Get("payment_method"))
		again.press().says("We are finding out what happened")
		api.settle(api.charges[0].ID, "succeeded")
		again.press().says("Paid. Thank you.")
		require.Len(t, api.charges, 1)
	})
	t.Run("OtherKey_StartsNothing", func(t *testing.T) {
		t.Parallel()
		api, _, _, page := start(t)
		page.form(page.path+"/charges").fill("key", "other-key").press().says("An earlier try is not decided yet", "We are finding out what happened")
		require.Len(t, api.charges, 1)
	})
	t.Run("Decided_PageTellsAndTheKeyIsForgotten", func(t *testing.T) {
		t.Parallel()
		api, b, pay, page := start(t)
		before := state(b, page.path)
		require.Contains(t, b.cookies["payonce_key"], pay.values.Get("key"))
		api.settle(api.charges[0].ID, "succeeded")
		require.NotEqual(t, before, state(b, page.path), "a waiting script loads the page again")
		page = b.get(page.path).says("Paid. Thank you.")
		require.NotContains(t, page.body, "http-equiv")
		require.NotContains(t, b.cookies, "payonce_key")
		require.Contains(t, page.body, `data-forget="`)
		require.Contains(t, page.body, pay.values.Get("cart_id"))
	})
	t.Run("GivenUp_CanBePaidWithANewKey", func(t *testing.T) {
		t.Parallel()
		api, b, pay, page := start(t)
		api.settle(api.charges[0].ID, "canceled")
		page = b.get(page.path).says("That try was given up", "before any money moved")
		again := page.form(page.path + "/charges")
		require.NotEqual(t, pay.values.Get("key"), again.values.Get("key"))
		again.press().says("Paid. Thank you.")
	})
}

// state is what the script of a waiting page is told.
func state(b *buyer, path string) string {
	page := b.get(path + "/state")
	require.Equal(b.t, "application/json", page.header.Get("Content-Type"))
	require.NotEmpty(b.t, page.header.Get("Retry-After"))
	return page.body
}
