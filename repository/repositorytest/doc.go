// Package repositorytest gives each test a database of its own: migrated, empty, on a real PostgreSQL.
//
// The first test of a run starts a private server (see localpg) and migrates a template database, whose name holds the
// hash of the migrations; every test then gets a copy of it, which takes some forty milliseconds. Packages that are
// tested at the same time share server and template. With DATABASE_URL set that server is used instead, and its role
// needs the right to create databases.
//
// A package that uses it has one line more:
//
//	func TestMain(m *testing.M) { repositorytest.Main(m) }
package repositorytest
