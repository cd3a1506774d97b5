package stripemocktest

import (
	"fmt"
	"slices"
)

// field is a field of an object, by the name of the object's schema.
type field struct{ schema, name, reason string }

// addedLater are fields that the description requires and version 2024-06-20 does not have.
var addedLater = []field{
	{"dispute", "enhanced_eligibility_types", "2024-10-28.acacia added evidence that networks ask for"},
	{"dispute_evidence", "enhanced_evidence", "2024-10-28.acacia, as above"},
	{"dispute_evidence_details", "enhanced_eligibility", "2024-10-28.acacia, as above"},
	{"balance_transaction", "balance_type", "2025-05-28.basil gave an account several balances"},
	{"dispute_payment_method_details_card", "network", "2026-07-29.dahlia added it; the charge has always had it"},
}

// removedLater are fields of version 2024-06-20 that the description has no more. They may be null or a text.
var removedLater = []field{
	{"payment_intent", "invoice", "2025-03-31.basil lets an invoice have several payments, so an intent does not name it any more"},
}

// tolerate changes the schemas as the lists say. An entry that changes nothing is refused: it excuses what needs no excuse,
// most likely since stripe-mock is another version now.
func tolerate(schemas map[string]any, added, removed []field) error {
	for _, f := range added {
		schema := at(schemas, f.schema)
		required, _ := schema["required"].([]any)
		n := slices.Index(required, any(f.name))
		if n < 0 {
			return fmt.Errorf("tolerated as added later, %s.%s is not required: remove the entry", f.schema, f.name)
		}
		schema["required"] = slices.Delete(required, n, n+1)
	}
	for _, f := range removed {
		properties := at(schemas, f.schema, "properties")
		if properties == nil || properties[f.name] != nil {
			return fmt.Errorf("tolerated as removed later, %s.%s is described, or %[1]s is not: remove the entry", f.schema, f.name)
		}
		properties[f.name] = map[string]any{"type": []any{"string", "null"}}
	}
	return nil
}
