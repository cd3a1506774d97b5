package provider

import "time"

// MaxPage is the most objects one page holds.
const MaxPage = 100

// Query says which objects a list is about, and where to go on in it. Lists are newest first. An object that is created
// while a list is read appears at its head and moves no later page; many objects share one second, so a list goes on
// after an object and never after a time.
type Query struct {
	From, To time.Time // created at From or later, and before To; to the second; a zero time is no bound
	After    string    // the reference of the last object of the page before: [Page].Next; empty for the first page
	Limit    int       // at most this many, up to MaxPage; 0 for MaxPage
}

// Page is one part of a list. It comes with the result of the call that read it, and only when that is Succeeded does it
// say anything. The zero page is not the last one, so that a loop that overlooks a failure does not take it for the end.
type Page[T any] struct {
	Items []T
	Next  string // goes into Query.After for the page that follows; empty when there is none
	Last  bool   // the provider said that nothing follows
}
