package simulator

import (
	"net/http"
	"strings"
)

// authenticate accepts any test-mode secret key: a world is one account, and every key belongs to it. The key is never
// repeated in an answer or a log.
func (c *call) authenticate() *answer {
	key, ok := secretKey(c.request)
	switch {
	case !ok || key == "":
		return c.unauthorized("You did not provide an API key. Send it as 'Authorization: Bearer sk_test_...', " +
			"or as the user name of HTTP Basic authentication.")
	case strings.HasPrefix(key, "sk_live_") || strings.HasPrefix(key, "rk_live_"):
		return c.unauthorized("This is a simulator: it takes test keys (sk_test_...) only. A live key must never be sent " +
			"here. Consider it exposed if anybody else can read this traffic.")
	case !strings.HasPrefix(key, "sk_test_") || len(key) == len("sk_test_"):
		return c.unauthorized("Invalid API key: the simulator takes test-mode secret keys (sk_test_...).")
	default:
		return nil
	}
}

func (c *call) unauthorized(message string) *answer {
	a := errorAnswer(&apiError{status: http.StatusUnauthorized, Type: typeInvalidRequest, Message: message}).
		with("WWW-Authenticate", `Bearer realm="Stripe"`)
	return &a
}

func secretKey(r *http.Request) (string, bool) {
	if user, _, ok := r.BasicAuth(); ok {
		return user, true
	}
	scheme, key, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(key), ok && strings.EqualFold(scheme, "Bearer")
}
