package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	sj "payonce/api/strictjson"
	"payonce/domain"
)

// What counts as the same intent is decided between the bytes of a body and the typed command that its fingerprint
// covers. These tests go that whole way.

type members = map[string]any

// keyedBody is one body that comes with a key.
type keyedBody struct {
	op    domain.Operation
	build func(*sj.Object) any
	full  members // every member, none of them at its default
	// defaults are the members that may be left out, as they would be written out.
	defaults members
	// others are valid other values, by path, where "the same and an x" or "one more" would not do.
	others map[string]any
	// single are paths that have only one valid value today.
	single []string
}

const someCart, someProduct, otherProduct, someOrder, someCharge = "cart_a1", "prd_a1", "prd_b2", "ord_a1", "chg_a1"

func keyedBodies() map[string]keyedBody {
	order := members{
		"currency": "EUR", "customer": members{"email": "a@example.com", "name": "A"},
		"items":           []any{members{"product_id": someProduct, "quantity": 2}, members{"product_id": otherProduct, "quantity": 1}},
		"shipping_method": "express", "metadata": members{"source": "app"}, "expected_total": 3998,
		"shipping_address": members{"name": "A", "line1": "1 Main St", "line2": "Floor 2", "city": "Bern", "state": "BE", "postal_code": "3000", "country": "CH"},
	}
	orderDefaults := members{"shipping_address": nil, "shipping_method": nil, "metadata": members{}, "expected_total": nil, "customer/name": ""}
	orderOthers := map[string]any{"/currency": "USD", "/customer/email": "b@example.com", "/shipping_address/country": "DE", "/items/0/product_id": "prd_c3", "/items/1/product_id": "prd_c3"}
	fromCart := maps.Clone(order)
	delete(fromCart, "items")
	fromCart["cart_id"] = someCart
	return map[string]keyedBody{
		"product": {
			op: domain.OpProductsCreate, build: func(o *sj.Object) any { return productCommand(o) },
			full: members{"sku": "mug", "name": "Mug", "description": "Holds tea", "image_url": "/mug.svg", "active": false,
				"prices": []any{members{"currency": "EUR", "unit_amount": 1999}, members{"currency": "USD", "unit_amount": 2199}}, "metadata": members{"a": "b"}},
			defaults: members{"description": "", "image_url": "", "active": true, "metadata": members{}},
			others:   map[string]any{"/prices/0/currency": "GBP", "/prices/1/currency": "CHF"},
		},
		"cart": {
			op: domain.OpCartsCreate, build: func(o *sj.Object) any { return cartCommand(o) },
			full:     members{"currency": "EUR", "metadata": members{"a": "b"}},
			defaults: members{"metadata": members{}}, others: map[string]any{"/currency": "JPY"},
		},
		"order": {
			op: domain.OpOrdersCreate, build: func(o *sj.Object) any { return orderCommand(o) },
			full: order, defaults: orderDefaults, others: orderOthers,
		},
		"order of a cart": {
			op: domain.OpOrdersCreate, build: func(o *sj.Object) any { return orderCommand(o) },
			full: fromCart, defaults: orderDefaults, others: orderOthers,
		},
		"charge": {
			op: domain.OpChargesCreate, build: func(o *sj.Object) any { return chargeCommand(o, someOrder) },
			full:     members{"payment_method": "pm_card_visa", "capture_method": "manual", "return_url": "https://shop.example/done"},
			defaults: members{"capture_method": "automatic"}, others: map[string]any{"/capture_method": "automatic"},
		},
		"capture": {
			op: domain.OpChargesCapture, build: func(o *sj.Object) any { return captureCommand(o, someCharge) },
			full: members{"amount": 500}, defaults: members{"amount": nil},
		},
		"cancel": {
			op: domain.OpChargesCancel, build: func(o *sj.Object) any { return cancelCommand(o, someCharge) },
			full: members{"reason": "changed her mind"}, defaults: members{"reason": ""},
		},
	}
}

func (k keyedBody) fingerprint(t require.TestingT, body string) domain.Fingerprint {
	o, err := sj.Read([]byte(body))
	require.NoError(t, err, body)
	command := k.build(o)
	require.NoError(t, o.Err(), body)
	intent, err := domain.NewIntent(k.op, command)
	require.NoError(t, err)
	return intent.Fingerprint()
}

func plain(t require.TestingT, v any) string {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

// spelled writes a value in one of the many ways that mean the same.
func spelled(t *rapid.T, v any) string {
	blank := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n\t"}).Draw(t, "blank") }
	var parts []string
	switch v := v.(type) {
	case members:
		for _, name := range rapid.Permutation(slices.Sorted(maps.Keys(v))).Draw(t, "order") {
			member := v[name]
			if text, ok := member.(string); ok && name == "currency" && rapid.Bool().Draw(t, "lower case") {
				member = strings.ToLower(text)
			}
			parts = append(parts, blank()+spelled(t, name)+blank()+":"+blank()+spelled(t, member))
		}
		return "{" + strings.Join(parts, blank()+",") + blank() + "}"
	case []any:
		for _, item := range v {
			parts = append(parts, blank()+spelled(t, item)+blank())
		}
		return "[" + strings.Join(parts, ",") + blank() + "]"
	case string:
		var out strings.Builder
		for _, r := range v {
			if rapid.IntRange(0, 4).Draw(t, "escape") == 0 {
				fmt.Fprintf(&out, `\u%04x`, r)
				continue
			}
			out.WriteRune(r)
		}
		return `"` + out.String() + `"`
	default:
		return plain(t, v)
	}
}

func TestFingerprint_SpellingDoesNotCount(t *testing.T) {
	t.Parallel()
	for name, k := range keyedBodies() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := k.fingerprint(t, plain(t, k.full))
			rapid.Check(t, func(t *rapid.T) {
				body := spelled(t, k.full)
				require.Equal(t, want, k.fingerprint(t, body), body)
			})
		})
	}
}

func TestFingerprint_AnOmittedMemberIsItsDefault(t *testing.T) {
	t.Parallel()
	for name, k := range keyedBodies() {
		for path, value := range k.defaults {
			without, with := copied(k.full), copied(k.full)
			set(without, "/"+path, nil, true)
			set(with, "/"+path, value, false)
			require.Equal(t, k.fingerprint(t, plain(t, without)), k.fingerprint(t, plain(t, with)), "%s of %s", path, name)
			if !slices.Contains(k.single, "/"+path) {
				require.NotEqual(t, k.fingerprint(t, plain(t, k.full)), k.fingerprint(t, plain(t, without)), "%s of %s", path, name)
			}
		}
	}
}

func TestFingerprint_EveryMemberCounts(t *testing.T) {
	t.Parallel()
	for name, k := range keyedBodies() {
		seen := map[domain.Fingerprint]string{k.fingerprint(t, plain(t, k.full)): "as it was"}
		for path, value := range leaves("", k.full) {
			if slices.Contains(k.single, path) {
				continue
			}
			changed := copied(k.full)
			set(changed, path, otherThan(k, path, value), false)
			print := k.fingerprint(t, plain(t, changed))
			require.Empty(t, seen[print], "%s of %s makes no difference", path, name)
			seen[print] = path
		}
	}
}

// A member of a command that no body of this test sets would be one that nobody has thought about.
func TestFingerprint_TheBodiesSetEveryMemberOfTheirCommands(t *testing.T) {
	t.Parallel()
	covered := map[reflect.Type]map[string]bool{}
	for _, k := range keyedBodies() {
		o, err := sj.Read([]byte(plain(t, k.full)))
		require.NoError(t, err)
		command := reflect.ValueOf(k.build(o))
		require.NoError(t, o.Err())
		if covered[command.Type()] == nil {
			covered[command.Type()] = map[string]bool{}
		}
		for i := range command.NumField() {
			field := command.Type().Field(i)
			tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			require.NotContains(t, []string{"", "-"}, tag, "%s.%s has to count", command.Type(), field.Name)
			covered[command.Type()][field.Name] = covered[command.Type()][field.Name] || !command.Field(i).IsZero() || field.Type.Kind() == reflect.Bool
		}
	}
	for command, fields := range covered {
		for field, set := range fields {
			require.True(t, set, "%s.%s", command, field)
		}
	}
	require.Len(t, covered, len(domain.Operations()), "one command per operation")
}

func TestFingerprint_TheOrderInThePathCounts(t *testing.T) {
	t.Parallel()
	k := keyedBodies()["charge"]
	other := k
	other.build = func(o *sj.Object) any { return chargeCommand(o, "ord_b2") }
	require.NotEqual(t, k.fingerprint(t, plain(t, k.full)), other.fingerprint(t, plain(t, k.full)))
}

func otherThan(k keyedBody, path string, value any) any {
	if other, ok := k.others[path]; ok {
		return other
	}
	switch value := value.(type) {
	case bool:
		return !value
	case int:
		return value + 1
	default:
		return fmt.Sprint(value) + "x"
	}
}

// leaves lists the values of a body by their JSON pointers.
func leaves(at string, v any) map[string]any {
	out := map[string]any{}
	switch v := v.(type) {
	case members:
		for name, member := range v {
			maps.Copy(out, leaves(at+"/"+name, member))
		}
	case []any:
		for i, item := range v {
			maps.Copy(out, leaves(at+"/"+strconv.Itoa(i), item))
		}
	default:
		out[at] = v
	}
	return out
}

func copied(v members) members {
	out := members{}
	for name, member := range v {
		out[name] = copiedValue(member)
	}
	return out
}

func copiedValue(v any) any {
	switch v := v.(type) {
	case members:
		return copied(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = copiedValue(item)
		}
		return out
	default:
		return v
	}
}

// set changes one value of a body, or takes it out.
func set(v any, path string, value any, remove bool) {
	first, rest, deeper := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch v := v.(type) {
	case members:
		switch {
		case deeper:
			set(v[first], "/"+rest, value, remove)
		case remove:
			delete(v, first)
		default:
			v[first] = value
		}
	case []any:
		i, err := strconv.Atoi(first)
		if err != nil {
			panic(err)
		}
		if deeper {
			set(v[i], "/"+rest, value, remove)
			return
		}
		v[i] = value
	}
}
