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
	require.Contains(t, string(page), acceptedRefundTable())
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
		again := map[bool]string{true: "yes", false: "no"}[r.again]
		fmt.Fprintf(&out, "| %d | %s | %s | %s | %s | **%s** | %s | %s |\n", r.status, types, code, call, shows, r.outcome, again, r.because)
	}
	return out.String()
}

func acceptedTable() string {
	return stateTable(accepted, []kind{create, confirm, capture, cancel, lookup},
		provider.IntentUnconfirmed, provider.IntentRequiresAction, provider.IntentProcessing, provider.IntentAuthorized,
		provider.IntentSucceeded, provider.IntentFailed, provider.IntentCanceled)
}

func acceptedRefundTable() string {
	return stateTable(acceptedRefund, []kind{refund, lookup},
		provider.RefundPending, provider.RefundSucceeded, provider.RefundFailed, provider.RefundCanceled)
}

func stateTable[S ~string](table map[kind]map[S]provider.Outcome, calls []kind, states ...S) string {
	var out strings.Builder
	for _, state := range states {
		fmt.Fprintf(&out, "| %s |", state)
		for _, call := range calls {
			if outcome, ok := table[call][state]; ok {
				fmt.Fprintf(&out, " **%s** |", outcome)
			} else {
				out.WriteString(" unknown |")
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}
