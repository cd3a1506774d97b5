package strictjson_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/api/strictjson"
)

func request(t *testing.T, body io.Reader, length int64, headers http.Header) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", body)
	r.Header, r.ContentLength = headers, length
	return r
}

var plain = http.Header{"Content-Type": {"application/json"}}

func TestReadRequest_MediaTypes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		situation string
		headers   http.Header
		ok        bool
	}{
		{"plain", plain, true},
		{"in another case", http.Header{"Content-Type": {"Application/JSON"}}, true},
		{"with the charset it has anyway", http.Header{"Content-Type": {"application/json; charset=UTF-8"}}, true},
		{"with the charset in quotes", http.Header{"Content-Type": {`application/json;charset="utf-8"`}}, true},
		{"identity is an encoding too", http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"Identity"}}, false},
		{"no type", nil, false},
		{"an empty type", http.Header{"Content-Type": {""}}, false},
		{"two types", http.Header{"Content-Type": {"application/json", "application/json"}}, false},
		{"two types in one line", http.Header{"Content-Type": {"application/json, application/json"}}, false},
		{"text/plain, as any web page can send it", http.Header{"Content-Type": {"text/plain"}}, false},
		{"a form", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, false},
		{"a longer name", http.Header{"Content-Type": {"application/jsonp"}}, false},
		{"a JSON of some kind", http.Header{"Content-Type": {"application/json-patch+json"}}, false},
		{"another charset", http.Header{"Content-Type": {"application/json; charset=utf-16"}}, false},
		{"two charsets", http.Header{"Content-Type": {"application/json; charset=utf-8; charset=utf-16"}}, false},
		{"another parameter", http.Header{"Content-Type": {"application/json; profile=utf-8"}}, false},
		{"compressed", http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}}, false},
		{"compressed after identity", http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"identity", "br"}}, false},
		{"compressed after identity in one line", http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"identity, gzip"}}, false},
	} {
		t.Run(row.situation, func(t *testing.T) {
			t.Parallel()
			body, err := strictjson.ReadRequest(httptest.NewRecorder(), request(t, strings.NewReader("{}"), 2, row.headers), 10)
			if row.ok {
				require.NoError(t, err)
				require.Equal(t, "{}", string(body))
				return
			}
			require.ErrorIs(t, err, strictjson.ErrMediaType)
		})
	}
}

func TestReadRequest_Sizes(t *testing.T) {
	t.Parallel()
	const limit, chunked = 10, -1
	for _, row := range []struct {
		situation    string
		size, length int64
		ok           bool
	}{
		{"exactly the limit", limit, limit, true},
		{"exactly the limit in chunks", limit, chunked, true},
		{"one more", limit + 1, limit + 1, false},
		{"one more in chunks", limit + 1, chunked, false},
		{"nothing", 0, 0, true},
	} {
		t.Run(row.situation, func(t *testing.T) {
			t.Parallel()
			sent := strings.Repeat(" ", int(row.size))
			body, err := strictjson.ReadRequest(httptest.NewRecorder(), request(t, strings.NewReader(sent), row.length, plain), limit)
			if row.ok {
				require.NoError(t, err)
				require.Equal(t, sent, string(body))
				return
			}
			var large *http.MaxBytesError
			require.ErrorAs(t, err, &large)
			require.EqualValues(t, limit, large.Limit)
		})
	}
}

type unreadable struct{ err error }

func (u unreadable) Read([]byte) (int, error) { return 0, u.err }

func TestReadRequest_TooLargeByItsOwnWordIsNotRead(t *testing.T) {
	t.Parallel()
	body := unreadable{errors.New("was read")}
	_, err := strictjson.ReadRequest(httptest.NewRecorder(), request(t, body, 11, plain), 10)
	var large *http.MaxBytesError
	require.ErrorAs(t, err, &large)
}

func TestReadRequest_BrokenConnectionIsTold(t *testing.T) {
	t.Parallel()
	_, err := strictjson.ReadRequest(httptest.NewRecorder(), request(t, unreadable{io.ErrUnexpectedEOF}, 5, plain), 10)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NotErrorIs(t, err, strictjson.ErrMediaType)
}
