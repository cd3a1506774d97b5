package repository_test

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"testing"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/repository"
	"payonce/repository/repositorytest"
)

// twoMerchants is a database in which mrc_a and mrc_b each have a product, a cart, an API key and an order with a charge.
func twoMerchants(t *testing.T, options ...func(*repository.Options)) *repositorytest.DB {
	t.Helper()
	db := shop(t, options...)
	for _, statement := range []string{
		`INSERT INTO carts VALUES ('mrc_a', 'cart_1', 'EUR', '{}', now(), now()), ('mrc_b', 'cart_2', 'EUR', '{}', now(), now())`,
		`INSERT INTO products VALUES ('mrc_b', 'prd_2', 'mug', 'Mug of B', '', '', true, '{}', now(), now())`,
		`INSERT INTO stock VALUES ('mrc_b', 'prd_2', 5, 0)`,
		`INSERT INTO api_keys VALUES ('mrc_a', 'key_a', sha256('secret a'), 'write', now()), ('mrc_b', 'key_b', sha256('secret b'), 'read', now())`,
	} {
		db.Exec(t, statement)
	}
	return db
}

func asA(t *testing.T) context.Context { return repository.AsMerchant(t.Context(), "mrc_a") }

// forgetful asks for a cart as a query does that compares the id and forgets the merchant.
func forgetful(ctx context.Context, store *repository.Store, query string) (n int, err error) {
	err = store.InTx(ctx, func(tx *repository.Tx) error {
		n, err = tx.CountForTest(ctx, query)
		return err
	})
	return n, err
}

func TestScope_QueryThatForgetsTheMerchant_SeesItsOwnRowsOnly(t *testing.T) {
	t.Parallel()
	db := twoMerchants(t)
	for _, table := range []string{"merchants", "products", "stock", "carts", "api_keys"} {
		all := db.Count(t, `SELECT count(*) FROM `+table)
		require.Equal(t, 2, all, table)
		for ctx, sees := range map[context.Context]int{
			asA(t): 1, repository.AsMerchant(t.Context(), "mrc_b"): 1,
			repository.AsMerchant(t.Context(), "mrc_nobody"): 0, repository.AsSystem(t.Context()): 2,
		} {
			n, err := forgetful(ctx, db.Store, `SELECT count(*) FROM `+table)
			require.NoError(t, err)
			require.Equal(t, sees, n, table)
		}
	}
	n, err := forgetful(asA(t), db.Store, `SELECT count(*) FROM carts WHERE cart_id = 'cart_2'`)
	require.NoError(t, err)
	require.Zero(t, n)
}

func TestScope_WrongMerchantInTheArguments_IsNotFound(t *testing.T) {
	t.Parallel()
	db := twoMerchants(t)
	_, err := db.Store.Cart(asA(t), "mrc_b", "cart_2")
	require.Equal(t, domain.CodeNotFound, domain.CodeOf(err))
	products, _, err := db.Store.ListProducts(asA(t), "mrc_b", repository.Page{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, products)
	err = db.Store.InTx(asA(t), func(tx *repository.Tx) error { return tx.DeleteCartItem(asA(t), "mrc_b", "cart_2", "prd_2") })
	require.ErrorIs(t, err, repository.ErrStale, "its cart cannot be touched")
	_, err = db.Store.Cart(asA(t), "mrc_a", "cart_1")
	require.NoError(t, err)
}

func TestScope_WriteForAnotherMerchant_IsRefused(t *testing.T) {
	t.Parallel()
	db := twoMerchants(t)
	for situation, write := range map[string]func(context.Context, *repository.Tx) error{
		"insert": func(ctx context.Context, tx *repository.Tx) error {
			return tx.InsertCart(ctx, domain.Cart{MerchantID: "mrc_b", ID: "cart_3", Currency: domain.EUR, Metadata: map[string]string{}})
		},
		"a key to their shop": func(ctx context.Context, tx *repository.Tx) error {
			return tx.EnsureAPIKey(ctx, domain.APIKey{MerchantID: "mrc_b", ID: "key_c", Role: domain.RoleOperator}, "secret c")
		},
		"an update that gives a row away": func(ctx context.Context, tx *repository.Tx) error {
			return tx.ExecForTest(ctx, `UPDATE carts SET merchant_id = 'mrc_b' WHERE cart_id = 'cart_1'`)
		},
	} {
		err := db.Store.InTx(asA(t), func(tx *repository.Tx) error { return write(asA(t), tx) })
		refusal := pq.As(err)
		require.NotNil(t, refusal, situation)
		require.Contains(t, refusal.Message, "row-level security", situation)
	}
	for statement, changed := range map[string]string{
		`UPDATE carts SET currency = 'USD'`:      `SELECT count(*) FROM carts WHERE merchant_id = 'mrc_b' AND currency = 'USD'`,
		`UPDATE api_keys SET revoked_at = now()`: `SELECT count(*) FROM api_keys WHERE merchant_id = 'mrc_b' AND revoked_at IS NOT NULL`,
	} {
		require.NoError(t, db.Store.InTx(asA(t), func(tx *repository.Tx) error { return tx.ExecForTest(asA(t), statement) }))
		require.Zero(t, db.Count(t, changed), statement)
	}
}

func TestScope_None_NothingIsReadOrWritten(t *testing.T) {
	t.Parallel()
	db := twoMerchants(t)
	for situation, ctx := range map[string]context.Context{
		"no scope":              t.Context(),
		"no merchant":           repository.AsMerchant(t.Context(), ""),
		"no merchant's id":      repository.AsMerchant(t.Context(), "ord_1"),
		"an id that goes on":    repository.AsMerchant(t.Context(), "mrc_a'; SET LOCAL payonce.merchant = '*"),
		"an id with a line":     repository.AsMerchant(t.Context(), "mrc_a\n"),
		"everybody, as an id":   repository.AsMerchant(asA(t), "*"),
		"a merchant, widened":   repository.AsSystem(asA(t)),
		"a merchant, exchanged": repository.AsMerchant(asA(t), "mrc_b"),
	} {
		ran := false
		err := db.Store.InTx(ctx, func(*repository.Tx) error { ran = true; return nil })
		require.ErrorIs(t, err, repository.ErrScope, situation)
		require.False(t, ran, situation)
		require.False(t, repository.Unavailable(err), "a mistake in the program does not go away by asking again")
		_, err = db.Store.Cart(ctx, "mrc_a", "cart_1")
		require.ErrorIs(t, err, repository.ErrScope, situation)
		_, err = db.Store.APIKeys(ctx, "")
		require.ErrorIs(t, err, repository.ErrScope, situation)
	}
	require.Zero(t, db.Store.InUse())
	_, err := db.Store.Cart(repository.AsMerchant(repository.AsSystem(t.Context()), "mrc_a"), "mrc_a", "cart_1")
	require.NoError(t, err, "the system's scope can be narrowed")
	_, err = db.Store.Cart(repository.AsMerchant(asA(t), "mrc_a"), "mrc_a", "cart_1")
	require.NoError(t, err, "to be oneself is no change")
}

// visible is how many carts a statement sees that runs on the pool's only connection and in no transaction.
func visible(t *testing.T, db *repositorytest.DB) int {
	t.Helper()
	n, err := db.Store.CountOnPoolForTest(t.Context(), `SELECT count(*) FROM carts`)
	require.NoError(t, err)
	return n
}

func TestScope_NeverReachesTheNextUserOfTheConnection(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	for situation, use := range map[string]func(*testing.T, *repositorytest.DB, context.Context){
		"commit": func(t *testing.T, db *repositorytest.DB, ctx context.Context) {
			require.NoError(t, db.Store.InTx(ctx, func(*repository.Tx) error { return nil }))
		},
		"error": func(t *testing.T, db *repositorytest.DB, ctx context.Context) {
			require.ErrorIs(t, db.Store.InTx(ctx, func(*repository.Tx) error { return refused }), refused)
		},
		"statement that fails": func(t *testing.T, db *repositorytest.DB, ctx context.Context) {
			require.Error(t, db.Store.InTx(ctx, func(tx *repository.Tx) error { return tx.ExecForTest(ctx, `SELECT 1/0`) }))
		},
		"failure that is not told": func(t *testing.T, db *repositorytest.DB, ctx context.Context) {
			require.Error(t, db.Store.InTx(ctx, func(tx *repository.Tx) error { _ = tx.ExecForTest(ctx, `SELECT 1/0`); return nil }))
		},
		"panic": func(t *testing.T, db *repositorytest.DB, ctx context.Context) {
			require.Panics(t, func() { _ = db.Store.InTx(ctx, func(*repository.Tx) error { panic("bug") }) })
		},
		"hang-up": func(t *testing.T, db *repositorytest.DB, ctx context.Context) {
			ctx, hangUp := context.WithCancel(ctx)
			require.Error(t, db.Store.InTx(ctx, func(tx *repository.Tx) error {
				hangUp()
				return tx.ExecForTest(ctx, `SELECT pg_sleep(1)`)
			}))
		},
		"read": func(t *testing.T, db *repositorytest.DB, ctx context.Context) {
			_, err := db.Store.Cart(ctx, "mrc_a", "cart_1")
			require.NoError(t, err)
		},
		"read that finds nothing": func(t *testing.T, db *repositorytest.DB, ctx context.Context) {
			_, err := db.Store.Cart(ctx, "mrc_a", "cart_9")
			require.Error(t, err)
		},
		"authentication": func(t *testing.T, db *repositorytest.DB, ctx context.Context) {
			_, err := db.Store.CallerBySecret(ctx, "secret a")
			require.NoError(t, err)
			require.Zero(t, visible(t, db))
			_, err = db.Store.CallerBySecret(ctx, "secret x")
			require.Error(t, err)
		},
		"lost connection": func(t *testing.T, db *repositorytest.DB, ctx context.Context) {
			require.Error(t, db.Store.InTx(ctx, func(tx *repository.Tx) error {
				db.Exec(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'payonce'`)
				_, err := tx.Cart(ctx, "mrc_a", "cart_1")
				return err
			}))
		},
	} {
		t.Run(situation, func(t *testing.T) {
			t.Parallel()
			db := twoMerchants(t, func(o *repository.Options) { o.MaxConns = 1 })
			for _, ctx := range []context.Context{asA(t), repository.AsSystem(t.Context())} {
				use(t, db, ctx)
				require.Zero(t, visible(t, db), "without a transaction there is no scope")
				n, err := forgetful(repository.AsMerchant(t.Context(), "mrc_b"), db.Store, `SELECT count(*) FROM carts WHERE merchant_id = 'mrc_a'`)
				require.NoError(t, err)
				require.Zero(t, n, "the next transaction has its own")
			}
		})
	}
}

func TestScope_ManyAtOnce_EachSeesItsOwn(t *testing.T) {
	t.Parallel()
	db := twoMerchants(t, func(o *repository.Options) { o.MaxConns = 3 })
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			mine, theirs := "mrc_a", "mrc_b"
			if i%2 == 1 {
				mine, theirs = theirs, mine
			}
			for range 20 {
				n, err := forgetful(repository.AsMerchant(t.Context(), mine), db.Store, `SELECT count(*) FROM carts WHERE merchant_id = '`+theirs+`'`)
				if err != nil || n != 0 {
					t.Errorf("%s saw %d carts of %s: %v", mine, n, theirs, err)
				}
			}
		})
	}
	all.Wait()
}

func TestScope_ConnectionsActAsARoleThatPoliciesBind(t *testing.T) {
	t.Parallel()
	db := repositorytest.New(t)
	n, err := db.Store.CountOnPoolForTest(t.Context(), `SELECT count(*) FROM pg_roles
		WHERE rolname = current_user AND rolname = 'payonce_app' AND NOT (rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolcanlogin)`)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	n, err = db.Store.CountOnPoolForTest(t.Context(), `SELECT count(*) FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND pg_has_role(c.relowner, 'MEMBER')`)
	require.NoError(t, err)
	require.Zero(t, n, "it owns nothing")
}

func TestScope_AddressThatAsksForAnotherRoleOrScope_IsNotFollowed(t *testing.T) {
	t.Parallel()
	db := twoMerchants(t)
	config, err := pq.NewConfig(db.URL)
	require.NoError(t, err)
	for _, more := range []string{
		"&role=" + config.User + "&payonce.merchant=*",
		"&options=" + url.QueryEscape("-c role="+config.User+" -c payonce.merchant=*"),
	} {
		store, err := repository.Open(repository.Options{URL: db.URL + more})
		require.NoError(t, err)
		defer store.Close()
		n, err := store.CountOnPoolForTest(t.Context(), `SELECT count(*) FROM carts`)
		require.NoError(t, err)
		require.Zero(t, n, more)
	}
}
