package stripemocktest

import (
	"encoding/json"
	"fmt"
	"os"
)

// writeClosed writes the document with every parameter's schema closed. As it is, stripe-mock knows the names of
// parameters at the top level only: it lets evidence[colour] pass.
func writeClosed(document any, file string) error {
	for _, path := range at(document, "paths") {
		for _, operation := range at(path) {
			parameters, _ := at(operation)["parameters"].([]any)
			for _, p := range parameters {
				eachSchema(at(p)["schema"], closeSchema)
			}
			for _, kind := range at(operation, "requestBody", "content") {
				eachSchema(at(kind)["schema"], closeSchema)
			}
		}
	}
	text, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("description for stripe-mock: %w", err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return fmt.Errorf("description for stripe-mock: %w", err)
	}
	return nil
}

// toJSONSchema turns a schema of OpenAPI 3.0 and all inside it into closed JSON Schema 2020-12. It may be done twice.
func toJSONSchema(schema any) {
	eachSchema(schema, func(s map[string]any) {
		allowNull(s)
		closeSchema(s)
	})
}

// eachSchema visits a schema and all inside it; what it refers to is elsewhere.
func eachSchema(v any, visit func(map[string]any)) {
	schema, ok := v.(map[string]any)
	if !ok {
		return
	}
	visit(schema)
	for _, inner := range at(schema, "properties") {
		eachSchema(inner, visit)
	}
	for _, name := range []string{"items", "additionalProperties"} {
		eachSchema(schema[name], visit)
	}
	branches, _ := schema["anyOf"].([]any)
	for _, inner := range branches {
		eachSchema(inner, visit)
	}
}

// closeSchema makes a name that the schema does not list an error.
func closeSchema(schema map[string]any) {
	if _, said := schema["additionalProperties"]; len(at(schema, "properties")) > 0 && !said {
		schema["additionalProperties"] = false
	}
}

// allowNull says in the words of JSON Schema what nullable says.
func allowNull(schema map[string]any) {
	if schema["nullable"] != true {
		return
	}
	delete(schema, "nullable")
	if kind, ok := schema["type"].(string); ok {
		schema["type"] = []any{kind, "null"}
	}
	if values, ok := schema["enum"].([]any); ok {
		schema["enum"] = append(values, nil)
	}
	if branches, ok := schema["anyOf"].([]any); ok {
		schema["anyOf"] = append(branches, map[string]any{"type": "null"})
	}
}
