package simulator

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// referenceNames are the metadata names whose values are the caller's own ids for one thing to be paid. An id of a
// tenant is not among them: a tenant is paid many times.
var referenceNames = []string{"payment_id", "charge_id", "order_id"}

// Audit is what really happened, counted from the objects and not from what any client believes. It is the oracle of
// tests: Succeeded may never exceed 1 for a reference, and Alarms must stay empty.
type Audit struct {
	References []ReferenceAudit `json:"references"` // sorted by reference
	Refunds    []RefundAudit    `json:"refunds"`
	Alarms     []string         `json:"alarms"`
}

// ReferenceAudit is the sum over all payment intents whose metadata holds the reference. Amounts are in minor units.
type ReferenceAudit struct {
	Reference      string `json:"reference"`
	PaymentIntents int    `json:"payment_intents"`
	Succeeded      int    `json:"succeeded"` // charges that took money
	Captured       int64  `json:"captured"`
	Refunded       int64  `json:"refunded"`
	FencedConfirms int    `json:"fenced_confirms"` // confirms refused because a cancel had come first
}

// RefundAudit is the sum over all refunds whose metadata holds the reference. There are none while the API has no
// refunds.
type RefundAudit struct {
	Reference string `json:"reference"`
	Count     int    `json:"count"`
	Succeeded int    `json:"succeeded"`
	Amount    int64  `json:"amount"`
}

// references returns the caller's ids in an object's metadata, each once.
func references(metadata map[string]string) []string {
	var refs []string
	for _, name := range referenceNames {
		if id := metadata[name]; id != "" && !slices.Contains(refs, id) {
			refs = append(refs, id)
		}
	}
	return refs
}

// watch is the duplicate detector: it looks at the moment an intent succeeds, independently of the audit's sums and of
// what later happens to the metadata. The caller holds mu.
func (w *world) watch(i intent) {
	for _, ref := range references(i.Metadata) {
		paid := append(w.succeeded[ref], i.ID)
		w.succeeded[ref] = paid
		if len(paid) > 1 {
			w.alarms = append(w.alarms, fmt.Sprintf("%s was paid %d times: %s", ref, len(paid), strings.Join(paid, ", ")))
		}
	}
}

func (w *world) audit() Audit {
	w.mu.Lock()
	defer w.mu.Unlock()
	sums := map[string]*ReferenceAudit{}
	refsOf := map[string][]string{} // by intent
	for i := range w.intents.all {
		refsOf[i.ID] = references(i.Metadata)
		for _, ref := range refsOf[i.ID] {
			if sums[ref] == nil {
				sums[ref] = &ReferenceAudit{Reference: ref}
			}
			sums[ref].PaymentIntents++
			sums[ref].FencedConfirms += i.FencedConfirms
		}
	}
	for c := range w.charges.all {
		if !c.Captured {
			continue
		}
		for _, ref := range refsOf[c.PaymentIntent.id] {
			sums[ref].Succeeded++
			sums[ref].Captured += c.AmountCaptured
		}
	}
	a := Audit{References: []ReferenceAudit{}, Refunds: []RefundAudit{}, Alarms: append([]string{}, w.alarms...)}
	for _, ref := range slices.Sorted(maps.Keys(sums)) {
		a.References = append(a.References, *sums[ref])
	}
	return a
}
