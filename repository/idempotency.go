package repository

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"payonce/domain"
)

// Claim is a request to own an idempotency key.
type Claim struct {
	domain.KeyRef
	Fingerprint domain.Fingerprint
	RequestID   string
	Owner       string        // names this execution; unique per request
	Lease       time.Duration // how long nobody else may advance the key
	Retention   time.Duration // how long the answer is kept once there is one
}

// ClaimKey inserts the key's row, or reads the one that is there. mine is true when this call inserted it; then
// everything else in the transaction commits together with the claim.
//
// There is no look-then-insert: two requests with one key meet at the primary key, and only one of them can insert. The
// second must not wait for the first inside INSERT, though: there it would hold a connection of the pool for as long as
// the first one takes, and 200 impatient copies of one request would leave no connection to anybody else. So a claim
// first tries a lock that ends with the transaction. Whoever does not get it, and sees no row either, gets ErrKeyHeld at
// once and can wait without a connection.
//
// That is also how an unknown commit is resolved: claim again. While the transaction in doubt lives, its lock is held;
// when it is over, its row is there or the claim succeeds.
func (tx *Tx) ClaimKey(ctx context.Context, c Claim) (record domain.KeyRecord, mine bool, err error) {
	expires := tx.Now.Add(c.Retention)
	result, err := tx.q.ExecContext(ctx, `
		INSERT INTO idempotency_keys (merchant_id, operation, key_hash, fingerprint, recovery_point, request_id,
			owner, generation, lease_until, created_at, expires_at)
		SELECT $1, $2, $3::bytea, $4, $5, $6, $7, 1, clock_timestamp() + $8::bigint * interval '1 microsecond',
			$9::timestamptz, $10::timestamptz
		WHERE pg_try_advisory_xact_lock($11)
		ON CONFLICT (merchant_id, operation, key_hash) DO NOTHING`,
		c.MerchantID, c.Operation, c.Hash, c.Fingerprint, domain.PointClaimed, c.RequestID,
		c.Owner, c.Lease.Microseconds(), tx.Now, expires, claimLock(c.KeyRef))
	if err != nil {
		return domain.KeyRecord{}, false, fmt.Errorf("claim key: %w", err)
	}
	inserted, err := result.RowsAffected()
	if err != nil {
		return domain.KeyRecord{}, false, fmt.Errorf("claim key: %w", err)
	}
	if inserted == 1 {
		return domain.KeyRecord{
			KeyRef: c.KeyRef, Fingerprint: c.Fingerprint, Point: domain.PointClaimed, RequestID: c.RequestID,
			CreatedAt: tx.Now, ExpiresAt: expires, Lease: domain.Lease{Owner: c.Owner, Generation: 1, Live: true},
		}, true, nil
	}
	record, err = tx.key(ctx, c.KeyRef, "")
	if errors.Is(err, sql.ErrNoRows) {
		return domain.KeyRecord{}, false, ErrKeyHeld
	}
	return record, false, err
}

// claimLock numbers the lock of a key. Two keys with the same number, one pair in 2^64, would only wait for each other.
func claimLock(ref domain.KeyRef) int64 {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%s\n%x", ref.MerchantID, ref.Operation, ref.Hash)
	return int64(binary.BigEndian.Uint64(sum.Sum(nil))) //nolint:gosec // any 64 bits will do
}

// ErrKeyHeld says that another transaction has claimed the same key and has not ended yet.
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
	err := r.q.GetContext(ctx, &row, `
		SELECT fingerprint, recovery_point, request_id, resource_id, owner, generation,
			lease_until > clock_timestamp() AS lease_live, extract(epoch FROM clock_timestamp() - wanted_at) AS unwanted, response_status, response_location, response_body,
			created_at, expires_at
		FROM idempotency_keys
		WHERE merchant_id = $1 AND operation = $2 AND key_hash = $3 `+locking, ref.MerchantID, ref.Operation, ref.Hash)
	if err != nil {
		return domain.KeyRecord{}, fmt.Errorf("key of %s: %w", ref.Operation, err)
	}
	return row.record(ref), nil
}

// TakeOverKey gives a key whose lease has ended to a new owner. wanted says that somebody with the key is waiting for it.
// It compares the generation and the recovery point of the
// record that the caller saw: of two that try at once one gets ErrStale, and so does one whose picture is old.
func (tx *Tx) TakeOverKey(ctx context.Context, c Claim, seen domain.KeyRecord, wanted bool) (domain.Lease, error) {
	result, err := tx.q.ExecContext(ctx, `
		UPDATE idempotency_keys
		SET owner = $5, generation = generation + 1, lease_until = clock_timestamp() + $6 * interval '1 microsecond',
			wanted_at = CASE WHEN $8 THEN clock_timestamp() ELSE wanted_at END
		WHERE merchant_id = $1 AND operation = $2 AND key_hash = $3 AND generation = $4
			AND lease_until <= clock_timestamp() AND recovery_point = $7 AND recovery_point <> 'finished'`,
		c.MerchantID, c.Operation, c.Hash, seen.Lease.Generation, c.Owner, c.Lease.Microseconds(), seen.Point, wanted)
	if err := exactly(1, result, err, "take over key"); err != nil {
		return domain.Lease{}, err
	}
	return domain.Lease{Owner: c.Owner, Generation: seen.Lease.Generation + 1, Live: true}, nil
}

// SeizeKey takes a running key away from its owner, whose lease may still be good: what the key stands for is to be
// stopped, not gone on with. The generation rises, so that the owner writes nothing more. It returns nothing to take when
// the key is finished.
func (tx *Tx) SeizeKey(ctx context.Context, ref domain.KeyRef, owner string, lease time.Duration) error {
	_, err := tx.q.ExecContext(ctx, `
		UPDATE idempotency_keys
		SET owner = $4, generation = generation + 1, lease_until = clock_timestamp() + $5 * interval '1 microsecond'
		WHERE merchant_id = $1 AND operation = $2 AND key_hash = $3 AND recovery_point <> 'finished'`,
		ref.MerchantID, ref.Operation, ref.Hash, owner, lease.Microseconds())
	if err != nil {
		return fmt.Errorf("seize key: %w", err)
	}
	return nil
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
		WHERE merchant_id = $1 AND operation = $2 AND key_hash = $3 AND generation = $4 AND owner = $5
			AND recovery_point <> 'finished'`,
		c.MerchantID, c.Operation, c.Hash, generation, c.Owner)
	return exactly(1, result, err, "release key")
}

// FinishKey stores the answer for good, in the transaction of the effect it tells of. It is kept for the claim's
// retention from now on, however long ago the key was claimed.
func (tx *Tx) FinishKey(ctx context.Context, c Claim, generation int64, resource string, answer domain.Answer) error {
	result, err := tx.q.ExecContext(ctx, `
		UPDATE idempotency_keys
		SET recovery_point = 'finished', resource_id = nullif($6, ''), response_status = $7,
			response_location = nullif($8, ''), response_body = $9, finished_at = $10, lease_until = clock_timestamp(),
			expires_at = greatest(expires_at, $11::timestamptz)
		WHERE merchant_id = $1 AND operation = $2 AND key_hash = $3 AND generation = $4 AND owner = $5
			AND recovery_point <> 'finished'`,
		c.MerchantID, c.Operation, c.Hash, generation, c.Owner, resource, answer.Status, answer.Location, answer.Body,
		tx.Now, tx.Now.Add(c.Retention))
	return exactly(1, result, err, "finish key")
}

// DropAnswers turns at most limit keys whose answers have been kept long enough into tombstones, which are to be kept for
// the given time, and returns how many. Keys without an answer are left alone, however old: their outcome is still owed.
//
// Small batches, rows that somebody uses passed over, the oldest first: no statement of the purge runs long or makes
// anybody wait, and any number of workers can purge at once.
func (tx *Tx) DropAnswers(ctx context.Context, limit int, tombstone time.Duration) (int, error) {
	result, err := tx.q.ExecContext(ctx, `
		UPDATE idempotency_keys k
		SET fingerprint = NULL, response_location = NULL, response_body = NULL, forget_at = $2::timestamptz
		FROM (
			SELECT merchant_id, operation, key_hash
			FROM idempotency_keys
			WHERE forget_at IS NULL AND expires_at <= $1 AND recovery_point = 'finished'
			ORDER BY expires_at
			LIMIT $3
			FOR UPDATE SKIP LOCKED
		) due
		WHERE (k.merchant_id, k.operation, k.key_hash) = (due.merchant_id, due.operation, due.key_hash)`,
		tx.Now, tx.Now.Add(tombstone), limit)
	return changed(result, err, "drop answers")
}

// ForgetKeys deletes at most limit tombstones whose time is over and returns how many.
func (tx *Tx) ForgetKeys(ctx context.Context, limit int) (int, error) {
	result, err := tx.q.ExecContext(ctx, `
		DELETE FROM idempotency_keys k
		USING (
			SELECT merchant_id, operation, key_hash
			FROM idempotency_keys
			WHERE forget_at <= $1
			ORDER BY forget_at
			LIMIT $2
			FOR UPDATE SKIP LOCKED
		) due
		WHERE (k.merchant_id, k.operation, k.key_hash) = (due.merchant_id, due.operation, due.key_hash)`,
		tx.Now, limit)
	return changed(result, err, "forget keys")
}

type keyRow struct {
	Fingerprint sql.NullString       `db:"fingerprint"`
	Point       domain.RecoveryPoint `db:"recovery_point"`
	RequestID   string               `db:"request_id"`
	ResourceID  sql.NullString       `db:"resource_id"`
	Owner       string               `db:"owner"`
	Generation  int64                `db:"generation"`
	LeaseLive   bool                 `db:"lease_live"`
	Unwanted    float64              `db:"unwanted"` // seconds
	Status      sql.NullInt32        `db:"response_status"`
	Location    sql.NullString       `db:"response_location"`
	Body        []byte               `db:"response_body"`
	CreatedAt   time.Time            `db:"created_at"`
	ExpiresAt   time.Time            `db:"expires_at"`
}

func (r keyRow) record(ref domain.KeyRef) domain.KeyRecord {
	record := domain.KeyRecord{
		KeyRef: ref, Fingerprint: domain.Fingerprint(r.Fingerprint.String), Point: r.Point, RequestID: r.RequestID,
		ResourceID: r.ResourceID.String, Status: int(r.Status.Int32), CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt,
		Unwanted: time.Duration(r.Unwanted * float64(time.Second)),
		Lease:    domain.Lease{Owner: r.Owner, Generation: r.Generation, Live: r.LeaseLive},
	}
	if r.Body != nil {
		record.Answer = &domain.Answer{Status: int(r.Status.Int32), Location: r.Location.String, Body: r.Body}
	}
	return record
}
