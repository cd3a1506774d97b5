package simulator

import (
	"slices"
	"time"
)

// row is an object that a table keeps.
type row interface{ key() string }

// table keeps one kind of object by id and in order of creation. Rows are values and are replaced whole: nobody who has
// read one sees it change.
type table[T row] struct {
	rows  map[string]T
	place map[string]int // id to position in order
	order []string       // oldest first

	past []earlier[T]     // what the last changes replaced, oldest first
	now  func() time.Time // when they were; nil keeps no past
}

func newTable[T row]() *table[T] {
	return &table[T]{rows: map[string]T{}, place: map[string]int{}}
}

func (t *table[T]) get(id string) (T, bool) {
	v, ok := t.rows[id]
	return v, ok
}

func (t *table[T]) has(id string) bool {
	_, ok := t.rows[id]
	return ok
}

func (t *table[T]) size() int { return len(t.order) }

func (t *table[T]) put(v T) {
	id := v.key()
	if t.now != nil {
		t.remember(id, t.now())
	}
	if !t.has(id) {
		t.place[id] = len(t.order)
		t.order = append(t.order, id)
	}
	t.rows[id] = v
}

// all yields every row, oldest first.
func (t *table[T]) all(yield func(T) bool) {
	for _, id := range t.order {
		if !yield(t.rows[id]) {
			return
		}
	}
}

// newest returns at most n rows, newest first.
func (t *table[T]) newest(n int) []T {
	ids := slices.Clone(t.order[max(0, len(t.order)-n):])
	slices.Reverse(ids)
	rows := make([]T, 0, len(ids))
	for _, id := range ids {
		rows = append(rows, t.rows[id])
	}
	return rows
}

// find looks an id up among versions that are not committed yet, then in the table.
func find[T row](pending []T, t *table[T], id string) (T, bool) {
	if n := indexOf(pending, id); n >= 0 {
		return pending[n], true
	}
	return t.get(id)
}

// replace puts a new version among those that are not committed yet.
func replace[T row](pending []T, v T) []T {
	if n := indexOf(pending, v.key()); n >= 0 {
		pending[n] = v
		return pending
	}
	return append(pending, v)
}

func indexOf[T row](rows []T, id string) int {
	return slices.IndexFunc(rows, func(v T) bool { return v.key() == id })
}
