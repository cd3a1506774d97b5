package domain_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/domain"
)

// Whatever a header holds, it is one key or none; and a key that was accepted can be written in both forms and comes back
// as itself.
func FuzzParseKey(f *testing.F) {
	for _, seed := range []string{"a", `"a"`, `"a\"b"`, `"a\\"`, "a,b", " a ", `"`, `""`, "a\x00", "é", strings.Repeat("k", 256), `"a" "b"`, `\"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		key, err := domain.ParseKey(header)
		if err != nil {
			require.Empty(t, key)
			return
		}
		require.NotEmpty(t, key)
		require.LessOrEqual(t, len(key), domain.MaxKeyLength)
		for i := range len(key) {
			require.True(t, key[i] >= ' ' && key[i] <= '~')
		}
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(string(key)) + `"`
		again, err := domain.ParseKey(quoted)
		require.NoError(t, err)
		require.Equal(t, key, again)
		plain, err := domain.KeyOf(string(key))
		require.NoError(t, err)
		require.Equal(t, key, plain)
	})
}

// The fingerprint of a value depends on what it is and not on how it was written.
func FuzzFingerprint(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1,"b":[true,null,"x"]}`, `{"b":[true,null,"x"],"a":1}`, `{"a":null}`, `{"\u00e9":"\ud83d\ude00"}`,
		`{"a":9223372036854775807}`, `{"a":1.5}`, `{"a":{"b":{"c":null}}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var v map[string]any
		if d.Decode(&v) != nil || v == nil {
			t.Skip()
		}
		intent, err := domain.NewIntent("x", v)
		if err != nil {
			return // a number that is no int64
		}
		same, err := intent.Matches(intent.Fingerprint())
		require.NoError(t, err)
		require.True(t, same)

		var spaced bytes.Buffer
		plain, err := json.Marshal(v)
		require.NoError(t, err)
		require.NoError(t, json.Indent(&spaced, plain, " ", "\t"))
		again, err := domain.NewIntent("x", json.RawMessage(spaced.Bytes()))
		require.NoError(t, err)
		require.Equal(t, intent.Fingerprint(), again.Fingerprint())

		v["one more"] = "member"
		other, err := domain.NewIntent("x", v)
		require.NoError(t, err)
		if _, had := intentMembers(t, plain)["one more"]; !had {
			require.NotEqual(t, intent.Fingerprint(), other.Fingerprint())
		}
	})
}

func intentMembers(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var v map[string]any
	require.NoError(t, json.Unmarshal(text, &v))
	return v
}
