package strictjson_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/api/strictjson"
)

// ask asks for everything that a body of these tests can hold.
func ask(o *strictjson.Object) error {
	o.Text("text", strictjson.Multiline)
	o.Text("line", strictjson.Matching("lower-case", func(s string) bool { return s == strings.ToLower(s) }))
	o.Int("int", strictjson.Range(-5, 1000))
	o.OptionalInt("any_int")
	o.OptionalBool("bool")
	o.Metadata("map")
	strictjson.OneOf(o, "mode", "fast", "fast", "slow")
	o.Objects("list", func(item *strictjson.Object) { item.Int("n") }, strictjson.Length(1, 2))
	if inner := o.Object("inner", strictjson.Nullable); inner != nil {
		inner.Text("name", strictjson.Required, strictjson.Length(1, 5))
		inner.Text("code", strictjson.Required)
	}
	return o.Err()
}

// read returns what was found wrong with a body, or nil.
func read(body string) *strictjson.Error {
	o, err := strictjson.Read([]byte(body))
	if err == nil {
		err = ask(o)
	}
	var found *strictjson.Error
	errors.As(err, &found)
	return found
}

func pointers(found *strictjson.Error) []string {
	if found == nil {
		return nil
	}
	list := make([]string, len(found.Problems))
	for i, p := range found.Problems {
		list[i] = p.Pointer
	}
	return list
}

func TestRead_Accepts(t *testing.T) {
	t.Parallel()
	for situation, body := range map[string]string{
		"nothing asked, nothing given":   `{}`,
		"white space around everything":  " {\t\"int\" :\r\n 1 , \"bool\" : true } \n",
		"every kind of value":            `{"text":"a","int":-5,"bool":false,"map":{"a":"b"},"list":[{"n":0},{}],"inner":{"name":"x","code":"y"}}`,
		"every escape":                   `{"text":"\"\\\/\n\r\t\u00e9\uD83D\ude00"}`,
		"null where it may be":           `{"inner":null}`,
		"the largest whole numbers":      `{"list":[{"n":9223372036854775807},{"n":-9223372036854775808}]}`,
		"both ends of a range":           `{"int":1000,"list":[{"n":0}]}`,
		"U+FFFD that was really sent":    "{\"text\":\"\ufffd\\ufffd\"}",
		"five characters of two bytes":   `{"inner":{"name":"ééééé","code":"y"}}`,
		"pairs that differ in case":      `{"map":{"a":"1","A":"2"}}`,
		"brackets in text are no levels": `{"map":{"a":"` + strings.Repeat("[", 20) + `"}}`,
	} {
		require.Nil(t, read(body), situation)
	}
}

func TestRead_Malformed(t *testing.T) {
	t.Parallel()
	nested := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	for _, row := range []struct {
		rule     string
		body     string
		pointers []string
	}{
		{"a body is needed", ``, []string{""}},
		{"white space is no body", " \n", []string{""}},
		{"a body is an object, not null", `null`, []string{""}},
		{"a body is an object, not a list", `[]`, []string{""}},
		{"a body is an object, not a string", `"x"`, []string{""}},
		{"a body is an object, not a number", `1`, []string{""}},
		{"no byte order mark", "\ufeff{}", []string{""}},
		{"one value only", `{} {}`, []string{""}},
		{"no trailing text", `{}x`, []string{""}},

		{"objects end", `{"int":1`, []string{""}},
		{"objects end, even empty ones", `{`, []string{""}},
		{"lists end", `{"list":[{}`, []string{"/list"}},
		{"brackets match", `{"list":[{}}`, []string{"/list"}},
		{"no trailing comma in an object", `{"int":1,}`, []string{""}},
		{"no trailing comma in a list", `{"list":[{},]}`, []string{"/list/1"}},
		{"no missing comma", `{"int":1 "bool":true}`, []string{""}},
		{"no missing colon", `{"int" 1}`, []string{"/int"}},
		{"no missing value", `{"int":}`, []string{"/int"}},
		{"no missing value at the end", `{"int":`, []string{"/int"}},
		{"no missing end of a value", `{"bool":tru`, []string{"/bool"}},
		{"no comments", `{/**/}`, []string{""}},
		{"no single quotes", `{'int':1}`, []string{""}},
		{"names are quoted", `{int:1}`, []string{""}},
		{"words are lower-case", `{"bool":True}`, []string{"/bool"}},
		{"words are no longer than they are", `{"bool":truex}`, []string{""}},
		{"not more than eight levels", `{"list":` + nested(8) + `}`, []string{"/list/0/0/0/0/0/0/0"}},
		{"a hundred thousand levels are not tried", `{"list":` + strings.Repeat("[", 100_000), []string{"/list/0/0/0/0/0/0/0"}},

		{"no NaN", `{"int":NaN}`, []string{"/int"}},
		{"no plus sign", `{"int":+1}`, []string{"/int"}},
		{"no minus alone", `{"int":-}`, []string{"/int"}},
		{"no leading zero", `{"int":01}`, []string{"/int"}},
		{"no leading zero behind a minus", `{"int":-01}`, []string{"/int"}},
		{"no point without digits behind", `{"int":1.}`, []string{"/int"}},
		{"no point without digits before", `{"int":.5}`, []string{"/int"}},
		{"no exponent without digits", `{"int":1e+}`, []string{"/int"}},
		{"no hexadecimal", `{"int":0x10}`, []string{""}},
		{"a whole number has no fraction", `{"int":1.0}`, []string{"/int"}},
		{"a whole number has no exponent", `{"int":1e2}`, []string{"/int"}},
		{"a whole number is not minus zero", `{"int":-0}`, []string{"/int"}},
		{"a whole number has 64 bits", `{"any_int":9223372036854775808}`, []string{"/any_int"}},
		{"a whole number has 64 bits below zero, too", `{"any_int":-9223372036854775809}`, []string{"/any_int"}},

		{"no raw line break in a string", "{\"text\":\"a\nb\"}", []string{"/text"}},
		{"strings end", `{"text":"a`, []string{"/text"}},
		{"strings do not end in an escape", `{"text":"\"`, []string{"/text"}},
		{"no unknown escape", `{"text":"\x41"}`, []string{"/text"}},
		{"no escape cut off", `{"text":"\u00`, []string{"/text"}},
		{"no unknown escape in a name", `{"\x":1}`, []string{""}},
		{"no escape cut off in the second half of a pair", `{"text":"\ud800\u12`, []string{"/text"}},
		{"no escape with a sign", `{"text":"\u+041"}`, []string{"/text"}},
		{"no high surrogate alone", `{"text":"\ud800"}`, []string{"/text"}},
		{"no high surrogate before another character", `{"text":"\ud800\u0041"}`, []string{"/text"}},
		{"no low surrogate alone", `{"text":"\udc00"}`, []string{"/text"}},
		{"no two high surrogates", `{"text":"\ud800\ud800"}`, []string{"/text"}},
		{"no surrogates in UTF-8", "{\"text\":\"\xed\xa0\x80\"}", []string{"/text"}},
		{"no NUL", `{"text":"a\u0000"}`, []string{"/text"}},
		{"no broken UTF-8", "{\"text\":\"\xff\"}", []string{"/text"}},
		{"no overlong encoding", "{\"text\":\"\xc0\xaf\"}", []string{"/text"}},
		{"no broken text in a name", "{\"map\":{\"\xff\":\"\"}}", []string{"/map"}},
		{"no NUL in text that nobody asks for", `{"map":{"a":"\u0000"}}`, []string{"/map/a"}},

		{"no member twice", `{"int":1,"int":1}`, []string{"/int"}},
		{"no member twice, even if one is escaped", `{"int":1,"\u0069nt":1}`, []string{"/int"}},
		{"no member twice deep inside", `{"list":[{},{"n":1,"n":2}]}`, []string{"/list/1/n"}},
		{"no early pair twice among many", `{"map":{` + pairs(40) + `,"m3":""}}`, []string{"/map/m3"}},
		{"no late pair twice among many", `{"map":{` + pairs(40) + `,"m33":""}}`, []string{"/map/m33"}},
		{"no pair twice", `{"map":{"a":"1","a":"2"}}`, []string{"/map/a"}},
		{"no unknown member, its name escaped in the pointer", `{"a/b":1,"c~d":2}`, []string{"/a~1b", "/c~0d"}},
		{"no unknown member deep inside", `{"list":[{"m":1}],"inner":{"name":"x","code":"y","nick":"z"}}`, []string{"/list/0/m", "/inner/nick"}},
		{"no member in another case", `{"Int":1}`, []string{"/Int"}},
		{"no member in another case beside the right one", `{"int":1,"INT":2}`, []string{"/INT"}},
		{"the Kelvin sign is no k", "{\"\u212aey\":1}", []string{"/\u212aey"}},
		{"no other types", `{"text":1,"int":"1","bool":0,"map":[],"list":{},"inner":"x","mode":true}`,
			[]string{"/text", "/int", "/bool", "/map", "/mode", "/list", "/inner"}},
		{"no other types in lists and pairs", `{"list":[1,null],"map":{"a":1,"b":null}}`, []string{"/map/a", "/map/b", "/list/0", "/list/1"}},
		{"no null where nothing allows it", `{"text":null,"int":null,"bool":null,"map":null,"list":null,"mode":null}`,
			[]string{"/text", "/int", "/bool", "/map", "/mode", "/list"}},

		{"all that is malformed is told at once", `{"text":"\ud800","map":{"a":"\u0000"},"int":1.5,"int":1,"more":1}`,
			[]string{"/text", "/map/a", "/int", "/int", "/more"}},
		{"what is malformed hides what is invalid", `{"int":5000,"text":1}`, []string{"/text"}},
	} {
		t.Run(row.rule, func(t *testing.T) {
			t.Parallel()
			found := read(row.body)
			require.Equal(t, row.pointers, pointers(found), "%v", found)
			require.True(t, found.Malformed, "%v", found)
		})
	}
}

func TestRead_Invalid(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		rule    string
		body    string
		problem string
	}{
		{"a number is not below its range", `{"int":-6}`, "/int must be from -5 to 1000"},
		{"a number is not above its range", `{"int":1001}`, "/int must be from -5 to 1000"},
		{"a list is not too long", `{"list":[{},{},{}]}`, "/list must have from 1 to 2 items"},
		{"a list is not far too long", `{"list":[` + strings.Repeat("{},", 9999) + `{}]}`, "/list must have from 1 to 2 items"},
		{"a list is not too short", `{"list":[]}`, "/list must have from 1 to 2 items"},
		{"what is required is there", `{"inner":{"name":"x"}}`, "/inner/code is required"},
		{"what is required is not empty", `{"inner":{"name":"x","code":""}}`, "/inner/code must not be blank"},
		{"what is required is not blank", `{"inner":{"name":" \u00a0","code":"y"}}`, "/inner/name must not be blank"},
		{"length counts characters, not bytes", `{"inner":{"name":"éééééé","code":"y"}}`, "/inner/name must be from 1 to 5 characters long"},
		{"a line has no line break", `{"line":"a\r\nb"}`, "/line must not contain control characters"},
		{"a line has no terminal escape", `{"line":"\u001b[2J"}`, "/line must not contain control characters"},
		{"a text may break lines but not control terminals", `{"text":"a\nb\u001b"}`, "/text must not contain control characters"},
		{"a text matches what it must", `{"line":"A"}`, "/line must be lower-case"},
		{"a word is one of its set", `{"mode":"Slow"}`, "/mode must be one of fast, slow"},
		{"a pair has a name", `{"map":{"":"x"}}`, "/map/ must have a name of 1 to 40 characters"},
		{"a pair's name is at most 40 long", `{"map":{"` + strings.Repeat("x", 41) + `":""}}`, "/map/" + strings.Repeat("x", 41) + " must have a name of 1 to 40 characters"},
		{"a pair's value is at most 500 long", `{"map":{"a":"` + strings.Repeat("é", 501) + `"}}`, "/map/a must be at most 500 characters long"},
		{"there are at most 50 pairs", `{"map":{` + pairs(51) + `}}`, "/map must have at most 50 pairs"},
		{"thousands of pairs are only too many", `{"map":{` + pairs(5000) + `}}`, "/map must have at most 50 pairs"},
		{"all that is invalid is told at once", `{"int":-6,"list":[]}`, "/int must be from -5 to 1000; /list must have from 1 to 2 items"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			t.Parallel()
			found := read(row.body)
			require.NotNil(t, found)
			require.Equal(t, row.problem, found.Error())
			require.False(t, found.Malformed)
		})
	}
	require.Nil(t, read(`{"map":{`+pairs(50)+`}}`))
	require.Nil(t, read(`{"map":{"`+strings.Repeat("é", 40)+`":"`+strings.Repeat("é", 500)+`"}}`))
}

// pairs writes n members with different names.
func pairs(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, `,"m%d":""`, i)
	}
	return out.String()[1:]
}
