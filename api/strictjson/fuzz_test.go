package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"testing"

	"payonce/api/strictjson"
)

// FuzzRead holds the reader against encoding/json from both sides: whatever is accepted means the same there and comes
// back unchanged, and whatever encoding/json writes is accepted, but for the rules that it does not have.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` {"text":"a\ud83d\ude00\/\n","int":-5,"bool":true,"map":{"a":"b"},"list":[{"n":1.5e-3}],"inner":null} `,
		`{"text":"\ud800"}`, `{"text":"\ud800\u0041"}`, `{"text":"\u0000"}`, "{\"text\":\"\xff\"}", `{"int":01}`, `{"int":-0}`, `{"int":1}x`,
		`{"int":1,"\u0069nt":2}`, `{"eight":[[[[[[[]]]]]]]}`, `{"nine":[[[[[[[[]]]]]]]]}`, `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,"m":1,"n":1,"o":1,"p":1,"q":1,"a":2}`,
		`{"a~/b":"4242424242424242"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 2000 {
			return // a list of more items than are kept
		}
		tree, accepted := parse(t, body)
		other, valid := standard(body)
		if accepted {
			if !valid || !reflect.DeepEqual(tree, other) {
				t.Fatalf("read %#v, encoding/json %#v", tree, other)
			}
			again, ok := parse(t, write(t, tree))
			if !ok || !reflect.DeepEqual(tree, again) {
				t.Fatalf("read %#v, and again %#v", tree, again)
			}
		}
		if _, object := other.(map[string]any); !valid || !object || levels(other) > 8 {
			return
		}
		written := write(t, other)
		if _, ok := parse(t, written); !ok && !bytes.Contains(written, []byte(`\u0000`)) {
			t.Fatalf("refused %s", written)
		}
	})
}

func parse(t *testing.T, body []byte) (any, bool) {
	t.Helper()
	o, err := strictjson.Read(body)
	if err == nil {
		tree, ok := strictjson.Tree(o)
		o.HasCardNumber()
		err = ask(o)
		checkError(t, err)
		return tree, ok
	}
	checkError(t, err)
	return nil, false
}

// checkError wants every refusal to be one that a client can be told.
func checkError(t *testing.T, err error) {
	t.Helper()
	var found *strictjson.Error
	if err != nil && (!errors.As(err, &found) || len(found.Problems) == 0 || len(found.Problems) > 33) {
		t.Fatalf("not a list of problems: %v", err)
	}
}

// standard reads one value and nothing else with encoding/json.
func standard(body []byte) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil, false
	}
	_, err := d.Token()
	return v, errors.Is(err, io.EOF)
}

func write(t *testing.T, v any) []byte {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func levels(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			deepest = max(deepest, levels(inner))
		}
	case []any:
		for _, inner := range v {
			deepest = max(deepest, levels(inner))
		}
	default:
		return 0
	}
	return deepest + 1
}
