package repository_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/repository"
)

func TestCallerBySecret_LiveKeysSpeakAndOthersAreAllAlike(t *testing.T) {
	t.Parallel()
	db := twoMerchants(t)
	caller, err := db.Store.CallerBySecret(t.Context(), "secret a")
	require.NoError(t, err)
	require.Equal(t, domain.Caller{MerchantID: "mrc_a", APIKeyID: "key_a", Role: domain.RoleWrite}, caller)
	db.Exec(t, `UPDATE api_keys SET revoked_at = clock_timestamp() + interval '1 hour'`)
	_, err = db.Store.CallerBySecret(t.Context(), "secret a")
	require.NoError(t, err, "it works until its time has come")
	db.Exec(t, `UPDATE api_keys SET revoked_at = clock_timestamp()`)
	var refusals []string
	for _, secret := range []string{"secret a", "secret x", "", "'; DROP TABLE api_keys; --", "\x00", string(domain.HashSecret("secret b"))} {
		_, err = db.Store.CallerBySecret(t.Context(), secret)
		require.Equal(t, domain.CodeUnauthenticated, domain.CodeOf(err), secret)
		refusals = append(refusals, err.Error())
	}
	for _, refusal := range refusals {
		require.Equal(t, refusals[0], refusal)
	}
}

func TestCallerBySecret_ConnectionsThatDiedInThePool_AreReplaced(t *testing.T) {
	t.Parallel()
	db := twoMerchants(t)
	_, err := db.Store.CallerBySecret(t.Context(), "secret a")
	require.NoError(t, err)
	db.Exec(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'payonce'`)
	_, err = db.Store.CallerBySecret(t.Context(), "secret a")
	require.NoError(t, err)
	require.Zero(t, db.Store.InUse())
}

func TestRevokeAPIKey_IsNeverPutOff(t *testing.T) {
	t.Parallel()
	db := twoMerchants(t)
	revoke := func(after time.Duration) domain.APIKey {
		t.Helper()
		var key domain.APIKey
		require.NoError(t, db.Store.InTx(asA(t), func(tx *repository.Tx) (err error) {
			key, err = tx.RevokeAPIKey(asA(t), "mrc_a", "key_a", after)
			return err
		}))
		return key
	}
	first := revoke(24 * time.Hour)
	require.False(t, first.Revoked)
	require.Equal(t, first, revoke(48*time.Hour), "a later end changes nothing")
	sooner := revoke(time.Hour)
	require.True(t, sooner.RevokedAt.Before(*first.RevokedAt))
	now := revoke(0)
	require.True(t, now.Revoked)
	require.Equal(t, now, revoke(time.Hour), "what is revoked stays revoked")
	err := db.Store.InTx(asA(t), func(tx *repository.Tx) error {
		_, err := tx.RevokeAPIKey(asA(t), "mrc_b", "key_b", 0)
		return err
	})
	require.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
}
