package repository_test

import (
	"strings"
	"testing"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"payonce/repository"
	"payonce/repository/repositorytest"
)

// The tests of this file walk through the whole schema, so that a table that is added later is held to the same rules.

// found lists what a query finds, one line each; the rules here are queries for what breaks them.
func found(t *testing.T, db *repositorytest.DB, query string) []string {
	t.Helper()
	var lines string
	db.Scan(t, &lines, `SELECT coalesce(string_agg(line, E'\n' ORDER BY line), '') FROM (`+query+`) AS x (line)`)
	if lines == "" {
		return nil
	}
	return strings.Split(lines, "\n")
}

// tables are the product's tables; tenant tables are those with a merchant_id.
const (
	tables = `SELECT c.oid, c.relname, c.relrowsecurity, c.relforcerowsecurity FROM pg_class c
		WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')`
	tenants = tables + ` AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'merchant_id' AND NOT a.attisdropped)`
	firstOf = `(SELECT a.attname FROM pg_attribute a WHERE a.attrelid = k.conrelid AND a.attnum = k.conkey[1])`
	of      = `k.conrelid IN (SELECT oid FROM (` + tenants + `) t)`

	// What the policy of merchants lets pass is the subject of other tests; here all are compared with it.
	rulePolicy = `SELECT t.relname FROM (` + tenants + `) t
		WHERE NOT (t.relrowsecurity AND t.relforcerowsecurity) OR NOT EXISTS (SELECT FROM pg_policies p
			WHERE p.schemaname = 'public' AND p.tablename = t.relname AND p.permissive = 'PERMISSIVE' AND p.cmd = 'ALL' AND p.roles = '{public}'
				AND p.qual = (SELECT q.qual FROM pg_policies q WHERE q.tablename = 'merchants') AND p.with_check = p.qual)`
	// A second policy would be an OR: it can only open the wall.
	ruleOnePolicy = `SELECT p.tablename FROM pg_policies p WHERE p.schemaname = 'public' GROUP BY 1 HAVING count(*) > 1`
	ruleKey       = `SELECT t.relname FROM (` + tenants + `) t WHERE NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = t.oid
		AND k.contype = 'p' AND ` + firstOf + ` = 'merchant_id')`
	ruleReference = `SELECT k.conname FROM pg_constraint k WHERE k.contype = 'f' AND ` + of + ` AND NOT (` + firstOf + ` = 'merchant_id'
		AND (SELECT a.attname FROM pg_attribute a WHERE a.attrelid = k.confrelid AND a.attnum = k.confkey[1]) = 'merchant_id')`
	ruleUnique = `SELECT i.relname FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
		WHERE x.indisunique AND x.indrelid IN (SELECT oid FROM (` + tenants + `) t) AND i.relname <> 'api_keys_one_secret_one_key'
			AND (SELECT a.attname FROM pg_attribute a WHERE a.attrelid = x.indrelid AND a.attnum = x.indkey[0]) <> 'merchant_id'`
	ruleView = `SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('v', 'm', 'f')`
	// What acts as its owner is as good as outside the wall.
	ruleDefiner = `SELECT p.proname FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef
		AND NOT (p.proname IN ('charges_remember', 'orders_remember') AND p.proconfig = '{"search_path=public, pg_temp"}')`

	granted = `SELECT g.table_name || ': ' || string_agg(g.privilege_type, ' ' ORDER BY g.privilege_type)
		FROM information_schema.role_table_grants g WHERE g.grantee IN ('payonce_app', 'PUBLIC') AND g.table_schema = 'public' GROUP BY g.table_name`
	grantedColumns = `SELECT c.table_name || '.' || c.column_name || ': ' || c.privilege_type FROM information_schema.column_privileges c
		WHERE c.grantee IN ('payonce_app', 'PUBLIC') AND c.table_schema = 'public' AND NOT EXISTS (SELECT FROM information_schema.role_table_grants g
			WHERE g.grantee = c.grantee AND g.table_schema = 'public' AND g.table_name = c.table_name AND g.privilege_type = c.privilege_type)`
	grantedElse = `SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND
			CASE c.relkind WHEN 'S' THEN has_sequence_privilege('payonce_app', c.oid, 'USAGE, SELECT, UPDATE') END
		UNION ALL SELECT 'CREATE in the schema' WHERE has_schema_privilege('payonce_app', 'public', 'CREATE')
		UNION ALL SELECT m.roleid::regrole::text FROM pg_auth_members m WHERE m.member = 'payonce_app'::regrole`
)

func TestWall_StandsAroundEveryTableOfAMerchant(t *testing.T) {
	t.Parallel()
	db := repositorytest.New(t)
	require.Greater(t, len(found(t, db, `SELECT relname FROM (`+tenants+`) t`)), 12)
	for says, rule := range map[string]string{
		"a table with a merchant_id needs the policy merchants_own, and row-level security enabled and forced": rulePolicy,
		"one policy is the wall; a second one would open it":                                                   ruleOnePolicy,
		"a primary key begins with merchant_id":                                                                ruleKey,
		"a foreign key of a merchant's table begins with merchant_id on both sides":                            ruleReference,
		"a unique constraint begins with merchant_id":                                                          ruleUnique,
		"a view reads as its owner, outside the wall":                                                          ruleView,
		"a function that acts as its owner is outside the wall":                                                ruleDefiner,
	} {
		require.Empty(t, found(t, db, rule), says)
	}
	require.Equal(t, []string{"legal_moves", "provider_pace", "schema_migrations"}, found(t, db, `SELECT relname FROM (`+tables+`) t
		WHERE relname NOT IN (SELECT relname FROM (`+tenants+`) x)`), "every other table holds a merchant's data and needs a merchant_id")
}

func TestWall_RulesCatchWhatTheyForbid(t *testing.T) {
	t.Parallel()
	const walled = `CREATE TABLE bad (merchant_id text, x text, PRIMARY KEY (merchant_id, x));
		ALTER TABLE bad ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
		CREATE POLICY merchants_own ON bad USING (current_setting('payonce.merchant', true) IN (merchant_id, '*'))
			WITH CHECK (current_setting('payonce.merchant', true) IN (merchant_id, '*'));`
	for situation, row := range map[string]struct{ rule, made, caught string }{
		"as it should be":              {rulePolicy, walled, ""},
		"no policy":                    {rulePolicy, `CREATE TABLE bad (merchant_id text)`, "bad"},
		"not enabled":                  {rulePolicy, walled + `ALTER TABLE bad DISABLE ROW LEVEL SECURITY`, "bad"},
		"not forced":                   {rulePolicy, walled + `ALTER TABLE bad NO FORCE ROW LEVEL SECURITY`, "bad"},
		"reads only":                   {rulePolicy, walled + `DROP POLICY merchants_own ON bad; CREATE POLICY p ON bad FOR SELECT USING (true)`, "bad"},
		"another condition":            {rulePolicy, walled + `ALTER POLICY merchants_own ON bad USING (true)`, "bad"},
		"another condition for writes": {rulePolicy, walled + `ALTER POLICY merchants_own ON bad WITH CHECK (true)`, "bad"},
		"a second policy":              {ruleOnePolicy, walled + `CREATE POLICY p ON bad USING (true)`, "bad"},
		"a key without a merchant":     {ruleKey, `CREATE TABLE bad (merchant_id text, x text PRIMARY KEY)`, "bad"},
		"a merchant that comes second": {ruleKey, `CREATE TABLE bad (merchant_id text, x text, PRIMARY KEY (x, merchant_id))`, "bad"},
		"a reference without a merchant": {ruleReference, `CREATE TABLE aim (merchant_id text, x text UNIQUE);
			CREATE TABLE bad (merchant_id text, x text CONSTRAINT bad_x REFERENCES aim (x))`, "bad_x"},
		"a unique column":            {ruleUnique, `CREATE TABLE bad (merchant_id text, x text CONSTRAINT bad_x UNIQUE)`, "bad_x"},
		"a view":                     {ruleView, `CREATE VIEW bad AS SELECT * FROM orders`, "bad"},
		"a function as its owner":    {ruleDefiner, `CREATE FUNCTION bad() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'`, "bad"},
		"a right on a sequence":      {grantedElse, `CREATE SEQUENCE bad; GRANT USAGE ON SEQUENCE bad TO payonce_app`, "bad"},
		"a right for everybody":      {granted, `CREATE TABLE bad (); GRANT SELECT ON bad TO PUBLIC`, "bad: SELECT"},
		"a right on a single column": {grantedColumns, `GRANT UPDATE (role) ON api_keys TO payonce_app`, "api_keys.role: UPDATE"},
	} {
		t.Run(situation, func(t *testing.T) {
			t.Parallel()
			db := repositorytest.New(t)
			db.Exec(t, row.made)
			if row.caught == "" {
				require.Empty(t, found(t, db, row.rule))
				return
			}
			require.Contains(t, found(t, db, row.rule), row.caught)
		})
	}
}

func TestWall_TheProductMayDoWhatItDoesAndNoMore(t *testing.T) {
	t.Parallel()
	db := repositorytest.New(t)
	const read, add, change, all = "SELECT", "INSERT SELECT", "INSERT SELECT UPDATE", "DELETE INSERT SELECT UPDATE"
	require.Equal(t, []string{
		"api_keys: " + add, // and see below
		"cart_items: " + all,
		"carts: " + change,
		"charge_history: " + read, // the trigger writes it
		"charge_requests: " + add, // a history
		"charges: " + change,
		"idempotency_keys: " + all, // the purge deletes tombstones
		"legal_moves: " + read,
		"merchants: " + add,
		"order_history: " + read, // the trigger writes it
		"order_items: " + add,    // frozen
		"orders: " + change,
		"prices: DELETE INSERT SELECT",
		"products: " + change,
		"provider_calls: " + change, // answers come later
		"provider_pace: " + change,
		"provider_sendings: " + add, // a history
		"schema_migrations: " + read,
		"stock: " + change,
		"stock_moves: " + add, // a history
	}, found(t, db, granted))
	require.Equal(t, []string{"api_keys.revoked_at: UPDATE"}, found(t, db, grantedColumns))
	require.Empty(t, found(t, db, grantedElse))
}

func TestWall_TheHistoryOfAChargeIsWrittenByTheDatabaseAlone(t *testing.T) {
	t.Parallel()
	db := shop(t)
	before := db.Count(t, `SELECT count(*) FROM charge_history`)
	act := func(statement string) error {
		return db.Store.InTx(asA(t), func(tx *repository.Tx) error { return tx.ExecForTest(asA(t), statement) })
	}
	require.NoError(t, act(`UPDATE charges SET status = 'unknown', version = version + 1`))
	require.Equal(t, before+1, db.Count(t, `SELECT count(*) FROM charge_history`))
	for _, statement := range []string{
		`INSERT INTO charge_history VALUES ('mrc_a', 'chg_1', 99, 'succeeded', 'operator', now())`,
		`UPDATE charge_history SET status = 'succeeded'`,
		`DELETE FROM charge_history`,
	} {
		refusal := pq.As(act(statement))
		require.NotNil(t, refusal, statement)
		require.Equal(t, "permission denied for table charge_history", refusal.Message)
	}
}
