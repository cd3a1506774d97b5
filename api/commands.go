package api

import (
	"net/mail"
	"net/url"
	"regexp"
	"strings"

	sj "payonce/api/strictjson"
	"payonce/domain"
	"payonce/payment"
)

// This file says how bodies become commands: one function per body, one line per member. Whatever the commands leave
// open is filled with its default here, before the fingerprint is taken.

func productCommand(o *sj.Object) payment.CreateProduct {
	cmd := payment.CreateProduct{
		SKU:         o.Text("sku", sj.Required, sj.Length(1, 64), sj.Matching("letters, digits, '.', '_' and '-'", skuPattern.MatchString)),
		Name:        o.Text("name", sj.Required, sj.Length(1, 200)),
		Description: o.Text("description", sj.Length(0, 5000), sj.Multiline),
		ImageURL:    o.Text("image_url", sj.Length(0, 500), sj.Matching("a path or an http(s) URL", isImage)),
		Prices:      prices(o, sj.Required),
		Active:      true,
		Metadata:    metadata(o),
	}
	if active := o.OptionalBool("active"); active != nil {
		cmd.Active = *active
	}
	return cmd
}

func productUpdate(o *sj.Object) payment.UpdateProduct {
	return payment.UpdateProduct{
		SKU:         o.OptionalText("sku", sj.Length(1, 64), sj.Matching("letters, digits, '.', '_' and '-'", skuPattern.MatchString)),
		Name:        o.OptionalText("name", sj.Length(1, 200)),
		Description: o.OptionalText("description", sj.Length(0, 5000), sj.Multiline),
		ImageURL:    o.OptionalText("image_url", sj.Length(0, 500), sj.Matching("a path or an http(s) URL", isImage)),
		Prices:      prices(o),
		Active:      o.OptionalBool("active"),
		Metadata:    o.Metadata("metadata"),
	}
}

var skuPattern = regexp.MustCompile(`^[0-9A-Za-z._-]+$`)

// isImage allows what a browser may load as a picture, and no script.
func isImage(s string) bool {
	u, err := url.Parse(s)
	return s == "" || err == nil && (u.Scheme == "https" || u.Scheme == "http" || u.Scheme == "" && u.Host == "" && strings.HasPrefix(s, "/"))
}

// prices reads one price per currency.
func prices(o *sj.Object, rules ...sj.Rule) []domain.Price {
	var out []domain.Price
	seen := map[domain.Currency]bool{}
	o.Objects("prices", func(item *sj.Object) {
		c := currency(item)
		amount := item.Int("unit_amount", sj.Required, sj.Range(0, domain.MaxAmount))
		if rule, ok := c.Rule(); ok {
			if reason := rule.CheckUnitAmount(amount); reason != "" && amount >= 0 && amount <= domain.MaxAmount {
				item.Invalid("unit_amount", reason)
			}
			if seen[c] {
				item.Invalid("currency", "has a price already")
			}
			seen[c] = true
		}
		out = append(out, domain.Price{Currency: c, UnitAmount: amount})
	}, append(rules, sj.Length(1, len(domain.Currencies())))...)
	return out
}

// currency reads a required ISO 4217 code in any case.
func currency(o *sj.Object) domain.Currency {
	text := o.Text("currency", sj.Required)
	c, ok := domain.ParseCurrency(text)
	if !ok && text != "" {
		o.Invalid("currency", "is not a currency that is sold in")
	}
	return c
}

func stockCommand(o *sj.Object) int64 {
	return o.Int("on_hand", sj.Required, sj.Range(0, 1_000_000_000))
}

func cartCommand(o *sj.Object) payment.CreateCart {
	return payment.CreateCart{Currency: currency(o), Metadata: metadata(o)}
}

func quantity(o *sj.Object) int64 {
	return o.Int("quantity", sj.Required, sj.Range(1, domain.MaxQuantity))
}

// orderCommand reads an order: either items and a currency, or a cart, which has both.
func orderCommand(o *sj.Object) payment.CreateOrder {
	cmd := payment.CreateOrder{
		CartID:          o.Text("cart_id", sj.Matching("a cart's id", ofKind("cart"))),
		Customer:        customer(o),
		ShippingAddress: address(o.Object("shipping_address", sj.Nullable)),
		ShippingMethod:  o.OptionalText("shipping_method", sj.Nullable, sj.Length(1, 40)),
		Metadata:        metadata(o),
		ExpectedTotal:   o.OptionalInt("expected_total", sj.Nullable, sj.Range(0, domain.MaxAmount)),
	}
	if o.Has("cart_id") {
		if o.Has("currency") {
			cmd.Currency = currency(o)
		}
		if o.Has("items") {
			o.Invalid("items", "cannot be given together with cart_id")
		}
		return cmd
	}
	cmd.Currency = currency(o)
	o.Objects("items", func(item *sj.Object) {
		cmd.Items = append(cmd.Items, payment.OrderLine{
			ProductID: item.Text("product_id", sj.Required, sj.Matching("a product's id", ofKind("prd"))),
			Quantity:  quantity(item),
		})
	}, sj.Required, sj.Length(1, domain.MaxLines))
	return cmd
}

func ofKind(prefix string) func(string) bool {
	return func(s string) bool { return isID(s, prefix) }
}

func customer(o *sj.Object) domain.Customer {
	c := o.Object("customer", sj.Required)
	if c == nil {
		return domain.Customer{}
	}
	return domain.Customer{
		Email: c.Text("email", sj.Required, sj.Length(3, 254), sj.Matching("an e-mail address", isEmail)),
		Name:  c.Text("name", sj.Length(0, 200)),
	}
}

// isEmail accepts a bare address (RFC 5322), without a display name.
func isEmail(s string) bool {
	parsed, err := mail.ParseAddress(s)
	return err == nil && parsed.Address == s && parsed.Name == ""
}

func address(o *sj.Object) *domain.Address {
	if o == nil {
		return nil
	}
	line := sj.Length(1, 200)
	return &domain.Address{
		Name:       o.Text("name", sj.Length(0, 200)),
		Line1:      o.Text("line1", sj.Required, line),
		Line2:      o.Text("line2", sj.Length(0, 200)),
		City:       o.Text("city", sj.Required, line),
		State:      o.Text("state", sj.Length(0, 200)),
		PostalCode: o.Text("postal_code", sj.Required, sj.Length(1, 20)),
		Country:    o.Text("country", sj.Required, sj.Matching("a two-letter country code", countryPattern.MatchString)),
	}
}

var countryPattern = regexp.MustCompile(`^[A-Z]{2}$`)

// chargeCommand reads how an order is to be paid. There is no amount in it: the order has one.
func chargeCommand(o *sj.Object, order string) payment.CreateCharge {
	return payment.CreateCharge{
		OrderID:       order,
		PaymentMethod: o.Text("payment_method", sj.Required, sj.Length(1, 255), sj.Matching("a payment method's token", tokenPattern.MatchString)),
		CaptureMethod: sj.OneOf(o, "capture_method", domain.CaptureAutomatic, domain.CaptureAutomatic, domain.CaptureManual),
		ReturnURL:     o.Text("return_url", sj.Length(0, 2000), sj.Matching("an http(s) URL", isReturnURL)),
	}
}

func captureCommand(o *sj.Object, charge string) payment.CaptureCharge {
	return payment.CaptureCharge{ChargeID: charge, Amount: o.OptionalInt("amount", sj.Nullable, sj.Range(1, domain.MaxAmount))}
}

func cancelCommand(o *sj.Object, charge string) payment.CancelCharge {
	return payment.CancelCharge{ChargeID: charge, Reason: o.Text("reason", sj.Length(0, 500))}
}

var tokenPattern = regexp.MustCompile(`^[0-9A-Za-z_]+$`)

func isReturnURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil
}

// metadata is never nil: the caller's own notes, or none.
func metadata(o *sj.Object) map[string]string {
	if m := o.Metadata("metadata"); m != nil {
		return m
	}
	return map[string]string{}
}
