package api

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// document is what the pages need of an OpenAPI document. Members keep the order in which they were written: it is the
// order in which a person should read them.
type document struct {
	Info struct {
		Title, Summary, Description string
	}
	Tags       []struct{ Name, Description string }
	Paths      ordered[pathItem]
	Components struct {
		Parameters ordered[parameter]
		Headers    ordered[parameter]
		Responses  ordered[response]
		Schemas    ordered[*schema]
		Examples   ordered[example]
	}
}

// pathItem holds the operations of a path, and the parameters that all of them have.
type pathItem struct {
	Parameters         []parameter
	Get, Post          *operation
	Put, Patch, Delete *operation
}

type operation struct {
	OperationID string `yaml:"operationId"`
	Tags        []string
	Summary     string
	Description string
	Role        string `yaml:"x-role"`
	Parameters  []parameter
	RequestBody *content `yaml:"requestBody"`
	Responses   ordered[response]
}

// parameter is also a header of an answer, which has no place and is named by whoever refers to it.
type parameter struct {
	Ref         string `yaml:"$ref"`
	Name, In    string
	Required    bool
	Description string
	Schema      *schema
	Example     yaml.Node
}

type response struct {
	Ref         string `yaml:"$ref"`
	Description string
	Headers     ordered[parameter]
	content     `yaml:",inline"`
}

type content struct {
	Content ordered[struct {
		Schema   *schema
		Examples ordered[example]
	}]
}

// example is a value, and for a problem also the request that leads to it, with the headers of the answer.
type example struct {
	Ref             string `yaml:"$ref"`
	Summary         string
	Value           yaml.Node
	Request         string          `yaml:"x-request"`
	ResponseHeaders ordered[string] `yaml:"x-response-headers"`
}

// schema is the part of JSON Schema (2020-12) that the document uses.
type schema struct {
	Ref              string `yaml:"$ref"`
	Type             oneOrMore
	Format, Pattern  string
	Description      string
	Const, Default   yaml.Node
	Enum             []yaml.Node
	Minimum, Maximum *int64
	MinLength        *int64 `yaml:"minLength"`
	MaxLength        *int64 `yaml:"maxLength"`
	MinItems         *int64 `yaml:"minItems"`
	MaxItems         *int64 `yaml:"maxItems"`
	Items            *schema
	Properties       ordered[*schema]
	Required         []string
	OneOf            []*schema `yaml:"oneOf"`
	AllOf            []*schema `yaml:"allOf"`
	Examples         []yaml.Node
	Final            *bool `yaml:"x-final"`
}

// ordered is a YAML mapping that keeps its order.
type ordered[T any] []named[T]

type named[T any] struct {
	Name  string
	Value T
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (o *ordered[T]) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: a mapping is expected", node.Line)
	}
	for i := 0; i < len(node.Content); i += 2 {
		member := named[T]{Name: node.Content[i].Value}
		if err := node.Content[i+1].Decode(&member.Value); err != nil {
			return err
		}
		*o = append(*o, member)
	}
	return nil
}

// find is the member that a reference such as #/components/schemas/Order names by its last part.
func (o ordered[T]) find(ref string) T {
	name := ref[strings.LastIndex(ref, "/")+1:]
	for _, member := range o {
		if member.Name == name {
			return member.Value
		}
	}
	var none T
	return none
}

// oneOrMore is a word or a list of words.
type oneOrMore []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (o *oneOrMore) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*o = oneOrMore{node.Value}
		return nil
	}
	return node.Decode((*[]string)(o))
}

func (d *document) parameter(p parameter) parameter {
	if p.Ref != "" {
		return d.Components.Parameters.find(p.Ref)
	}
	return p
}

func (d *document) response(r response) response {
	if r.Ref != "" {
		return d.Components.Responses.find(r.Ref)
	}
	return r
}

func (d *document) example(e example) example {
	if e.Ref != "" {
		return d.Components.Examples.find(e.Ref)
	}
	return e
}

// operations are those of a path in the order in which they are told.
func (p pathItem) operations() ordered[*operation] {
	all := ordered[*operation]{{"POST", p.Post}, {"GET", p.Get}, {"PUT", p.Put}, {"PATCH", p.Patch}, {"DELETE", p.Delete}}
	var has ordered[*operation]
	for _, o := range all {
		if o.Value != nil {
			has = append(has, o)
		}
	}
	return has
}
