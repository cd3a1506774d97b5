package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// contract is the document as plain data. Places in it are JSON pointers, which is how schemas are found, too: those of
// OpenAPI 3.1 are JSON Schema 2020-12, so a validator for that reads them as they stand, unevaluatedProperties included.
type contract struct {
	root     any
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

const documentURL = "https://payonce.test/openapi.yaml"

func parseContract(text []byte) (*contract, error) {
	var plain any
	if err := yaml.Unmarshal(text, &plain); err != nil {
		return nil, err
	}
	asJSON, err := json.Marshal(plain)
	if err != nil {
		return nil, err
	}
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		return nil, err
	}
	return newContract(root)
}

func newContract(root any) (*contract, error) {
	c := &contract{root: root, compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	c.compiler.AssertFormat()
	return c, c.compiler.AddResource(documentURL, root)
}

// place is a part of the document and where it stands.
type place struct {
	c       *contract
	pointer string
	value   any
}

func (c *contract) at(names ...string) place {
	p := place{c, "", c.root}
	for _, name := range names {
		p = p.member(name)
	}
	return p
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// member is a member of an object, or a place without a value when there is none. References are followed.
func (p place) member(name string) place {
	object, _ := p.value.(map[string]any)
	found := place{p.c, p.pointer + "/" + escapePointer.Replace(name), object[name]}
	target, _ := found.value.(map[string]any)
	if ref, ok := target["$ref"].(string); ok && len(target) == 1 {
		return p.c.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	return found
}

func (p place) exists() bool { return p.value != nil }

func (p place) text(name string) string {
	s, _ := p.member(name).value.(string)
	return s
}

// members are an object's, in a fixed order.
func (p place) members() (all []string) {
	object, _ := p.value.(map[string]any)
	for name := range object {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// validate holds a value against the schema at a place.
func (p place) validate(value any) error {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	schema := p.c.compiled[p.pointer]
	if schema == nil {
		fragment := url.URL{Fragment: p.pointer}
		var err error
		if schema, err = p.c.compiler.Compile(documentURL + fragment.String()); err != nil {
			return err
		}
		p.c.compiled[p.pointer] = schema
	}
	return schema.Validate(value)
}

// validateText holds the text of a header or parameter against the schema of it.
func (p place) validateText(text string) error {
	schema := p.member("schema")
	if schema.text("type") == "integer" {
		return schema.validate(json.Number(text))
	}
	return schema.validate(text)
}

// check says what about an exchange is not as the document describes it.
func (c *contract) check(x exchange) []string {
	path, known := c.find(x.path)
	responses := c.at("x-outside-operations", "unknown-path", "responses")
	var problems []string
	if known {
		responses = c.at("x-outside-operations", "unknown-method", "responses")
		if op := path.member(strings.ToLower(x.method)); op.exists() {
			responses = op.member("responses")
			if x.status < http.StatusMultipleChoices {
				problems = c.checkRequest(path, op, x)
			}
		}
	}
	response := responses.member(fmt.Sprint(x.status))
	if !response.exists() {
		return append(problems, "the status is not described")
	}
	return append(problems, c.checkResponse(response, x)...)
}

// find is the path that a request is for.
func (c *contract) find(path string) (place, bool) {
	steps := strings.Split(path, "/")
	for _, template := range c.at("paths").members() {
		wanted := strings.Split(template, "/")
		if slices.EqualFunc(wanted, steps, func(want, step string) bool {
			return want == step || strings.HasPrefix(want, "{") && step != ""
		}) {
			return c.at("paths", template), true
		}
	}
	return place{}, false
}

// checkRequest looks at a request that was accepted: then the document must allow all of it.
func (c *contract) checkRequest(path, op place, x exchange) (problems []string) {
	query := map[string]bool{}
	for _, p := range append(path.list("parameters"), op.list("parameters")...) {
		name := p.text("name")
		var values []string
		switch p.text("in") {
		case "query":
			query[name] = true
			values = x.query[name]
		case "header":
			values = x.request.Values(name)
			if p.member("required").value == true && len(values) != 1 {
				problems = append(problems, "the request was accepted without the header "+name)
			}
		}
		for _, value := range values {
			if err := p.validateText(value); err != nil {
				problems = append(problems, fmt.Sprintf("the %s %s was accepted: %v", p.text("in"), name, err))
			}
		}
	}
	for name := range x.query {
		if !query[name] {
			problems = append(problems, "the query parameter "+name+" is not described")
		}
	}
	if body := op.member("requestBody"); body.exists() && (len(x.sent) > 0 || body.member("required").value == true) {
		problems = append(problems, c.checkJSON(body.member("content").member("application/json").member("schema"), x.sent, "the body of the request")...)
	}
	return problems
}

// checkResponse looks at the headers and the body of an answer.
func (c *contract) checkResponse(response place, x exchange) (problems []string) {
	described := map[string]place{}
	for _, headers := range []place{c.at("x-every-response", "headers"), response.member("headers")} {
		for _, name := range headers.members() {
			described[http.CanonicalHeaderKey(name)] = headers.member(name)
		}
	}
	for name, values := range x.header {
		h, known := described[name]
		switch {
		case known:
			if err := h.validateText(strings.Join(values, ", ")); err != nil {
				problems = append(problems, fmt.Sprintf("the header %s: %v", name, err))
			}
		case !slices.Contains([]string{"Content-Type", "Content-Length", "Date", "Connection", "Transfer-Encoding"}, name):
			problems = append(problems, "the header "+name+" is not described")
		}
	}
	for name, h := range described {
		if _, sent := x.header[name]; !sent && h.member("required").value == true {
			problems = append(problems, "the header "+name+" is missing")
		}
	}
	content := response.member("content")
	if !content.exists() {
		if len(x.body) > 0 {
			problems = append(problems, "a body is not described")
		}
		return problems
	}
	kind, _, err := mime.ParseMediaType(x.header.Get("Content-Type"))
	media := content.member(kind)
	if err != nil || !media.exists() {
		return append(problems, "the media type "+x.header.Get("Content-Type")+" is not described")
	}
	if strings.HasSuffix(kind, "json") {
		problems = append(problems, c.checkJSON(media.member("schema"), x.body, "the body")...)
	}
	return problems
}

func (c *contract) checkJSON(schema place, text []byte, what string) []string {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = schema.validate(value)
	}
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", what, err)}
	}
	return nil
}

// list are the entries of a list, references followed.
func (p place) list(name string) (all []place) {
	entries := p.member(name)
	values, _ := entries.value.([]any)
	for i, value := range values {
		wrapped := place{p.c, entries.pointer, map[string]any{fmt.Sprint(i): value}}
		all = append(all, wrapped.member(fmt.Sprint(i)))
	}
	return all
}
