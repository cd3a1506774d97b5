package stripe

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/provider"
)

// The page for readers repeats the tables of outcomes.go row by row, in the same order.
func TestDocumentation_HasTheTables(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/provider-outcomes.md")
	require.NoError(t, err)
	require.Contains(t, string(page), refusalTable())
	require.Contains(t, string(page), acceptedTable())
}

func refusalTable() string {
	var out strings.Builder
	for _, r := range refusals {
		types, code, shows, call := "any", "any", "anything", "any"
		if r.kinds != nil {
			types = ""
			for i, kind := range r.kinds {
				if i > 0 {
					types += ", "
				}
				types += "`" + string(kind) + "`"
			}
		}
		if r.code != "" {
			code = "`" + string(r.code) + "`"
		}
		if r.on != "" {
			call = string(r.on)
		}
		if r.shows != "" {
			shows = "intent that is " + string(r.shows)
		} else if r.showing {
			shows = "an intent"
		}
		fmt.Fprintf(&out, "| %d | %s | %s | %s | %s | **%s** | %s |\n", r.status, types, code, call, shows, r.outcome, r.because)
	}
	return out.String()
}

func acceptedTable() string {
	var out strings.Builder
	for _, status := range []provider.IntentStatus{provider.IntentUnconfirmed, provider.IntentRequiresAction, provider.IntentProcessing,
		provider.IntentAuthorized, provider.IntentSucceeded, provider.IntentFailed, provider.IntentCanceled} {
		fmt.Fprintf(&out, "| %s |", status)
		for _, call := range []kind{create, confirm, cancel, lookup} {
			if outcome, ok := accepted[call][status]; ok {
				fmt.Fprintf(&out, " **%s** |", outcome)
			} else {
				out.WriteString(" unknown |")
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}
