package stripemocktest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// problems are the lines that say what a validator found, each with its place. Of a value that may be one of many kinds
// of object they tell what is wrong with the kind that it says it is; what is wrong with the others nobody wants to know.
func problems(e *jsonschema.ValidationError) []string {
	if len(e.Causes) == 0 {
		place := "the whole"
		if len(e.InstanceLocation) > 0 {
			place = strings.Join(e.InstanceLocation, ".")
		}
		return []string{fmt.Sprintf("%s: %s", place, e.BasicOutput().Error)}
	}
	causes := e.Causes
	if _, choice := e.ErrorKind.(*kind.AnyOf); choice {
		meant := slices.DeleteFunc(slices.Clone(causes), func(c *jsonschema.ValidationError) bool {
			return isOfAnotherKind(c, len(e.InstanceLocation))
		})
		if len(meant) > 0 {
			causes = meant
		}
	}
	var lines []string
	for _, c := range causes {
		for _, line := range problems(c) {
			if !slices.ContainsFunc(lines, func(other string) bool { return anyItem(other) == anyItem(line) }) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

var number = regexp.MustCompile(`\d+`)

// anyItem is a problem without the number of the item that has it: of the items of a list, the first will do.
func anyItem(problem string) string { return number.ReplaceAllString(problem, "n") }

// isOfAnotherKind reports whether a branch was never meant: the value at that depth is no object, or one with another name
// in its field "object".
func isOfAnotherKind(e *jsonschema.ValidationError, depth int) bool {
	at := e.InstanceLocation[depth:]
	switch e.ErrorKind.(type) {
	case *kind.Type:
		return len(at) == 0
	case *kind.Enum, *kind.Const:
		return len(at) == 1 && at[0] == "object"
	case *kind.AnyOf:
		return false
	}
	return slices.ContainsFunc(e.Causes, func(c *jsonschema.ValidationError) bool { return isOfAnotherKind(c, depth) })
}
