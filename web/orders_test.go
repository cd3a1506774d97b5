package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// declined is a buyer whose first card was refused: the form that was sent, and the page that tells.
func declined(t *testing.T) (*fakeAPI, *buyer, *form, *shown) {
	t.Helper()
	api := stockedAPI()
	b := newBuyer(t, api)
	pay := b.toCheckout().fill("payment_method", "pm_card_visa_chargeDeclined")
	return api, b, pay, pay.press()
}

func TestDeclined(t *testing.T) {
	t.Parallel()

	t.Run("SaysWhatTheBuyerMayKnow", func(t *testing.T) {
		t.Parallel()
		_, _, _, page := declined(t)
		page.says("The card was refused", "Please use another card. Nothing was charged.", "Card refused", "Kept for you for another 30 minutes")
		require.NotContains(t, page.body, "lost_card", "the bank's reason is not for whoever holds the card")
	})
	t.Run("AnotherCard_IsANewIntentWithANewKey", func(t *testing.T) {
		t.Parallel()
		api, b, pay, page := declined(t)
		again := page.form(page.path + "/charges")
		require.NotEqual(t, pay.values.Get("key"), again.values.Get("key"))
		require.Equal(t, again.values.Get("key"), b.get(page.path).form(page.path+"/charges").values.Get("key"), "and keeps it over a reload")
		again.fill("payment_method", "pm_card_mastercard").press().says("Paid. Thank you.", "Card refused", "Mastercard")
		require.Len(t, api.charges, 2)
	})
	t.Run("FirstFormSentAgain_TheSameRefusalAndNoSecondTry", func(t *testing.T) {
		t.Parallel()
		api, _, pay, page := declined(t)
		require.Equal(t, page.path, pay.press().path)
		require.Len(t, api.charges, 1)
	})
}

func TestDeclined_SecondTry(t *testing.T) {
	t.Parallel()

	t.Run("RefusedAgain_EachTryHasItsOwnKey", func(t *testing.T) {
		t.Parallel()
		api, _, pay, page := declined(t)
		keys := map[string]bool{pay.values.Get("key"): true}
		for range 3 {
			again := page.form(page.path + "/charges")
			keys[again.values.Get("key")] = true
			page = again.fill("payment_method", "pm_card_chargeDeclinedInsufficientFunds").press()
		}
		require.Len(t, keys, 4)
		require.Len(t, api.charges, 4)
		forget := attribute(all(page.document, "body")[0], "data-forget")
		require.Contains(t, forget, api.charges[0].ID, "the script forgets the keys of the tries before")
	})
	t.Run("SecondTryWithoutAnswer_SameKeyAgain", func(t *testing.T) {
		t.Parallel()
		api, _, _, page := declined(t)
		again := page.form(page.path + "/charges")
		api.fail("charges.create", answerLost)
		retry := again.press().says("Nothing is lost").form(page.path + "/charges")
		require.Equal(t, again.values, retry.values)
		retry.press().says("Paid. Thank you.")
		require.Len(t, api.charges, 2)
	})
	t.Run("SecondTryUnknown_ItsKeyCanAskAgain", func(t *testing.T) {
		t.Parallel()
		api, _, _, page := declined(t)
		again := page.form(page.path + "/charges")
		api.fail("charges.create", bankSilent)
		open := again.press().says("We are finding out what happened").form(page.path + "/charges")
		require.Equal(t, again.values.Get("key"), open.values.Get("key"))
	})
	t.Run("PaidInAnotherTab_NothingIsChargedAgain", func(t *testing.T) {
		t.Parallel()
		api, b, _, page := declined(t)
		otherTab := b.get(page.path).form(page.path+"/charges").fill("key", "other-tab")
		page.form(page.path + "/charges").press()
		otherTab.press().says("already paid, so nothing was charged again")
		require.Len(t, api.charges, 2)
	})
	t.Run("FormWithoutCardOrKey_AsksForACard", func(t *testing.T) {
		t.Parallel()
		api, _, _, page := declined(t)
		page.form(page.path+"/charges").fill("key", "").press().says("Choose another one.")
		page.form(page.path+"/charges").fill("payment_method", "").press().says("Choose another one.")
		require.Len(t, api.charges, 1)
	})
}

func TestBankAsks(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) (*fakeAPI, *buyer, *shown) {
		t.Helper()
		api := stockedAPI()
		b := newBuyer(t, api)
		return api, b, b.toCheckout().fill("payment_method", "pm_card_authenticationRequired").press()
	}

	t.Run("LinkLeadsToTheBank", func(t *testing.T) {
		t.Parallel()
		api, _, page := start(t)
		page.says("Your bank wants to be sure it is you", "Nothing is paid yet")
		require.Contains(t, page.body, `href="https://bank.example/confirm/`+api.charges[0].ID+`"`)
		require.NotContains(t, page.body, "http-equiv", "the buyer is reading")
	})
	t.Run("AddressThatIsNoWebAddress_IsNoLink", func(t *testing.T) {
		t.Parallel()
		api, b, page := start(t)
		api.charges[0].NextAction["url"] = "javascript:alert(1)"
		require.NotContains(t, b.get(page.path).body, "javascript:")
	})
	t.Run("BackFromTheBank_SecretLeavesTheAddressBar", func(t *testing.T) {
		t.Parallel()
		_, b, page := start(t)
		back := b.once(http.MethodGet, page.path+"/return?payment_intent=pi_1&payment_intent_client_secret=pi_1_secret_x&redirect_status=succeeded", nil)
		require.Equal(t, http.StatusSeeOther, back.status)
		require.Equal(t, page.path+"/return", back.header.Get("Location"))
	})
	t.Run("BackFromTheBank_WaitsForProof", func(t *testing.T) {
		t.Parallel()
		_, b, page := start(t)
		back := b.get(page.path + "/return?redirect_status=succeeded")
		back.says("Your bank has sent you back", "Confirm with your bank")
		require.Contains(t, back.body, `http-equiv="refresh"`)
		require.NotContains(t, back.text(), "Thank you", "what the address says proves nothing")
	})
	t.Run("Proved_LeadsToTheOrder", func(t *testing.T) {
		t.Parallel()
		api, b, page := start(t)
		api.settle(api.charges[0].ID, "succeeded")
		back := b.get(page.path + "/return")
		require.Equal(t, page.path, back.path)
		back.says("Paid. Thank you.")
	})
}

func TestOrderPage_EveryStateHasWords(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		change  func(*fakeOrder, *fakeCharge)
		says    []string
		payable bool
	}{
		{"Fulfilled", func(o *fakeOrder, _ *fakeCharge) { o.Status = "fulfilled" }, []string{"On its way", "has been sent"}, false},
		{"Refunded", func(o *fakeOrder, _ *fakeCharge) { o.Status, o.AmountRefunded = "refunded", o.Total }, []string{"Refunded", "19,99 €"}, false},
		{"RefundedInPart", func(o *fakeOrder, _ *fakeCharge) { o.AmountRefunded = 500 }, []string{"Paid. Thank you.", "Refunded 5,00 €"}, false},
		{"Canceled", func(o *fakeOrder, _ *fakeCharge) { o.Status = "canceled" }, []string{"Cancelled"}, false},
		{"Expired", func(o *fakeOrder, c *fakeCharge) { o.Status, c.Status = "expired", "failed" }, []string{"Expired", "Nothing was charged."}, false},
		{"TimeUpButNotYetExpired", func(o *fakeOrder, c *fakeCharge) {
			o.Status, c.Status, o.ExpiresAt = "pending_payment", "failed", noon.Add(-time.Second)
		}, []string{"The time is up"}, false},
		{"Processing", func(o *fakeOrder, c *fakeCharge) { o.Status, c.Status = "pending_payment", "processing" }, []string{"Your bank is still working"}, false},
		{"Created", func(o *fakeOrder, c *fakeCharge) { o.Status, c.Status = "pending_payment", "created" }, []string{"We are finding out what happened"}, false},
		{"Authorized", func(o *fakeOrder, c *fakeCharge) { o.Status, c.Status = "pending_payment", "authorized" }, []string{"Your bank has set the money aside"}, false},
		{"FailedWithoutWords", func(o *fakeOrder, c *fakeCharge) { o.Status, c.Status, c.Failure = "pending_payment", "failed", nil }, []string{"The card was refused. Nothing was charged."}, true},
		{"FailedAndTheOrderNamesNoCharge", func(o *fakeOrder, c *fakeCharge) { o.Status, c.Status, o.ChargeID = "pending_payment", "failed", nil }, []string{"The card was refused"}, true},
		{"NeverTried", func(o *fakeOrder, c *fakeCharge) { o.Status, o.ChargeID, c.OrderID = "pending_payment", nil, "" }, []string{"Not paid yet", "Choose a card"}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			api := stockedAPI()
			b := newBuyer(t, api)
			page := b.toCheckout().press()
			row.change(api.orders[strings.TrimPrefix(page.path, "/orders/")], api.charges[0])
			page = b.get(page.path).says(row.says...)
			require.Equal(t, row.payable, strings.Contains(page.text(), "Choose a test card"))
			waits := row.name == "Processing" || row.name == "Created"
			require.Equal(t, waits, strings.Contains(page.body, "http-equiv"), "only a page that has news to wait for looks again")
			undecided := waits || row.name == "Authorized" || row.name == "NeverTried"
			require.Equal(t, undecided, !strings.Contains(page.body, "data-forget"), "a key lives until its purchase is decided")
		})
	}
}

func TestOrderPage_TellsTheSameOrderToPrograms(t *testing.T) {
	t.Parallel()
	page := newBuyer(t, stockedAPI()).toCheckout().press()
	page.says("curl " + site + "/v1" + page.path + ` -H "Authorization: Bearer $PAYONCE_KEY"`)
	require.NotContains(t, page.body, "sk_test")
}

func TestOrderPage_UnknownOrder_NotFound(t *testing.T) {
	t.Parallel()
	b := newBuyer(t, stockedAPI())
	for _, path := range []string{"/orders/ord_none", "/orders/ord_none/state", "/orders/ord_none/return", "/orders/a.b", "/orders/a.b/state", "/orders/%2e%2e%2fcarts"} {
		page := b.get(path)
		require.Equal(t, http.StatusNotFound, page.status, path)
		page.says("There is nothing here")
	}
}

func TestOrderPage_OtherBrowserWithTheLink_SeesItButCannotUseTheKey(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	pay := newBuyer(t, api).toCheckout()
	api.fail("charges.create", bankSilent)
	page := pay.press()
	stranger := newBuyer(t, api).get(page.path).says("We are finding out what happened")
	require.NotContains(t, stranger.body, pay.values.Get("key"))
	require.False(t, stranger.hasForm(page.path+"/charges"))
}
