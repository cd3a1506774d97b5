package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/api"
	"payonce/domain"
	"payonce/payment"
	"payonce/provider"
	"payonce/repository"
)

// What one caller can take from the others, and what a database that does not keep up makes of the service.

// clock stands still until it is moved.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func limited(t *testing.T, change func(*api.Options)) (*bundle, *clock) {
	t.Helper()
	c := &clock{at: time.Unix(1_700_000_000, 0)}
	return setup(t).edge(func(o *api.Options) {
		o.Clock = c.now
		change(o)
	}), c
}

func TestRateLimit_StopsOneKeyAndNoOther(t *testing.T) {
	t.Parallel()
	b, clock := limited(t, func(o *api.Options) { o.KeyRate = api.Rate{PerSecond: 0.4, Burst: 3} })
	for range 3 {
		require.Equal(t, http.StatusOK, b.get(alpha, "/v1/products").status)
	}
	refused := b.post(alpha, "/v1/carts", "k", `{"currency":"EUR"}`).problem(http.StatusTooManyRequests, "rate-limited").hardened()
	require.Equal(t, "3", refused.header.Get("Retry-After"), "2.5 seconds, in whole ones")
	b.unchanged()
	require.Equal(t, http.StatusOK, b.get(beta, "/v1/products").status, "another merchant")
	require.Equal(t, http.StatusOK, b.get(reader, "/v1/products").status, "another key of the same merchant")
	clock.move(3 * time.Second)
	made := b.post(alpha, "/v1/carts", "k", `{"currency":"EUR"}`)
	require.Equal(t, http.StatusCreated, made.status, "Retry-After was the truth")
	require.Empty(t, made.header.Get("Idempotent-Replayed"), "and the key was free")
	b.get(alpha, "/v1/products").problem(http.StatusTooManyRequests, "rate-limited")
}

func TestRateLimit_ComesAfterAuthenticationAndBeforeEverythingElse(t *testing.T) {
	t.Parallel()
	b, _ := limited(t, func(o *api.Options) { o.KeyRate = api.Rate{PerSecond: 1, Burst: 1} })
	b.get(reader, "/v1/products")
	b.get(alpha, "/v1/products")
	b.get("sk_test_wrong", "/v1/products").problem(http.StatusUnauthorized, "unauthenticated")
	for situation, got := range map[string]answer{
		"no idempotency key": b.send(alpha, http.MethodPost, "/v1/carts", `{"currency":"EUR"}`),
		"a bad one":          b.post(alpha, "/v1/carts", "a, b", `{"currency":"EUR"}`),
		"a bad body":         b.post(alpha, "/v1/carts", "k", `{`),
		"a bad query":        b.get(alpha, "/v1/products?x=1"),
		"the wrong role":     b.post(reader, "/v1/carts", "k", `{"currency":"EUR"}`),
	} {
		require.Equal(t, http.StatusTooManyRequests, got.status, situation)
	}
	b.unchanged()
}

func TestRateLimit_AReplayCountsToo(t *testing.T) {
	t.Parallel()
	b, clock := limited(t, func(o *api.Options) { o.KeyRate = api.Rate{PerSecond: 1, Burst: 2} })
	first := b.post(alpha, "/v1/carts", "k", `{"currency":"EUR"}`)
	require.Equal(t, http.StatusCreated, b.post(alpha, "/v1/carts", "k", `{"currency":"EUR"}`).status)
	b.post(alpha, "/v1/carts", "k", `{"currency":"EUR"}`).problem(http.StatusTooManyRequests, "rate-limited")
	clock.move(time.Second)
	require.Equal(t, first.body, b.post(alpha, "/v1/carts", "k", `{"currency":"EUR"}`).body, "a refusal does not become the answer")
}

func TestBadKeys_AreNoLongerLookedUp_ButGoodOnesAre(t *testing.T) {
	t.Parallel()
	b, clock := limited(t, func(o *api.Options) { o.FailureRate = api.Rate{PerSecond: 0.5, Burst: 3} })
	require.Equal(t, http.StatusOK, b.get(alpha, "/v1/products").status)
	for range 3 {
		b.get("sk_test_wrong", "/v1/orders").problem(http.StatusUnauthorized, "unauthenticated")
	}
	for _, headers := range [][]header{{{"Authorization", "Bearer sk_test_wrong"}}, nil, {{"X-Forwarded-For", "127.0.0.9"}}, {{"X-Real-Ip", "127.0.0.9"}}} {
		got := b.do(t.Context(), b.url, http.MethodGet, "/v1/orders", "", headers...).problem(http.StatusTooManyRequests, "rate-limited")
		require.Equal(t, "2", got.header.Get("Retry-After"))
	}
	require.Equal(t, http.StatusOK, b.get(alpha, "/v1/products").status, "who was valid before is not shut out by a neighbour")
	b.get(beta, "/v1/products").problem(http.StatusTooManyRequests, "rate-limited")
	b.db.Exec(t, `UPDATE api_keys SET revoked_at = now() WHERE api_key_id = 'key_alpha'`)
	b.get(alpha, "/v1/products").problem(http.StatusUnauthorized, "unauthenticated")
	b.get(alpha, "/v1/products").problem(http.StatusTooManyRequests, "rate-limited") // and was valid for the last time
	clock.move(time.Minute)
	require.Equal(t, http.StatusOK, b.get(beta, "/v1/products").status)
}

func TestBadKeys_CountByTheAddressThatATrustedProxyTells(t *testing.T) {
	t.Parallel()
	b, _ := limited(t, func(o *api.Options) {
		o.FailureRate = api.Rate{PerSecond: 1, Burst: 1}
		o.Proxies = api.Proxies{netip.MustParsePrefix("127.0.0.1/32")}
	})
	wrong := func(forwarded string) int {
		return b.do(t.Context(), b.url, http.MethodGet, "/v1/orders", "", header{"Authorization", "Bearer sk_test_wrong"}, header{"X-Forwarded-For", forwarded}).status
	}
	require.Equal(t, http.StatusUnauthorized, wrong("203.0.113.1"))
	require.Equal(t, http.StatusUnauthorized, wrong("203.0.113.2"), "another client of the same proxy")
	require.Equal(t, http.StatusTooManyRequests, wrong("203.0.113.1"))
	require.Equal(t, http.StatusTooManyRequests, wrong("198.51.100.1, 203.0.113.1"), "what stands before it is the client's own invention")
}

// crowded is the interface over a pool of four, and a lock that everybody who pays the order waits for.
func crowded(t *testing.T) (b *bundle, store *repository.Store, order string, free func()) {
	t.Helper()
	plain := setup(t)
	order = plain.order("o")
	patient := plain.db.URL + "&lock_timeout=0&statement_timeout=0&idle_in_transaction_session_timeout=0"
	open := func(o repository.Options) *repository.Store {
		opened, err := repository.Open(o)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, opened.Close()) })
		return opened
	}
	store, other := open(repository.Options{URL: patient, MaxConns: 4, MaxWait: 20 * time.Millisecond}), open(repository.Options{URL: patient})
	s := plain.service
	plain.service = &payment.Service{Store: store, Provider: s.Provider, Present: s.Present, NewID: s.NewID, Log: s.Log,
		Lease: s.Lease, Retention: s.Retention, KeyHorizon: s.KeyHorizon, OrderTTL: s.OrderTTL, Grace: s.Grace}
	locked, done, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	ctx := repository.AsMerchant(t.Context(), "mrc_alpha")
	go func() {
		ended <- other.InTx(ctx, func(tx *repository.Tx) error {
			_, err := tx.OrderForUpdate(ctx, "mrc_alpha", order)
			close(locked)
			<-done
			return err
		})
	}()
	<-locked
	free = sync.OnceFunc(func() {
		close(done)
		require.NoError(t, <-ended)
	})
	t.Cleanup(free)
	return plain.edge(unchangedOptions), store, order, free
}

const waitingForALock = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`

func TestFullPool_TurnsAwayQuickly_AndAllIsWellAfterwards(t *testing.T) {
	t.Parallel()
	b, store, order, free := crowded(t)
	pay := func(key string) answer {
		return b.post(alpha, "/v1/orders/"+order+"/charges", key, goodCard, header{"Prefer", "wait=0"})
	}
	blocked := make(chan answer, 4)
	for i := range 4 {
		go func() { blocked <- pay("blocked-" + strconv.Itoa(i)) }()
	}
	require.Eventually(t, func() bool { return b.db.Count(t, waitingForALock) == 4 }, 20*time.Second, time.Millisecond, "all four are blocked inside the database")

	turnedAway := make(chan answer, 40)
	for i := range 20 {
		go func() { turnedAway <- b.get(alpha, "/v1/orders/"+order) }()
		go func() { turnedAway <- b.post(alpha, "/v1/carts", "cart-"+strconv.Itoa(i), `{"currency":"EUR"}`) }()
	}
	for range cap(turnedAway) { // none of them can be answered by the database: it is blocked until free is called
		got := (<-turnedAway).problem(http.StatusServiceUnavailable, "unavailable").hardened()
		require.NotEmpty(t, got.header.Get("Retry-After"))
	}
	require.Equal(t, repository.PoolStats{Places: 4, InUse: 4, Refused: 40}, store.Stats(), "nobody is left waiting")
	for _, path := range []string{"/healthz", "/readyz", "/problems/unavailable", "/openapi.yaml", "/nothing"} {
		require.NotEqual(t, http.StatusServiceUnavailable, b.get(alpha, path).status, "%s needs no place", path)
	}
	require.Zero(t, b.db.Count(t, `SELECT (SELECT count(*) FROM carts) + (SELECT count(*) FROM charges)`))

	free()
	statuses := map[int]int{}
	for range 4 {
		statuses[(<-blocked).status]++
	}
	require.Equal(t, map[int]int{http.StatusCreated: 1, http.StatusConflict: 3}, statuses, "one of them pays")
	made := b.post(alpha, "/v1/carts", "cart-0", `{"currency":"EUR"}`)
	require.Equal(t, http.StatusCreated, made.status, made.body)
	require.Empty(t, made.header.Get("Idempotent-Replayed"), "who was turned away had not begun")
	require.Zero(t, store.Stats().InUse)
}

func TestFullPool_LetsWhatHasBegunFinish(t *testing.T) {
	t.Parallel()
	b, store, order, free := crowded(t)
	begun := b.heldCharge("begun")
	require.Zero(t, store.Stats().InUse, "a charge at the provider holds no place")
	blocked := make(chan answer, 4)
	for i := range 4 {
		go func() { blocked <- b.post(alpha, "/v1/orders/"+order+"/charges", "blocked-"+strconv.Itoa(i), goodCard) }()
	}
	require.Eventually(t, func() bool { return b.db.Count(t, waitingForALock) == 4 }, 20*time.Second, time.Millisecond)
	begun.release()
	require.Eventually(t, func() bool { return store.Stats().Waiting == 1 }, 20*time.Second, time.Millisecond, "its result waits to be written down")
	b.get(alpha, "/v1/orders").problem(http.StatusServiceUnavailable, "unavailable") // who comes later does not
	free()
	got := <-begun.answer
	require.Equal(t, http.StatusCreated, got.status, got.body)
	for range 4 {
		<-blocked
	}
}

// once panics at the first call, and only then.
func once() func() {
	var first sync.Once
	return func() { first.Do(func() { panic("planted") }) }
}

func TestPanics_LeaveNoKeyStuck(t *testing.T) {
	t.Parallel()
	for situation, plant := range map[string]func(*payment.Service){
		"in the transaction of the claim": func(s *payment.Service) {
			newID, boom := s.NewID, once()
			s.NewID = func(prefix string) string {
				if prefix == "chg" {
					boom()
				}
				return newID(prefix)
			}
		},
		"while the answer is rendered": func(s *payment.Service) {
			present, boom := s.Present, once()
			s.Present = func(p payment.Presentation) domain.Answer {
				if p.Operation == domain.OpChargesCreate {
					boom()
				}
				return present(p)
			}
		},
		"between the transactions, before the provider is called": func(s *payment.Service) { s.Provider = panicking{Provider: s.Provider, before: once()} },
		"between the transactions, after the provider was called": func(s *payment.Service) { s.Provider = panicking{Provider: s.Provider, after: once()} },
	} {
		t.Run(situation, func(t *testing.T) {
			t.Parallel()
			var s seen
			b := setup(t)
			order := b.order("o")
			plant(b.service)
			b = b.edge(func(o *api.Options) { o.Observer = s.observe })
			failed := b.post(alpha, "/v1/orders/"+order+"/charges", "k", goodCard).problem(http.StatusInternalServerError, "internal").hardened()
			require.NotContains(t, failed.body, "planted")
			require.Equal(t, api.Observation{Method: "POST", Route: "/v1/orders/:id/charges", Status: 500, Problem: domain.CodeInternal, Panicked: true}, s.last())
			require.Zero(t, b.service.Store.InUse(), "the connection is back")
			again := b.post(alpha, "/v1/orders/"+order+"/charges", "k", goodCard, header{"Prefer", "wait=0"})
			require.Equal(t, http.StatusCreated, again.status, "the same key goes on at once: %s", again.body)
			require.Equal(t, 1, b.db.Count(t, `SELECT count(*) FROM charges`))
			require.Equal(t, 1, b.succeeded(order))
			require.Equal(t, again.body, b.post(alpha, "/v1/orders/"+order+"/charges", "k", goodCard).body)
		})
	}
}

func TestPanics_InAnOperationOfOneTransaction_UndoIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	present, boom := b.service.Present, once()
	b.service.Present = func(p payment.Presentation) domain.Answer { boom(); return present(p) }
	b = b.edge(unchangedOptions)
	b.post(alpha, "/v1/orders", "k", b.orderBody("1")).problem(http.StatusInternalServerError, "internal")
	b.unchanged()
	made := b.post(alpha, "/v1/orders", "k", b.orderBody("1"))
	require.Equal(t, http.StatusCreated, made.status, made.body)
	require.Empty(t, made.header.Get("Idempotent-Replayed"))
}

func TestPanics_BeforeAnythingIsClaimed(t *testing.T) {
	t.Parallel()
	boom := once()
	b := setup(t).edge(func(o *api.Options) { o.Draining = func() bool { boom(); return false } })
	w := b.dial().send("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
	w.read().problem(http.StatusInternalServerError, "internal").hardened()
	require.Equal(t, http.StatusOK, w.send("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n").read().status, "over the same connection")
}

// panicking is a provider whose adapter has a bug.
type panicking struct {
	provider.Provider
	before, after func()
}

func (p panicking) CreateIntent(ctx context.Context, key string, params provider.IntentParams) provider.Result {
	if p.before != nil {
		p.before()
	}
	result := p.Provider.CreateIntent(ctx, key, params)
	if p.after != nil {
		p.after()
	}
	return result
}

// succeeded is how many payments of an order the provider remembers.
func (b *bundle) succeeded(order string) (n int) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.simURL+"/_sim/audit", http.NoBody)
	require.NoError(b.t, err)
	got, err := http.DefaultClient.Do(r)
	require.NoError(b.t, err)
	defer got.Body.Close()
	var audit struct {
		References []struct {
			Reference string `json:"reference"`
			Succeeded int    `json:"succeeded"`
		} `json:"references"`
	}
	require.NoError(b.t, json.NewDecoder(got.Body).Decode(&audit))
	for _, of := range audit.References {
		if of.Reference == order {
			n += of.Succeeded
		}
	}
	return n
}
