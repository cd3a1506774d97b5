package simulator_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/simulator"
)

func TestProfile_IsChosenShownAndEnded(t *testing.T) {
	t.Parallel()
	b := start(t)
	require.JSONEq(t, `{"name":"","seed":0,"rules":[]}`, b.get("/_sim/profile").text)
	for _, name := range []string{"calm", "rough", "webhook_storm"} {
		r := b.control("/profile", `{"name":"`+name+`","seed":7}`)
		require.Equal(t, 200, r.status, r.text)
		require.JSONEq(t, r.text, b.get("/_sim/profile").text)
		require.Equal(t, name, r.at("name"))
		require.EqualValues(t, 7, r.at("seed"))
		require.NotEmpty(t, r.at("rules"))
	}
	require.EqualValues(t, 1, b.control("/profile", `{"name":"calm"}`).at("seed"), "the world's own")
	require.Empty(t, b.control("/profile", `{}`).at("rules"))
	for _, bad := range []string{`{"name":"hurricane"}`, `{"seed":-1}`, `{"rules":[]}`} {
		require.Equal(t, 400, b.control("/profile", bad).status, bad)
	}
}

// life makes the same traffic in a world with a profile and returns what arrived, struck by what.
func life(t *testing.T, profileSeed int, parallel bool) []string {
	t.Helper()
	b := start(t)
	require.Equal(t, 200, b.control("/profile", fmt.Sprintf(`{"name":"rough","seed":%d}`, profileSeed)).status)
	pay := func(n int) {
		for attempt := range 3 {
			key := fmt.Sprintf("pay:%d:%d", n, attempt)
			_, _ = b.trySend("POST", "/v1/payment_intents", "amount=1250&currency=eur&payment_method_types[]=card&confirm=true&payment_method=pm_card_visa",
				"Idempotency-Key", key)
		}
	}
	if parallel {
		together(20, pay)
	} else {
		for n := range 20 {
			pay(n)
		}
	}
	var lines []string
	for _, a := range b.sim.Journal() {
		lines = append(lines, fmt.Sprint(a.Key, a.Faults, a.Executed, a.Status))
	}
	return lines
}

func TestProfile_StrikesTheSameRequestsWithTheSameSeed(t *testing.T) {
	t.Parallel()
	first := life(t, 7, false)
	require.Equal(t, first, life(t, 7, false), "the same journal")
	require.ElementsMatch(t, first, life(t, 7, true), "whatever the order of arrival")
	require.NotEqual(t, first, life(t, 8, false))
	require.NotEmpty(t, slices.DeleteFunc(first, func(line string) bool { return strings.Contains(line, "[]") }), "some were struck")
}

func TestRulesOfOnesOwn_ComeBeforeTheProfile(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.control("/profile", `{"name":"rough"}`)
	b.rule(t, `{"fault":{"name":"delay","ms":0}}`)
	for n := range 30 {
		require.Equal(t, 200, b.post(fmt.Sprint(n), "/v1/payment_intents", card()...).status)
	}
	for _, r := range b.get("/_sim/profile").at("rules").([]any) {
		if r.(map[string]any)["match"].(map[string]any)["event"] == nil {
			require.EqualValues(t, 0, r.(map[string]any)["hits"])
		}
	}
}

func TestRulesAndProfile_SurviveARestartWithTheirHits(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "sim.jsonl")
	b := startWith(t, simulator.Options{Seed: 1, Data: data})
	b.control("/profile", `{"name":"webhook_storm","seed":3}`)
	b.rule(t, `{"id":"one","match":{"path_glob":"/v1/charges"},"fault":{"name":"html_error"},"times":2}`)
	b.rule(t, `{"id":"two","match":{"path_glob":"/v1/charges"},"fault":{"name":"delay","ms":1}}`)
	require.Equal(t, 502, b.get("/v1/charges").status)
	for n := range 5 {
		b.pay(fmt.Sprint(n))
	}
	rules, profile := b.get("/_sim/rules").text, b.get("/_sim/profile").text
	var shown struct{ Rules []struct{ Hits int } }
	require.NoError(t, json.Unmarshal([]byte(profile), &shown))
	hits := 0
	for _, r := range shown.Rules {
		hits += r.Hits
	}
	require.NotZero(t, hits)

	for range 2 {
		b = b.restart(data)
		require.JSONEq(t, rules, b.get("/_sim/rules").text)
		require.JSONEq(t, profile, b.get("/_sim/profile").text)
	}
	require.Equal(t, 502, b.get("/v1/charges").status)
	require.Equal(t, 200, b.get("/v1/charges").status, "it may hit twice in all")

	b.send("DELETE", "/_sim/rules/one", "")
	b = b.restart(data)
	require.Len(t, b.get("/_sim/rules").at("rules"), 1)
	b.control("/reset", "")
	b = b.restart(data)
	require.Empty(t, b.get("/_sim/rules").at("rules"))
	require.Empty(t, b.get("/_sim/profile").at("rules"))
}
