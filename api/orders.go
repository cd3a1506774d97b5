package api

import (
	"github.com/labstack/echo/v4"

	sj "payonce/api/strictjson"
	"payonce/domain"
	"payonce/repository"
)

func (a *API) createOrder(c echo.Context) error {
	request, command, err := keyed(c, orderCommand)
	if err != nil {
		return err
	}
	reply, err := a.payments.CreateOrder(c.Request().Context(), request, command)
	if err != nil {
		return err
	}
	return a.answer(c, reply)
}

func (a *API) listOrders(c echo.Context) error {
	p, err := page(c, "ord")
	if err != nil {
		return err
	}
	filter := repository.OrderFilter{CustomerEmail: c.QueryParam("customer_email")}
	if filter.Status, err = oneOf(c, "status", domain.OrderStatuses()); err != nil {
		return err
	}
	if c.QueryParams().Has("customer_email") && !isEmail(filter.CustomerEmail) {
		return badParameter("customer_email", "must be an e-mail address")
	}
	if filter.CreatedAfter, err = instant(c, "created_after"); err != nil {
		return err
	}
	if filter.CreatedBefore, err = instant(c, "created_before"); err != nil {
		return err
	}
	orders, more, err := a.store.ListOrders(c.Request().Context(), callerOf(c).MerchantID, filter, p)
	if err != nil {
		return err
	}
	return listed(c, orders, more)
}

func (a *API) getOrder(c echo.Context) error {
	id, err := pathID(c, "id", "ord", "order")
	if err != nil {
		return err
	}
	order, err := a.store.Order(c.Request().Context(), callerOf(c).MerchantID, id)
	if err != nil {
		return err
	}
	return object(c, order)
}

// timeline is the wire form of what happened to an order.
type timeline struct {
	Object  string                 `json:"object"`
	OrderID string                 `json:"order_id"`
	Data    []domain.TimelineEntry `json:"data"`
}

func (a *API) getTimeline(c echo.Context) error {
	id, err := pathID(c, "id", "ord", "order")
	if err != nil {
		return err
	}
	entries, err := a.store.Timeline(c.Request().Context(), callerOf(c).MerchantID, id)
	if err != nil {
		return err
	}
	return object(c, timeline{"timeline", id, entries})
}

func (a *API) setShippingAddress(c echo.Context) error {
	id, err := pathID(c, "id", "ord", "order")
	if err != nil {
		return err
	}
	to, err := read(c, func(o *sj.Object) *domain.Address { return address(o) })
	if err != nil {
		return err
	}
	order, err := a.payments.SetShippingAddress(c.Request().Context(), callerOf(c).MerchantID, id, *to)
	if err != nil {
		return err
	}
	return object(c, order)
}
