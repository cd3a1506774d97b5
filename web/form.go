package web

import (
	"slices"
	"strconv"
	"strings"
)

// purchase is the form of the checkout page. Sending it again means the same purchase only when every field is the same.
type purchase struct {
	Key, CartID, Currency, ExpectedTotal           string
	Email, Name                                    string
	Line1, Line2, City, State, PostalCode, Country string
	PaymentMethod                                  string
}

// formField ties a field of the form to the place of its value in the API's order.
type formField struct {
	name, label  string
	kind         string // of the input; empty: not a line of text
	autocomplete string
	need         string // required, optional, or empty when that depends on the others
	pointer      string
	value        func(*purchase) *string
	hint         string // what to do when the API does not accept what was typed
}

// formFields is the one list of the fields a buyer can see: showing, reading, repeating and blaming all go by it.
var formFields = []formField{
	{"email", "E-mail", "email", "email", "required", "/customer/email", func(p *purchase) *string { return &p.Email }, "Use an address like name@example.com."},
	{"name", "Name", "text", "name", "optional", "/customer/name", func(p *purchase) *string { return &p.Name }, plainer},
	{"line1", "Street and number", "text", "address-line1", "", "/shipping_address/line1", func(p *purchase) *string { return &p.Line1 }, plainer},
	{"line2", "Flat, floor, company", "text", "address-line2", "optional", "/shipping_address/line2", func(p *purchase) *string { return &p.Line2 }, plainer},
	{"postal_code", "Postal code", "text", "postal-code", "", "/shipping_address/postal_code", func(p *purchase) *string { return &p.PostalCode }, "Use the code as it is written on letters."},
	{"city", "City", "text", "address-level2", "", "/shipping_address/city", func(p *purchase) *string { return &p.City }, plainer},
	{"state", "State or region", "text", "address-level1", "optional", "/shipping_address/state", func(p *purchase) *string { return &p.State }, plainer},
	{"country", "Country", "", "country", "", "/shipping_address/country", func(p *purchase) *string { return &p.Country }, "Choose a country from the list."},
	{"payment_method", "Test card", "", "", "", "/payment_method", func(p *purchase) *string { return &p.PaymentMethod }, chooseCard},
}

const (
	plainer    = "Use a shorter text without special signs."
	chooseCard = "Choose one of the test cards."
)

// fieldView is a field as the page shows it.
type fieldView struct {
	Name, Label, Kind, Autocomplete, Need, Value, Error string
}

// views is the form with what was typed and what was wrong with it, by field name.
func (p purchase) views(errors map[string]string) map[string]fieldView {
	out := map[string]fieldView{}
	for _, f := range formFields {
		out[f.name] = fieldView{Name: f.name, Label: f.label, Kind: f.kind, Autocomplete: f.autocomplete, Need: f.need,
			Value: *f.value(&p), Error: errors[f.name]}
	}
	return out
}

// purchaseFrom reads the form. Spaces around a value are nobody's intent.
func purchaseFrom(v *visit) purchase {
	p := purchase{Key: v.field("key"), CartID: v.idField("cart_id"), Currency: v.field("currency"), ExpectedTotal: v.field("expected_total")}
	for _, f := range formFields {
		*f.value(&p) = strings.TrimSpace(v.field(f.name))
	}
	return p
}

// hidden repeats the form for a page that sends it again as it is.
func (p purchase) hidden() []hiddenField {
	out := []hiddenField{{"key", p.Key}, {"cart_id", p.CartID}, {"currency", p.Currency}, {"expected_total", p.ExpectedTotal}}
	for _, f := range formFields {
		out = append(out, hiddenField{f.name, *f.value(&p)})
	}
	return out
}

type hiddenField struct{ Name, Value string }

func (p purchase) total() (int64, error) { return strconv.ParseInt(p.ExpectedTotal, 10, 64) }

// addressed reports whether anything of an address was typed. The country is preselected and says nothing.
func (p purchase) addressed() bool { return p.Line1+p.Line2+p.City+p.State+p.PostalCode != "" }

func (p purchase) orderCommand() orderCommand {
	total, _ := p.total() //nolint:errcheck // checked before
	command := orderCommand{CartID: p.CartID, Currency: p.Currency, Customer: customer{Email: p.Email, Name: p.Name}, ExpectedTotal: total}
	if p.addressed() {
		command.ShippingAddress = &address{Name: p.Name, Line1: p.Line1, Line2: p.Line2, City: p.City, State: p.State, PostalCode: p.PostalCode, Country: p.Country}
	}
	return command
}

// check refuses what could not have come from our page or would leave an order without a way to pay it. Everything else
// is the API's to judge.
func (p purchase) check(open bool) (r result, ok bool) {
	_, err := p.total()
	switch {
	case p.CartID == "" || err != nil:
		return result{kind: gone}, false
	case !open:
		return result{kind: refused, message: noCards}, false
	case !keySyntax.MatchString(p.Key):
		return result{kind: refused, spent: true, message: "The purchase had no usable key. It has a new one; press pay once more."}, false
	case !slices.ContainsFunc(testCards, func(c testCard) bool { return c.Token == p.PaymentMethod }):
		return result{kind: refused, fields: map[string]string{"payment_method": chooseCard}}, false
	}
	return result{}, true
}

// blame puts the API's complaints beside the fields they are about. Its words are for developers, so the form has its own.
func (r *result) blame(errors []fieldError, p purchase) {
	r.fields = map[string]string{}
	for _, e := range errors {
		i := slices.IndexFunc(formFields, func(f formField) bool { return f.pointer == e.Pointer })
		if i < 0 {
			r.message = "Something in the cart cannot be ordered like this. Go back to the cart and check it."
			continue
		}
		field := formFields[i]
		if r.fields[field.name] = field.hint; *field.value(&p) == "" {
			r.fields[field.name] = "Please fill this in."
		}
	}
}
