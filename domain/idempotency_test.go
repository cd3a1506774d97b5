package domain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"payonce/domain"
)

func TestParseKey(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		situation, header string
		key               domain.Key
		err               error
	}{
		{"bare", "a1b2", "a1b2", nil},
		{"quoted form is the same key", `"a1b2"`, "a1b2", nil},
		{"quoted form may hold spaces and commas", `"a, b"`, "a, b", nil},
		{"escapes of the quoted form", `"say \"hi\" \\ bye"`, `say "hi" \ bye`, nil},
		{"blanks around do not count", "  a1b2\t", "a1b2", nil},
		{"longest", strings.Repeat("k", 255), domain.Key(strings.Repeat("k", 255)), nil},
		{"all other printable characters", "!#$%&'()*+-./:;<=>?@[\\]^_`{|}~", "!#$%&'()*+-./:;<=>?@[\\]^_`{|}~", nil},
		{"empty", "", "", domain.ErrKeyEmpty},
		{"blank", "  ", "", domain.ErrKeyEmpty},
		{"quoted nothing", `""`, "", domain.ErrKeyEmpty},
		{"too long", strings.Repeat("k", 256), "", domain.ErrKeyTooLong},
		{"a list", "a, b", "", domain.ErrKeyCharacters},
		{"a list without blanks", "a,b", "", domain.ErrKeyCharacters},
		{"a list of quoted keys", `"a", "b"`, "", domain.ErrKeyQuoting},
		{"a folded line", "a b", "", domain.ErrKeyCharacters},
		{"not ASCII", "clé", "", domain.ErrKeyCharacters},
		{"a control character", "a\x01b", "", domain.ErrKeyCharacters},
		{"a byte that is no text", "a\xff", "", domain.ErrKeyCharacters},
		{"an open quote", `"abc`, "", domain.ErrKeyQuoting},
		{"an unknown escape", `"a\n"`, "", domain.ErrKeyQuoting},
		{"a lone quote", `"`, "", domain.ErrKeyQuoting},
	} {
		t.Run(row.situation, func(t *testing.T) {
			t.Parallel()
			key, err := domain.ParseKey(row.header)
			require.ErrorIs(t, err, row.err)
			require.Equal(t, row.key, key)
		})
	}
}

// command stands for any typed command.
type command struct {
	Name     string            `json:"name"`
	Amount   int64             `json:"amount"`
	Expected *int64            `json:"expected"`
	Flags    []bool            `json:"flags"`
	Metadata map[string]string `json:"metadata"`
}

func anyCommand(t *rapid.T) command {
	c := command{
		Name:     rapid.String().Draw(t, "name"),
		Amount:   rapid.Int64().Draw(t, "amount"),
		Flags:    rapid.SliceOfN(rapid.Bool(), 0, 3).Draw(t, "flags"),
		Metadata: rapid.MapOfN(rapid.String(), rapid.String(), 0, 3).Draw(t, "metadata"),
	}
	if rapid.Bool().Draw(t, "has expected") {
		n := rapid.Int64().Draw(t, "expected")
		c.Expected = &n
	}
	return c
}

func fingerprint(t require.TestingT, op domain.Operation, c any) domain.Fingerprint {
	f, err := domain.FingerprintOf(op, c)
	require.NoError(t, err)
	return f
}

func TestFingerprint_EveryFieldCounts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := anyCommand(t)
		same := fingerprint(t, "x", c)
		require.Equal(t, same, fingerprint(t, "x", c), "the same command has the same fingerprint")
		require.NotEqual(t, same, fingerprint(t, "y", c), "the operation counts")

		other := c
		other.Amount ^= 1 << rapid.IntRange(0, 62).Draw(t, "bit")
		require.NotEqual(t, same, fingerprint(t, "x", other), "every bit of an integer counts")

		other = c
		other.Name += "!"
		require.NotEqual(t, same, fingerprint(t, "x", other))

		other = c
		other.Metadata = map[string]string{"added": "one"}
		for k, v := range c.Metadata {
			other.Metadata[k+"'"] = v
		}
		require.NotEqual(t, same, fingerprint(t, "x", other))
	})
}

func TestFingerprint_ExactBeyondDoubles(t *testing.T) {
	t.Parallel()
	require.NotEqual(t, fingerprint(t, "x", command{Amount: 9007199254740993}), fingerprint(t, "x", command{Amount: 9007199254740992}),
		"two integers that are one double are two commands")
}

func TestFingerprint_MemberOrderDoesNotCount(t *testing.T) {
	t.Parallel()
	type turned struct {
		Metadata map[string]string `json:"metadata"`
		Flags    []bool            `json:"flags"`
		Expected *int64            `json:"expected"`
		Amount   int64             `json:"amount"`
		Name     string            `json:"name"`
	}
	require.Equal(t, fingerprint(t, "x", command{Name: "é \u2028 \"q\"", Amount: 5}), fingerprint(t, "x", turned{Name: "é \u2028 \"q\"", Amount: 5}))
}

func TestFingerprint_KnownValueStaysForEver(t *testing.T) {
	t.Parallel()
	// A change of this value means that keys claimed before an upgrade no longer match: raise the version instead.
	require.Equal(t, domain.Fingerprint("v1:dd1b7bbbc2ddcfecb139ebea79f36683c36bc721095f0169a3066d54a4955311"),
		fingerprint(t, "orders.create", command{Name: "mug", Amount: 1999, Flags: []bool{true}, Metadata: map[string]string{"b": "2", "a": "1"}}))
}

func TestFingerprint_FloatsAreRefused(t *testing.T) {
	t.Parallel()
	_, err := domain.FingerprintOf("x", map[string]float64{"amount": 19.99})
	require.Error(t, err)
}
