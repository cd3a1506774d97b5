package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// loadCart reads the cart that this browser has. A cart that became an order, or that the API no longer knows, counts as
// none, but its id stays: the next cart's key is derived from it.
func (v *visit) loadCart() error {
	if v.cart != nil {
		return nil
	}
	id := v.cookie(cartCookie)
	if !idSyntax.MatchString(id) {
		v.cart = &cart{}
		return nil
	}
	found, err := v.shop.readCart(v.r.Context(), id)
	if refusedAs(err, "not-found") {
		v.cart = &cart{}
		return nil
	}
	if err == nil {
		v.cart = &found
	}
	return err
}

func (s *shop) readCart(ctx context.Context, id string) (cart, error) {
	var found cart
	_, err := s.api.get(ctx, "/v1/carts/"+url.PathEscape(id), &found)
	return found, err
}

// currency is what this browser sees prices in: its cart's, or its last choice.
func (v *visit) currency() string {
	if v.cart != nil && v.cart.open() {
		return v.cart.Currency
	}
	if chosen := v.cookie(currencyCookie); slices.Contains(currencies, chosen) {
		return chosen
	}
	return v.shop.Currency
}

// startCart makes the cart that follows the present one. Its key is derived from the browser and the cart before, so two
// presses that race, or one that is repeated because its answer was lost, make one cart and not two.
func (v *visit) startCart(currency string) error {
	before := v.cookie(cartCookie)
	if v.cart != nil && v.cart.ID != "" {
		before = v.cart.ID
	}
	var made cart
	_, err := v.shop.api.must(v.r.Context(), request{method: http.MethodPost, path: "/v1/carts", key: v.shop.sign("cart", v.browser, before, currency),
		body: map[string]string{"currency": currency}, into: &made})
	if err != nil {
		return err
	}
	// A repeated answer shows the cart as it was when it was new.
	if made, err = v.shop.readCart(v.r.Context(), made.ID); err != nil {
		return err
	}
	v.cart = &made
	v.setCookie(cartCookie, made.ID, rememberCart)
	v.setCookie(currencyCookie, currency, rememberCart)
	return nil
}

// putItem sets the quantity of a product in the open cart, and starts a cart when there is none.
func (v *visit) putItem(product string, quantity int64) error {
	const tries = 3 // more than one only when another tab orders the cart at this very moment
	var err error
	for range tries {
		if !v.cart.open() {
			if err := v.startCart(v.currency()); err != nil {
				return err
			}
		}
		err = v.changeItem(http.MethodPut, product, map[string]int64{"quantity": quantity})
		if !refusedAs(err, "cart-already-ordered") {
			return err
		}
		ordered, lookErr := v.shop.readCart(v.r.Context(), v.cart.ID)
		if lookErr != nil {
			return lookErr
		}
		v.cart = &ordered
	}
	return err
}

func (v *visit) changeItem(method, product string, body any) error {
	var changed cart
	_, err := v.shop.api.must(v.r.Context(), request{method: method, body: body, into: &changed,
		path: "/v1/carts/" + url.PathEscape(v.cart.ID) + "/items/" + url.PathEscape(product)})
	if err == nil {
		v.cart = &changed
	}
	return err
}

// addToCart puts one more unit into the cart than the page showed. The form says what the buyer saw, so pressing twice
// on one page still means one more; and it never takes away what another tab has added.
func (s *shop) addToCart(v *visit) error {
	if err := v.loadCart(); err != nil {
		return err
	}
	product := v.idField("product_id")
	seen, err := strconv.ParseInt(v.field("seen"), 10, 32)
	if product == "" || err != nil || seen < 0 {
		return s.notFound(v)
	}
	quantity := max(seen+1, v.cart.quantity(product))
	if err := v.putItem(product, quantity); err != nil {
		return v.explainItem(err)
	}
	return v.seeOther("/#" + url.PathEscape(product))
}

// setCartItem sets a quantity on the cart's page; 0 takes the product out.
func (s *shop) setCartItem(v *visit) error {
	if err := v.loadCart(); err != nil {
		return err
	}
	product := v.idField("product_id")
	quantity, err := strconv.ParseInt(v.field("quantity"), 10, 32)
	switch {
	case product == "":
		return s.notFound(v)
	case err != nil || quantity < 0:
		return v.seeOther("/cart?note=quantity")
	case quantity > 0:
		err = v.putItem(product, quantity)
	case v.cart.open():
		err = v.changeItem(http.MethodDelete, product, nil)
	}
	if err != nil {
		return v.explainItem(err)
	}
	return v.seeOther("/cart")
}

// explainItem shows the cart with a word about a change that the API refused.
func (v *visit) explainItem(err error) error {
	switch {
	case refusedAs(err, "validation-failed"):
		return v.seeOther("/cart?note=quantity")
	case refusedAs(err, "not-found"):
		return v.seeOther("/cart?note=gone")
	case refusedAs(err, "cart-already-ordered"):
		return v.seeOther("/cart")
	}
	return err
}

// switchCurrency shows prices in another currency. A cart has one currency for life, so its products move to a new one.
func (s *shop) switchCurrency(v *visit) error {
	chosen := v.field("currency")
	back := "/"
	if v.field("back") == "/cart" {
		back = "/cart"
	}
	if !slices.Contains(currencies, chosen) {
		return s.notFound(v)
	}
	if err := v.loadCart(); err != nil {
		return err
	}
	if !v.cart.open() || len(v.cart.Items) == 0 || v.cart.Currency == chosen {
		return s.switchEmpty(v, chosen, back)
	}
	left, err := v.moveItems(chosen)
	if err != nil {
		return err
	}
	if left > 0 {
		back = "/cart?note=left-out"
	}
	return v.seeOther(back)
}

// switchEmpty needs no new cart as long as there is nothing to move, unless an empty one is already there.
func (s *shop) switchEmpty(v *visit, chosen, back string) error {
	v.setCookie(currencyCookie, chosen, rememberCart)
	if v.cart.open() && v.cart.Currency != chosen {
		if err := v.startCart(chosen); err != nil {
			return err
		}
	}
	return v.seeOther(back)
}

// moveItems makes a cart in another currency hold what the present one holds, and counts what is not sold in it. It sets
// quantities and removes strangers, so doing it again after a lost answer ends the same.
func (v *visit) moveItems(currency string) (left int, err error) {
	wanted := v.cart.Items
	if err := v.startCart(currency); err != nil {
		return 0, err
	}
	for _, stranger := range v.cart.Items {
		if !slices.ContainsFunc(wanted, func(i cartItem) bool { return i.ProductID == stranger.ProductID }) {
			if err := v.changeItem(http.MethodDelete, stranger.ProductID, nil); err != nil {
				return 0, err
			}
		}
	}
	for _, item := range wanted {
		err := v.changeItem(http.MethodPut, item.ProductID, map[string]int64{"quantity": item.Quantity})
		switch {
		case refusedAs(err, "validation-failed"):
			left++
		case err != nil:
			return left, err
		}
	}
	return left, nil
}

type cartView struct {
	Lines []lineView
	Total string
	Note  string
	Short bool // some line wants more than there is
	Order string
}

// lineView is a line of a cart or an order.
type lineView struct {
	ProductID, Name, Picture string
	Unit, Amount             string
	Quantity, Available      int64
	Short                    bool
}

func (v *visit) lines(items []cartItem, currency string) []lineView {
	out := make([]lineView, len(items))
	for i, item := range items {
		out[i] = lineView{ProductID: item.ProductID, Name: item.Name, Picture: v.shop.picture("/static/products/" + item.SKU + ".svg"),
			Unit: v.money.format(item.UnitAmount, currency), Amount: v.money.format(item.Amount, currency),
			Quantity: item.Quantity, Available: max(item.Available, 0), Short: item.Quantity > item.Available}
	}
	return out
}

// cartNotes are the words that a redirect to the cart can carry; anything else in the address is ignored.
var cartNotes = map[string]string{
	"quantity": "That quantity cannot be ordered here. Choose a number from 1 to 10,000 of something that is sold in this currency.",
	"gone":     "That product is no longer sold.",
	"left-out": "Not everything is sold in this currency. What is not was left out.",
}

func (s *shop) showCart(v *visit) error {
	if err := v.loadCart(); err != nil {
		return err
	}
	out := cartView{Note: cartNotes[v.r.URL.Query().Get("note")]}
	if v.cart.OrderID != nil {
		out.Order = *v.cart.OrderID
	}
	if v.cart.open() {
		out.Lines, out.Total = v.lines(v.cart.Items, v.cart.Currency), v.money.format(v.cart.Total, v.cart.Currency)
		out.Short = slices.ContainsFunc(out.Lines, func(l lineView) bool { return l.Short })
	}
	return v.render(http.StatusOK, "cart", view{Title: "Your cart", Currency: v.currency(), Currencies: currencies, Back: "/cart", Page: out})
}
