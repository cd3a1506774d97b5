package repository

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"payonce/domain"
)

// Claim is a request to own an idempotency key.
type Claim struct {
	domain.KeyRef
	Fingerprint domain.Fingerprint
	RequestID   string
	Owner       string        // names this execution; unique per request
	Lease       time.Duration // how long nobody else may advance the key
	Retention   time.Duration // how long the answer is kept
}

// ClaimKey inserts the key's row, or reads the one that is there. mine is true when this call inserted it; then
// everything else in the transaction commits together with the claim.
//
// There is no look-then-insert: two requests with one key meet at the primary key. The second waits inside INSERT until
// the first has committed or rolled back, then reads what it finds, locked. The wait is bounded by lock_timeout. That is
// also how an unknown commit is resolved: claim again.
func (tx *Tx) ClaimKey(ctx context.Context, c Claim) (record domain.KeyRecord, mine bool, err error) {
	result, err := tx.q.ExecContext(ctx, `
		INSERT INTO idempotency_keys (merchant_id, operation, key_hash, fingerprint, recovery_point, request_id,
			owner, generation, lease_until, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 1, clock_timestamp() + $8 * interval '1 microsecond', $9, $10)
		ON CONFLICT (merchant_id, operation, key_hash) DO NOTHING`,
		c.MerchantID, c.Operation, c.Hash, c.Fingerprint, domain.PointClaimed, c.RequestID,
		c.Owner, c.Lease.Microseconds(), tx.Now, tx.Now.Add(c.Retention))
	if lockTimedOut(err) {
		return domain.KeyRecord{}, false, fmt.Errorf("claim key: %w: %w", ErrKeyHeld, err)
	}
	if err != nil {
		return domain.KeyRecord{}, false, fmt.Errorf("claim key: %w", err)
	}
	inserted, err := result.RowsAffected()
	if err != nil {
		return domain.KeyRecord{}, false, fmt.Errorf("claim key: %w", err)
	}
	record, err = tx.LockKey(ctx, c.KeyRef)
	return record, inserted == 1, err
}

// ErrKeyHeld says that another transaction has claimed the same key and was still running when lock_timeout ended the wait.
var ErrKeyHeld = errors.New("another transaction holds the key")

// LockKey reads and locks a key's row. Waiting for the lock is what settles a commit in doubt.
func (tx *Tx) LockKey(ctx context.Context, ref domain.KeyRef) (domain.KeyRecord, error) {
	return tx.key(ctx, ref, "FOR UPDATE")
}

// Key reads a key's row without locking it. found is false when the key was never claimed.
func (r Reader) Key(ctx context.Context, ref domain.KeyRef) (record domain.KeyRecord, found bool, err error) {
	record, err = r.key(ctx, ref, "")
	if errors.Is(err, sql.ErrNoRows) {
		return domain.KeyRecord{}, false, nil
	}
	return record, err == nil, err
}

func (r Reader) key(ctx context.Context, ref domain.KeyRef, locking string) (domain.KeyRecord, error) {
	var row keyRow
	err := sqlx.GetContext(ctx, r.q, &row, `
		SELECT fingerprint, recovery_point, request_id, resource_id, owner, generation,
			lease_until > clock_timestamp() AS lease_live, response_status, response_location, response_body,
			created_at, expires_at
		FROM idempotency_keys
		WHERE merchant_id = $1 AND operation = $2 AND key_hash = $3 `+locking, ref.MerchantID, ref.Operation, ref.Hash)
	if err != nil {
		return domain.KeyRecord{}, fmt.Errorf("key of %s: %w", ref.Operation, err)
	}
	return row.record(ref), nil
}

// TakeOverKey gives a key whose lease has ended to a new owner. It compares the generation and the recovery point of the
// record that the caller saw: of two that try at once one gets ErrStale, and so does one whose picture is old.
func (tx *Tx) TakeOverKey(ctx context.Context, c Claim, seen domain.KeyRecord) (domain.Lease, error) {
	result, err := tx.q.ExecContext(ctx, `
		UPDATE idempotency_keys
		SET owner = $5, generation = generation + 1, lease_until = clock_timestamp() + $6 * interval '1 microsecond'
		WHERE merchant_id = $1 AND operation = $2 AND key_hash = $3 AND generation = $4
			AND lease_until <= clock_timestamp() AND recovery_point = $7 AND recovery_point <> 'finished'`,
		c.MerchantID, c.Operation, c.Hash, seen.Lease.Generation, c.Owner, c.Lease.Microseconds(), seen.Point)
	if err := exactly(1, result, err, "take over key"); err != nil {
		return domain.Lease{}, err
	}
	return domain.Lease{Owner: c.Owner, Generation: seen.Lease.Generation + 1, Live: true}, nil
}

// AdvanceKey moves a key to its next recovery point. An owner whose lease was taken over writes nothing and gets
// ErrStale.
func (tx *Tx) AdvanceKey(ctx context.Context, c Claim, generation int64, to domain.RecoveryPoint, resource string) error {
	result, err := tx.q.ExecContext(ctx, `
		UPDATE idempotency_keys
		SET recovery_point = $5, resource_id = $6, lease_until = clock_timestamp() + $7 * interval '1 microsecond'
		WHERE merchant_id = $1 AND operation = $2 AND key_hash = $3 AND generation = $4 AND owner = $8`,
		c.MerchantID, c.Operation, c.Hash, generation, to, resource, c.Lease.Microseconds(), c.Owner)
	return exactly(1, result, err, "advance key")
}

// ReleaseKey ends the lease early, so that the next request with this key resumes at once.
func (tx *Tx) ReleaseKey(ctx context.Context, c Claim, generation int64) error {
	result, err := tx.q.ExecContext(ctx, `
		UPDATE idempotency_keys
		SET lease_until = clock_timestamp()
		WHERE merchant_id = $1 AND operation = $2 AND key_hash = $3 AND generation = $4 AND owner = $5`,
		c.MerchantID, c.Operation, c.Hash, generation, c.Owner)
	return exactly(1, result, err, "release key")
}

// FinishKey stores the answer for good, in the transaction of the effect it tells of.
func (tx *Tx) FinishKey(ctx context.Context, c Claim, generation int64, resource string, answer domain.Answer) error {
	result, err := tx.q.ExecContext(ctx, `
		UPDATE idempotency_keys
		SET recovery_point = 'finished', resource_id = nullif($6, ''), response_status = $7,
			response_location = nullif($8, ''), response_body = $9, finished_at = $10, lease_until = clock_timestamp()
		WHERE merchant_id = $1 AND operation = $2 AND key_hash = $3 AND generation = $4 AND owner = $5
			AND recovery_point <> 'finished'`,
		c.MerchantID, c.Operation, c.Hash, generation, c.Owner, resource, answer.Status, answer.Location, answer.Body, tx.Now)
	return exactly(1, result, err, "finish key")
}

type keyRow struct {
	Fingerprint domain.Fingerprint   `db:"fingerprint"`
	Point       domain.RecoveryPoint `db:"recovery_point"`
	RequestID   string               `db:"request_id"`
	ResourceID  sql.NullString       `db:"resource_id"`
	Owner       string               `db:"owner"`
	Generation  int64                `db:"generation"`
	LeaseLive   bool                 `db:"lease_live"`
	Status      sql.NullInt32        `db:"response_status"`
	Location    sql.NullString       `db:"response_location"`
	Body        []byte               `db:"response_body"`
	CreatedAt   time.Time            `db:"created_at"`
	ExpiresAt   time.Time            `db:"expires_at"`
}

func (r keyRow) record(ref domain.KeyRef) domain.KeyRecord {
	record := domain.KeyRecord{
		KeyRef: ref, Fingerprint: r.Fingerprint, Point: r.Point, RequestID: r.RequestID,
		ResourceID: r.ResourceID.String, CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt,
		Lease: domain.Lease{Owner: r.Owner, Generation: r.Generation, Live: r.LeaseLive},
	}
	if r.Status.Valid {
		record.Answer = &domain.Answer{Status: int(r.Status.Int32), Location: r.Location.String, Body: r.Body}
	}
	return record
}
