package api

import (
	"slices"

	"payonce/domain"
)

// What the tests of the contract compare the document with.

// OpenAPI is the document as it is served.
func OpenAPI() []byte { return slices.Clone(openapiYAML) }

// Route is one line of the table of routes.
type Route struct {
	Method, Path string
	Role         domain.Role
	Query        []string
	Operation    domain.Operation
}

// Routes is the table of routes.
func Routes() (all []Route) {
	for _, r := range (&API{}).routes() {
		all = append(all, Route{r.method, r.path, r.role, r.query, r.operation})
	}
	return all
}

// Problem is one line of the table of problems, with its explanation.
type Problem struct {
	Status             int
	Title, Cause, Cure string
}

// Problems is the table of problems.
func Problems() map[domain.Code]Problem {
	all := map[domain.Code]Problem{}
	for code, row := range problems {
		all[code] = Problem{row.status, row.title, explanations[code].Cause, explanations[code].Cure}
	}
	return all
}
