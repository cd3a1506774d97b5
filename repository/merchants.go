package repository

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"payonce/domain"
)

// CallerBySecret finds whom an API key's secret speaks for. An unknown and a revoked key give the same refusal.
//
// Every request begins with it, so it is one round trip: a message of two statements, which PostgreSQL runs as one
// transaction. It needs the scope of all merchants, since it finds out which one asks, and gives that scope to nothing
// else. Nothing of the caller's becomes part of the statement but the hex digits of a hash.
func (s *Store) CallerBySecret(ctx context.Context, secret string) (domain.Caller, error) {
	leave, err := s.gate.enter(ctx)
	if err != nil {
		return domain.Caller{}, err
	}
	defer leave() // after the connection is back in the pool
	hash := domain.HashSecret(secret)
	var row struct {
		MerchantID string      `db:"merchant_id"`
		APIKeyID   string      `db:"api_key_id"`
		Role       domain.Role `db:"role"`
		SecretHash []byte      `db:"secret_hash"`
	}
	conn, err := s.connect(ctx, func(conn *sqlx.Conn) error {
		return conn.GetContext(ctx, &row, setScope(everyMerchant)+`;
			SELECT merchant_id, api_key_id, role, secret_hash
			FROM api_keys
			WHERE secret_hash = decode('`+hex.EncodeToString(hash)+`', 'hex')
				AND (revoked_at IS NULL OR revoked_at > clock_timestamp())`)
	})
	if err == nil {
		defer conn.Close() //nolint:errcheck // gives the connection back to the pool
	}
	switch err := one(err, "API key", ""); {
	case domain.CodeOf(err) == domain.CodeNotFound, err == nil && subtle.ConstantTimeCompare(row.SecretHash, hash) != 1:
		return domain.Caller{}, domain.E(domain.CodeUnauthenticated, nil, "no valid API key was given")
	case err != nil:
		return domain.Caller{}, err
	}
	return domain.Caller{MerchantID: row.MerchantID, APIKeyID: row.APIKeyID, Role: row.Role}, nil
}

// MerchantName reads what a merchant is called.
func (r Reader) MerchantName(ctx context.Context, id string) (name string, err error) {
	err = r.q.GetContext(ctx, &name, `SELECT name FROM merchants WHERE merchant_id = $1`, id)
	return name, one(err, "merchant", id)
}

// EnsureMerchant makes a merchant unless its id exists.
func (tx *Tx) EnsureMerchant(ctx context.Context, id, name string) error {
	_, err := tx.q.ExecContext(ctx, `
		INSERT INTO merchants (merchant_id, name, created_at)
		VALUES ($1, $2, $3)
		ON CONFLICT (merchant_id) DO NOTHING`, id, name, tx.Now)
	if err != nil {
		return fmt.Errorf("insert merchant %s: %w", id, err)
	}
	return nil
}

// EnsureAPIKey makes an API key unless its id exists. Only the hash of the secret reaches the database.
func (tx *Tx) EnsureAPIKey(ctx context.Context, key domain.APIKey, secret string) error {
	_, err := tx.q.ExecContext(ctx, `
		INSERT INTO api_keys (merchant_id, api_key_id, secret_hash, role, name, created_at)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (merchant_id, api_key_id) DO NOTHING`,
		key.MerchantID, key.ID, domain.HashSecret(secret), key.Role, key.Name, tx.Now)
	if pq.As(err, pqerror.ForeignKeyViolation) != nil {
		return domain.E(domain.CodeNotFound, nil, "no such merchant")
	}
	if err != nil {
		return fmt.Errorf("insert API key %s: %w", key.ID, err)
	}
	return nil
}

// RevokeAPIKey lets a key work for as long as after, and no longer; 0 ends it now. A revocation is never put off: asked a
// second time, the earlier end stays.
func (tx *Tx) RevokeAPIKey(ctx context.Context, merchant, id string, after time.Duration) (domain.APIKey, error) {
	var row apiKeyRow
	err := tx.q.GetContext(ctx, &row, `
		UPDATE api_keys
		SET revoked_at = least(revoked_at, clock_timestamp() + $3 * interval '1 microsecond')
		WHERE merchant_id = $1 AND api_key_id = $2
		RETURNING `+apiKeyColumns, merchant, id, after.Microseconds())
	return row.key(), one(err, "API key", id)
}

// APIKeys lists the keys of a merchant, or of all merchants when it is empty, the oldest of each first.
func (r Reader) APIKeys(ctx context.Context, merchant string) ([]domain.APIKey, error) {
	var rows []apiKeyRow
	err := r.q.SelectContext(ctx, &rows, `
		SELECT `+apiKeyColumns+`
		FROM api_keys
		WHERE $1 IN ('', merchant_id)
		ORDER BY merchant_id, created_at, api_key_id`, merchant)
	if err != nil {
		return nil, fmt.Errorf("API keys: %w", err)
	}
	keys := make([]domain.APIKey, len(rows))
	for i, row := range rows {
		keys[i] = row.key()
	}
	return keys, nil
}

const apiKeyColumns = `merchant_id, api_key_id, role, name, created_at, revoked_at,
	coalesce(revoked_at <= clock_timestamp(), false) AS revoked`

type apiKeyRow struct {
	MerchantID string      `db:"merchant_id"`
	APIKeyID   string      `db:"api_key_id"`
	Role       domain.Role `db:"role"`
	Name       string      `db:"name"`
	CreatedAt  time.Time   `db:"created_at"`
	RevokedAt  *time.Time  `db:"revoked_at"`
	Revoked    bool        `db:"revoked"`
}

func (r apiKeyRow) key() domain.APIKey {
	key := domain.APIKey{ID: r.APIKeyID, MerchantID: r.MerchantID, Role: r.Role, Name: r.Name, CreatedAt: r.CreatedAt.UTC(), Revoked: r.Revoked}
	if r.RevokedAt != nil {
		at := r.RevokedAt.UTC()
		key.RevokedAt = &at
	}
	return key
}
