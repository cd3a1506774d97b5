package api

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"
	"go.yaml.in/yaml/v3"
)

// openapiYAML is the contract as data (OpenAPI 3.1), written by hand. The tests hold every exchange they see against it,
// and the reference and the pages of the problems are rendered from it, so there is one place that says what is true.
//
//go:embed openapi.yaml
var openapiYAML []byte

// The look and the scripts of the pages. They stand inside the pages, so that a page is one answer.
//
//go:embed docs
var docsFiles embed.FS

// contract is the parsed document. It is read when a page is asked for first: most processes never show one. A YAML parser
// is all the program needs for this; the libraries that know OpenAPI and JSON Schema check the document in the tests, and
// stay out of the binary.
var contract = sync.OnceValues(func() (*document, error) {
	d := new(document)
	if err := yaml.Unmarshal(openapiYAML, d); err != nil {
		return nil, fmt.Errorf("read openapi.yaml: %w", err)
	}
	return d, nil
})

// file is an answer that is the same for everybody until the program changes.
type file struct {
	kind, policy, etag string
	body               []byte
}

// newFile makes a file whose Content-Security-Policy lets a browser use what stands in it and load nothing.
func newFile(kind string, body []byte, inlined ...string) file {
	sum := sha256.Sum256(body)
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return file{kind: kind, policy: strings.Join(append([]string{policy}, inlined...), "; "), etag: `"` + hex.EncodeToString(sum[:8]) + `"`, body: body}
}

// inlined allows one text in a page by its hash. Whatever else somebody might get into the page does not run.
func inlined(directive, text string) string {
	sum := sha256.Sum256([]byte(text))
	return directive + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// serve writes a file, or nothing but a 304 when the caller has it already (RFC 9110, section 13.1.2). A copy is asked
// about before it is used: after an upgrade, nobody reads the old reference.
func serve(c echo.Context, f file) error {
	h := c.Response().Header()
	h.Set("ETag", f.etag)
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", f.policy)
	for _, known := range strings.Split(strings.Join(c.Request().Header.Values("If-None-Match"), ","), ",") {
		if known = strings.TrimPrefix(strings.TrimSpace(known), "W/"); known == f.etag || known == "*" {
			return c.NoContent(http.StatusNotModified)
		}
	}
	return c.Blob(http.StatusOK, f.kind, f.body)
}

var openapiFile = newFile("application/yaml", openapiYAML)

// openapi serves the document as it was written.
func (a *API) openapi(c echo.Context) error { return serve(c, openapiFile) }
