package api_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAuthentication_ARevokedKeyIsAnsweredLikeOneThatNeverWas(t *testing.T) {
	t.Parallel()
	b := setup(t)
	told := func(secret string) (string, http.Header) {
		got := b.get(secret, "/v1/orders").problem(http.StatusUnauthorized, "unauthenticated")
		for _, name := range []string{"Request-Id", "Date"} {
			got.header.Del(name)
		}
		return strings.Replace(got.body, got.text("request_id"), "", 1), got.header
	}
	b.db.Exec(t, `UPDATE api_keys SET revoked_at = clock_timestamp() + interval '1 hour' WHERE api_key_id IN ('key_reader', 'key_beta')`)
	require.Equal(t, http.StatusOK, b.get(reader, "/v1/orders").status, "a key that will end works until then")
	b.db.Exec(t, `UPDATE api_keys SET revoked_at = clock_timestamp() WHERE api_key_id = 'key_reader'`)
	body, headers := told("sk_test_never_made")
	revokedBody, revokedHeaders := told(reader)
	require.Equal(t, body, revokedBody)
	require.Equal(t, headers, revokedHeaders)
	require.Equal(t, http.StatusOK, b.get(alpha, "/v1/orders").status, "other keys of the merchant go on")
	require.Equal(t, http.StatusOK, b.get(beta, "/v1/orders").status)
}

func TestAuthentication_NoSecretReachesTheLogOrTheDatabase(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var log lockedBuffer
	b.service.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	b.url = b.replica()
	const lost = "sk_live_LOST7SECRET7LOST7SECRET7LO"
	b.get(alpha, "/v1/orders")
	b.get(lost, "/v1/orders")
	b.get(lost+"'\"", "/v1/orders")
	b.get(alpha, "/v1/orders?key="+lost)
	b.post(alpha, "/v1/orders/"+lost+"/charges", "k", `{}`)
	b.do(t.Context(), b.url, http.MethodGet, "/v1/orders", "", header{"Authorization", "Basic " + lost})
	require.Contains(t, log.String(), "route=/v1/orders")
	for _, secret := range []string{lost[8:], alpha, beta, reader} {
		require.NotContains(t, log.String(), secret)
		require.Zero(t, b.db.Count(t, `SELECT count(*) FROM api_keys k WHERE k::text LIKE '%' || $1 || '%'`, secret))
	}
}

// lockedBuffer collects what several requests log.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
