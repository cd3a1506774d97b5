package api

import (
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"payonce/domain"
)

// problemPage is what the page behind a problem's type shows (RFC 9457, section 3.1.1).
type problemPage struct {
	Title, Code     string
	Status          int
	Cause, Cure     template.HTML
	Key             string // what has become of the idempotency key
	Members         []memberView
	Request, Answer string
	Operations      []operationView
}

// explained are the pages of all problems. They are made once: a page that anybody may ask for must cost nothing.
var explained = sync.OnceValues(func() (map[domain.Code]file, error) {
	d, err := contract()
	if err != nil {
		return nil, err
	}
	all := map[domain.Code]file{}
	for code := range problems {
		if all[code], err = render("problem.html", d.explain(code)); err != nil {
			return nil, err
		}
	}
	return all, nil
})

// explain serves the page of one problem.
func (a *API) explain(c echo.Context) error {
	all, err := explained()
	if err != nil {
		return err
	}
	page, known := all[domain.Code(c.Param("slug"))]
	if !known {
		return domain.E(domain.CodeNotFound, nil, "no such problem")
	}
	return serve(c, page)
}

// explain puts together what is known of a problem: its status from the table, the words from the explanations, and the
// example from the document.
func (d *document) explain(code domain.Code) problemPage {
	row, words := problems[code], explanations[code]
	shown := d.Components.Examples.find(string(code))
	page := problemPage{Title: row.title, Code: string(code), Status: row.status, Cause: markdownLine(words.Cause), Cure: markdownLine(words.Cure), Key: keyAfter(code),
		Request: strings.TrimSpace(shown.Request), Answer: answerText(row.status, shown)}
	if s := d.Components.Schemas.find(string(code)); s != nil {
		page.Members = d.ownMembers(s)
		for i := range page.Members {
			if to := &page.Members[i].Type; to.Href != "" {
				to.Href = "/docs" + to.Href // objects are described in the reference
			}
		}
	}
	for _, path := range d.Paths {
		for _, op := range path.Value.operations() {
			v := d.operation(path, op.Name, op.Value)
			if slices.ContainsFunc(v.Answers, func(a answerView) bool { return slices.Contains(a.Problems, string(code)) }) {
				page.Operations = append(page.Operations, v)
			}
		}
	}
	if len(page.Operations) > manyOperations {
		page.Operations = nil
	}
	return page
}

// manyOperations is how many a page lists. A problem of nearly everything is explained by itself.
const manyOperations = 10

// answerText writes an example as it would come over the wire.
func answerText(status int, e example) string {
	var out strings.Builder
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\nContent-Type: %s\n", status, http.StatusText(status), problemJSON)
	for _, h := range e.ResponseHeaders {
		out.WriteString(h.Name + ": " + h.Value + "\n")
	}
	out.WriteString("\n" + pretty(&e.Value))
	return out.String()
}

// keyAfter says what a refusal leaves of the idempotency key it came with. It follows from the kind alone, and it is what
// a client must know before it decides how to try again.
func keyAfter(code domain.Code) string {
	switch row := problems[code]; {
	case code.Final():
		return "When the request had a key, this is the answer under it for good: it is stored, and the same key gives it again. " +
			"A new try is a new intent, so it gets a new key."
	case code == domain.CodeKeyReused:
		return "The key belongs to the first request, and nothing about that has changed. Sent again as it was first, it gets the first answer."
	case code == domain.CodeKeyExpired:
		return "The key stays used until its tombstone is forgotten, 400 days later. It never runs a second time meanwhile."
	case code == domain.CodeKeyInProgress:
		return "The key is in use by the first request. Keep it: sent again, it gets the answer of that one."
	case row.status >= http.StatusInternalServerError || code == domain.CodeRateLimited:
		return "Nothing is stored as the answer. Keep the key and send the same request with it: whatever was done is found, and nothing is done twice. " +
			"A new key would be a new intent."
	case code == domain.CodeMethodNotAllowed:
		return "No operation was reached, so no key was looked at."
	default:
		return "The request was refused before its key was looked at. The key is still free, and the mended request may use it."
	}
}
