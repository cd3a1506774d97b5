// Package repositorytest gives each test a database of its own: migrated, empty, on a real PostgreSQL.
//
// The first test of a run starts a private server (see localpg) and migrates a template database, whose name holds the
// hash of the migrations; every test then gets a copy of it, which takes some forty milliseconds. Packages that are
// tested at the same time share server and template. With DATABASE_URL set that server is used instead, and its role
// needs the right to create databases; one template per version of the schema stays there.
//
// When the tests end, everything else is deleted. To look into the database of a failed test, run it again with
// PAYONCE_TEST_KEEP=1: it then logs the psql line, and server and databases stay until the next run without the variable.
//
// A package that uses it has one line more:
//
//	func TestMain(m *testing.M) { repositorytest.Main(m) }
package repositorytest
