package repository

import (
	"context"
	"database/sql"

	"github.com/jmoiron/sqlx"
)

// Reader is every SELECT. In a transaction it reads what that sees; over the Store each call is a short read-only
// transaction of its own, because the scope of a read lives in a transaction, as that of a write does.
type Reader struct{ q querier }

// querier is where a Reader reads.
type querier interface {
	GetContext(ctx context.Context, row any, query string, args ...any) error
	SelectContext(ctx context.Context, rows any, query string, args ...any) error
	// together gives several statements one transaction.
	together(ctx context.Context, read func(Reader) error) error
}

// inTx reads, and for Tx writes, in a transaction that is open already.
type inTx struct{ *sqlx.Tx }

func (t inTx) together(_ context.Context, read func(Reader) error) error { return read(Reader{t}) }

// pool reads in transactions of its own.
type pool struct{ store *Store }

// GetContext implements querier.
func (p pool) GetContext(ctx context.Context, row any, query string, args ...any) error {
	return p.read(ctx, func(t inTx) error { return t.GetContext(ctx, row, query, args...) })
}

// SelectContext implements querier.
func (p pool) SelectContext(ctx context.Context, rows any, query string, args ...any) error {
	return p.read(ctx, func(t inTx) error { return t.SelectContext(ctx, rows, query, args...) })
}

func (p pool) together(ctx context.Context, read func(Reader) error) error {
	return p.read(ctx, func(t inTx) error { return read(Reader{t}) })
}

// read runs fn in one read-only transaction, in the scope of ctx.
func (p pool) read(ctx context.Context, fn func(inTx) error) error {
	leave, err := p.store.gate.enter(ctx)
	if err != nil {
		return err
	}
	defer leave() // after the connection is back in the pool
	conn, tx, err := p.store.begin(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer conn.Close()  //nolint:errcheck // gives the connection back to the pool; a broken one is dropped there
	defer tx.Rollback() //nolint:errcheck // does nothing after Commit; a panic must not leave the transaction open
	if err := fn(inTx{tx}); err != nil {
		return err
	}
	_ = tx.Commit() //nolint:errcheck // nothing was written, and what was read is complete
	return nil
}
