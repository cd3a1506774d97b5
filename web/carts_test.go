package web_test

import (
	"maps"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEmptyCart_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	page := newBuyer(t, stockedAPI()).get("/cart")
	page.says("Nothing in here yet", "To the goods")
	require.False(t, page.hasForm("/cart/items"))
}

func TestAddToCart(t *testing.T) {
	t.Parallel()

	t.Run("Added_FrontPageAndBadgeKnow", func(t *testing.T) {
		t.Parallel()
		b := newBuyer(t, stockedAPI())
		b.put("prd_mug").says("1 in cart", "Cart 1 items", "Add another")
		b.put("prd_mug").says("2 in cart")
	})
	t.Run("ButtonPressedTwiceOnOnePage_OneUnitMore", func(t *testing.T) {
		t.Parallel()
		b := newBuyer(t, stockedAPI())
		button := b.get("/").form("/cart/add", "product_id=prd_mug")
		button.press()
		button.press().says("1 in cart")
	})
	t.Run("OldTab_TakesNothingAway", func(t *testing.T) {
		t.Parallel()
		b := newBuyer(t, stockedAPI())
		oldTab := b.get("/").form("/cart/add", "product_id=prd_mug")
		b.put("prd_mug")
		b.get("/cart").form("/cart/items", "product_id=prd_mug").fill("quantity", "7").press()
		oldTab.press().says("7 in cart")
	})
	t.Run("FirstAddSentTwiceBeforeAnyAnswer_OneCart", func(t *testing.T) {
		t.Parallel()
		api := stockedAPI()
		b := newBuyer(t, api)
		button := b.get("/").form("/cart/add", "product_id=prd_mug")
		twin := *b
		twin.cookies = map[string]string{"payonce_browser": b.cookies["payonce_browser"]}
		b.once(http.MethodPost, button.action, button.values)
		twin.once(http.MethodPost, button.action, button.values)
		require.Len(t, api.carts, 1)
		require.Equal(t, b.cookies["payonce_cart"], twin.cookies["payonce_cart"])
	})
	t.Run("AnswerToTheNewCartLost_NextPressFindsTheSameCart", func(t *testing.T) {
		t.Parallel()
		api := stockedAPI()
		b := newBuyer(t, api)
		button := b.get("/").form("/cart/add", "product_id=prd_mug")
		api.fail("carts.create", answerLost)
		require.Equal(t, http.StatusServiceUnavailable, button.press().status)
		button.press().says("1 in cart")
		require.Len(t, api.carts, 1)
	})
}

func TestAddToCart_CartIsNoLongerThere(t *testing.T) {
	t.Parallel()

	t.Run("CartBecameAnOrder_NextAddStartsANewCart", func(t *testing.T) {
		t.Parallel()
		api := stockedAPI()
		b := newBuyer(t, api)
		b.toCheckout().press().says("Paid. Thank you.")
		b.get("/cart").says("Nothing in here yet", "Your last order")
		b.put("prd_mug").says("1 in cart")
		require.Len(t, api.carts, 2)
	})
	t.Run("OrderedInAnotherTabMeanwhile_StartsANewCart", func(t *testing.T) {
		t.Parallel()
		api := stockedAPI()
		b := newBuyer(t, api)
		oldTab := b.put("prd_mug").form("/cart/add", "product_id=prd_poster")
		order := "ord_other"
		api.carts[b.cookies["payonce_cart"]].OrderID = &order
		oldTab.press().says("1 in cart")
		require.Len(t, api.carts, 2)
	})
	t.Run("UnknownProduct_CartSaysSo", func(t *testing.T) {
		t.Parallel()
		b := newBuyer(t, stockedAPI())
		button := b.get("/").form("/cart/add", "product_id=prd_mug")
		button.values.Set("product_id", "prd_none")
		button.press().says("no longer sold")
	})
}

func TestCartPage(t *testing.T) {
	t.Parallel()

	t.Run("QuantitySet_TotalFollows", func(t *testing.T) {
		t.Parallel()
		b := newBuyer(t, stockedAPI())
		b.put("prd_mug")
		b.get("/cart").form("/cart/items").fill("quantity", "3").press().says("59,97 €")
	})
	t.Run("Removed_EmptyAgain", func(t *testing.T) {
		t.Parallel()
		b := newBuyer(t, stockedAPI())
		b.put("prd_mug")
		b.get("/cart").form("/cart/items", "quantity=0").press().says("Nothing in here yet")
	})
	t.Run("MoreThanIsLeft_OffersWhatIsLeft", func(t *testing.T) {
		t.Parallel()
		b := newBuyer(t, stockedAPI())
		b.put("prd_poster")
		page := b.get("/cart").form("/cart/items").fill("quantity", "5").press()
		page.says("Only 2 left", "There is less left than you want")
		page.form("/cart/items", "quantity=2").press().says("70,00 €")
	})
	for name, quantity := range map[string]string{"Words": "many", "Negative": "-1", "TooMany": "10001", "Huge": "99999999999999999999"} {
		t.Run("Quantity"+name+"_Refused", func(t *testing.T) {
			t.Parallel()
			b := newBuyer(t, stockedAPI())
			b.put("prd_mug")
			b.get("/cart").form("/cart/items").fill("quantity", quantity).press().says("Choose a number from 1 to 10,000", "19,99 €")
		})
	}
	t.Run("CartForgottenByTheAPI_CountsAsEmpty", func(t *testing.T) {
		t.Parallel()
		api := stockedAPI()
		b := newBuyer(t, api)
		b.put("prd_mug")
		clear(api.carts)
		b.get("/cart").says("Nothing in here yet")
		clear(api.kept)
		b.put("prd_mug").says("1 in cart")
	})
}

func TestCurrencySwitched(t *testing.T) {
	t.Parallel()

	t.Run("ProductsMoveToACartInThatCurrency", func(t *testing.T) {
		t.Parallel()
		api := stockedAPI()
		b := newBuyer(t, api)
		b.put("prd_mug")
		b.put("prd_mug")
		page := b.get("/cart").form("/currency").fill("currency", "JPY").press()
		page.says("6.400 ¥")
		require.Equal(t, "JPY", api.carts[b.cookies["payonce_cart"]].Currency)
	})
	t.Run("WhatIsNotSoldInIt_IsLeftOutAndTold", func(t *testing.T) {
		t.Parallel()
		b := newBuyer(t, stockedAPI())
		b.put("prd_mug")
		b.put("prd_poster")
		page := b.get("/cart").form("/currency").fill("currency", "JPY").press()
		page.says("Not everything is sold in this currency", "Mug")
		require.NotContains(t, page.text(), "Poster")
	})
	t.Run("AnswerLostOnTheWayToTheBrowser_NextSwitchHoldsWhatTheCartHoldsThen", func(t *testing.T) {
		t.Parallel()
		api := stockedAPI()
		b := newBuyer(t, api)
		b.put("prd_mug")
		b.put("prd_poster")
		toDollars := b.get("/cart").form("/currency").fill("currency", "USD")
		unheard := *b
		unheard.cookies = maps.Clone(b.cookies)
		unheard.once(http.MethodPost, toDollars.action, toDollars.values)
		b.get("/cart").form("/cart/items", "product_id=prd_poster", "quantity=0").press()
		page := toDollars.press().says("21,99 $")
		b.get("/cart").says("Mug")
		require.NotContains(t, b.get("/cart").text(), "Poster", page.path)
		require.Len(t, api.carts, 2)
	})
	t.Run("UnknownCurrency_NotFound", func(t *testing.T) {
		t.Parallel()
		b := newBuyer(t, stockedAPI())
		require.Equal(t, http.StatusNotFound, b.get("/").form("/currency").fill("currency", "XXX").press().status)
	})
}
