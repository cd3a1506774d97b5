package api

import (
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"payonce/domain"
)

// limits are what keeps one caller from using up the service for the others.
type limits struct {
	keys     *limiter[string]       // requests, by API key
	failures *limiter[netip.Prefix] // requests without a valid API key, by client address
	valid    validLately
}

// admit finds out who asks and whether they may ask yet. It comes before everything that a request may hold, so that one
// over the limit costs no more than its headers.
//
// Only failures count against an address, and a secret that was valid before is looked up in any case: clients behind one
// address, or behind a proxy that is not known as one, do not limit each other. What has no valid key is no longer looked
// up once its address has failed too often, so guessing is slow and does not become the database's load.
func (a *API) admit(c echo.Context) (domain.Caller, error) {
	secret, from := bearer(c.Request()), subscriber(clientOf(c))
	if wait := a.limits.failures.wait(from); wait > 0 && !a.limits.valid.has(secret) {
		return domain.Caller{}, rateLimited(wait, "too many requests without a valid API key came from this address")
	}
	caller, err := a.authenticate(c.Request(), secret)
	if domain.CodeOf(err) == domain.CodeUnauthenticated {
		a.limits.failures.charge(from)
		a.limits.valid.remove(secret)
	}
	if err != nil {
		return domain.Caller{}, err
	}
	a.limits.valid.add(secret)
	if wait := a.limits.keys.take(caller.APIKeyID); wait > 0 {
		return domain.Caller{}, rateLimited(wait, "this API key has sent more requests than it may; send this one again later, with the same idempotency key")
	}
	return caller, nil
}

// bearer reads the secret (RFC 6750, section 2.1); empty when there is none, or more than one. Keys in the query are
// never looked at: they would end up in logs.
func bearer(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, secret, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || len(secret) > 255 {
		return ""
	}
	return secret
}

// authenticate finds out who asks. Whatever is wrong with the header or the key, the refusal is the same, so that it
// tells a guesser nothing.
func (a *API) authenticate(r *http.Request, secret string) (domain.Caller, error) {
	refusal := domain.E(domain.CodeUnauthenticated, nil, "no valid API key was given; send it as Authorization: Bearer <key>")
	if secret == "" {
		return domain.Caller{}, refusal
	}
	caller, err := a.store.CallerBySecret(r.Context(), secret)
	if domain.CodeOf(err) == domain.CodeUnauthenticated {
		return domain.Caller{}, refusal
	}
	return caller, err
}

// validLately remembers, as hashes, secrets that were valid when they were last looked up. It opens no door: each request
// is looked up all the same.
type validLately struct {
	mu     sync.Mutex
	hashes map[string]struct{}
}

const maxValid = 10_000

func (v *validLately) has(secret string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, known := v.hashes[string(domain.HashSecret(secret))]
	return known
}

func (v *validLately) add(secret string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.hashes == nil || len(v.hashes) >= maxValid {
		v.hashes = map[string]struct{}{} // those who come again are soon known again
	}
	v.hashes[string(domain.HashSecret(secret))] = struct{}{}
}

func (v *validLately) remove(secret string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.hashes, string(domain.HashSecret(secret)))
}
