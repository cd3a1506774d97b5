package domain

import (
	"crypto/rand"
	"crypto/sha256"
	"regexp"
	"time"
)

// merchantID is what a merchant's id looks like.
var merchantID = regexp.MustCompile(`^mrc_[0-9a-z]+$`)

// IsMerchantID reports whether a text can be the id of a merchant: mrc_ and then small letters and digits. Nothing in it
// means anything in SQL.
func IsMerchantID(id string) bool { return merchantID.MatchString(id) }

// Role is what an API key may do. Each role includes those before it.
type Role string

// The roles.
const (
	RoleRead     Role = "read"     // GET only
	RoleWrite    Role = "write"    // the merchant's own business
	RoleOperator Role = "operator" // reconciliation and repair as well
)

// Roles are all of them, from the least to the most.
func Roles() []Role { return []Role{RoleRead, RoleWrite, RoleOperator} }

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

// APIKey is what is known of a key; its secret is not. A merchant may have any number of living keys: to rotate one, a
// second is made, brought to where the first is used, and then the first is revoked.
type APIKey struct {
	ID         string     `json:"id"`
	MerchantID string     `json:"merchant_id"`
	Role       Role       `json:"role"`
	Name       string     `json:"name"` // at most 100 characters, for people
	CreatedAt  time.Time  `json:"created_at"`
	RevokedAt  *time.Time `json:"revoked_at"` // the key works until then; nil means for ever
	Revoked    bool       `json:"revoked"`    // whether that time has come, by the database's clock
}

// The beginnings of secrets. They tell a live key from a test key at a glance, and are what scanners for leaked secrets
// look for, so that one in a public place is found before it is used.
const (
	SecretLive = "sk_live_"
	SecretTest = "sk_test_"
)

// NewSecret makes a secret of the given beginning: 26 letters and digits follow, with at least 128 random bits.
func NewSecret(beginning string) string { return beginning + rand.Text() }

// HashSecret is what is stored of an API key's secret and what a presented one is looked up by. A fast hash is right
// here: the secrets are made by us with at least 128 random bits, so there is nothing to guess.
func HashSecret(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
