package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestConfig_DefaultsAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	c, err := loadConfig(nil)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:8080", c.Addr)
	require.Equal(t, "127.0.0.1:12110", c.SimAddr)
	require.Equal(t, 720*time.Hour, c.KeyRetention)
	require.Equal(t, 30*time.Second, c.Lease)
	require.Equal(t, 10*time.Second, c.ProviderTimeout)
	require.Equal(t, 23*time.Hour, c.KeyHorizon)
	require.Equal(t, 30*time.Minute, c.OrderTTL)
	require.Equal(t, 15*time.Second, c.Interval)
	require.Equal(t, 10*time.Second, c.Grace)
}

func TestConfig_AnEmptyVariableIsAnUnsetOne(t *testing.T) {
	t.Parallel()
	c, err := loadConfig([]string{"PAYONCE_LEASE="})
	require.NoError(t, err)
	require.Equal(t, 30*time.Second, c.Lease)
}

func TestConfig_AllMistakesAtOnceAndNoValueRepeated(t *testing.T) {
	t.Parallel()
	_, err := loadConfig([]string{"PAYONCE_LEASE=sk_live_pasted_here", "PAYONCE_ORDER_TTL=10ms", "PAYONCE_ADDR=8080", "PAYONCE_LOG_LEVEL=loud",
		"PAYONCE_PROVIDER_KEY_HORIZON=48h", "STRIPE_SECRET_KEY=sk_test_half"}, needDatabase)
	require.Error(t, err)
	for _, name := range []string{"PAYONCE_LEASE", "PAYONCE_ORDER_TTL", "PAYONCE_ADDR", "PAYONCE_LOG_LEVEL", "PAYONCE_PROVIDER_KEY_HORIZON",
		"STRIPE_WEBHOOK_SECRET", "STRIPE_PUBLISHABLE_KEY", "DATABASE_URL"} {
		require.Contains(t, err.Error(), name+":")
	}
	require.NotContains(t, err.Error(), "sk_live_pasted_here")
	require.NotContains(t, err.Error(), "sk_test_half")
}

func TestConfig_StripeIsWholeOrAbsentOrSimulated(t *testing.T) {
	t.Parallel()
	for situation, row := range map[string]struct {
		environ []string
		ok      bool
	}{
		"absent":             {nil, true},
		"whole":              {[]string{"STRIPE_SECRET_KEY=sk_test_1", "STRIPE_WEBHOOK_SECRET=whsec_1", "STRIPE_PUBLISHABLE_KEY=pk_test_1"}, true},
		"simulated":          {[]string{"STRIPE_SECRET_KEY=sk_test_1", "STRIPE_API_BASE=http://127.0.0.1:12110"}, true},
		"no webhook secret":  {[]string{"STRIPE_SECRET_KEY=sk_test_1", "STRIPE_PUBLISHABLE_KEY=pk_test_1"}, false},
		"not that secret":    {[]string{"STRIPE_SECRET_KEY=sk_test_1", "STRIPE_WEBHOOK_SECRET=sk_test_1", "STRIPE_PUBLISHABLE_KEY=pk_test_1"}, false},
		"no publishable key": {[]string{"STRIPE_SECRET_KEY=sk_test_1", "STRIPE_WEBHOOK_SECRET=whsec_1"}, false},
	} {
		_, err := loadConfig(row.environ)
		require.Equal(t, row.ok, err == nil, "%s: %v", situation, err)
	}
}

func TestConfig_SecretsDoNotPrint(t *testing.T) {
	t.Parallel()
	c, err := loadConfig([]string{"DATABASE_URL=postgres://u:hunter2@h/d", "STRIPE_SECRET_KEY=sk_test_hunter2", "STRIPE_API_BASE=http://127.0.0.1:1", "PAYONCE_SHOP_KEY=sk_hunter2"})
	require.NoError(t, err)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "config", c, "key", c.StripeKey)
	encoded, err := json.Marshal(c)
	require.NoError(t, err)
	for _, text := range []string{fmt.Sprint(c), fmt.Sprintf("%+v %#v %s %q", c, c, c.StripeKey, c.StripeKey), log.String(), string(encoded)} {
		require.NotContains(t, text, "hunter2")
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		situation string
		args      []string
		code      int
		out, err  string
	}{
		{"no command shows what there is", nil, exitOK, "demo", ""},
		{"help lists the settings", []string{"serve", "--help"}, exitOK, "PAYONCE_LEASE", ""},
		{"version", []string{"version"}, exitOK, "schema", ""},
		{"unknown command", []string{"sell"}, exitUsage, "", "unknown command"},
		{"unknown flag", []string{"demo", "--fast"}, exitUsage, "", "--help"},
		{"needless argument", []string{"serve", "now"}, exitUsage, "", "--help"},
		{"missing argument", []string{"migrate"}, exitUsage, "", "--help"},
		{"wrong argument", []string{"migrate", "sideways"}, exitUsage, "", "--help"},
		{"missing settings", []string{"serve"}, exitUsage, "", "DATABASE_URL"},
		{"nothing is listening", []string{"health"}, exitFailed, "", "not ready"},
	} {
		t.Run(row.situation, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			code := run(row.args, []string{"PAYONCE_ADDR=127.0.0.1:1"}, &out, &errs)
			require.Equal(t, row.code, code, errs.String())
			require.Contains(t, out.String(), row.out)
			require.Contains(t, errs.String(), row.err)
			if row.err != "" {
				require.True(t, strings.HasPrefix(errs.String(), "payonce: "), errs.String())
			}
		})
	}
}
