package simulator

import (
	"encoding/base64"
	"slices"
	"strings"
	"time"
)

// searchLag is how old a version of an intent must be before a search knows it. Stripe promises no more than under a
// minute in most cases, and up to an hour; what matters is that a search never sees what was just written, so that nobody
// takes its silence for a proof.
const searchLag = 10 * time.Second

// searchReach is how far back the index goes: as far as the fault that makes a search stale can ask for in milliseconds.
const searchReach = maxFaultWait + searchLag

// searchIndex keeps, of every payment intent, the versions that a search can still see or will see, oldest first.
type searchIndex map[string][]intent

// put adds a version, and forgets those that no search can see any more.
func (x searchIndex) put(i intent) {
	versions := x[i.ID]
	known := i.ChangedAt.Add(-searchReach)
	for len(versions) > 1 && !versions[1].ChangedAt.After(known) {
		versions = versions[1:]
	}
	x[i.ID] = append(slices.Clone(versions), i)
}

// at returns the version of an intent that a search knows at a time.
func (x searchIndex) at(id string, now time.Time) (intent, bool) {
	known := now.Add(-searchLag)
	for _, i := range slices.Backward(x[id]) {
		if !i.ChangedAt.After(known) {
			return i, true
		}
	}
	return intent{}, false
}

// searchResult is one page of what a search found; NextPage is null on the last one.
type searchResult struct {
	Object   string          `json:"object"`
	Data     []paymentIntent `json:"data"`
	HasMore  bool            `json:"has_more"`
	NextPage nullable        `json:"next_page"`
	URL      string          `json:"url"`
}

// prepareSearchIntents serves GET /v1/payment_intents/search.
func prepareSearchIntents(c *call) (operation, *apiError) {
	p, w := c.params, c.world
	p.require("query")
	text := p.text("query")
	pg := page{limit: readLimit(p)}
	if token := p.text("page"); token != "" {
		last, good := readPageToken(token, text)
		if !good || !w.intents.has(last) {
			p.fail(invalid("page", "", "The page does not belong to this search."))
		}
		pg.startingAfter = last
	}
	x := p.expand("payment_intent", "data.")
	if problem := p.done(); problem != nil {
		return operation{}, problem
	}
	q, wrong := parseQuery(text)
	if wrong != "" {
		return operation{}, invalid("query", "", "The search query cannot be read: %s.", wrong)
	}
	return operation{run: func(e *effect) (any, *apiError) {
		found := searchResult{Object: "search_result", Data: []paymentIntent{}, URL: c.path}
		rows, more := pageOf(w.intents, pg, func(i intent) bool {
			known, ok := w.searchable.at(i.ID, e.now)
			return ok && q.finds(known)
		})
		for _, row := range rows {
			known, _ := w.searchable.at(row.ID, e.now)
			found.Data = append(found.Data, e.showIntent(known, x))
		}
		if found.HasMore = more; more {
			found.NextPage = nullable(pageToken(rows[len(rows)-1].ID, text))
		}
		return found, nil
	}}, nil
}

// pageToken says where a search goes on. It holds the query, so that it cannot be used with another one.
func pageToken(last, query string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(last + " " + query))
}

func readPageToken(token, query string) (last string, good bool) {
	text, err := base64.RawURLEncoding.DecodeString(token)
	last, of, _ := strings.Cut(string(text), " ")
	return last, err == nil && of == query
}
