package stripe

import (
	"context"
	"errors"
	"fmt"
	"time"

	stripego "github.com/stripe/stripe-go/v79"

	"payonce/provider"
)

// Lists are read page by page with a type of our own. stripe-go's iterators fetch what they please, take a page that
// failed for the end unless they are asked, and panic on an empty page that says that more follows.

// listParams is what a list can be asked for. A field that stays nil is not sent.
type listParams struct {
	stripego.Params `form:"*"`
	Created         *stripego.RangeQueryParams `form:"created"`
	Limit           *int64                     `form:"limit"`
	PaymentIntent   *string                    `form:"payment_intent"`
	Payout          *string                    `form:"payout"`
	StartingAfter   *string                    `form:"starting_after"`
}

// answeredList is a list as Stripe writes it.
type answeredList[P any] struct {
	stripego.APIResource
	stripego.ListMeta
	Object string `json:"object"`
	Data   []P    `json:"data"`
}

// entry is what every listed object has.
type entry struct {
	id      string
	created int64 // Unix seconds
}

// readPage reads one page. Each object is read by read; one that does not belong into the account, or into what was asked
// for, makes the whole answer prove nothing, because an answer to another question has other gaps.
func readPage[P, T any](ctx context.Context, s *Stripe, path string, q provider.Query, p listParams, read func(P) (T, entry, error)) (provider.Page[T], provider.Result) {
	c := call{kind: list}
	limit := int64(q.Limit)
	if limit == 0 {
		limit = provider.MaxPage
	}
	p.StartingAfter = given(q.After)
	for _, reference := range []*string{p.StartingAfter, p.PaymentIntent, p.Payout} {
		if reference != nil && !validReference(*reference) {
			return provider.Page[T]{}, c.refuse(errors.New("the reference is not the id of an object"))
		}
	}
	if limit < 1 || limit > provider.MaxPage {
		return provider.Page[T]{}, c.refuse(fmt.Errorf("a page of %d is not 1 to %d", limit, provider.MaxPage))
	}
	created := window(q)
	p.Limit = &limit
	if created != (stripego.RangeQueryParams{}) {
		p.Created = &created
	}
	var page provider.Page[T]
	var got answeredList[P]
	result := s.send(ctx, c, &p.Params, func() error { return s.get(path, &p, &got) }, func(result *provider.Result) error {
		var err error
		if page, err = accept(got, created, q.After, read); err == nil {
			result.Outcome = provider.Succeeded
		}
		return err
	})
	return page, result
}

// accept turns a list into a page, or says why it proves nothing.
func accept[P, T any](got answeredList[P], created stripego.RangeQueryParams, after string, read func(P) (T, entry, error)) (provider.Page[T], error) {
	none := provider.Page[T]{}
	if got.Object != "list" || got.Data == nil {
		return none, errors.New("the answer holds no list")
	}
	page := provider.Page[T]{Items: make([]T, 0, len(got.Data)), Last: !got.HasMore}
	for _, object := range got.Data {
		item, e, err := read(object)
		switch {
		case err != nil:
			return none, err
		case !validReference(e.id):
			return none, errors.New("the page shows an object without an id")
		case e.id == after: // a server that does not look at the cursor would give the first page for ever
			return none, errors.New("the page does not go on after the one before it")
		case created.GreaterThanOrEqual != 0 && e.created < created.GreaterThanOrEqual, created.LesserThan != 0 && e.created >= created.LesserThan:
			return none, errors.New("the page shows an object from another time than was asked for")
		}
		page.Items = append(page.Items, item)
		page.Next = e.id
	}
	if page.Last {
		page.Next = ""
	} else if page.Next == "" {
		return none, errors.New("the page is empty and says that more follows")
	}
	return page, nil
}

// window is a query's bounds in Stripe's whole seconds. A fraction of a second makes the window wider, never narrower.
func window(q provider.Query) (r stripego.RangeQueryParams) {
	if !q.From.IsZero() {
		r.GreaterThanOrEqual = q.From.Unix()
	}
	if !q.To.IsZero() {
		r.LesserThan = q.To.Add(time.Second - time.Nanosecond).Unix()
	}
	return r
}
