package strictjson_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/api/strictjson"
)

func Example() {
	type line struct {
		product  string
		quantity int64
	}
	type order struct {
		currency, email, city string
		lines                 []line
		expected              *int64
	}
	command := func(o *strictjson.Object) (cmd order) {
		cmd.currency = o.Text("currency", strictjson.Required, strictjson.Length(3, 3))
		cmd.expected = o.OptionalInt("expected_total", strictjson.Range(0, 99_999_999))
		if customer := o.Object("customer", strictjson.Required); customer != nil {
			cmd.email = customer.Text("email", strictjson.Required, strictjson.Length(3, 254))
		}
		if address := o.Object("shipping_address", strictjson.Nullable); address != nil {
			cmd.city = address.Text("city", strictjson.Required)
		}
		o.Objects("items", func(item *strictjson.Object) {
			cmd.lines = append(cmd.lines, line{
				product:  item.Text("product_id", strictjson.Required),
				quantity: item.Int("quantity", strictjson.Required, strictjson.Range(1, 10_000)),
			})
		}, strictjson.Required, strictjson.Length(1, 100))
		return cmd
	}
	for _, body := range []string{
		`{"currency":"EUR","customer":{"email":"a@example.com"},"items":[{"product_id":"prd_1","quantity":2}]}`,
		`{"currency":"EURO","customer":{},"items":[{"product_id":"prd_1","quantity":0}]}`,
		`{"currency":"EUR","customer":{"email":"a@example.com"},"items":[{"productId":"prd_1","quantity":2.5}]}`,
	} {
		o, err := strictjson.Read([]byte(body))
		if err == nil {
			cmd := command(o)
			if err = o.Err(); err == nil {
				fmt.Println(len(cmd.lines), "line for", cmd.email)
				continue
			}
		}
		fmt.Println(err)
	}
	// Output:
	// 1 line for a@example.com
	// /currency must be exactly 3 characters long; /customer/email is required; /items/0/quantity must be from 1 to 10000
	// /items/0/quantity must be a whole number, written without fraction, exponent or a sign on 0; /items/0/productId is not known here; did you mean "product_id"?
}

func TestValues_AreWhatWasSent(t *testing.T) {
	t.Parallel()
	o, err := strictjson.Read([]byte(`{"text":"a\"\\\/\b\f\n\r\t\u00E9\ud83d\ude00é","int":-12,"bool":true,"map":{"k":"v"},"mode":"slow","list":[{"n":1},{"n":2}]}`))
	require.NoError(t, err)
	require.Equal(t, "a\"\\/\b\f\n\r\té😀é", o.Text("text"))
	require.Equal(t, int64(-12), o.Int("int"))
	require.True(t, *o.OptionalBool("bool"))
	require.Equal(t, map[string]string{"k": "v"}, o.Metadata("map"))
	require.Equal(t, "slow", strictjson.OneOf(o, "mode", "fast", "fast", "slow"))
	require.Equal(t, "fast", strictjson.OneOf(o, "absent", "fast", "fast", "slow"))
	var seen []int64
	o.Objects("list", func(item *strictjson.Object) { seen = append(seen, item.Int("n")) })
	require.Equal(t, []int64{1, 2}, seen)
}

func TestPatch_TellsAbsentNullAndEmptyApart(t *testing.T) {
	t.Parallel()
	o, err := strictjson.Read([]byte(`{"empty":"","zero":0,"false":false,"null_text":null,"null_int":null,"null_object":null}`))
	require.NoError(t, err)
	require.Empty(t, *o.OptionalText("empty"))
	require.Zero(t, *o.OptionalInt("zero"))
	require.False(t, *o.OptionalBool("false"))

	require.Nil(t, o.OptionalText("null_text", strictjson.Nullable))
	require.Nil(t, o.OptionalInt("null_int", strictjson.Nullable))
	require.Nil(t, o.Object("null_object", strictjson.Nullable))
	require.True(t, o.Has("null_text"))

	require.Nil(t, o.OptionalText("absent"))
	require.Nil(t, o.OptionalInt("absent"))
	require.Nil(t, o.OptionalBool("absent"))
	require.Nil(t, o.Object("absent"))
	require.Nil(t, o.Metadata("absent"))
	require.False(t, o.Has("absent"))
	require.NoError(t, o.Err())
}

func TestNumbers_ThatAreMalformedReadAsNothing(t *testing.T) {
	t.Parallel()
	o, err := strictjson.Read([]byte(`{"huge":9223372036854775808}`))
	require.NoError(t, err)
	require.Zero(t, o.Int("huge"), "a caller may count with it before Err is looked at")
	require.Nil(t, o.OptionalInt("huge"))
	require.Error(t, o.Err())
}

func TestInvalid_AddsWhatTheCallerFound(t *testing.T) {
	t.Parallel()
	o, err := strictjson.Read([]byte(`{"items":[{"id":"x"}]}`))
	require.NoError(t, err)
	o.Objects("items", func(item *strictjson.Object) {
		item.Text("id")
		item.Invalid("id", "is sold out")
	})
	require.EqualError(t, o.Err(), "/items/0/id is sold out")
	require.EqualError(t, o.Err(), "/items/0/id is sold out", "asking again adds nothing")
}

func TestUnknown_SuggestsOnlyNamesThatAreAsked(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"INT":1}`:               `/INT is not known here; did you mean "int"?`,
		`{"anyInt":1}`:            `/anyInt is not known here; did you mean "any_int"?`,
		`{"Any-Int":1}`:           `/Any-Int is not known here; did you mean "any_int"?`,
		`{"secret":1,"Secret":2}`: `/secret is not known here; /Secret is not known here`,
	} {
		require.EqualError(t, read(body), want)
		require.True(t, read(body).Malformed)
	}
}

func TestUnknown_IsToldOnce(t *testing.T) {
	t.Parallel()
	o, err := strictjson.Read([]byte(`{"more":1}`))
	require.NoError(t, err)
	require.EqualError(t, o.Err(), "/more is not known here")
	require.EqualError(t, o.Err(), "/more is not known here")
}

func TestOneOf_WithoutFallbackIsRequired(t *testing.T) {
	t.Parallel()
	o, err := strictjson.Read([]byte(`{}`))
	require.NoError(t, err)
	require.Empty(t, strictjson.OneOf(o, "mode", "", "sweep", "targeted"))
	require.EqualError(t, o.Err(), "/mode is required")
}

func TestObjects_AreAThousandAtMost(t *testing.T) {
	t.Parallel()
	items := func(n int) string { return `{"list":[` + strings.Repeat(`{"n":1},`, n-1) + `{"n":1}]}` }
	for _, row := range []struct {
		size  int
		rules []strictjson.Rule
		want  string
	}{
		{1000, nil, ""},
		{1001, nil, "/list must have at most 1000 items"},
		{1001, []strictjson.Rule{strictjson.Length(1, 5000)}, "/list must have from 1 to 1000 items"},
		{20_000, []strictjson.Rule{strictjson.Length(1, 100)}, "/list must have from 1 to 100 items"},
	} {
		o, err := strictjson.Read([]byte(items(row.size)))
		require.NoError(t, err)
		calls := 0
		o.Objects("list", func(item *strictjson.Object) { calls += int(item.Int("n")) }, row.rules...)
		require.Equal(t, 1000, calls)
		if row.want == "" {
			require.NoError(t, o.Err())
			continue
		}
		require.EqualError(t, o.Err(), row.want)
	}
}

func TestErrors_AreBounded(t *testing.T) {
	t.Parallel()
	found := read(`{` + pairs(100) + `}`)
	require.Len(t, found.Problems, 33)
	require.Equal(t, strictjson.Problem{Detail: "and 68 more"}, found.Problems[32])

	found = read(`{"map":{` + strings.Repeat(`"a":"",`, 99) + `"a":""}}`)
	require.Len(t, found.Problems, 33)
	require.Equal(t, "and 67 more", found.Problems[32].Detail)

	found = read(`{"` + strings.Repeat("é", 5000) + `":1}`)
	require.Equal(t, []string{"/" + strings.Repeat("é", 32) + "…"}, pointers(found))
}

func TestErrors_NeverRepeatAValue(t *testing.T) {
	t.Parallel()
	const secret = "sk_live_secret"
	for _, body := range []string{
		`{"int":"` + secret + `"}`,
		`{"bool":"` + secret + `"}`,
		`{"list":["` + secret + `"]}`,
		`{"list":"` + secret + `"}`,
		`{"map":{"a":["` + secret + `"]}}`,
		`{"map":{"a":"` + strings.Repeat(secret, 50) + `"}}`,
		`{"mode":"` + secret + `"}`,
		`{"line":"A ` + secret + `"}`,
		`{"line":"` + secret + `\u0007"}`,
		`{"inner":{"name":"` + secret + `","code":"x"}}`,
		`{"unknown":"` + secret + `"}`,
		`{"text":"` + secret + `\ud800"}`,
		`{"text":"` + secret + `" "x"}`,
		`{"text":` + secret + `}`,
		`"` + secret + `"`,
		secret,
	} {
		require.NotContains(t, read(body).Error(), "secret", body)
	}
}
