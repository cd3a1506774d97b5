package strictjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"payonce/api/strictjson"
)

const orderBody = `{"items":[{"product_id":"prd_0123456789abcdefghijklmnop","quantity":2},{"product_id":"prd_0123456789abcdefghijklmnoq","quantity":1}],
	"currency":"EUR","customer":{"email":"a@example.com","name":"A. Customer"},
	"shipping_address":{"line1":"1 Main Street","city":"Springfield","postal_code":"12345","country":"US"},"metadata":{"cart":"7f3a","channel":"web"}}`

func BenchmarkOrder_Strict(b *testing.B) {
	body := []byte(orderBody)
	b.ReportAllocs()
	for b.Loop() {
		o, err := strictjson.Read(body)
		if err != nil || o.HasCardNumber() {
			b.Fatal(err)
		}
		o.Objects("items", func(item *strictjson.Object) {
			item.Text("product_id", strictjson.Required)
			item.Int("quantity", strictjson.Required, strictjson.Range(1, 10_000))
		}, strictjson.Required, strictjson.Length(1, 100))
		o.Text("currency", strictjson.Required, strictjson.Length(3, 3))
		customer, address := o.Object("customer", strictjson.Required), o.Object("shipping_address")
		customer.Text("email", strictjson.Required)
		customer.Text("name", strictjson.Length(0, 200))
		for _, name := range []string{"line1", "city", "postal_code", "country"} {
			address.Text(name, strictjson.Required)
		}
		o.Metadata("metadata")
		if err := o.Err(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOrder_ParseOnly(b *testing.B) {
	body := []byte(orderBody)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := strictjson.Read(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOrder_EncodingJSON(b *testing.B) {
	body := []byte(orderBody)
	b.ReportAllocs()
	for b.Loop() {
		var order struct {
			Items []struct {
				ProductID string `json:"product_id"`
				Quantity  int64  `json:"quantity"`
			} `json:"items"`
			Currency string `json:"currency"`
			Customer struct {
				Email string `json:"email"`
				Name  string `json:"name"`
			} `json:"customer"`
			Address struct {
				Line1      string `json:"line1"`
				City       string `json:"city"`
				PostalCode string `json:"postal_code"`
				Country    string `json:"country"`
			} `json:"shipping_address"`
			Metadata map[string]string `json:"metadata"`
		}
		if err := json.Unmarshal(body, &order); err != nil {
			b.Fatal(err)
		}
	}
}

// The most that 64 KiB can make the reader do.
func BenchmarkHostile(b *testing.B) {
	const size = 64 << 10
	for name, body := range map[string]string{
		"unknown members":    `{` + pairs(5000) + `}`,
		"twice, in long way": `{"` + strings.Repeat("x", size/2) + `":{` + strings.Repeat(`"a":1,`, size/12) + `"a":1}}`,
		"items":              `{"list":[` + strings.Repeat(`{},`, size/3) + `{}]}`,
		"half surrogates":    `{"text":"` + strings.Repeat(`\ud800`, size/6) + `"}`,
		"digits in groups":   `{"text":"` + strings.Repeat(`424 `, size/4) + `"}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if o, err := strictjson.Read([]byte(body)); err == nil {
					o.HasCardNumber()
					_ = ask(o)
				}
			}
		})
	}
}
