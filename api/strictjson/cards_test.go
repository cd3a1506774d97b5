package strictjson_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/api/strictjson"
)

func TestLooksLikeCard(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		situation string
		text      string
		want      bool
	}{
		{"Visa", "4242424242424242", true},
		{"Visa of 13 digits", "4222222222222", true},
		{"Mastercard", "5555555555554444", true},
		{"Mastercard in the 2 series", "2223003122003222", true},
		{"American Express", "378282246310005", true},
		{"Diners Club", "30569309025904", true},
		{"Discover", "6011111111111117", true},
		{"JCB", "3566002020360505", true},
		{"UnionPay of 19 digits", "6205500000000000004", true},
		{"in blanks", "4242 4242 4242 4242", true},
		{"in dashes", "5555-5555-5555-4444", true},
		{"each digit apart", "4 2 4 2 4 2 4 2 4 2 4 2 4 2 4 2", true},
		{"within a sentence", "my card is 4000 0000 0000 0002, thanks", true},
		{"behind a colon", "card:4242424242424242;", true},
		{"behind a word and a dash", "card-4242424242424242", true},
		{"with expiry and code", "4242 4242 4242 4242 12/30 123", true},
		{"with expiry and code in blanks", "4242424242424242 12 30 123", true},
		{"behind a number", "1 4242424242424242", true},
		{"behind a year", "2026 4242 4242 4242 4242", true},
		{"behind an id", "a1 4242 4242 4242 4242", true},
		{"behind a plus sign", "+4242424242424242", true},
		{"behind a UUID", "12345678-4242-4242-8242-424242424242 4242424242424242", true},
		{"in brackets", "(378282246310005)", true},
		{"with a fraction", "4242424242424242.0", true},
		{"last in a sentence", "It is 4242424242424242.", true},
		{"in dots", "4242.4242.4242.4242", true},
		{"American Express in dots", "3782.822463.10005", true},
		{"in no-break spaces", "4242\u00a04242\u00a04242\u00a04242", true},
		{"in narrow spaces", "4242\u20094242\u202f4242\u20094242", true},
		{"in typographic dashes", "4242\u20134242\u20144242\u22124242", true},
		{"full-width digits", "４２４２４２４２４２４２４２４２", true},
		{"Arabic digits", "٤٢٤٢ ٤٢٤٢ ٤٢٤٢ ٤٢٤٢", true},
		{"with zero-width spaces", "4242\u200b4242\u200b4242\u200b4242", true},
		{"with a soft hyphen", "42424242\u00ad42424242", true},
		{"double-struck digits", "𝟜𝟚𝟜𝟚𝟜𝟚𝟜𝟚𝟜𝟚𝟜𝟚𝟜𝟚𝟜𝟚", true},
		{"sans-serif digits", "𝟦𝟤𝟦𝟤𝟦𝟤𝟦𝟤𝟦𝟤𝟦𝟤𝟦𝟤𝟦𝟤", true},
		{"monospace digits", "𝟺𝟸𝟺𝟸𝟺𝟸𝟺𝟸𝟺𝟸𝟺𝟸𝟺𝟸𝟺𝟸", true},
		{"circled digits", "④②④②④②④②④②④②④②④②", true},
		{"raised and lowered digits", "⁴²⁴²⁴²⁴²₄₂₄₂₄₂₄₂", true},
		{"keycaps", "4\ufe0f\u20e32\ufe0f\u20e3424242\u03014242\u034f4242", true},
		{"with Hangul fillers", "4242\u31644242\u31644242\u31644242", true},
		{"as a token", "pi_4242424242424242", true},
		{"behind a name", "card4242424242424242", true},
		{"before a letter", "4242424242424242a", true},
		{"before letters, in blanks", "4242 4242 4242 4242a", true},
		{"in underscores", "4242_4242_4242_4242", true},
		{"in double blanks", "4242  4242  4242  4242", true},
		{"in lines", "4242\n4242\r\n4242\n4242", true},
		{"in brackets and dashes", "(4242)4242-4242-4242", true},
		{"in bullets", "4242•4242·4242 • 4242", true},
		{"in commas", "4242,4242, 4242,4242", true},
		{"American Express in slashes", "3782/822463/10005", true},
		{"a dot after every digit", "4.2.4.2.4.2.4.2.4.2.4.2.4.2.4.2.", true},
		{"with a line separator", "4242\u20284242\u20294242 4242", true},

		{"nothing", "", false},
		{"a wrong check digit", "4242424242424241", false},
		{"a prefix of no network", "1234567890123452", false},
		{"12 digits", "424242424242", false},
		{"20 digits", "42424242424242424242", false},
		{"a length that American Express does not have", "3400000000000000", false},
		{"a length that Visa does not have", "42000000000000002", false},
		{"part of an id", "chg_06h2vb4242424242424242q", false},
		{"two blanks", "4242  424242424242", false},
		{"a UUID", "019a4242-4242-7424-a424-242424242424", false},
		{"a UUID without letters", "42424242-4242-4242-8242-424242424242", false},
		{"a UUID that begins with a card", "42424242-4242-4242-a242-424242424242", false},
		{"a UUID in upper case behind a number", "12 42424242-4242-4242-A242-424242424242", false},
		{"hexadecimal", "f4242424242424242e", false},
		{"a telephone number", "+49 1711 234 5674", false},
		{"a fraction", "0.4242424242424242", false},
		{"an address and a port", "127.0.0.1:4242 4242", false},
		{"a version", "4242.4242.4242.4241", false},
		{"an amount in groups", "4.242.424.242.424.242", false},
		{"a hash", "b4242424242424242e4242424242424242c", false},
		{"numbers far apart", "4242 and 4242 and 4242 and 4242", false},
		{"groups with more between them", "4242 -- - 4242 -- - 4242 -- - 4242", false},
		{"a time stamp", "20261201005307", false},
		{"a date and a number", "2026-12-01 4242 4242", false},
		{"a bar code", "5000112637900", false},
		{"a list of sizes", "36 37 38 39 40 41 42 43 44 45 46 47 48", false},
	} {
		require.Equal(t, row.want, strictjson.LooksLikeCard(row.text), row.situation)
	}
}

func TestHasCardNumber_LooksEverywhere(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{"a":"4242424242424242"}`:                                     true,
		`{"a":[{"b":["4242424242424242"]}]}`:                           true,
		`{"a":4242424242424242}`:                                       true,
		`{"a":-4242424242424242.0}`:                                    true,
		`{"4242424242424242":1}`:                                       true,
		`{"a":{"4242 4242 4242 4242":null}}`:                           true,
		`{"a":"\u0034242424242424242"}`:                                true,
		`{"a":1,"a":"4242424242424242"}`:                               true,
		`{"a":"b","c":[1,true,null]}`:                                  false,
		`{"a":"4242424242","b":"424242"}`:                              false,
		`{"amount":99999999,"total":9223372036854775807,"t":"prd_42"}`: false,
	} {
		o, err := strictjson.Read([]byte(body))
		require.NoError(t, err)
		require.Equal(t, want, o.HasCardNumber(), body)
	}
}

// A body that is refused before anybody can look for cards must not carry one into the answer and the log.
func TestCardNumber_AsANameIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"4242424242424242":x}`, `{"a":{"4242 4242 4242 4242":x}}`, `{"4242424242424242":1}`, `{"map":{"4242424242424242":1}}`,
		`{"` + strings.Repeat("x ", 25) + `4242424242424242":1}`,
	} {
		found := read(body)
		require.NotContains(t, found.Error(), "4242", body)
		require.Contains(t, found.Error(), "(card number)", body)
	}
}
