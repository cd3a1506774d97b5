package client

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
)

// pageSize is the most that the contract lets one page hold.
const pageSize = "100"

// page is one part of a list.
type page[T object] struct {
	Object  string `json:"object"`
	Data    []T    `json:"data"`
	HasMore bool   `json:"has_more"`
}

func (p page[T]) complete() bool {
	return p.Object == "list" && p.Data != nil && !slices.ContainsFunc(p.Data, func(one T) bool { return !one.complete() })
}

// pages walks over a list, page by page, and can be ranged over again, from the start. An error is yielded once and ends
// the walk. So does a service that says there is more and then shows nothing new: whoever believes it never comes to an end.
func pages[T object](ctx context.Context, c *Client, list call, id func(T) string) iter.Seq2[T, error] {
	list.method = http.MethodGet
	return func(yield func(T, error) bool) {
		var none T
		query := url.Values{"limit": {pageSize}}
		maps.Copy(query, list.query)
		list := list
		list.query = query
		for seen := map[string]bool{}; ; {
			got, _, err := do[page[T]](ctx, c, list)
			if err != nil {
				yield(none, err)
				return
			}
			for _, one := range got.Data {
				if !yield(one, nil) {
					return
				}
			}
			if !got.HasMore {
				return
			}
			last := ""
			if n := len(got.Data); n > 0 {
				last = id(got.Data[n-1])
			}
			if last == "" || seen[last] {
				yield(none, fmt.Errorf("%s: the service says that there is more and shows nothing new", list.name))
				return
			}
			seen[last] = true
			query.Set("starting_after", last)
		}
	}
}

// set sets a parameter that is given.
func set(query url.Values, name, value string) {
	if value != "" {
		query.Set(name, value)
	}
}
