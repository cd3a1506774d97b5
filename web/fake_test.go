package web_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
)

// fakeAPI plays the API by its contract, with state: keys that replay, carts that become orders, charges that are decided
// by their test card. It serves one call at a time, so of two twins the second always finds the first one's answer.
type fakeAPI struct {
	mu        sync.Mutex
	mux       *http.ServeMux
	products  []*fakeProduct
	carts     map[string]*fakeCart
	orders    map[string]*fakeOrder
	charges   []*fakeCharge          // oldest first
	timelines map[string][]fakeEntry // by order
	onCancel  func()                 // happens just before a charge is cancelled, when it is set
	kept      map[string]keptAnswer
	faults    map[string][]fault
	calls     []fakeCall
	made      int
}

// fakeCall is what one request of the shop looked like.
type fakeCall struct {
	Line, Key, Prefer, Body string
	Status                  int
}

// fault is what goes wrong with the next call of an operation: "status slug" is a refusal that does nothing.
type fault string

const (
	answerLost fault = "answer lost" // the work is done and nobody is told
	bankSilent fault = "bank silent" // the charge is left unknown
	down       fault = "503 provider-unavailable"
	crashed    fault = "500 internal"
	twinAtWork fault = "409 idempotency-key-in-progress"
	cardInText fault = "422 card-data-not-accepted"
)

type keptAnswer struct {
	fingerprint, requestID string
	status                 int
	body                   []byte
}

func newFakeAPI() *fakeAPI {
	f := &fakeAPI{mux: http.NewServeMux(), carts: map[string]*fakeCart{}, orders: map[string]*fakeOrder{}, timelines: map[string][]fakeEntry{},
		kept: map[string]keptAnswer{}, faults: map[string][]fault{}}
	f.routes()
	return f
}

func (f *fakeAPI) fail(operation string, faults ...fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults[operation] = append(f.faults[operation], faults...)
}

// RoundTrip implements http.RoundTripper.
func (f *fakeAPI) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	out := httptest.NewRecorder()
	out.Header().Set("Request-Id", f.id("req"))
	if r.Header.Get("Authorization") != "Bearer sk_test_shop" {
		f.problem(out, http.StatusUnauthorized, "unauthenticated", nil)
	} else {
		f.mux.ServeHTTP(out, r)
	}
	f.calls = append(f.calls, fakeCall{r.Method + " " + r.URL.RequestURI(), r.Header.Get("Idempotency-Key"), r.Header.Get("Prefer"), string(body), out.Code})
	if out.Header().Get("Lost") != "" {
		return nil, errors.New("connection reset by peer at 10.0.0.7:5432")
	}
	return out.Result(), nil
}

func (f *fakeAPI) id(prefix string) string {
	f.made++
	return prefix + "_" + strconv.Itoa(f.made)
}

func (f *fakeAPI) problem(w http.ResponseWriter, status int, slug string, extra map[string]any) {
	members := map[string]any{"type": "/problems/" + slug, "title": "Title", "status": status, "detail": "pq: internal detail of " + slug}
	for name, value := range extra {
		members[name] = value
	}
	w.Header().Set("Content-Type", "application/problem+json")
	f.write(w, status, members)
}

func (f *fakeAPI) write(w http.ResponseWriter, status int, object any) {
	w.WriteHeader(status)
	body, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(body)
}

// keyed runs an operation by the idempotency contract. The effect writes its answer into a recorder; 402, 409 and
// successes other than 202 are kept.
func (f *fakeAPI) keyed(operation string, effect func(http.ResponseWriter, *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		if key == "" {
			f.problem(w, http.StatusBadRequest, "idempotency-key-missing", nil)
			return
		}
		body, _ := io.ReadAll(r.Body)
		if lost := f.strike(operation, w); lost {
			return
		}
		fingerprint := r.URL.Path + string(body)
		kept, ok := f.kept[operation+" "+key]
		switch {
		case ok && kept.fingerprint != fingerprint:
			f.problem(w, http.StatusUnprocessableEntity, "idempotency-key-reused", nil)
		case ok:
			w.Header().Set("Idempotent-Replayed", "true")
			w.Header().Set("Original-Request", kept.requestID)
			w.WriteHeader(kept.status)
			_, _ = w.Write(kept.body)
		default:
			out := httptest.NewRecorder()
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			effect(out, r)
			if final := out.Code == 200 || out.Code == 201 || out.Code == 402 || out.Code == 409; final {
				f.kept[operation+" "+key] = keptAnswer{fingerprint, w.Header().Get("Request-Id"), out.Code, out.Body.Bytes()}
			}
			for name := range out.Header() {
				w.Header().Set(name, out.Header().Get(name))
			}
			w.WriteHeader(out.Code)
			_, _ = w.Write(out.Body.Bytes())
		}
	}
}

// strike plays the next fault of an operation; true means that the call ends here.
func (f *fakeAPI) strike(operation string, w http.ResponseWriter) bool {
	if len(f.faults[operation]) == 0 {
		return false
	}
	next := f.faults[operation][0]
	if next == bankSilent {
		return false // the charge itself takes it off
	}
	f.faults[operation] = f.faults[operation][1:]
	if next == answerLost {
		w.Header().Set("Lost", "yes")
		return false
	}
	var status int
	var slug string
	if _, err := fmt.Sscanf(string(next), "%d %s", &status, &slug); err != nil {
		panic(err)
	}
	switch status {
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "3")
	case http.StatusConflict:
		w.Header().Set("Retry-After", "1")
	}
	f.problem(w, status, slug, nil)
	return true
}

// transport is an API that gives every request the same treatment.
type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// answering is an API that answers everything alike, with one header.
func answering(status int, header, value string) transport {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{header: {value}}, Body: http.NoBody, Request: r}, nil
	}
}

// unreachable is an API behind a broken line.
func unreachable(*http.Request) (*http.Response, error) {
	return nil, errors.New("dial tcp 10.0.0.7:8080: connection refused")
}
