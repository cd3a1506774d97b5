package api

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"payonce/api/strictjson"
	"payonce/domain"
	"payonce/repository"
)

// checkQuery refuses what a route does not know. A misspelt filter that is silently ignored lists too much, and a
// parameter given twice means two different things to two readers.
func checkQuery(raw string, known []string) error {
	values, err := url.ParseQuery(raw)
	if err != nil && strictjson.LooksLikeCard(raw) {
		return errCardInURL
	}
	if err != nil {
		return domain.E(domain.CodeInvalidParameter, domain.Fields{"parameter": ""}, "the query is not well-formed")
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if strictjson.LooksLikeCard(name) || slices.ContainsFunc(values[name], strictjson.LooksLikeCard) {
			return errCardInURL
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return badParameter(name, "is not a parameter of this path")
		}
		if len(values[name]) > 1 {
			return badParameter(name, "is given more than once")
		}
	}
	return nil
}

var errCardInURL = domain.E(domain.CodeCardDataNotAccepted, nil, "the path or the query holds what looks like a card number")

// checkPath refuses a card number in a path. Idempotency keys are left out: a key that looks like a card gets a hint.
func checkPath(c echo.Context) error {
	if !strings.HasPrefix(c.Path(), "/v1/idempotency_keys/") && strictjson.LooksLikeCard(c.Request().URL.Path) {
		return errCardInURL
	}
	return nil
}

// instanceOf is where a problem came up, without a card number that somebody has put there.
func instanceOf(r *http.Request) string {
	if strictjson.LooksLikeCard(r.URL.Path) {
		return "/card-number-removed"
	}
	return r.URL.EscapedPath()
}

func badParameter(name, reason string) error {
	if len(name) > 64 {
		name = name[:64]
	}
	return domain.E(domain.CodeInvalidParameter, domain.Fields{"parameter": name}, "the parameter %q %s", name, reason)
}

// page reads limit (1 to 100, 20 when not given) and starting_after.
func page(c echo.Context, prefix string) (repository.Page, error) {
	p := repository.Page{Limit: 20, After: c.QueryParam("starting_after")}
	if c.QueryParams().Has("limit") {
		n, err := strconv.Atoi(c.QueryParam("limit"))
		if err != nil || n < 1 || n > 100 || strconv.Itoa(n) != c.QueryParam("limit") {
			return p, badParameter("limit", "must be a whole number from 1 to 100")
		}
		p.Limit = n
	}
	if c.QueryParams().Has("starting_after") && !isID(p.After, prefix) {
		return p, badParameter("starting_after", "names no object of this list")
	}
	return p, nil
}

// oneOf reads a parameter that must be one of a set; "" when it is not given.
func oneOf[T ~string](c echo.Context, name string, allowed []T) (T, error) {
	value := T(c.QueryParam(name))
	if !c.QueryParams().Has(name) {
		return "", nil
	}
	if !slices.Contains(allowed, value) {
		return "", badParameter(name, fmt.Sprintf("must be one of %v", allowed))
	}
	return value, nil
}

// instant reads an RFC 3339 time in the years that a database of orders can hold; zero when it is not given.
func instant(c echo.Context, name string) (time.Time, error) {
	if !c.QueryParams().Has(name) {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, c.QueryParam(name))
	if err != nil || t.Year() < 2000 || t.Year() > 9999 {
		return time.Time{}, badParameter(name, "must be a time like 2026-01-31T12:00:00Z")
	}
	return t.UTC(), nil
}

var idTail = regexp.MustCompile(`^_[0-9a-z]{1,40}$`)

// isID reports whether s can be an id of this kind. Anything else cannot exist, and never reaches the database.
func isID(s, prefix string) bool {
	return len(s) > len(prefix) && s[:len(prefix)] == prefix && idTail.MatchString(s[len(prefix):])
}

// pathID reads an id from the path.
func pathID(c echo.Context, name, prefix, noun string) (string, error) {
	id := c.Param(name)
	if !isID(id, prefix) {
		return "", domain.E(domain.CodeNotFound, nil, "no such %s", noun)
	}
	return id, nil
}
