package repository

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"payonce/domain"
)

// CallerBySecret finds whom an API key's secret speaks for. An unknown and a revoked key give the same refusal.
func (r Reader) CallerBySecret(ctx context.Context, secret string) (domain.Caller, error) {
	var row struct {
		MerchantID string      `db:"merchant_id"`
		APIKeyID   string      `db:"api_key_id"`
		Role       domain.Role `db:"role"`
	}
	err := sqlx.GetContext(ctx, r.q, &row, `
		SELECT merchant_id, api_key_id, role
		FROM api_keys
		WHERE secret_hash = $1 AND revoked_at IS NULL`, domain.HashSecret(secret))
	if err := one(err, "API key", ""); err != nil {
		if domain.CodeOf(err) == domain.CodeNotFound {
			return domain.Caller{}, domain.E(domain.CodeUnauthenticated, nil, "no valid API key was given")
		}
		return domain.Caller{}, err
	}
	return domain.Caller{MerchantID: row.MerchantID, APIKeyID: row.APIKeyID, Role: row.Role}, nil
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
func (tx *Tx) EnsureAPIKey(ctx context.Context, merchant, id, secret string, role domain.Role) error {
	_, err := tx.q.ExecContext(ctx, `
		INSERT INTO api_keys (merchant_id, api_key_id, secret_hash, role, created_at)
		VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (merchant_id, api_key_id) DO NOTHING`, merchant, id, domain.HashSecret(secret), role, tx.Now)
	if err != nil {
		return fmt.Errorf("insert API key %s: %w", id, err)
	}
	return nil
}
