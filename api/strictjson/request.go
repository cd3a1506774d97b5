package strictjson

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
)

// ErrMediaType says that a body is not plain JSON: another media type, none, two, another charset, or an encoding.
var ErrMediaType = errors.New("the body must be application/json, without any content encoding")

// ReadRequest reads a whole body of at most limit bytes. A larger one, chunked or not, gives an *http.MaxBytesError, and
// one that says so beforehand is not read at all. Other errors are those of the connection, wrapped.
//
// Only application/json is taken: a form or text/plain could have been sent by any web page without asking. An encoding is
// refused because a small body could unpack to a huge one.
func ReadRequest(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if !plainJSON(r.Header) {
		return nil, ErrMediaType
	}
	if r.ContentLength > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	return body, nil
}

func plainJSON(header http.Header) bool {
	if len(header.Values("Content-Encoding")) > 0 {
		return false
	}
	types := header.Values("Content-Type")
	if len(types) != 1 {
		return false
	}
	kind, params, err := mime.ParseMediaType(types[0])
	if err != nil || kind != "application/json" {
		return false
	}
	for name, text := range params {
		if name != "charset" || !strings.EqualFold(text, "utf-8") {
			return false
		}
	}
	return true
}
