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
	intent, err := domain.NewIntent(op, c)
	require.NoError(t, err)
	return intent.Fingerprint()
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

// known is a command and its fingerprint in every form that there has been. A change of one of these values means that
// keys claimed before an upgrade no longer match: add a form instead.
var known = struct {
	command command
	forms   map[string]domain.Fingerprint
}{
	command{Name: "mug", Amount: 1999, Flags: []bool{true}, Metadata: map[string]string{"b": "2", "a": "1"}},
	map[string]domain.Fingerprint{
		"v1": "v1:dd1b7bbbc2ddcfecb139ebea79f36683c36bc721095f0169a3066d54a4955311",
		"v2": "v2:03b3745792cb9d924ce60fa137b4ea31ce169de73f185d1931942d5f2dc6bea0",
	},
}

func TestFingerprint_KnownValuesStayForEver(t *testing.T) {
	t.Parallel()
	intent, err := domain.NewIntent("orders.create", known.command)
	require.NoError(t, err)
	require.Equal(t, known.forms["v2"], intent.Fingerprint(), "new keys get the newest form")
}

func TestFingerprint_OfAnOlderRelease_StillMatches(t *testing.T) {
	t.Parallel()
	intent, err := domain.NewIntent("orders.create", known.command)
	require.NoError(t, err)
	changed := known.command
	changed.Amount++
	other, err := domain.NewIntent("orders.create", changed)
	require.NoError(t, err)
	for form, kept := range known.forms {
		same, err := intent.Matches(kept)
		require.NoError(t, err)
		require.True(t, same, "the same intent under a key of form %s", form)
		same, err = other.Matches(kept)
		require.NoError(t, err)
		require.False(t, same, "another intent under a key of form %s", form)
	}
}

func TestFingerprint_OfANewerRelease_IsNeitherTheSameNorAnother(t *testing.T) {
	t.Parallel()
	intent, err := domain.NewIntent("orders.create", known.command)
	require.NoError(t, err)
	for _, kept := range []domain.Fingerprint{"v3:" + known.forms["v2"][3:], "", "v2"} {
		_, err = intent.Matches(kept)
		if kept == "v2" {
			require.NoError(t, err, "a broken fingerprint of a known form matches nothing")
			continue
		}
		require.ErrorIs(t, err, domain.ErrFingerprintVersion)
	}
}

func TestFingerprint_ACommandMayGainAnOptionalMember(t *testing.T) {
	t.Parallel()
	type grown struct {
		command
		Coupon *string `json:"coupon"`
	}
	before, after := fingerprint(t, "x", known.command), fingerprint(t, "x", grown{command: known.command})
	require.Equal(t, before, after, "intents that do not use it keep their fingerprints")
	coupon := ""
	require.NotEqual(t, before, fingerprint(t, "x", grown{known.command, &coupon}))
}

func TestFingerprint_FloatsAreRefused(t *testing.T) {
	t.Parallel()
	_, err := domain.NewIntent("x", map[string]float64{"amount": 19.99})
	require.Error(t, err)
}
