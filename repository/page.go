package repository

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"payonce/domain"
)

// Page asks for a part of a list, newest first.
type Page struct {
	Limit int    // 1 to 100
	After string // id of the last object of the page before; empty for the first page
}

// listing is what the lists of different nouns have in common: rows of one merchant, newest first, paged by id. Paging by
// a row's own position (created_at, id) instead of an offset keeps a page stable while new rows arrive, also when two
// rows have the same time.
type listing struct {
	columns, from, id string // SQL: select list, table with alias t, id column
	merchant          string
	page              Page
	where             []string
	args              []any
}

func (l *listing) filter(condition string, value any) {
	l.args = append(l.args, value)
	l.where = append(l.where, strings.ReplaceAll(condition, "?", fmt.Sprintf("$%d", len(l.args)+1)))
}

// read fills rows, a pointer to a slice, with at most Limit+1 rows: the extra one tells that there is more.
func (l *listing) read(ctx context.Context, q querier, rows any) error {
	return q.together(ctx, func(r Reader) error { return l.statements(ctx, r.q, rows) })
}

func (l *listing) statements(ctx context.Context, q querier, rows any) error {
	conditions := append([]string{"t.merchant_id = $1"}, l.where...)
	args := append([]any{l.merchant}, l.args...)
	if l.page.After != "" {
		var known bool
		if err := q.GetContext(ctx, &known,
			`SELECT EXISTS (SELECT FROM `+l.from+` WHERE t.merchant_id = $1 AND t.`+l.id+` = $2)`, l.merchant, l.page.After); err != nil {
			return fmt.Errorf("cursor: %w", err)
		}
		if !known {
			return domain.E(domain.CodeInvalidParameter, domain.Fields{"parameter": "starting_after"}, "starting_after names no object of this list")
		}
		args = append(args, l.page.After)
		conditions = append(conditions, fmt.Sprintf(`(t.created_at, t.%[1]s) < (
			SELECT c.created_at, c.%[1]s FROM %[2]s WHERE c.merchant_id = $1 AND c.%[1]s = $%[3]d)`,
			l.id, strings.Replace(l.from, " t", " c", 1), len(args)))
	}
	args = append(args, l.page.Limit+1)
	query := fmt.Sprintf("SELECT %s FROM %s WHERE %s ORDER BY t.created_at DESC, t.%s DESC LIMIT $%d",
		l.columns, l.from, strings.Join(conditions, " AND "), l.id, len(args))
	if err := q.SelectContext(ctx, rows, query, args...); err != nil {
		return fmt.Errorf("list %s: %w", l.from, err)
	}
	return nil
}

// cut removes the row that was read only to learn whether there is more.
func cut[T any](rows []T, limit int) ([]T, bool) {
	if len(rows) > limit {
		return rows[:limit], true
	}
	return rows, false
}

// jsonColumn reads and writes a jsonb column. A null column leaves V as it is.
type jsonColumn[T any] struct{ V T }

// Scan implements sql.Scanner.
func (j *jsonColumn[T]) Scan(src any) error {
	switch src := src.(type) {
	case nil:
		return nil
	case []byte:
		return json.Unmarshal(src, &j.V)
	case string:
		return json.Unmarshal([]byte(src), &j.V)
	default:
		return errors.New("a JSON column is neither bytes nor text")
	}
}

func asJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode column: %w", err)
	}
	return string(b), nil
}
