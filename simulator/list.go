package simulator

import (
	"math"
	"slices"
)

// The page sizes of list endpoints.
const (
	defaultLimit = 10
	maxLimit     = 100
)

// list is one page of objects, newest first. HasMore is never true with an empty page: stripe-go's iterators panic
// on that.
type list[T any] struct {
	Object  string `json:"object"`
	Data    []T    `json:"data"`
	HasMore bool   `json:"has_more"`
	URL     string `json:"url"`
}

// page is which part of a list was asked for.
type page struct {
	limit         int
	startingAfter string
	endingBefore  string
	created       between
}

// between is a range of creation times in Unix seconds, both ends included.
type between struct{ from, to int64 }

func (b between) admits(created int64) bool { return b.from <= created && created <= b.to }

func readPage(p *params) page {
	pg := page{limit: readLimit(p), startingAfter: p.text("starting_after"), endingBefore: p.text("ending_before")}
	if pg.startingAfter != "" && pg.endingBefore != "" {
		p.fail(invalid("ending_before", "", "Give starting_after or ending_before, not both."))
	}
	pg.created = readTimes(p, "created")
	return pg
}

func readLimit(p *params) int {
	limit, given := p.integer("limit", 1)
	if !given {
		return defaultLimit
	}
	if limit > maxLimit {
		p.fail(invalid("limit", codeInvalidInteger, "This value must be less than or equal to %d: limit.", maxLimit))
	}
	return int(min(limit, maxLimit))
}

// readTimes reads a filter by time, for example created=<time> or created[gt|gte|lt|lte]=<time>.
func readTimes(p *params, name string) between {
	b := between{from: math.MinInt64, to: math.MaxInt64}
	n := p.form.member(name)
	if n == nil {
		return b
	}
	if n.members == nil {
		at, given := p.integer(name, math.MinInt64)
		if given {
			b.from, b.to = at, at
		}
		return b
	}
	group := p.group(name)
	if t, given := group.integer("gte", math.MinInt64); given {
		b.from = t
	}
	if t, given := group.integer("gt", math.MinInt64); given && t < math.MaxInt64 {
		b.from = max(b.from, t+1)
	}
	if t, given := group.integer("lte", math.MinInt64); given {
		b.to = t
	}
	if t, given := group.integer("lt", math.MinInt64); given && t > math.MinInt64 {
		b.to = min(b.to, t-1)
	}
	return b
}

// admits reports whether a filter lets a value pass; the empty filter lets everything pass.
func admits(filter, value string) bool { return filter == "" || filter == value }

// listing makes the operation that answers a page of the rows that keep admits; what names one of them.
func listing[T row](
	c *call, t *table[T], pg page, what string, keep func(T) bool, show func(*effect, T) any,
) (operation, *apiError) {
	if problem := checkCursor(t, pg, what); problem != nil {
		return operation{}, problem
	}
	return operation{run: func(e *effect) (any, *apiError) {
		rows, more := pageOf(t, pg, keep)
		data := make([]any, 0, len(rows))
		for _, v := range rows {
			data = append(data, show(e, v))
		}
		return list[any]{Object: "list", Data: data, HasMore: more, URL: c.path}, nil
	}}, nil
}

// retrieval makes the operation that answers the row of the path; param and what name it in the error. A read waits for
// nobody.
func retrieval[T row](c *call, t *table[T], param, what string, show func(*effect, T) any) (operation, *apiError) {
	if problem := c.params.done(); problem != nil {
		return operation{}, problem
	}
	if !t.has(c.id) {
		return operation{}, missingInPath(param, what, c.id)
	}
	return operation{run: func(e *effect) (any, *apiError) {
		v, _ := t.get(c.id)
		return show(e, v), nil
	}}, nil
}

// checkCursor refuses a cursor that names no object: ignoring it would make a client read the first page for ever.
func checkCursor[T row](t *table[T], p page, what string) *apiError {
	if p.startingAfter != "" && !t.has(p.startingAfter) {
		return missingInBody("starting_after", what, p.startingAfter)
	}
	if p.endingBefore != "" && !t.has(p.endingBefore) {
		return missingInBody("ending_before", what, p.endingBefore)
	}
	return nil
}

// pageOf returns the asked page of the rows that keep admits, newest first, and whether more lie beyond it.
func pageOf[T row](t *table[T], p page, keep func(T) bool) (rows []T, more bool) {
	at, step := len(t.order)-1, -1 // from the newest towards the oldest
	switch {
	case p.startingAfter != "":
		at = t.place[p.startingAfter] - 1
	case p.endingBefore != "":
		at, step = t.place[p.endingBefore]+1, 1
	}
	for ; at >= 0 && at < len(t.order); at += step {
		v := t.rows[t.order[at]]
		if !keep(v) {
			continue
		}
		if len(rows) == p.limit {
			more = true
			break
		}
		rows = append(rows, v)
	}
	if step > 0 {
		slices.Reverse(rows)
	}
	return rows, more
}
