package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"net/http"
	"path"
	"time"
)

// assets are the embedded pictures, styles and scripts by address. Only files have an address: folders are not listed.
type assets struct{ byURL map[string]asset }

type asset struct {
	body []byte
	kind string
	etag string
}

// mediaTypes is our own table, because the system's differs from machine to machine and a wrong type plus nosniff is a
// page without styles.
var mediaTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

func loadAssets() *assets {
	a := &assets{byURL: map[string]asset{}}
	err := fs.WalkDir(files, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := files.ReadFile(name)
		sum := sha256.Sum256(body)
		tag := base64.RawURLEncoding.EncodeToString(sum[:9])
		a.byURL["/"+name] = asset{body: body, kind: mediaTypes[path.Ext(name)], etag: tag}
		return err
	})
	if err != nil {
		panic("web: " + err.Error()) // an embedded file system does not fail
	}
	return a
}

// url is the address of a file with its version, so that browsers may keep it and still never show an old one.
func (a *assets) url(name string) string {
	return name + "?v=" + a.byURL[name].etag
}

func (a *assets) has(url string) bool {
	_, ok := a.byURL[url]
	return ok
}

// ServeHTTP implements http.Handler.
func (a *assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	file, ok := a.byURL[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", file.kind)
	h.Set("ETag", `"`+file.etag+`"`)
	h.Set("Cache-Control", "public, max-age=300")
	if r.URL.Query().Get("v") == file.etag {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file.body))
}
