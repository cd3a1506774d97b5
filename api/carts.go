package api

import (
	"github.com/labstack/echo/v4"

	"payonce/domain"
)

func (a *API) createCart(c echo.Context) error {
	request, command, err := keyed(c, cartCommand)
	if err != nil {
		return err
	}
	reply, err := a.payments.CreateCart(c.Request().Context(), request, command)
	if err != nil {
		return err
	}
	return a.answer(c, reply)
}

func (a *API) getCart(c echo.Context) error {
	id, err := pathID(c, "id", "cart", "cart")
	if err != nil {
		return err
	}
	cart, err := a.store.Cart(c.Request().Context(), callerOf(c).MerchantID, id)
	if err != nil {
		return err
	}
	return object(c, cart)
}

// putCartItem sets a quantity. Setting is idempotent by nature, so it needs no key.
func (a *API) putCartItem(c echo.Context) error {
	cart, product, err := cartItem(c)
	if err != nil {
		return err
	}
	n, err := read(c, quantity)
	if err != nil {
		return err
	}
	changed, err := a.payments.PutCartItem(c.Request().Context(), callerOf(c).MerchantID, cart, product, n)
	return changedCart(c, changed, err)
}

func (a *API) deleteCartItem(c echo.Context) error {
	cart, product, err := cartItem(c)
	if err != nil {
		return err
	}
	changed, err := a.payments.DeleteCartItem(c.Request().Context(), callerOf(c).MerchantID, cart, product)
	return changedCart(c, changed, err)
}

func cartItem(c echo.Context) (cart, product string, err error) {
	if cart, err = pathID(c, "id", "cart", "cart"); err != nil {
		return "", "", err
	}
	product, err = pathID(c, "product_id", "prd", "product")
	return cart, product, err
}

func changedCart(c echo.Context, cart domain.Cart, err error) error {
	if err != nil {
		return err
	}
	return object(c, cart)
}
