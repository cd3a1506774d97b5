package repository

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"payonce/domain"
)

// The second wall between merchants. Every statement names its merchant; should one forget to, row-level security shows
// and takes only the rows of the merchant that the transaction was begun for. That merchant does not come from the
// statement's arguments, which may be what is wrong, but from the context, where authentication has put it.
//
// The wall stands in the database and has two parts. Connections act as appRole from their first moment on, a role that
// owns nothing and may not ignore policies, as owners and superusers may. And each transaction says in its BEGIN, in the
// same message, for whom it is: a setting that ends with the transaction, so the next user of a pooled connection starts
// with none. Without it no row is visible and none can be written.

// scopeSetting is what the policies compare a row's merchant with.
const scopeSetting = "payonce.merchant"

// everyMerchant is the scope of work that belongs to no merchant or to all of them.
const everyMerchant = "*"

// ErrScope says that database work was asked for without a scope, or outside the scope it was given. It is a mistake in
// the program; nothing was read or written.
var ErrScope = errors.New("database work without a valid scope")

// scope is for whom the database is used.
type scope struct {
	merchant string // an id, or everyMerchant
	problem  string
}

type scopeKey struct{}

// AsMerchant gives database work the scope of one merchant: whatever it asks for, it reaches no other merchant's rows.
// Authentication calls it; what comes after cannot leave the scope.
func AsMerchant(ctx context.Context, merchant string) context.Context { return narrowed(ctx, merchant) }

// AsSystem gives database work the scope of all merchants. It is for what nobody's request stands behind, or not yet:
// the loops of the worker, setting up, looking for work. A context of a merchant cannot be widened by it.
func AsSystem(ctx context.Context) context.Context { return narrowed(ctx, everyMerchant) }

func narrowed(ctx context.Context, merchant string) context.Context {
	s := scope{merchant: merchant}
	if outer, given := ctx.Value(scopeKey{}).(scope); given && outer.merchant != everyMerchant && outer.merchant != merchant {
		s.problem = fmt.Sprintf("the context is %s's and cannot become that of %s", outer.merchant, merchant)
	}
	return context.WithValue(ctx, scopeKey{}, s)
}

// scopeOf is the merchant of the context's scope, fit to be a literal.
func scopeOf(ctx context.Context) (string, error) {
	s, given := ctx.Value(scopeKey{}).(scope)
	switch {
	case !given:
		return "", fmt.Errorf("%w: the context has passed neither AsMerchant nor AsSystem", ErrScope)
	case s.problem != "":
		return "", fmt.Errorf("%w: %s", ErrScope, s.problem)
	case s.merchant != everyMerchant && !domain.IsMerchantID(s.merchant):
		return "", fmt.Errorf("%w: %q is no merchant's id", ErrScope, s.merchant)
	}
	return s.merchant, nil
}

// setScope is the statement that gives a transaction its scope. LOCAL lets the setting end with the transaction.
func setScope(merchant string) string { return "SET LOCAL " + scopeSetting + " = '" + merchant + "'" }

// beginning is the one message that opens a transaction. The network layer knows it, too: see isBegin.
func beginning(merchant string, readOnly bool) string {
	mode := "READ WRITE"
	if readOnly {
		mode = "READ ONLY"
	}
	return "BEGIN " + mode + "; " + setScope(merchant)
}

var beginningMessage = regexp.MustCompile(`^BEGIN READ (WRITE|ONLY); SET LOCAL payonce\.merchant = '(\*|mrc_[0-9a-z]+)'$`)

// scopedConnector makes connections whose transactions cannot begin without a scope.
type scopedConnector struct {
	*pq.Connector
	user string
}

// Connect implements driver.Connector.
func (c scopedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	switch {
	case pq.As(err, pqerror.InvalidParameterValue) != nil: // appRole does not exist
		return nil, fmt.Errorf("%w: run payonce migrate up", err)
	case pq.As(err, pqerror.InsufficientPrivilege) != nil:
		return nil, fmt.Errorf("%w: run GRANT %s TO %s", err, appRole, pq.QuoteIdentifier(c.user))
	}
	if err != nil {
		return nil, err
	}
	whole, ok := conn.(pqConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("connection of lib/pq is a %T, which lacks a part that this program relies on", conn), conn.Close())
	}
	return scopedConn{whole}, nil
}

// pqConn is everything that database/sql looks for in a connection of lib/pq. Whatever were missing here, database/sql
// would silently replace by a poorer way.
type pqConn interface {
	driver.Conn
	driver.Tx // an open transaction and its connection are one in lib/pq
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

type scopedConn struct{ pqConn }

// BeginTx implements driver.ConnBeginTx. It opens the transaction and sets its scope in one round trip.
func (c scopedConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	merchant, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	if o.Isolation != 0 {
		return nil, errors.New("transactions are READ COMMITTED: an isolation level cannot be chosen")
	}
	if _, err := c.ExecContext(ctx, beginning(merchant, o.ReadOnly), nil); err != nil {
		_ = c.Rollback() //nolint:errcheck // BEGIN may have taken effect; a connection that cannot be rolled back is dropped
		return nil, err
	}
	return c.pqConn, nil
}

// Begin implements driver.Conn. database/sql prefers BeginTx; a transaction without a context has no scope.
func (c scopedConn) Begin() (driver.Tx, error) {
	return nil, fmt.Errorf("%w: a transaction needs a context", ErrScope)
}
