package api

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// memberView is one line of a table: a member of an object, a parameter or a header.
type memberView struct {
	Name, Note string
	Type       typeView
	Meaning    template.HTML
}

// typeView is a type in words, with a link where there is more to say about it.
type typeView struct{ Before, Name, Href, After string }

func lastPart(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

// schema follows a reference.
func (d *document) schema(s *schema) *schema {
	if s.Ref != "" {
		return d.Components.Schemas.find(s.Ref)
	}
	return s
}

// isProblem tells the kinds of problems from other schemas: only they say whether they are final.
func isProblem(s *schema) bool { return s.Final != nil }

// members lists the members of an object; those of an object that has no name of its own follow it, with their path.
func (d *document) members(s *schema) (all []memberView) {
	for _, p := range s.Properties {
		m := memberView{Name: p.Name, Type: d.typeOf(p.Value), Meaning: d.meaning(p.Value)}
		if slices.Contains(s.Required, p.Name) {
			m.Note = "required"
		}
		all = append(all, m)
		inner, prefix := p.Value, p.Name+"."
		if inner.Items != nil {
			inner, prefix = inner.Items, p.Name+"[]."
		}
		for _, nested := range d.members(inner) {
			nested.Name = prefix + nested.Name
			all = append(all, nested)
		}
	}
	return all
}

// meaning is the description that stands nearest, and the limits.
func (d *document) meaning(s *schema) template.HTML {
	text, target := s.Description, d.schema(s)
	if text == "" && typeHref(s.Ref, target) == "" {
		text = target.Description
	}
	return markdown(strings.Join(slices.DeleteFunc([]string{text, bounds(target)}, func(s string) bool { return s == "" }), " "))
}

// typeOf says what a value is.
func (d *document) typeOf(s *schema) typeView {
	target := d.schema(s)
	switch {
	case typeHref(s.Ref, target) != "":
		return typeView{Name: lastPart(s.Ref), Href: typeHref(s.Ref, target)}
	case len(target.OneOf) == 2 && slices.Contains(target.OneOf[1].Type, "null"):
		t := d.typeOf(target.OneOf[0])
		t.After += " or null"
		return t
	case len(target.OneOf) > 0:
		first, second := d.typeOf(target.OneOf[0]), d.typeOf(target.OneOf[1])
		return typeView{Name: first.Name + " or " + second.Name}
	case target.Items != nil && d.schema(target.Items).Type != nil:
		t := d.typeOf(target.Items)
		t.Before = "list of " + t.Before
		return t
	case !target.Const.IsZero():
		return typeView{Name: `"` + target.Const.Value + `"`}
	case len(target.Enum) > 0:
		return typeView{Name: strings.Join(texts(target.Enum), ", ")}
	}
	return typeView{Name: strings.Join(target.Type, " or ")}
}

// typeHref is where the page tells more about a named type; empty for plain ones.
func typeHref(ref string, target *schema) string {
	switch {
	case ref == "" || len(target.Properties) == 0 && len(target.Enum) == 0:
		return ""
	case isProblem(target):
		return "/problems/" + lastPart(ref)
	default:
		return "#object-" + lastPart(ref)
	}
}

func texts(nodes []yaml.Node) []string {
	all := make([]string, len(nodes))
	for i := range nodes {
		all[i] = nodes[i].Value
	}
	return all
}

// bounds says in words what a value must keep to.
func bounds(s *schema) string {
	var parts []string
	between := func(low, high *int64, unit string) {
		switch {
		case low != nil && high != nil:
			parts = append(parts, fmt.Sprintf("%d to %d%s", *low, *high, unit))
		case high != nil:
			parts = append(parts, fmt.Sprintf("at most %d%s", *high, unit))
		case low != nil && *low > 0:
			parts = append(parts, fmt.Sprintf("at least %d%s", *low, unit))
		}
	}
	between(s.Minimum, s.Maximum, "")
	between(s.MinLength, s.MaxLength, " characters")
	between(s.MinItems, s.MaxItems, " entries")
	switch {
	case len(s.Examples) > 0:
		parts = append(parts, "like `"+s.Examples[0].Value+"`")
	case s.Pattern != "":
		parts = append(parts, "matches `"+s.Pattern+"`")
	}
	if !s.Default.IsZero() && s.Default.Value != "" {
		parts = append(parts, "default `"+s.Default.Value+"`")
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, "; ") + "."
	return strings.ToUpper(text[:1]) + text[1:]
}

// problem is a kind of problem as a line of the table.
func (d *document) problem(code string) problemView {
	s := d.Components.Schemas.find(code)
	v := problemView{Code: code, Title: s.Properties.find("title").Const.Value, Status: s.Properties.find("status").Const.Value, Final: *s.Final}
	for _, m := range d.ownMembers(s) {
		v.Members = append(v.Members, m.Name)
	}
	return v
}

// ownMembers are the members that this kind of problem has beside those of every problem.
func (d *document) ownMembers(s *schema) []memberView {
	base := d.Components.Schemas.find("Problem")
	return slices.DeleteFunc(d.members(s), func(m memberView) bool {
		return slices.ContainsFunc(base.Properties, func(p named[*schema]) bool { return p.Name == m.Name })
	})
}
