package web_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func (f *fakeAPI) cancelsSent() []fakeCall { return f.sent("POST /v1/charges/", "/cancel") }

// atTheBank is a buyer whose bank asks for authentication, and the button that gives the payment up.
func atTheBank(t *testing.T) (*fakeAPI, *buyer, *shown, *form) {
	t.Helper()
	api := stockedAPI()
	b := newBuyer(t, api)
	page := b.toCheckout().fill("payment_method", "pm_card_authenticationRequired").press()
	return api, b, page, page.form(page.path + "/charges/" + api.charges[0].ID + "/cancel")
}

func TestUseAnotherCard_GivesUpTheFirstAndPaysOnce(t *testing.T) {
	t.Parallel()
	api, b, page, button := atTheBank(t)
	page.says("Use another card", "so it can never be taken as well")
	page = button.press()
	require.Equal(t, http.StatusOK, page.status)
	page.says("That try was given up", "choose a card to pay it", "We asked your bank to stop this payment", "Try given up Visa with 3-D Secure, no money moved")
	require.NotContains(t, page.body, "bank.example", "there is nothing left to confirm")
	require.False(t, page.hasForm(button.action))
	require.Equal(t, "canceled", api.charges[0].Status)

	page = page.form(page.path+"/charges").fill("payment_method", "pm_card_mastercard").press()
	page.says("Paid. Thank you.", "Try given up Visa with 3-D Secure", "Paid Mastercard")
	require.Len(t, api.charges, 2)
	require.Len(t, api.cancelsSent(), 1)
	require.NotEqual(t, api.chargesSent()[0].Key, api.chargesSent()[1].Key, "another card is another intent")
	require.NotContains(t, b.cookies, "payonce_key")
}

func TestUseAnotherCard_PressedAgain_IsOneCancel(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		faults []fault
		status int
		says   string
	}{
		{"AnswerLost", []fault{answerLost}, http.StatusServiceUnavailable, "Nothing is lost"},
		{"NotDone_503", []fault{down}, http.StatusServiceUnavailable, "Nothing is lost"},
		{"NobodyKnows_500", []fault{crashed, crashed}, http.StatusServiceUnavailable, "Nothing is lost"},
		{"TwinAtWork", []fault{twinAtWork}, http.StatusConflict, "Still working"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			api, _, _, button := atTheBank(t)
			api.fail("charges.cancel", row.faults...)
			page := button.press()
			require.Equal(t, row.status, page.status)
			page.says(row.says)
			for range row.faults {
				page = page.form(button.action).press()
			}
			page.says("That try was given up", "Choose a test card")
			sent := api.cancelsSent()
			for _, call := range sent {
				require.Equal(t, "give-up-"+api.charges[0].ID, call.Key)
				require.Equal(t, sent[0].Body, call.Body)
				require.Equal(t, "wait=5", call.Prefer)
			}
		})
	}
}

func TestUseAnotherCard_OtherTabAndOldPage_NothingMore(t *testing.T) {
	t.Parallel()
	api, b, page, button := atTheBank(t)
	other := b.get(page.path).form(button.action)
	button.press()
	other.press().says("That try was given up")
	require.Len(t, api.cancelsSent(), 1, "what is given up is not given up again")

	pay := b.get(page.path).form(page.path+"/charges").fill("payment_method", "pm_card_authenticationRequired").press()
	other.press().says("Your bank wants to be sure it is you")
	require.Len(t, api.cancelsSent(), 1, "the old page names the old charge, not the one that waits now")
	pay.form(page.path + "/charges/" + api.charges[1].ID + "/cancel").press().says("That try was given up")
	require.NotEqual(t, api.cancelsSent()[0].Key, api.cancelsSent()[1].Key)
}

func TestUseAnotherCard_MoneyTakenMeanwhile_SaysPaid(t *testing.T) {
	t.Parallel()
	api, _, page, button := atTheBank(t)
	api.onCancel = func() { api.settle(api.charges[0].ID, "succeeded") }
	paid := button.press()
	require.Equal(t, page.path+"?note=paid-first", paid.path)
	paid.says("Paid. Thank you.", "nothing left to give up. Nothing was charged twice.")
	require.Len(t, api.cancelsSent(), 1)
	require.Equal(t, http.StatusConflict, api.cancelsSent()[0].Status)
	require.False(t, paid.hasForm(page.path+"/charges"))
}

func TestUseAnotherCard_NotProvedYet_WaitsAndOffersNoCard(t *testing.T) {
	t.Parallel()
	api, b, _, button := atTheBank(t)
	api.fail("charges.cancel", bankSilent)
	page := button.press()
	for range 2 { // and it is the same after a reload
		page.says("We are making sure", "The bank's answer was lost")
		require.Contains(t, page.body, `http-equiv="refresh" content="4"`)
		require.Contains(t, page.body, "data-poll")
		require.NotContains(t, page.body, "bank.example", "who has given up must not be sent to the bank")
		require.False(t, page.hasForm(page.path+"/charges"), "a second card could pay as well")
		require.False(t, page.hasForm(button.action))
		page = b.get(page.path)
	}
	stranger := newBuyer(t, api).get(page.path).says("We are making sure")
	require.False(t, stranger.hasForm(page.path+"/charges"))

	api.settle(api.charges[0].ID, "canceled")
	b.get(page.path).says("That try was given up", "Choose a test card")
}

func TestGivingUp_OfAnEarlierCharge_DoesNotHoldTheNextOne(t *testing.T) {
	t.Parallel()
	api, b, page, button := atTheBank(t)
	api.wrote(api.charges[0].OrderID, fakeEntry{Type: "request", Operation: "charges.cancel", Status: "accepted", ChargeID: "chg_before"})
	page = b.get(page.path).says("Your bank wants to be sure it is you")
	require.True(t, page.hasForm(button.action))
}

func TestGivingUp_AskedByTheMerchant_TheOldKeyIsNotSentAgain(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	b := newBuyer(t, api)
	pay := b.toCheckout()
	api.fail("charges.create", bankSilent)
	page := pay.press()
	require.True(t, page.hasForm(page.path+"/charges"))
	api.wrote(api.charges[0].OrderID, fakeEntry{Type: "request", Operation: "charges.cancel", Status: "accepted", ChargeID: api.charges[0].ID})
	page = b.get(page.path).says("We are making sure")
	require.False(t, page.hasForm(page.path+"/charges"))
}

func TestUseAnotherCard_SomebodyElseIsAtWork_SaysSo(t *testing.T) {
	t.Parallel()
	api, _, _, button := atTheBank(t)
	api.fail("charges.cancel", "409 charge-in-progress")
	button.press().says("being dealt with right now, so it was not given up", "Your bank wants to be sure it is you")
}

func TestUseAnotherCard_RefusedByMistakeOfOurs_IsNotHidden(t *testing.T) {
	t.Parallel()
	api, _, _, button := atTheBank(t)
	api.fail("charges.cancel", "403 forbidden")
	require.Equal(t, http.StatusInternalServerError, button.press().status)
}

func TestUseAnotherCard_OnlyWhatWaitsForTheBuyer(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"created", "unknown", "processing", "authorized", "succeeded", "failed", "canceled"} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			api, b, page, button := atTheBank(t)
			api.settle(api.charges[0].ID, status)
			require.False(t, b.get(page.path).hasForm(button.action))
			require.Equal(t, page.path, button.press().path)
			require.Empty(t, api.cancelsSent())
		})
	}
}

func TestUseAnotherCard_ChargeOfAnotherOrder_IsNotTouched(t *testing.T) {
	t.Parallel()
	api, b, _, button := atTheBank(t)
	other := &buyer{t: t, shop: b.shop, cookies: map[string]string{}, headers: map[string]string{}}
	mine := other.toCheckout().fill("payment_method", "pm_card_authenticationRequired").press()
	for _, charge := range []string{api.charges[0].ID, "chg_none", "a.b"} {
		forged := mine.form(mine.path + "/charges/" + api.charges[1].ID + "/cancel")
		forged.action = mine.path + "/charges/" + charge + "/cancel"
		require.Equal(t, http.StatusNotFound, forged.press().status, charge)
	}
	require.Empty(t, api.cancelsSent())
	require.Equal(t, "requires_action", api.charges[0].Status)

	button.values.Del("token")
	require.Equal(t, http.StatusForbidden, button.press().status)
	require.Empty(t, api.cancelsSent())
}

func TestUseAnotherCard_ShopTakesNoCards_IsNotOffered(t *testing.T) {
	t.Parallel()
	api, _, page, button := atTheBank(t)
	o := optionsFor(api)
	o.TestCards = false
	require.False(t, newBuyerOf(t, o).get(page.path).hasForm(button.action))
}
