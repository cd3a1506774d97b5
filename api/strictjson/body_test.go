package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/api/strictjson"
)

// read asks for everything a body of the tests can hold and returns what was found wrong.
func read(body string) *strictjson.Error {
	o, err := strictjson.Read([]byte(body))
	if err == nil {
		o.Text("text", strictjson.Multiline)
		o.Int("int", strictjson.Range(-5, 1000))
		o.OptionalBool("bool")
		o.Metadata("map")
		o.Objects("list", func(item *strictjson.Object) { item.Int("n") }, strictjson.Length(1, 2))
		if inner := o.Object("inner", strictjson.Nullable); inner != nil {
			inner.Text("name", strictjson.Required, strictjson.Length(1, 5))
		}
		err = o.Err()
	}
	var found *strictjson.Error
	errors.As(err, &found)
	return found
}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		situation string
		body      string
		malformed bool
		problems  []string // pointers; nil: the body is fine
	}{
		{"nothing asked, nothing given", `{}`, false, nil},
		{"everything", ` { "text":"a\n\u00e9\ud83d\ude00\/", "int" : -5, "bool":true,"map":{"a":"b"},"list":[{"n":0},{}],"inner":{"name":"x"}} `, false, nil},
		{"null where it may be", `{"inner":null}`, false, nil},
		{"the largest int64", `{"list":[{"n":9223372036854775807},{"n":-9223372036854775808}]}`, false, nil},

		{"empty", ``, true, []string{""}},
		{"blank", " \n", true, []string{""}},
		{"no object", `[]`, true, []string{""}},
		{"a byte order mark", "\ufeff{}", true, []string{""}},
		{"an open object", `{"int":1`, true, []string{""}},
		{"a trailing comma", `{"int":1,}`, true, []string{""}},
		{"a second value", `{} {}`, true, []string{""}},
		{"a comment", `{/**/}`, true, []string{""}},
		{"single quotes", `{'int':1}`, true, []string{""}},
		{"a name without quotes", `{int:1}`, true, []string{""}},
		{"NaN", `{"int":NaN}`, true, []string{"/int"}},
		{"a plus sign", `{"int":+1}`, true, []string{"/int"}},
		{"a needless 0", `{"int":01}`, true, []string{"/int"}},
		{"a point without digits", `{"int":1.}`, true, []string{"/int"}},
		{"a point without a number", `{"int":.5}`, true, []string{"/int"}},
		{"hexadecimal", `{"int":0x10}`, true, []string{""}},
		{"a raw line break in a string", "{\"text\":\"a\nb\"}", true, []string{"/text"}},
		{"an unknown escape", `{"text":"\x41"}`, true, []string{"/text"}},
		{"an escape cut off", `{"text":"\u00`, true, []string{"/text"}},
		{"an escape with a sign", `{"text":"\u+041"}`, true, []string{"/text"}},
		{"a high surrogate alone", `{"text":"\ud800"}`, true, []string{"/text"}},
		{"a low surrogate alone", `{"text":"\udc00"}`, true, []string{"/text"}},
		{"two high surrogates", `{"text":"\ud800\ud800"}`, true, []string{"/text"}},
		{"NUL", `{"text":"\u0000"}`, true, []string{"/text"}},
		{"broken UTF-8", "{\"text\":\"\xff\"}", true, []string{"/text"}},
		{"an overlong encoding", "{\"text\":\"\xc0\xaf\"}", true, []string{"/text"}},
		{"deep nesting", `{"list":` + strings.Repeat("[", 100000), true, []string{"/list/0/0/0/0/0/0/0"}},
		{"a huge list", `{"list":[` + strings.Repeat("{},", 2000) + `{}]}`, true, []string{"/list/999"}},

		{"a member twice", `{"int":1,"int":1}`, true, []string{"/int"}},
		{"a member twice, one escaped", `{"int":1,"\u0069nt":1}`, true, []string{"/int"}},
		{"members nobody knows", `{"a/b":1,"c~d":2}`, true, []string{"/a~1b", "/c~0d"}},
		{"a member nobody knows deep inside", `{"list":[{"m":1}],"inner":{"name":"x","nick":"y"}}`, true, []string{"/list/0/m", "/inner/nick"}},
		{"another case", `{"Int":1}`, true, []string{"/Int"}},
		{"other types", `{"text":1,"int":"1","bool":0,"map":[],"list":{},"inner":"x"}`, true, []string{"/text", "/int", "/bool", "/map", "/list", "/inner"}},
		{"null where it may not be", `{"int":null}`, true, []string{"/int"}},
		{"a fraction", `{"int":1.0}`, true, []string{"/int"}},
		{"an exponent", `{"int":1e2}`, true, []string{"/int"}},
		{"minus zero", `{"int":-0}`, true, []string{"/int"}},
		{"beyond int64", `{"int":9223372036854775808}`, true, []string{"/int"}},
		{"malformed hides invalid", `{"int":5000,"text":1}`, true, []string{"/text"}},

		{"out of range", `{"int":1001}`, false, []string{"/int"}},
		{"too many items", `{"list":[{},{},{}]}`, false, []string{"/list"}},
		{"too few items", `{"list":[]}`, false, []string{"/list"}},
		{"missing", `{"inner":{}}`, false, []string{"/inner/name"}},
		{"blank text", `{"inner":{"name":"  "}}`, false, []string{"/inner/name"}},
		{"too long in characters", `{"inner":{"name":"éééééé"}}`, false, []string{"/inner/name"}},
		{"a control character", `{"inner":{"name":"a\u0007"}}`, false, []string{"/inner/name"}},
		{"a nameless pair", `{"map":{"":"x"}}`, false, []string{"/map/"}},
		{"a long value", `{"map":{"a":"` + strings.Repeat("x", 501) + `"}}`, false, []string{"/map/a"}},
	} {
		t.Run(row.situation, func(t *testing.T) {
			t.Parallel()
			found := read(row.body)
			if row.problems == nil {
				require.Nil(t, found)
				return
			}
			require.NotNil(t, found)
			require.Equal(t, row.malformed, found.Malformed, "%v", found)
			pointers := make([]string, len(found.Problems))
			for i, p := range found.Problems {
				pointers[i] = p.Pointer
				require.NotEmpty(t, p.Detail)
			}
			require.Equal(t, row.problems, pointers)
		})
	}
}

func TestErrors_NameTheMisspeltMemberAndAreBounded(t *testing.T) {
	t.Parallel()
	require.Contains(t, read(`{"INT":1}`).Error(), `did you mean "int"?`)
	var body strings.Builder
	for i := range 100 {
		body.WriteString(`,"x` + strings.Repeat("y", i+1) + `":1`)
	}
	found := read("{" + body.String()[1:] + "}")
	require.Len(t, found.Problems, 33)
	require.Equal(t, "and 68 more", found.Problems[32].Detail)
	require.NotContains(t, read(`{"int":"sk_live_secret"}`).Error(), "sk_live_secret")
}

func TestOptional_TellsAbsentFromEmpty(t *testing.T) {
	t.Parallel()
	o, err := strictjson.Read([]byte(`{"empty":"","zero":0,"null":null}`))
	require.NoError(t, err)
	require.Empty(t, *o.OptionalText("empty"))
	require.Zero(t, *o.OptionalInt("zero"))
	require.Nil(t, o.OptionalText("null", strictjson.Nullable))
	require.Nil(t, o.OptionalText("absent"))
	require.Nil(t, o.OptionalInt("absent"))
	require.NoError(t, o.Err())
}

func TestLooksLikeCard(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"4242424242424242": true, "my card is 4000 0000 0000 0002, thanks": true, "5555-5555-5555-4444": true, "378282246310005": true, "6011111111111117": true,
		"4242424242424241": false, "1234567890123452": false, "424242424242": false, "pi_4242424242424242": false, "4242424242424242a": false,
		"42424242424242424242424242": false, "019a4242-4242-7424-a424-242424242424": false, "": false, "4242  4242424242424": false,
	} {
		require.Equal(t, want, strictjson.LooksLikeCard(text), text)
	}
	for body, want := range map[string]bool{
		`{"a":[{"b":"4242424242424242"}]}`: true, `{"a":4242424242424242}`: true, `{"4242424242424242":1}`: true, `{"a":"b"}`: false,
	} {
		o, err := strictjson.Read([]byte(body))
		require.NoError(t, err)
		require.Equal(t, want, o.HasCardNumber(), body)
	}
}

func TestReadRequest(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		situation string
		headers   map[string][]string
		body      string
		ok        bool
	}{
		{"plain", map[string][]string{"Content-Type": {"application/json"}}, "{}", true},
		{"with the charset it has anyway", map[string][]string{"Content-Type": {"application/json; charset=UTF-8"}}, "{}", true},
		{"identity is no encoding", map[string][]string{"Content-Type": {"application/json"}, "Content-Encoding": {"identity"}}, "{}", true},
		{"exactly the limit", map[string][]string{"Content-Type": {"application/json"}}, strings.Repeat(" ", 10), true},
		{"beyond the limit", map[string][]string{"Content-Type": {"application/json"}}, strings.Repeat(" ", 11), false},
		{"no type", nil, "{}", false},
		{"two types", map[string][]string{"Content-Type": {"application/json", "application/json"}}, "{}", false},
		{"another parameter", map[string][]string{"Content-Type": {"application/json; profile=x"}}, "{}", false},
		{"encoded", map[string][]string{"Content-Type": {"application/json"}, "Content-Encoding": {"br"}}, "{}", false},
	} {
		t.Run(row.situation, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(row.body))
			r.Header = row.headers
			r.ContentLength = -1 // as if chunked
			body, err := strictjson.ReadRequest(httptest.NewRecorder(), r, 10)
			require.Equal(t, row.ok, err == nil, "%v", err)
			if row.ok {
				require.Equal(t, row.body, string(body))
			}
		})
	}
}

// FuzzRead: whatever is accepted, encoding/json accepts too and reads in the same way.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{}`, `{"text":"a\ud83d\ude00","int":-5,"map":{"a":"b"}}`, `{"text":"\ud800"}`, `{"int":01}`, `{"int":1}x`, "{\"text\":\"\xff\"}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := strictjson.Read(body)
		if err != nil {
			return
		}
		text, n, pairs := o.Text("text", strictjson.Multiline), o.Int("int"), o.Metadata("map")
		if o.Err() != nil {
			return
		}
		var other struct {
			Text string            `json:"text"`
			Int  int64             `json:"int"`
			Map  map[string]string `json:"map"`
		}
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(&other); err != nil {
			t.Fatalf("encoding/json refuses it: %v", err)
		}
		if other.Text != text || other.Int != n || len(other.Map) != len(pairs) {
			t.Fatalf("read %q %d %v, encoding/json read %+v", text, n, pairs, other)
		}
		for name, value := range pairs {
			if other.Map[name] != value {
				t.Fatalf("pair %q: read %q, encoding/json read %q", name, value, other.Map[name])
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	body := []byte(`{"items":[{"product_id":"prd_0123456789abcdefghijklmnop","quantity":2},{"product_id":"prd_0123456789abcdefghijklmnoq","quantity":1}],` +
		`"currency":"EUR","customer":{"email":"a@example.com","name":"A"},"metadata":{"a":"b"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := strictjson.Read(body); err != nil {
			b.Fatal(err)
		}
	}
}
