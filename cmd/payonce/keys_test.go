package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/migrations"
	"payonce/repository"
	"payonce/repository/repositorytest"
)

func TestMain(m *testing.M) { repositorytest.Main(m) }

// keysOf is the command payonce keys over a database of its own.
type keysOf struct {
	t  *testing.T
	db *repositorytest.DB
}

func (k keysOf) run(args ...string) (code int, out, complaints string) {
	k.t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(append([]string{"keys"}, args...), []string{"DATABASE_URL=" + k.db.URL, "PAYONCE_LOG_LEVEL=debug"}, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// create makes a key and returns its id and secret.
func (k keysOf) create(args ...string) (id, secret string) {
	k.t.Helper()
	code, out, told := k.run(append([]string{"create", "--merchant", "mrc_acme"}, args...)...)
	require.Equal(k.t, exitOK, code, told)
	id = regexp.MustCompile(`key_[0-9a-z]+`).FindString(told)
	require.NotEmpty(k.t, id, told)
	secret = strings.TrimSuffix(out, "\n")
	require.NotContains(k.t, told, secret, "the secret is on standard output only")
	return id, secret
}

func (k keysOf) list(args ...string) (keys []domain.APIKey) {
	k.t.Helper()
	code, out, told := k.run(append([]string{"list", "--json"}, args...)...)
	require.Equal(k.t, exitOK, code, told)
	require.NoError(k.t, json.Unmarshal([]byte(out), &keys), out)
	return keys
}

// speaks reports for whom a secret speaks; empty when for nobody.
func (k keysOf) speaks(secret string) domain.Caller {
	k.t.Helper()
	caller, err := k.db.Store.CallerBySecret(k.t.Context(), secret)
	if domain.CodeOf(err) != domain.CodeUnauthenticated {
		require.NoError(k.t, err)
	}
	return caller
}

func TestKeys_CreateShowsTheSecretOnceAndAloneOnItsLine(t *testing.T) {
	t.Parallel()
	k := keysOf{t, repositorytest.New(t)}
	id, secret := k.create("--merchant-name", "Acme", "--role", "operator", "--name", "web shop")
	require.Regexp(t, `^sk_test_[A-Z2-7]{26}$`, secret)
	require.Equal(t, domain.Caller{MerchantID: "mrc_acme", APIKeyID: id, Role: domain.RoleOperator}, k.speaks(secret))
	_, live := k.create("--live")
	require.Regexp(t, `^sk_live_[A-Z2-7]{26}$`, live)
	require.Equal(t, domain.RoleWrite, k.speaks(live).Role, "unless another is asked for")
	require.NotEqual(t, strings.TrimPrefix(secret, "sk_test_"), strings.TrimPrefix(live, "sk_live_"))

	for _, args := range [][]string{{"list"}, {"list", "--json"}, {"revoke", id, "--merchant", "mrc_acme"}} {
		_, out, told := k.run(args...)
		require.NotContains(t, out+told, secret[len("sk_test_"):], "%v", args)
	}
	var everything string
	k.db.Scan(t, &everything, `SELECT query_to_xml('SELECT * FROM api_keys', true, true, '')::text || query_to_xml('SELECT * FROM merchants', true, true, '')::text`)
	require.Contains(t, everything, id)
	require.NotContains(t, everything, secret[len("sk_test_"):])
}

func TestKeys_Rotation_TwoLiveKeysAndThenTheFirstEnds(t *testing.T) {
	t.Parallel()
	k := keysOf{t, repositorytest.New(t)}
	first, old := k.create("--merchant-name", "Acme", "--name", "old")
	second, fresh := k.create("--name", "new")
	require.Equal(t, first, k.speaks(old).APIKeyID)
	require.Equal(t, second, k.speaks(fresh).APIKeyID)

	code, out, told := k.run("revoke", first, "--merchant", "mrc_acme", "--in", "24h")
	require.Equal(t, exitOK, code, told)
	require.Contains(t, out, first+" of mrc_acme works: until ")
	require.Equal(t, first, k.speaks(old).APIKeyID, "until then it works")
	end := k.list()[0].RevokedAt
	require.WithinDuration(t, time.Now().Add(24*time.Hour), *end, time.Minute)

	for range 2 { // twice is as once
		code, out, _ = k.run("revoke", first, "--merchant", "mrc_acme")
		require.Equal(t, exitOK, code)
		require.Contains(t, out, "works: no, revoked at ")
		require.Empty(t, k.speaks(old))
	}
	revoked := k.list()[0]
	require.True(t, revoked.Revoked)
	_, _, _ = k.run("revoke", first, "--merchant", "mrc_acme", "--in", "24h")
	require.Equal(t, revoked, k.list()[0], "what has ended stays ended")
	require.Equal(t, second, k.speaks(fresh).APIKeyID)
}

func TestKeys_ListIsATableForPeopleAndJSONForPrograms(t *testing.T) {
	t.Parallel()
	k := keysOf{t, repositorytest.New(t)}
	code, out, _ := k.run("list", "--json")
	require.Equal(t, exitOK, code)
	require.JSONEq(t, `[]`, out)
	id, _ := k.create("--merchant-name", "Acme", "--role", "read", "--name", "reports, nightly")
	other := keysOf{t, k.db}
	code, _, told := other.run("create", "--merchant", "mrc_else", "--merchant-name", "Else")
	require.Equal(t, exitOK, code, told)

	_, out, _ = k.run("list")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 3)
	require.Regexp(t, `^KEY +MERCHANT +ROLE +NAME +CREATED +WORKS$`, lines[0])
	require.Regexp(t, `^`+id+` +mrc_acme +read +reports, nightly +20..-..-..T..:..:..Z +yes$`, lines[1])
	require.Len(t, k.list(), 2)
	mine := k.list("--merchant", "mrc_acme")
	require.Len(t, mine, 1)
	require.Equal(t, domain.APIKey{ID: id, MerchantID: "mrc_acme", Role: domain.RoleRead, Name: "reports, nightly", CreatedAt: mine[0].CreatedAt}, mine[0])
}

func TestKeys_WrongUse_IsOneLineThatNamesTheFix(t *testing.T) {
	t.Parallel()
	k := keysOf{t, repositorytest.New(t)}
	id, secret := k.create("--merchant-name", "Acme")
	for situation, row := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no merchant":            {[]string{"create"}, exitUsage, "such as mrc_acme"},
		"no merchant's id":       {[]string{"create", "--merchant", "Acme'; --"}, exitUsage, "such as mrc_acme"},
		"no role":                {[]string{"create", "--merchant", "mrc_acme", "--role", "admin"}, exitUsage, "[read write operator]"},
		"a name of two lines":    {[]string{"create", "--merchant", "mrc_acme", "--name", "a\nb"}, exitUsage, "--name: must be one line"},
		"an endless name":        {[]string{"create", "--merchant", "mrc_acme", "--name", strings.Repeat("é", 101)}, exitUsage, "at most 100"},
		"unknown merchant":       {[]string{"create", "--merchant", "mrc_unknown"}, exitFailed, "add --merchant-name"},
		"list of nobody":         {[]string{"list", "--merchant", "mrc_unknown"}, exitFailed, "payonce keys list"},
		"list of no merchant":    {[]string{"list", "--merchant", "acme"}, exitUsage, "such as mrc_acme"},
		"revoke nothing":         {[]string{"revoke"}, exitUsage, "see payonce keys revoke --help"},
		"revoke by the secret":   {[]string{"revoke", secret, "--merchant", "mrc_acme"}, exitUsage, "not by its secret"},
		"revoke an unknown key":  {[]string{"revoke", "key_unknown", "--merchant", "mrc_acme"}, exitFailed, "payonce keys list"},
		"revoke another's key":   {[]string{"revoke", id, "--merchant", "mrc_other"}, exitFailed, "payonce keys list"},
		"revoke in the past":     {[]string{"revoke", id, "--merchant", "mrc_acme", "--in", "-1h"}, exitUsage, "--in:"},
		"revoke in no duration":  {[]string{"revoke", id, "--merchant", "mrc_acme", "--in", "tomorrow"}, exitUsage, "--help"},
		"a flag that is unknown": {[]string{"list", "--secret"}, exitUsage, "--help"},
		"a command unknown":      {[]string{"delete"}, exitUsage, "--help"},
	} {
		code, out, told := k.run(row.args...)
		require.Equal(t, row.code, code, situation)
		require.Contains(t, told, row.says, situation)
		require.Equal(t, 1, strings.Count(told, "\n"), "%s: %s", situation, told)
		require.NotContains(t, out+told, secret, situation)
	}
	require.Len(t, k.list(), 1, "nothing was made")
	require.NotEmpty(t, k.speaks(secret), "and nothing revoked")
}

func TestKeys_WithoutADatabase_SayWhichSettingIsMissing(t *testing.T) {
	t.Parallel()
	var out, told bytes.Buffer
	require.Equal(t, exitUsage, run([]string{"keys", "list"}, nil, &out, &told))
	require.Contains(t, told.String(), "DATABASE_URL")
}

func TestKeys_OnAnOlderSchema_SayHowToBringItUp(t *testing.T) {
	t.Parallel()
	k := keysOf{t, repositorytest.New(t)}
	require.NoError(t, repository.MigrateDown(t.Context(), k.db.URL, int(migrations.Latest())-6)) // no role may read it yet
	code, _, told := k.run("list")
	require.Equal(t, exitFailed, code)
	require.Contains(t, told, "payonce migrate up")
}
