// Package repository is the only place with SQL, and the only importer of sqlx and lib/pq.
//
// Reads are methods of [Reader] and exist on both [Store] and [Tx]. Writes exist only on [*Tx], so a write outside a
// transaction does not compile. That is not a matter of taste: database/sql silently repeats an autocommit statement
// when the driver reports a broken connection, and the first run may well have been committed.
//
// Transactions are READ COMMITTED. Correctness comes from unique constraints, from INSERT ... ON CONFLICT DO NOTHING
// followed by SELECT ... FOR UPDATE, and from compare-and-set updates; a reader can point at the line that protects the
// money. Locks are always taken in this order, so that transactions cannot deadlock: idempotency key, cart, order,
// charge, stock by product id.
//
// The package knows no provider, no HTTP and no rule of business beyond what a statement must compare.
package repository
