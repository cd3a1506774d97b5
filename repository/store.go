package repository

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// Options say how to reach the database.
type Options struct {
	URL      string           // postgres://... or key=value; never logged
	MaxConns int              // how many callers may be at the database at once; 0 means 16. Four to eight per core of the database is plenty
	Now      func() time.Time // business time; nil means the system clock. Leases use the database's clock instead
	// MaxWait is how long a caller waits for a connection before it is turned away with ErrBusy; 0 means as long as its
	// context allows. MaxWaiting is how many may wait at a time; 0 means 64 for each connection.
	MaxWait    time.Duration
	MaxWaiting int
	// Silence is the longest wait for the server's next byte; 0 means 10 s. It must exceed statement_timeout, and also
	// idle_in_transaction_session_timeout: a transaction whose COMMIT got lost must have ended when it is claimed again.
	Silence time.Duration
}

// Store is the database as the use cases see it: readable, and writable only through InTx.
type Store struct {
	Reader
	db   *sqlx.DB
	gate *gate
	now  func() time.Time
}

// Tx is one transaction. Every INSERT, UPDATE and DELETE of the product is a method of it.
type Tx struct {
	Reader
	q inTx
	// Now is the one business time of this transaction, in UTC with the microseconds that PostgreSQL keeps.
	Now time.Time
}

// ErrCommitUnknown says that COMMIT was sent and its answer did not come: the transaction may be committed or not. It
// must not be treated as a failure. The way out is to claim or lock the same row again, which waits for the transaction
// in doubt; a plain SELECT is not enough, because an orphaned session can still commit after it.
var ErrCommitUnknown = errors.New("outcome of the commit is unknown")

// sessionSettings bound every wait inside the database, so that no lock, statement or abandoned transaction can hold a
// connection, a row or a buyer for long. client_connection_check_interval stops a statement whose client is gone.
var sessionSettings = map[string]string{
	"lock_timeout":                        "2000",
	"statement_timeout":                   "5000",
	"idle_in_transaction_session_timeout": "5000",
	"client_connection_check_interval":    "1000",
	"default_transaction_isolation":       "read committed",
	"timezone":                            "UTC",
	"application_name":                    "payonce",
}

// Open prepares the pool. It does not connect; the first use does.
func Open(o Options) (*Store, error) {
	config, err := pq.NewConfig(o.URL)
	if err != nil {
		return nil, errors.New("DATABASE_URL cannot be read as a PostgreSQL address") // the cause may quote the password
	}
	if config.Runtime == nil {
		config.Runtime = map[string]string{}
	}
	for name, value := range sessionSettings {
		if _, given := config.Runtime[name]; !given {
			config.Runtime[name] = value
		}
	}
	// Not for the address, nor PGOPTIONS, to choose: another role, or a scope from the start, would be outside the wall.
	config.Runtime["role"], config.Runtime[scopeSetting] = appRole, ""
	connector, err := pq.NewConnectorConfig(config)
	if err != nil {
		return nil, errors.New("DATABASE_URL cannot be used to connect to PostgreSQL")
	}
	if o.Silence == 0 {
		o.Silence = 10 * time.Second
	}
	connector.Dialer(newGuardedDialer(o.Silence))
	if o.MaxConns == 0 {
		o.MaxConns = 16
	}
	if o.MaxWaiting == 0 {
		o.MaxWaiting = 64 * o.MaxConns
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the one place where business time is wired to the system clock
	}
	db := sqlx.NewDb(sql.OpenDB(scopedConnector{connector, config.User}), "postgres")
	db.SetMaxOpenConns(o.MaxConns + 1) // one more than there are places: the readiness check must not wait behind the work
	db.SetMaxIdleConns(o.MaxConns)
	db.SetConnMaxLifetime(30 * time.Minute)
	db.SetConnMaxIdleTime(5 * time.Minute)
	s := &Store{db: db, gate: newGate(o.MaxConns, o.MaxWaiting, o.MaxWait), now: o.Now}
	s.Reader = Reader{pool{s}}
	return s, nil
}

// Close closes the pool.
func (s *Store) Close() error { return s.db.Close() }

// InUse is the number of connections that are taken right now; tests assert that it is 0 while a provider is called.
func (s *Store) InUse() int { return s.db.Stats().InUse }

// Now is the business time, in UTC with the microseconds that PostgreSQL keeps.
func (s *Store) Now() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// InTx runs fn in one transaction, in the scope of ctx, and commits it. There are three results:
//
//   - nil: committed.
//   - an error that is not ErrCommitUnknown: nothing was written.
//   - ErrCommitUnknown: it may be either. See there.
//
// fn may run up to three times: PostgreSQL resolves a deadlock or a serialization conflict by refusing one side
// (SQLSTATE 40P01, 40001), and that side is simply run again. So fn must not have effects of its own, least of all a
// call to a provider. A panic in fn rolls back and goes on.
func (s *Store) InTx(ctx context.Context, fn func(*Tx) error) error {
	const attempts = 3
	for attempt := 1; ; attempt++ {
		err := s.once(ctx, fn)
		if err == nil || attempt == attempts || errors.Is(err, ErrCommitUnknown) || !mustRepeat(err) {
			return err
		}
		pause := time.NewTimer(time.Duration(attempt) * time.Duration(5+rand.IntN(20)) * time.Millisecond) //nolint:gosec // jitter needs no secrecy
		select {
		case <-ctx.Done():
			pause.Stop()
			return errors.Join(err, ctx.Err())
		case <-pause.C:
		}
	}
}

func (s *Store) once(ctx context.Context, fn func(*Tx) error) error {
	leave, err := s.gate.enter(ctx)
	if err != nil {
		return err
	}
	defer leave() // after the connection is back in the pool
	conn, tx, err := s.begin(ctx, nil)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // gives the connection back to the pool; a broken one is dropped there
	committing := false
	defer func() {
		if !committing {
			_ = tx.Rollback() //nolint:errcheck // the error that brought us here matters more, and the session ends either way
		}
	}()
	if err := fn(&Tx{Reader: Reader{inTx{tx}}, q: inTx{tx}, Now: s.Now()}); err != nil {
		return err
	}
	committing = true
	return commitResult(tx.Commit())
}

// begin waits for a connection as long as ctx allows, but opens the transaction on a context that cannot be cancelled:
// a cancellation that meets COMMIT while it waits for a synchronous standby makes PostgreSQL acknowledge a commit the
// standby may not have. Statements inside still use the caller's context, and the session settings bound the rest.
func (s *Store) begin(ctx context.Context, o *sql.TxOptions) (conn *sqlx.Conn, tx *sqlx.Tx, err error) {
	conn, err = s.connect(ctx, func(conn *sqlx.Conn) error {
		tx, err = conn.BeginTxx(context.WithoutCancel(ctx), o)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("begin: %w", err)
	}
	return conn, tx, nil
}

// connect takes a connection and asks the first thing of it, which must be harmless to ask again: a connection that was
// cut while it lay in the pool is found out by that, and replaced.
func (s *Store) connect(ctx context.Context, first func(*sqlx.Conn) error) (*sqlx.Conn, error) {
	for stale := 0; ; stale++ {
		conn, err := s.db.Connx(ctx)
		if err != nil {
			return nil, fmt.Errorf("connect: %w", err)
		}
		if err = first(conn); err == nil {
			return conn, nil
		}
		conn.Close() //nolint:errcheck // a broken one is dropped
		if !wasStale(err) || stale > s.db.Stats().MaxOpenConnections {
			return nil, err
		}
	}
}

// wasStale reports whether the first thing asked met a connection that had been closed from the other side. A silent one is not counted:
// trying the next would only double the wait.
func wasStale(err error) bool {
	var network *net.OpError
	return errors.Is(err, driver.ErrBadConn) || errors.As(err, &network) && !network.Timeout()
}

// commitResult sorts what Commit said. Only an SQLSTATE proves that the server rolled back; a broken connection proves
// nothing, whether it broke before or after the server saw COMMIT.
func commitResult(err error) error {
	switch {
	case err == nil:
		return nil
	case pq.As(err) != nil:
		return fmt.Errorf("commit: %w", err)
	default:
		return fmt.Errorf("%w: %w", ErrCommitUnknown, err)
	}
}

func mustRepeat(err error) bool {
	return pq.As(err, pqerror.TRSerializationFailure, pqerror.TRDeadlockDetected) != nil
}

// Ready reports whether the database answers and its schema has the given version.
func (s *Store) Ready(ctx context.Context, version uint) error {
	var row struct {
		Version uint `db:"version"`
		Dirty   bool `db:"dirty"`
	}
	if err := s.db.GetContext(ctx, &row, `SELECT version, dirty FROM schema_migrations`); err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	if row.Dirty || row.Version != version {
		return fmt.Errorf("schema is at version %d (dirty: %t), this program needs %d", row.Version, row.Dirty, version)
	}
	return nil
}
