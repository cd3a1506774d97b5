// Package migrations holds the schema as numbered pairs of SQL files, embedded in the binary. Each file is one
// transaction. What is here has been run somewhere and never changes; a change of the schema is a new pair.
package migrations

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// FS holds the files, named NNNNNN_what.up.sql and NNNNNN_what.down.sql.
//
//go:embed *.sql
var FS embed.FS

// Latest is the version of the newest migration, which is what this program needs of a database.
func Latest() uint {
	var latest uint64
	for _, name := range names() {
		number, _, _ := strings.Cut(name, "_")
		n, err := strconv.ParseUint(number, 10, 32)
		if err != nil {
			panic(fmt.Sprintf("migrations: %s has no number", name))
		}
		latest = max(latest, n)
	}
	return uint(latest)
}

// Hash names the schema: the SHA-256 over all file names and contents, in hex.
func Hash() string {
	sum := sha256.New()
	for _, name := range names() {
		text, err := FS.ReadFile(name)
		if err != nil {
			panic("migrations: an embedded file cannot be read: " + err.Error())
		}
		fmt.Fprintf(sum, "%d %s %d\n", len(name), name, len(text))
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// names lists the files in the order of their names.
func names() []string {
	files, err := fs.Glob(FS, "*.sql")
	if err != nil {
		panic("migrations: " + err.Error()) // only a malformed pattern can fail
	}
	return files
}
