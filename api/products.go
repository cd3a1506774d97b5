package api

import (
	"github.com/labstack/echo/v4"
)

func (a *API) createProduct(c echo.Context) error {
	request, command, err := keyed(c, productCommand)
	if err != nil {
		return err
	}
	reply, err := a.payments.CreateProduct(c.Request().Context(), request, command)
	if err != nil {
		return err
	}
	return a.answer(c, reply)
}

func (a *API) listProducts(c echo.Context) error {
	p, err := page(c, "prd")
	if err != nil {
		return err
	}
	products, more, err := a.store.ListProducts(c.Request().Context(), callerOf(c).MerchantID, p)
	if err != nil {
		return err
	}
	return listed(c, products, more)
}

func (a *API) getProduct(c echo.Context) error {
	id, err := pathID(c, "id", "prd", "product")
	if err != nil {
		return err
	}
	product, err := a.store.Product(c.Request().Context(), callerOf(c).MerchantID, id)
	if err != nil {
		return err
	}
	return object(c, product)
}

func (a *API) updateProduct(c echo.Context) error {
	id, err := pathID(c, "id", "prd", "product")
	if err != nil {
		return err
	}
	command, err := read(c, productUpdate)
	if err != nil {
		return err
	}
	product, err := a.payments.UpdateProduct(c.Request().Context(), callerOf(c).MerchantID, id, command)
	if err != nil {
		return err
	}
	return object(c, product)
}

func (a *API) getStock(c echo.Context) error {
	id, err := pathID(c, "id", "prd", "product")
	if err != nil {
		return err
	}
	stock, err := a.store.Stock(c.Request().Context(), callerOf(c).MerchantID, id)
	if err != nil {
		return err
	}
	return object(c, stock)
}

func (a *API) setStock(c echo.Context) error {
	id, err := pathID(c, "id", "prd", "product")
	if err != nil {
		return err
	}
	onHand, err := read(c, stockCommand)
	if err != nil {
		return err
	}
	stock, err := a.payments.SetStock(c.Request().Context(), callerOf(c).MerchantID, id, onHand)
	if err != nil {
		return err
	}
	return object(c, stock)
}
