package api

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// compact writes a YAML value as JSON in the order in which it was written.
func compact(node *yaml.Node) string {
	var out strings.Builder
	switch {
	case node.Kind == yaml.MappingNode:
		for i := 0; i < len(node.Content); i += 2 {
			out.WriteString(separator("{", i) + string(encode(node.Content[i].Value)) + ":" + compact(node.Content[i+1]))
		}
		return orEmpty(out.String(), "{") + "}"
	case node.Kind == yaml.SequenceNode:
		for i, item := range node.Content {
			out.WriteString(separator("[", i) + compact(item))
		}
		return orEmpty(out.String(), "[") + "]"
	case node.Tag == "!!str":
		return string(encode(node.Value))
	default: // a number, true, false or null, which are written the same in both
		return node.Value
	}
}

func separator(open string, i int) string {
	if i == 0 {
		return open
	}
	return ","
}

func orEmpty(text, open string) string {
	if text == "" {
		return open
	}
	return text
}

// pretty is compact for people.
func pretty(node *yaml.Node) string {
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(compact(node)), "", "  "); err != nil {
		return compact(node)
	}
	return out.String()
}

// commands are lines for a shell that ask what the examples ask, one for each example of a body.
func (d *document) commands(path named[pathItem], method string, op *operation) []textView {
	target, headers := path.Name, []string{}
	if op.Role != "" {
		headers = append(headers, `-H "Authorization: Bearer $PAYONCE_KEY"`)
	}
	for _, p := range slices.Concat(path.Value.Parameters, op.Parameters) {
		p = d.parameter(p)
		switch {
		case p.In == "path":
			target = strings.ReplaceAll(target, "{"+p.Name+"}", d.sample(p))
		case p.Name == keyHeader: // each intent has its own
			noun, _, _ := strings.Cut(op.OperationID, "s.")
			headers = append(headers, quoted("-H ", keyHeader+": "+noun+"-8f14e45f"))
		}
	}
	line := "curl -i "
	if method != "GET" && (method != "POST" || op.RequestBody == nil) {
		line += "-X " + method + " "
	}
	line += `"$PAYONCE` + target + `"`
	if op.RequestBody == nil {
		return []textView{{"", strings.Join(append([]string{line}, headers...), " \\\n  ")}}
	}
	var all []textView
	for _, e := range op.RequestBody.Content[0].Value.Examples {
		shown := d.example(e.Value)
		parts := slices.Concat([]string{line}, headers, []string{`-H "Content-Type: application/json"`, quoted("-d ", compact(&shown.Value))})
		all = append(all, textView{shown.Summary, strings.Join(parts, " \\\n  ")})
	}
	return all
}

// quoted is an argument in single quotes, in which a shell changes nothing.
func quoted(option, text string) string {
	return option + "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// sample is a value that a parameter could have.
func (d *document) sample(p parameter) string {
	if !p.Example.IsZero() {
		return p.Example.Value
	}
	if s := d.schema(p.Schema); len(s.Examples) > 0 {
		return s.Examples[0].Value
	}
	return p.Name
}
