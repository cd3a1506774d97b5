package api

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeyHint(t *testing.T) {
	t.Parallel()
	for key, hint := range map[string]string{
		"0190f4b2-7c1e-7d3a-9a55-1f0e6f3d2c11": "",
		"order-2026-12-01-000417":              "",
		"checkout_8f3b2c":                      "",
		"12345678901":                          "", // eleven digits are no time
		"9999999999":                           "", // the year 2286
		"abc":                                  "too-short",
		"1":                                    "too-short",
		"1764547200":                           "timestamp",
		"1764547200123":                        "timestamp",
		"1764547200123456":                     "timestamp",
		"1764547200123456789":                  "timestamp",
		"2026-12-01":                           "timestamp",
		"2026-12-01T10:15:30.5Z":               "timestamp",
		"jane.doe@example.com":                 "email-address",
		"4242424242424242":                     "card-number",
		"pay 4000-0566-5566-5556":              "card-number",
		strings.Repeat("x", 255):               "",
	} {
		require.Equal(t, hint, keyHint(key), key)
	}
}
