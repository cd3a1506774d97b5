package web

import (
	"net/http"
	"net/url"
	"strings"
)

// neutralPicture stands in for a product without a picture of its own.
const neutralPicture = "/static/products/neutral.svg"

// fewLeft is from where on the shop tells how many units are left.
const fewLeft = 5

type catalogueView struct {
	Products []productView
	More     string // id after which the next page starts
}

type productView struct {
	ID, SKU, Name, Description, Picture string
	Price                               string // empty: not sold in the chosen currency
	Left                                int64  // units, when they are few
	SoldOut                             bool
	InCart                              int64
}

func (s *shop) catalogue(v *visit) error {
	if err := v.loadCart(); err != nil {
		return err
	}
	path := "/v1/products?limit=100"
	if after := v.r.URL.Query().Get("after"); idSyntax.MatchString(after) {
		path += "&starting_after=" + url.QueryEscape(after)
	}
	var products list[product]
	if _, err := s.api.get(v.r.Context(), path, &products); err != nil {
		return err
	}
	out := catalogueView{}
	for _, p := range products.Data {
		if p.Active {
			out.Products = append(out.Products, v.productView(p))
		}
	}
	if n := len(products.Data); products.HasMore && n > 0 {
		out.More = products.Data[n-1].ID
	}
	return v.render(http.StatusOK, "catalogue", view{Title: "Shop", Currency: v.currency(), Currencies: currencies, Back: "/", Page: out})
}

func (v *visit) productView(p product) productView {
	out := productView{ID: p.ID, SKU: p.SKU, Name: p.Name, Description: p.Description, Picture: v.shop.picture(p.ImageURL),
		SoldOut: p.Available <= 0, InCart: v.cart.quantity(p.ID)}
	if amount, sold := p.priceIn(v.currency()); sold {
		out.Price = v.money.format(amount, v.currency())
	}
	if p.Available > 0 && p.Available <= fewLeft {
		out.Left = p.Available
	}
	return out
}

// picture shows our own files only, which is also all that the policy of the pages lets a browser load.
func (s *shop) picture(imageURL string) string {
	if strings.HasPrefix(imageURL, "/static/") && s.assets.has(imageURL) {
		return s.assets.url(imageURL)
	}
	return s.assets.url(neutralPicture)
}
