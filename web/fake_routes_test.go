package web_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// noon is the only time there is in these tests.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func (f *fakeAPI) routes() {
	f.mux.HandleFunc("GET /v1/products", func(w http.ResponseWriter, _ *http.Request) {
		f.write(w, http.StatusOK, map[string]any{"data": f.products, "has_more": false})
	})
	f.mux.HandleFunc("POST /v1/carts", f.keyed("carts.create", func(w http.ResponseWriter, r *http.Request) {
		c := &fakeCart{ID: f.id("cart"), Items: []fakeItem{}}
		decode(r, c)
		f.carts[c.ID] = c
		f.write(w, http.StatusCreated, c)
	}))
	f.mux.HandleFunc("GET /v1/carts/{id}", func(w http.ResponseWriter, r *http.Request) {
		f.object(w, f.cart(r.PathValue("id")))
	})
	f.mux.HandleFunc("PUT /v1/carts/{id}/items/{product}", f.putItem)
	f.mux.HandleFunc("DELETE /v1/carts/{id}/items/{product}", func(w http.ResponseWriter, r *http.Request) {
		c := f.cart(r.PathValue("id"))
		c.Items = slices.DeleteFunc(c.Items, func(i fakeItem) bool { return i.ProductID == r.PathValue("product") })
		f.object(w, f.cart(c.ID))
	})
	f.mux.HandleFunc("POST /v1/orders", f.keyed("orders.create", f.createOrder))
	f.mux.HandleFunc("GET /v1/orders/{id}", func(w http.ResponseWriter, r *http.Request) { f.object(w, f.orders[r.PathValue("id")]) })
	f.mux.HandleFunc("POST /v1/orders/{id}/charges", f.keyed("charges.create", f.createCharge))
	f.mux.HandleFunc("GET /v1/orders/{id}/timeline", f.getTimeline)
	f.mux.HandleFunc("POST /v1/charges/{id}/cancel", f.keyed("charges.cancel", f.cancelCharge))
	f.mux.HandleFunc("GET /v1/charges", func(w http.ResponseWriter, r *http.Request) {
		data := []*fakeCharge{}
		for _, c := range slices.Backward(f.charges) {
			if c.OrderID == r.URL.Query().Get("order_id") {
				data = append(data, c)
			}
		}
		f.write(w, http.StatusOK, map[string]any{"data": data, "has_more": false})
	})
	f.mux.HandleFunc("GET /v1/charges/{id}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "4")
		f.object(w, f.charge(r.PathValue("id")))
	})
	f.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { f.problem(w, http.StatusNotFound, "not-found", nil) })
}

func decode(r *http.Request, into any) {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		panic(err)
	}
}

func (f *fakeAPI) object(w http.ResponseWriter, v any) {
	switch v := v.(type) {
	case *fakeCart:
		if v == nil {
			f.problem(w, http.StatusNotFound, "not-found", nil)
			return
		}
	case *fakeOrder:
		if v == nil {
			f.problem(w, http.StatusNotFound, "not-found", nil)
			return
		}
	}
	f.write(w, http.StatusOK, v)
}

func (f *fakeAPI) product(id string) *fakeProduct {
	for _, p := range f.products {
		if p.ID == id {
			return p
		}
	}
	return nil
}

func (f *fakeAPI) charge(id string) *fakeCharge {
	for _, c := range f.charges {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// cart prices a cart anew, as the API does on every look.
func (f *fakeAPI) cart(id string) *fakeCart {
	c := f.carts[id]
	if c == nil {
		return nil
	}
	c.Total = 0
	for i := range c.Items {
		item, p := &c.Items[i], f.product(c.Items[i].ProductID)
		item.SKU, item.Name, item.UnitAmount, item.Available = p.SKU, p.Name, p.price(c.Currency), p.Available
		item.Amount = item.UnitAmount * item.Quantity
		c.Total += item.Amount
	}
	return c
}

func (f *fakeAPI) putItem(w http.ResponseWriter, r *http.Request) {
	c, p := f.cart(r.PathValue("id")), f.product(r.PathValue("product"))
	var body struct{ Quantity int64 }
	decode(r, &body)
	switch {
	case c == nil || p == nil:
		f.problem(w, http.StatusNotFound, "not-found", nil)
		return
	case c.OrderID != nil:
		f.problem(w, http.StatusConflict, "cart-already-ordered", map[string]any{"order_id": *c.OrderID})
		return
	case p.price(c.Currency) < 0 || body.Quantity > 10_000:
		f.problem(w, http.StatusUnprocessableEntity, "validation-failed", nil)
		return
	}
	at := slices.IndexFunc(c.Items, func(i fakeItem) bool { return i.ProductID == p.ID })
	if at < 0 {
		c.Items = append(c.Items, fakeItem{ProductID: p.ID})
		at = len(c.Items) - 1
	}
	c.Items[at].Quantity = body.Quantity
	f.object(w, f.cart(c.ID))
}

func (f *fakeAPI) createOrder(w http.ResponseWriter, r *http.Request) {
	var body struct {
		CartID          string            `json:"cart_id"`
		Customer        map[string]string `json:"customer"`
		ShippingAddress map[string]string `json:"shipping_address"`
		ExpectedTotal   int64             `json:"expected_total"`
	}
	decode(r, &body)
	c := f.cart(body.CartID)
	if c == nil {
		f.problem(w, http.StatusNotFound, "not-found", nil)
		return
	}
	errors := []map[string]string{}
	if !strings.Contains(body.Customer["email"], "@") {
		errors = append(errors, map[string]string{"pointer": "/customer/email", "detail": "regexp 'x' did not match"})
	}
	if body.ShippingAddress != nil && body.ShippingAddress["city"] == "" {
		errors = append(errors, map[string]string{"pointer": "/shipping_address/city", "detail": "is required"})
	}
	if len(c.Items) == 0 {
		errors = append(errors, map[string]string{"pointer": "/cart_id", "detail": "the cart is empty"})
	}
	switch {
	case len(errors) > 0:
		f.problem(w, http.StatusUnprocessableEntity, "validation-failed", map[string]any{"errors": errors})
		return
	case c.OrderID != nil:
		f.problem(w, http.StatusConflict, "cart-already-ordered", map[string]any{"order_id": *c.OrderID})
		return
	case body.ExpectedTotal != c.Total:
		f.problem(w, http.StatusConflict, "total-changed", map[string]any{"total": c.Total})
		return
	}
	for _, item := range c.Items {
		if item.Available < item.Quantity {
			f.problem(w, http.StatusConflict, "out-of-stock", map[string]any{"product_id": item.ProductID, "available": item.Available})
			return
		}
	}
	o := &fakeOrder{ID: f.id("ord"), Status: "pending_payment", Currency: c.Currency, Total: c.Total, Items: slices.Clone(c.Items),
		Customer: body.Customer, ExpiresAt: noon.Add(30 * time.Minute), CreatedAt: noon}
	f.orders[o.ID], c.OrderID = o, &o.ID
	f.wrote(o.ID, fakeEntry{Type: "request", Status: "finished", Operation: "orders.create", RequestID: "req_order", HTTPStatus: http.StatusCreated},
		fakeEntry{Type: "order", Status: o.Status})
	f.write(w, http.StatusCreated, o)
}

func (f *fakeAPI) createCharge(w http.ResponseWriter, r *http.Request) {
	o := f.orders[r.PathValue("id")]
	if o == nil {
		f.problem(w, http.StatusNotFound, "not-found", nil)
		return
	}
	key := r.Header.Get("Idempotency-Key")
	if open := o.ChargeID; open != nil && f.charge(*open).key == key {
		// The answer was provisional, so it was not kept: the key finds its charge as it is now.
		status := http.StatusAccepted
		if f.charge(*open).Status == "succeeded" {
			status = http.StatusCreated
		}
		f.write(w, status, f.charge(*open))
		return
	}
	if o.Status != "pending_payment" {
		slug := "order-not-payable"
		if o.Status == "paid" {
			slug = "order-already-paid"
		}
		f.problem(w, http.StatusConflict, slug, map[string]any{"order_status": o.Status, "charge_id": o.ChargeID})
		return
	}
	if open := o.ChargeID; open != nil && f.charge(*open).Status != "failed" && f.charge(*open).Status != "canceled" {
		f.problem(w, http.StatusConflict, "charge-in-progress", map[string]any{"charge_id": *open})
		return
	}
	c := &fakeCharge{ID: f.id("chg"), OrderID: o.ID, Amount: o.Total, Provider: "stripe", CreatedAt: noon, UpdatedAt: noon, key: key}
	decode(r, c)
	f.charges, o.ChargeID = append(f.charges, c), &c.ID
	f.wrote(o.ID, fakeEntry{Type: "request", Status: "finished", Operation: "charges.create", RequestID: "req_charge", ChargeID: c.ID},
		fakeEntry{Type: "charge", Status: "created", ChargeID: c.ID}, f.asked(c, "create", "succeeded"))
	switch {
	case len(f.faults["charges.create"]) > 0 && f.faults["charges.create"][0] == bankSilent:
		f.faults["charges.create"] = f.faults["charges.create"][1:]
		c.Status = "unknown"
		f.wrote(o.ID, f.asked(c, "confirm", "unknown"), fakeEntry{Type: "charge", Status: c.Status, ChargeID: c.ID})
		w.Header().Set("Retry-After", "2")
		f.write(w, http.StatusAccepted, c)
	case strings.Contains(c.PaymentMethod, "authenticationRequired"):
		c.Status, c.NextAction = "requires_action", map[string]string{"type": "redirect", "url": "https://bank.example/confirm/" + c.ID}
		f.wrote(o.ID, f.asked(c, "confirm", "pending"), fakeEntry{Type: "charge", Status: c.Status, ChargeID: c.ID})
		f.write(w, http.StatusCreated, c)
	case strings.Contains(c.PaymentMethod, "eclined"):
		refused := f.asked(c, "confirm", "declined")
		refused.FailureCode = "lost_card"
		f.wrote(o.ID, refused)
		f.settle(c.ID, "failed")
		f.problem(w, http.StatusPaymentRequired, "card-declined", map[string]any{"charge": c, "failure": c.Failure, "order_id": o.ID})
	default:
		f.wrote(o.ID, f.asked(c, "confirm", "succeeded"))
		f.settle(c.ID, "succeeded")
		f.write(w, http.StatusCreated, c)
	}
}

// settle decides a charge, as the provider's news would.
func (f *fakeAPI) settle(id, status string) {
	c, by, reference := f.charge(id), "response", "pi_of_"+id
	c.Status, c.ResolvedBy, c.ProviderReference, c.NextAction = status, &by, &reference, nil
	f.wrote(c.OrderID, fakeEntry{Type: "charge", Status: status, ChargeID: id, ResolvedBy: by})
	switch o := f.orders[c.OrderID]; status {
	case "succeeded":
		o.Status, o.AmountPaid = "paid", o.Total
	case "failed":
		c.Failure = map[string]string{"code": "card_declined", "decline_code": "lost_card", "message": "The card was declined. Please use another card."}
	}
}
