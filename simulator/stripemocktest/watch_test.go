package stripemocktest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// noted is a test that notes its failures instead of failing.
type noted struct {
	testing.TB
	failures []any
	cleanUps []func()
}

func (n *noted) Helper()           {}
func (n *noted) Error(args ...any) { n.failures = append(n.failures, args...) }
func (n *noted) Cleanup(f func())  { n.cleanUps = append(n.cleanUps, f) }

// lax is an API that takes everything, and says what its query asks for.
func lax(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	switch r.URL.Path {
	case "/v1/events/evt_1":
		_, _ = io.WriteString(w, with(event, `"data"`, `"made_up": 1, "data"`))
	case "/v1/events/evt_2": // as above, and then the connection is gone
		_, _ = io.WriteString(w, with(event, `"data"`, `"lost": 1, "data"`))
		_ = http.NewResponseController(w).Flush()
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_ = conn.Close()
	case "/v1/events/evt_3":
		_, _ = io.WriteString(w, `{"object": "event"`)
	default:
		_, _ = io.WriteString(w, intent)
	}
}

func TestWatch_WhatTheOutsiderObjectsTo_FailsTheTest(t *testing.T) {
	t.Parallel()
	test := &noted{TB: t}
	server := httptest.NewServer(asked(t).watch(test, http.HandlerFunc(lax)))
	for _, request := range []struct{ method, path, form string }{
		{"POST", "/v1/payment_intents", create + "&size=large"},
		{"POST", "/scn/one/v1/payment_intents/pi_1/cancel", "weight=light"},
		{"GET", "/v1/events/evt_1", ""},
		{"GET", "/v1/events/evt_2", ""}, // was cut, so nobody has seen it
		{"GET", "/v1/events/evt_3", ""},
		{"POST", "/_sim/rules", "height=tall"}, // not the API's
	} {
		req, err := http.NewRequestWithContext(t.Context(), request.method, server.URL+request.path, strings.NewReader(request.form))
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
	}
	server.Close()
	require.Empty(t, test.failures, "nothing before the end")
	for _, cleanUp := range test.cleanUps {
		cleanUp()
	}
	require.Len(t, test.failures, 3)
	for n, says := range []string{"accepted with 200, and stripe-mock says: 400", "accepted with 200, and stripe-mock says: 400", "'made_up' not allowed"} {
		require.Contains(t, test.failures[n], says)
	}
}

func TestWatch_WhatIsInOrder_Passes(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(Watch(t, http.HandlerFunc(lax)))
	t.Cleanup(server.Close)
	res, err := http.PostForm(server.URL+"/v1/payment_intents", url.Values{"amount": {"1250"}, "currency": {"eur"}})
	require.NoError(t, err)
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, intent, string(text), "what passes is not changed")
}

func TestWatch_SwitchedOff_IsTheHandlerItself(t *testing.T) {
	t.Parallel()
	if judging != nil {
		t.Skip("it is switched on")
	}
	mux := http.NewServeMux()
	require.Same(t, mux, Watch(t, mux))
}

func TestTolerances_ThatNothingNeeds_Refused(t *testing.T) {
	t.Parallel()
	described := func() map[string]any {
		return map[string]any{"thing": map[string]any{
			"required": []any{"id", "new"}, "properties": map[string]any{"id": map[string]any{}, "new": map[string]any{}},
		}}
	}
	schemas := described()
	require.NoError(t, tolerate(schemas, []field{{"thing", "new", ""}}, []field{{"thing", "old", ""}}))
	require.Equal(t, []any{"id"}, at(schemas, "thing")["required"])
	require.Contains(t, at(schemas, "thing", "properties"), "old")
	require.ErrorContains(t, tolerate(described(), []field{{"thing", "old", ""}}, nil), "not required")
	require.ErrorContains(t, tolerate(described(), []field{{"no_thing", "new", ""}}, nil), "not required")
	require.ErrorContains(t, tolerate(described(), nil, []field{{"thing", "new", ""}}), "is described")
	require.ErrorContains(t, tolerate(described(), nil, []field{{"no_thing", "old", ""}}), "is described")
}

func TestStart_WithoutTheModule_OneLineSaysSo(t *testing.T) {
	t.Parallel()
	_, err := buildMock(t.Context(), t.TempDir(), t.TempDir())
	require.ErrorContains(t, err, "build stripe-mock (it needs its module once, from the network)")
	require.NotContains(t, err.Error(), "\n")
}

func TestStart_ThatEndsAtOnce_SaysWhy(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "stripe-mock")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho cannot read $2 >&2\nexit 1\n"), 0o700))
	_, err := startMock(program, "spec3.json")
	require.ErrorContains(t, err, `it named no address on 127.0.0.1: "cannot read spec3.json "`)
}

func TestStart_AnnouncedElsewhereThanOnThisMachine_Refused(t *testing.T) {
	t.Parallel()
	url, err := announcedURL(strings.NewReader("stripe-mock v1\nListening for HTTP at address: 127.0.0.1:4711\n"))
	require.NoError(t, err)
	require.Equal(t, "http://127.0.0.1:4711", url)
	_, err = announcedURL(strings.NewReader("Listening for HTTP at address: [::]:12111\n"))
	require.ErrorContains(t, err, "named no address")
}
