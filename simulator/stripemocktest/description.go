package stripemocktest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// descriptionURL is where the schemas are looked up; nothing is fetched from it.
const descriptionURL = "https://stripe-mock.test/spec3.json"

// description is Stripe's OpenAPI document, made into JSON schemas.
type description struct {
	paths map[string]any

	mu       sync.Mutex // schemas are made as they are needed
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

// readDocument reads the document out of the module that stripe-mock was built from.
func readDocument(ctx context.Context, tools string) (any, error) {
	folder, err := goTool(ctx, tools, "list", "-m", "-f", "{{.Dir}}", mockModule)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(folder, "embedded", "openapi", "spec3.json"))
	if err != nil {
		return nil, fmt.Errorf("description of the API: %w", err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("description of the API: %w", err)
	}
	return document, nil
}

// newDescription makes the document's schemas into those of JSON Schema, with what is tolerated.
func newDescription(document any) (*description, error) {
	schemas := at(document, "components", "schemas")
	for _, s := range schemas {
		toJSONSchema(s)
	}
	if err := tolerate(schemas, addedLater, removedLater); err != nil {
		return nil, err
	}
	d := &description{paths: at(document, "paths"), compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := d.compiler.AddResource(descriptionURL, document); err != nil {
		return nil, fmt.Errorf("description of the API: %w", err)
	}
	return d, nil
}

// at is the object at a place, nil when there is none.
func at(v any, names ...string) map[string]any {
	for _, name := range names {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	m, _ := v.(map[string]any)
	return m
}

// problem is what is wrong with an answer, "" when it is as described. The snapshots in events are looked at, too: the
// description itself leaves them open.
func (d *description) problem(e exchange) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	template := d.template(e.method, e.path)
	if template == "" {
		return "", nil // had it been accepted, stripe-mock would have said that there is no such path
	}
	answer, err := jsonschema.UnmarshalJSON(bytes.NewReader(e.answer))
	if err != nil {
		return "", fmt.Errorf("answer to %s: %w", e.shape, err)
	}
	code := "default"
	if e.status == http.StatusOK {
		code = "200"
	}
	place := []string{"paths", template, strings.ToLower(e.method), "responses", code, "content", "application/json", "schema"}
	toJSONSchema(at(d.paths, place[1:]...))
	problem, err := d.against(answer, place...)
	if problem != "" || err != nil {
		return problem, err
	}
	for _, snapshot := range snapshots(answer) {
		kind, _ := snapshot["object"].(string)
		problem, err := d.against(snapshot, "components", "schemas", kind)
		if problem != "" || err != nil {
			return "in the event: " + problem, err
		}
	}
	return "", nil
}

// against holds a value to the schema at a place of the document.
func (d *description) against(value any, place ...string) (string, error) {
	pointer := ""
	for _, name := range place {
		pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	schema, known := d.compiled[pointer]
	if !known {
		var err error
		if schema, err = d.compiler.Compile(descriptionURL + "#" + pointer); err != nil {
			return "", fmt.Errorf("description of the API, %s: %w", pointer, err)
		}
		d.compiled[pointer] = schema
	}
	err := schema.Validate(value)
	if found := (*jsonschema.ValidationError)(nil); errors.As(err, &found) {
		return strings.Join(problems(found), "\n"), nil
	}
	return "", err
}

// snapshots are the objects that the events in an answer tell of.
func snapshots(answer any) (found []map[string]any) {
	whole := at(answer)
	if object := at(whole, "data", "object"); whole["object"] == "event" && object != nil {
		return []map[string]any{object}
	}
	list, _ := whole["data"].([]any)
	for _, item := range list {
		found = append(found, snapshots(item)...)
	}
	return found
}

// template is the path as the description writes it, "" when it does not know it. Of two that fit, the one with fewer
// variables is meant: search is not an id.
func (d *description) template(method, path string) (best string) {
	got := strings.Split(path, "/")
	for template := range d.paths {
		if at(d.paths, template, strings.ToLower(method)) == nil {
			continue
		}
		want := strings.Split(template, "/")
		if len(want) != len(got) {
			continue
		}
		fits := true
		for n, step := range want {
			fits = fits && (step == got[n] || strings.HasPrefix(step, "{"))
		}
		if fits && (best == "" || strings.Count(template, "{") < strings.Count(best, "{")) {
			best = template
		}
	}
	return best
}
