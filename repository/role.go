package repository

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// appRole is the database role that the product acts as. It owns nothing and may not ignore policies, as owners and
// superusers may; the migrations say what it may do.
const appRole = "payonce_app"

// makeRole makes appRole unless it exists, and lets whoever migrates take it. A role belongs to the whole server and not
// to a database, so it may be there already, or another database's migration may make it at this moment. That is also
// why it is not made by a numbered migration, which would end broken off where the right to make roles is missing.
func makeRole(ctx context.Context, conn *sql.Conn) error {
	err := unless(ctx, conn, `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = '`+appRole+`')`, `CREATE ROLE `+appRole+` NOLOGIN`)
	if err == nil {
		err = unless(ctx, conn, `SELECT pg_has_role('`+appRole+`',
			CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END)`, `GRANT `+appRole+` TO CURRENT_USER`)
	}
	if pq.As(err, pqerror.InsufficientPrivilege) != nil {
		var user string
		if err := conn.QueryRowContext(ctx, `SELECT quote_ident(current_user)`).Scan(&user); err != nil {
			return fmt.Errorf("read the user's name: %w", err)
		}
		return fmt.Errorf("role %[1]s is missing or not granted to %[2]s, who may not change that: as a superuser run CREATE ROLE %[1]s NOLOGIN (unless it exists) and GRANT %[1]s TO %[2]s", appRole, user)
	}
	if err != nil {
		return fmt.Errorf("make role %s: %w", appRole, err)
	}
	var tooMuch bool
	err = conn.QueryRowContext(ctx, `SELECT rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = $1`, appRole).Scan(&tooMuch)
	if err == nil && tooMuch {
		err = fmt.Errorf("it could pass the wall between merchants: as a superuser run ALTER ROLE %s NOSUPERUSER NOBYPASSRLS NOCREATEROLE NOCREATEDB", appRole)
	}
	if err != nil {
		return fmt.Errorf("look at role %s: %w", appRole, err)
	}
	return nil
}

// unless runs a statement unless what it is for is there; it may also appear at this moment.
func unless(ctx context.Context, conn *sql.Conn, there, statement string) error {
	var found bool
	if err := conn.QueryRowContext(ctx, there).Scan(&found); err != nil || found {
		return err
	}
	_, err := conn.ExecContext(ctx, statement)
	if pq.As(err, pqerror.DuplicateObject, pqerror.UniqueViolation) != nil {
		return nil //nolint:nilerr // somebody else was faster
	}
	return err
}
