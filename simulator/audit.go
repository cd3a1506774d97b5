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
// tests: Succeeded may never exceed 1 for a reference, nor Count for a refund's, and Alarms must stay empty.
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

// refundReference is the metadata name of the caller's own id for one thing to be given back.
const refundReference = "refund_id"

// RefundAudit is the sum over all refunds whose metadata holds the reference.
type RefundAudit struct {
	Reference string `json:"reference"`
	Count     int    `json:"count"` // refunds that were made, whatever became of them
	Succeeded int    `json:"succeeded"`
	Amount    int64  `json:"amount"` // in minor units, without the refunds that failed
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

// watched is what the duplicate detectors have seen. It is kept by itself, since objects change: what was seen when the
// money moved cannot be told from them later.
type watched struct {
	Succeeded map[string][]string `json:"succeeded"` // reference to the intents that succeeded for it
	PaidBack  map[string][]string `json:"paid_back"` // refund reference to the refunds made for it
	Alarms    []string            `json:"alarms"`
}

func (x watched) clone() watched {
	return watched{maps.Clone(x.Succeeded), maps.Clone(x.PaidBack), slices.Clone(x.Alarms)}
}

// watch is the duplicate detector: it looks at the moment an intent succeeds, independently of the audit's sums and of
// what later happens to the metadata. The caller holds mu.
func (w *world) watch(i intent) {
	for _, ref := range references(i.Metadata) {
		paid := append(w.watched.Succeeded[ref], i.ID)
		w.watched.Succeeded[ref] = paid
		if len(paid) > 1 {
			w.watched.Alarms = append(w.watched.Alarms, fmt.Sprintf("%s was paid %d times: %s", ref, len(paid), strings.Join(paid, ", ")))
		}
	}
}

// watchRefund does the same for money that is given back, at the moment a refund is made. The caller holds mu.
func (w *world) watchRefund(r refund) {
	ref := r.Metadata[refundReference]
	if ref == "" {
		return
	}
	made := append(w.watched.PaidBack[ref], r.ID)
	w.watched.PaidBack[ref] = made
	if len(made) > 1 {
		w.watched.Alarms = append(w.watched.Alarms, fmt.Sprintf("%s was refunded %d times: %s", ref, len(made), strings.Join(made, ", ")))
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
			sums[ref].Refunded += c.AmountRefunded
		}
	}
	a := Audit{References: []ReferenceAudit{}, Refunds: w.auditRefunds(), Alarms: append([]string{}, w.watched.Alarms...)}
	for _, ref := range slices.Sorted(maps.Keys(sums)) {
		a.References = append(a.References, *sums[ref])
	}
	return a
}

// auditRefunds is the part of the audit about refunds. The caller holds mu.
func (w *world) auditRefunds() []RefundAudit {
	sums := map[string]RefundAudit{}
	for r := range w.refunds.all {
		ref := r.Metadata[refundReference]
		if ref == "" {
			continue
		}
		sum := sums[ref]
		sum.Reference = ref
		sum.Count++
		if r.Status == refundSucceeded {
			sum.Succeeded++
		}
		if r.Status != refundFailed {
			sum.Amount += r.Amount
		}
		sums[ref] = sum
	}
	all := []RefundAudit{}
	for _, ref := range slices.Sorted(maps.Keys(sums)) {
		all = append(all, sums[ref])
	}
	return all
}
