package api

import (
	"bytes"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"
)

// referenceView is what the reference shows.
type referenceView struct {
	Title, Summary string
	Text           template.HTML
	Groups         []groupView
	Headers        []memberView
	Objects        []objectView
	Problems       []problemView
}

type groupView struct {
	Name, Anchor string
	Text         template.HTML
	Operations   []operationView
}

type operationView struct {
	ID, Method, Path, Summary, Role string
	Keyed                           bool
	Text                            template.HTML
	Parameters                      []memberView
	Body                            bodyView
	Commands                        []textView
	Answers                         []answerView
}

// bodyView has one form, or several to choose from.
type bodyView []struct {
	Type    typeView
	Members []memberView
}

type answerView struct {
	Status   string
	Refusal  bool
	Text     template.HTML
	Type     *typeView
	Headers  []string
	Problems []string
	Examples []textView
}

type textView struct{ Summary, Text string }

type objectView struct {
	Name, Anchor string
	Text         template.HTML
	Members      []memberView
	Values       []string
}

type problemView struct {
	Code, Title string
	Status      string
	Final       bool
	Members     []string
}

// pages are the templates. Style and script are ours and stand in the page as they are; their hashes are in its policy.
var pages = sync.OnceValues(func() (*template.Template, error) {
	style, script, err := pageParts()
	if err != nil {
		return nil, err
	}
	return template.New("").Funcs(template.FuncMap{
		"style":  func() template.CSS { return template.CSS(style) }, //nolint:gosec // our own file
		"script": func() template.JS { return template.JS(script) },  //nolint:gosec // our own file
	}).ParseFS(docsFiles, "docs/*.html")
})

func pageParts() (style, script string, err error) {
	css, err := docsFiles.ReadFile("docs/style.css")
	if err != nil {
		return "", "", err
	}
	js, err := docsFiles.ReadFile("docs/page.js")
	return string(css), string(js), err
}

// render makes a page.
func render(name string, view any) (file, error) {
	templates, err := pages()
	if err != nil {
		return file{}, fmt.Errorf("page templates: %w", err)
	}
	style, script, err := pageParts()
	if err != nil {
		return file{}, err
	}
	var page bytes.Buffer
	if err := templates.ExecuteTemplate(&page, name, view); err != nil {
		return file{}, fmt.Errorf("page %s: %w", name, err)
	}
	return newFile("text/html; charset=utf-8", page.Bytes(), inlined("style-src", style), inlined("script-src", script)), nil
}

// reference is made once: it changes only with the program.
var reference = sync.OnceValues(func() (file, error) {
	d, err := contract()
	if err != nil {
		return file{}, err
	}
	return render("reference.html", d.view())
})

// docs serves the document as a page for people.
func (a *API) docs(c echo.Context) error {
	page, err := reference()
	if err != nil {
		return err
	}
	return serve(c, page)
}

func (d *document) view() referenceView {
	v := referenceView{Title: d.Info.Title, Summary: d.Info.Summary, Text: markdown(d.Info.Description)}
	for _, tag := range d.Tags {
		group := groupView{Name: tag.Name, Anchor: strings.ToLower(tag.Name), Text: markdown(tag.Description)}
		for _, path := range d.Paths {
			for _, op := range path.Value.operations() {
				if slices.Contains(op.Value.Tags, tag.Name) {
					group.Operations = append(group.Operations, d.operation(path, op.Name, op.Value))
				}
			}
		}
		v.Groups = append(v.Groups, group)
	}
	for _, h := range d.Components.Headers {
		v.Headers = append(v.Headers, memberView{Name: h.Name, Type: d.typeOf(h.Value.Schema), Meaning: markdown(h.Value.Description)})
	}
	for _, s := range d.Components.Schemas {
		switch {
		case isProblem(s.Value):
			v.Problems = append(v.Problems, d.problem(s.Name))
		case len(s.Value.Properties) > 0 || len(s.Value.Enum) > 0:
			v.Objects = append(v.Objects, objectView{Name: s.Name, Anchor: "object-" + s.Name, Text: markdown(s.Value.Description),
				Members: d.members(s.Value), Values: texts(s.Value.Enum)})
		}
	}
	return v
}

func (d *document) operation(path named[pathItem], method string, op *operation) operationView {
	v := operationView{ID: op.OperationID, Method: method, Path: path.Name, Summary: op.Summary, Role: op.Role, Text: markdown(op.Description)}
	for _, p := range slices.Concat(path.Value.Parameters, op.Parameters) {
		p = d.parameter(p)
		v.Keyed = v.Keyed || p.Name == keyHeader
		note := p.In
		if p.Required && p.In != "path" {
			note += ", required"
		}
		v.Parameters = append(v.Parameters, memberView{Name: p.Name, Note: note, Type: d.typeOf(p.Schema), Meaning: markdown(p.Description)})
	}
	if op.RequestBody != nil {
		v.Body = d.body(op.RequestBody)
	}
	v.Commands = d.commands(path, method, op)
	for _, r := range op.Responses {
		v.Answers = append(v.Answers, d.answer(r.Name, d.response(r.Value)))
	}
	return v
}

func (d *document) body(c *content) (v bodyView) {
	s := c.Content[0].Value.Schema
	forms := d.schema(s).OneOf
	if len(forms) == 0 {
		forms = []*schema{s}
	}
	for _, form := range forms {
		v = append(v, struct {
			Type    typeView
			Members []memberView
		}{d.typeOf(form), d.members(d.schema(form))})
	}
	return v
}

func (d *document) answer(status string, r response) answerView {
	v := answerView{Status: status, Refusal: status >= "400", Text: markdownLine(r.Description)}
	for _, h := range r.Headers {
		if h.Name != "Request-Id" { // every answer has it; told once
			v.Headers = append(v.Headers, h.Name)
		}
	}
	for _, c := range r.Content {
		if c.Name == problemJSON {
			for _, s := range append(c.Value.Schema.OneOf, c.Value.Schema) {
				if isProblem(d.schema(s)) {
					v.Problems = append(v.Problems, lastPart(s.Ref))
				}
			}
			continue
		}
		t := d.typeOf(c.Value.Schema)
		v.Type = &t
		for _, e := range c.Value.Examples {
			shown := d.example(e.Value)
			v.Examples = append(v.Examples, textView{shown.Summary, pretty(&shown.Value)})
		}
	}
	return v
}
