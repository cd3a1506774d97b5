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

// ReadRequest reads a whole body of at most limit bytes. A larger one, chunked or not, gives an *http.MaxBytesError.
// Only application/json is taken: a form or text/plain could have been sent by any web page without asking.
func ReadRequest(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	types := r.Header.Values("Content-Type")
	if len(types) != 1 {
		return nil, ErrMediaType
	}
	kind, params, err := mime.ParseMediaType(types[0])
	if err != nil || kind != "application/json" {
		return nil, ErrMediaType
	}
	for name, text := range params {
		if name != "charset" || !strings.EqualFold(text, "utf-8") {
			return nil, ErrMediaType
		}
	}
	for _, encoding := range r.Header.Values("Content-Encoding") {
		if !strings.EqualFold(encoding, "identity") {
			return nil, ErrMediaType
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	return body, nil
}
