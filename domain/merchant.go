package domain

import "crypto/sha256"

// Role is what an API key may do. Each role includes those before it.
type Role string

// The roles.
const (
	RoleRead     Role = "read"     // GET only
	RoleWrite    Role = "write"    // the merchant's own business
	RoleOperator Role = "operator" // reconciliation and repair as well
)

// Includes reports whether a key of role r may do what needs role need.
func (r Role) Includes(need Role) bool { return r.rank() >= need.rank() && need.rank() > 0 }

func (r Role) rank() int {
	switch r {
	case RoleRead:
		return 1
	case RoleWrite:
		return 2
	case RoleOperator:
		return 3
	default:
		return 0
	}
}

// Caller is who an authenticated request speaks for.
type Caller struct {
	MerchantID string
	APIKeyID   string
	Role       Role
}

// HashSecret is what is stored of an API key's secret and what a presented one is looked up by. A fast hash is right
// here: the secrets are made by us with at least 128 random bits, so there is nothing to guess.
func HashSecret(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
