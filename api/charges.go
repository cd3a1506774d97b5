package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	sj "payonce/api/strictjson"
	"payonce/domain"
	"payonce/payment"
	"payonce/repository"
)

func (a *API) createCharge(c echo.Context) error {
	order, err := pathID(c, "id", "ord", "order")
	if err != nil {
		return err
	}
	request, command, err := keyed(c, func(o *sj.Object) payment.CreateCharge { return chargeCommand(o, order) })
	if err != nil {
		return err
	}
	reply, err := a.payments.CreateCharge(c.Request().Context(), request, command)
	if err != nil {
		return err
	}
	return a.answer(c, reply)
}

func (a *API) captureCharge(c echo.Context) error {
	charge, err := pathID(c, "id", "chg", "charge")
	if err != nil {
		return err
	}
	withoutBody(c)
	request, command, err := keyed(c, func(o *sj.Object) payment.CaptureCharge { return captureCommand(o, charge) })
	if err != nil {
		return err
	}
	reply, err := a.payments.CaptureCharge(c.Request().Context(), request, command)
	if err != nil {
		return err
	}
	return a.answer(c, reply)
}

func (a *API) cancelCharge(c echo.Context) error {
	charge, err := pathID(c, "id", "chg", "charge")
	if err != nil {
		return err
	}
	withoutBody(c)
	request, command, err := keyed(c, func(o *sj.Object) payment.CancelCharge { return cancelCommand(o, charge) })
	if err != nil {
		return err
	}
	reply, err := a.payments.CancelCharge(c.Request().Context(), request, command)
	if err != nil {
		return err
	}
	return a.answer(c, reply)
}

func (a *API) listCharges(c echo.Context) error {
	p, err := page(c, "chg")
	if err != nil {
		return err
	}
	filter := repository.ChargeFilter{OrderID: c.QueryParam("order_id")}
	if c.QueryParams().Has("order_id") && !isID(filter.OrderID, "ord") {
		return badParameter("order_id", "must be an order's id")
	}
	if filter.Status, err = oneOf(c, "status", domain.ChargeStatuses()); err != nil {
		return err
	}
	charges, more, err := a.store.ListCharges(c.Request().Context(), callerOf(c).MerchantID, filter, p)
	if err != nil {
		return err
	}
	return listed(c, charges, more)
}

func (a *API) getCharge(c echo.Context) error {
	id, err := pathID(c, "id", "chg", "charge")
	if err != nil {
		return err
	}
	charge, err := a.store.Charge(c.Request().Context(), callerOf(c).MerchantID, id)
	if err != nil {
		return err
	}
	if charge.Undecided() {
		c.Response().Header().Set("Retry-After", seconds(payment.RetryAfter))
		return c.JSONBlob(http.StatusAccepted, encode(charge)) // not decided; the same words as the POST's
	}
	return object(c, charge)
}
