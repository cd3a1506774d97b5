package api_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The exchanges below are what goes over the wire, one file per row of the idempotency contract. They are for people as
// much as for the test: whoever writes a client can read them, and a change of one is a change of the contract. Write
// them anew with: go test ./api -run Golden -update

var update = flag.Bool("update", false, "write the golden exchanges anew")

// wire records exchanges as text.
type wire struct {
	*bundle
	text strings.Builder
}

// say puts a line of explanation between two exchanges.
func (w *wire) say(line string) { fmt.Fprintf(&w.text, "# %s\n\n", line) }

// silent are headers that say nothing about the contract, or differ from run to run.
var silent = []string{"Date", "Content-Length", "X-Content-Type-Options", "Cache-Control", "Content-Security-Policy", "Referrer-Policy",
	"Connection", "Strict-Transport-Security", "Cross-Origin-Resource-Policy", "Vary", "Idempotency-Key-Hint"}

// exchange sends a request and writes down both sides.
func (w *wire) exchange(method, path, body string, headers ...header) answer {
	w.t.Helper()
	auth := header{"Authorization", "Bearer " + alpha}
	if i := slices.IndexFunc(headers, func(h header) bool { return h.name == "Authorization" }); i >= 0 {
		auth, headers = headers[i], slices.Delete(slices.Clone(headers), i, i+1)
	}
	all := []header{auth}
	if body != "" {
		all = append(all, header{"Content-Type", "application/json"})
	}
	all = append(all, headers...)
	got := w.do(w.t.Context(), w.url, method, path, body, all...)
	fmt.Fprintf(&w.text, "%s %s HTTP/1.1\n", method, path)
	for _, h := range all {
		fmt.Fprintf(&w.text, "%s: %s\n", h.name, h.value)
	}
	if body != "" {
		fmt.Fprintf(&w.text, "\n%s\n", body)
	}
	fmt.Fprintf(&w.text, "\nHTTP/1.1 %d %s\n", got.status, http.StatusText(got.status))
	names := make([]string, 0, len(got.header))
	for name := range got.header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if !slices.Contains(silent, name) {
			fmt.Fprintf(&w.text, "%s: %s\n", name, strings.Join(got.header[name], ", "))
		}
	}
	fmt.Fprintf(&w.text, "\n%s\n\n", got.body)
	return got
}

func (w *wire) keyed(path, key, body string, headers ...header) answer {
	w.t.Helper()
	return w.exchange(http.MethodPost, path, body, append([]header{{"Idempotency-Key", key}}, headers...)...)
}

var (
	anyID   = regexp.MustCompile(`\b(ord|chg|prd|cart|req|pi)_[0-9A-Za-z]{20,}\b`)
	anyTime = regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	anyDate = regexp.MustCompile(`\b\w{3}, \d\d \w{3} 20\d\d \d\d:\d\d:\d\d GMT`)
)

// normal gives ids numbers in the order in which they turn up, and one name to all times.
func normal(text string) string {
	count, names := map[string]int{}, map[string]string{}
	text = anyID.ReplaceAllStringFunc(text, func(id string) string {
		prefix, _, _ := strings.Cut(id, "_")
		if names[id] == "" {
			count[prefix]++
			names[id] = fmt.Sprintf("%s_%d", prefix, count[prefix])
		}
		return names[id]
	})
	text = anyTime.ReplaceAllString(text, "2026-01-31T12:00:00Z")
	return anyDate.ReplaceAllString(text, "Sat, 31 Jan 2026 12:00:00 GMT")
}

// golden are the rows of the contract, and how each shows itself.
var golden = []struct {
	file, row string
	play      func(w *wire)
}{
	{"01-intent", "A key stands for one intent: two purchases that merely look alike have two keys.", func(w *wire) {
		w.keyed("/v1/orders", "purchase-0001", w.orderBody("1"))
		w.keyed("/v1/orders", "purchase-0002", w.orderBody("1"))
	}},
	{"02-header", "The header is needed where something is made, and ignored elsewhere.", func(w *wire) {
		w.exchange(http.MethodPost, "/v1/carts", `{"currency":"EUR"}`)
		w.exchange(http.MethodGet, "/v1/orders", "", header{"Idempotency-Key", "ignored-here"})
	}},
	{"03-syntax", "The bare and the quoted form are the same key; what is no key is refused.", func(w *wire) {
		w.keyed("/v1/carts", "basket-0001", `{"currency":"EUR"}`)
		w.keyed("/v1/carts", `"basket-0001"`, `{"currency":"EUR"}`)
		w.keyed("/v1/carts", "basket-0001, basket-0002", `{"currency":"EUR"}`)
		w.keyed("/v1/carts", "", `{"currency":"EUR"}`)
	}},
	{"04-scope", "A key belongs to a merchant and an operation: elsewhere it is another key.", func(w *wire) {
		w.keyed("/v1/carts", "shared-0001", `{"currency":"EUR"}`)
		w.keyed("/v1/orders", "shared-0001", w.orderBody("1"))
		w.keyed("/v1/carts", "shared-0001", `{"currency":"USD"}`, header{"Authorization", "Bearer " + beta})
	}},
	{"05-fingerprint", "Spelling and left-out defaults make no difference.", func(w *wire) {
		w.keyed("/v1/carts", "basket-0001", `{"currency":"EUR"}`)
		w.keyed("/v1/carts", "basket-0001", `{ "metadata": {}, "currency": "eur" }`)
	}},
	{"06-order-of-checks", "What is refused before the key is looked at leaves the key free.", func(w *wire) {
		w.keyed("/v1/carts", "basket-0001", `{"currency":"EUR"}`, header{"Authorization", "Bearer sk_test_nobody"})
		w.keyed("/v1/carts", "basket-0001", `{"curency":"EUR"}`)
		w.keyed("/v1/carts", "basket-0001", `{"currency":"EUR"}`)
	}},
	{"07-other-payload", "The same key for something else is refused, and the first record is untouched.", func(w *wire) {
		w.keyed("/v1/carts", "basket-0001", `{"currency":"EUR"}`)
		w.keyed("/v1/carts", "basket-0001", `{"currency":"USD"}`)
		w.keyed("/v1/carts", "basket-0001", `{"currency":"EUR"}`)
	}},
	{"08-finished", "The first answer again, also when the object has moved on.", func(w *wire) {
		order := w.keyed("/v1/orders", "purchase-0001", w.orderBody("2"))
		w.keyed("/v1/orders/"+order.text("id")+"/charges", "payment-0001", goodCard)
		w.keyed("/v1/orders", "purchase-0001", w.orderBody("2"))
		w.exchange(http.MethodGet, "/v1/orders/"+order.text("id"), "")
	}},
	{"09-running", "While the first still runs: wait, or be told when to come back and where to look.", func(w *wire) {
		charge := w.heldCharge("payment-0001")
		w.keyed("/v1/orders/"+charge.order+"/charges", "payment-0001", goodCard, header{"Prefer", "wait=0"})
		charge.release()
		<-charge.answer
		w.keyed("/v1/orders/"+charge.order+"/charges", "payment-0001", goodCard, header{"Prefer", "wait=10"})
	}},
	{"10-not-known-yet", "An outcome that is not proved is told as such, and never stored.", func(w *wire) {
		order := w.order("purchase-0001")
		w.simulator(http.MethodPost, "/_sim/rules", `{"match":{"path_glob":"/v1/payment_intents/**"},"fault":{"name":"drop_after_effect","mode":"fin"}}`)
		w.say("the provider's answers are lost")
		open := w.keyed("/v1/orders/"+order+"/charges", "payment-0001", goodCard)
		w.exchange(http.MethodGet, "/v1/charges/"+open.text("id"), "")
		w.simulator(http.MethodDelete, "/_sim/rules", "")
		w.say("they come again")
		w.keyed("/v1/orders/"+order+"/charges", "payment-0001", goodCard)
	}},
	{"11-final-refusal", "A refusal that was decided is an answer like any other; a new try has a new key.", func(w *wire) {
		order := w.order("purchase-0001")
		w.keyed("/v1/orders/"+order+"/charges", "payment-0001", badCard)
		w.keyed("/v1/orders/"+order+"/charges", "payment-0001", badCard)
		w.keyed("/v1/orders/"+order+"/charges", "payment-0002", goodCard)
	}},
	{"12-not-final", "What went wrong on our side is not stored: the same key may be sent again.", func(w *wire) {
		order := w.order("purchase-0001")
		w.simulator(http.MethodPost, "/_sim/rules", `{"match":{"path_glob":"/v1/payment_intents"},"fault":{"name":"error_before_effect","status":"401","store":"false"},"times":1}`)
		w.say("the provider refuses us, not the card")
		w.keyed("/v1/orders/"+order+"/charges", "payment-0001", goodCard)
		w.keyed("/v1/orders/"+order+"/charges", "payment-0001", goodCard)
	}},
	{"13-retention", "After the retention the key is still known: nothing runs a second time.", func(w *wire) {
		w.keyed("/v1/carts", "basket-0001", `{"currency":"EUR"}`)
		w.expire()
		w.say("30 days later")
		w.keyed("/v1/carts", "basket-0001", `{"currency":"EUR"}`)
	}},
	{"14-machine-readable", "The policy, and what became of a key.", func(w *wire) {
		w.keyed("/v1/carts", "basket-0001", `{"currency":"EUR"}`)
		w.exchange(http.MethodGet, "/v1/idempotency_keys/carts.create/basket-0001", "")
		w.exchange(http.MethodGet, "/v1/idempotency_policy", "")
	}},
}

func TestGolden_EveryRowOfTheContract(t *testing.T) {
	t.Parallel()
	for _, g := range golden {
		t.Run(g.file, func(t *testing.T) {
			t.Parallel()
			w := &wire{bundle: setup(t)}
			w.say(g.row)
			g.play(w)
			text := normal(strings.TrimRight(w.text.String(), "\n") + "\n")
			path := filepath.Join("testdata", "golden", g.file+".http")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), text)
		})
	}
}
