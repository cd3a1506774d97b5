package api

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"runtime/debug"
	"time"

	"github.com/labstack/echo/v4"

	"payonce/domain"
)

// Observation is what is worth counting about one request. It holds no id, key or path, so that whoever counts by it
// has a bounded number of things to count.
type Observation struct {
	Method   string // as it was sent, which may be anything
	Route    string // the pattern, such as /v1/orders/:id; empty when none matches
	Status   int
	Problem  domain.Code // of a refusal or failure; empty for the answer of a keyed operation, which is kept, even when it refuses
	Replayed bool        // the answer was stored by an earlier request
	Panicked bool
	Duration time.Duration
}

// What the middlewares keep for each other.
const (
	requestIDKey = "request_id"
	clientKey    = "client"
	problemKey   = "problem"
	panicKey     = "panic"
)

func requestIDOf(c echo.Context) string {
	id, _ := c.Get(requestIDKey).(string)
	return id
}

func clientOf(c echo.Context) netip.Addr {
	client, _ := c.Get(clientKey).(netip.Addr)
	return client
}

// identify gives each request a fresh id and finds out where it comes from. The id is for tracing and never a key, so a
// caller's own header is not taken over.
func (a *API) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := a.newID("req")
		c.Set(requestIDKey, id)
		c.Set(clientKey, a.proxies.client(c.Request()))
		c.Response().Header().Set("Request-Id", id)
		return next(c)
	}
}

// observe writes one line per request. The route's pattern is logged instead of the path, which holds ids, and neither
// the query nor any header is.
func (a *API) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := a.now()
		err := next(c)
		if err != nil {
			c.Error(err) // writes the problem now, so that its status is logged
		}
		seen := Observation{
			Method: c.Request().Method, Route: c.Path(), Status: c.Response().Status,
			Replayed: c.Response().Header().Get("Idempotent-Replayed") == "true", Duration: a.now().Sub(start),
		}
		seen.Problem, _ = c.Get(problemKey).(domain.Code)
		seen.Panicked, _ = c.Get(panicKey).(bool)
		a.log.InfoContext(c.Request().Context(), "request", "request_id", requestIDOf(c), "client", clientOf(c), "method", loggedMethod(seen.Method), "route", seen.Route,
			"status", seen.Status, "replayed", seen.Replayed, "duration_ms", seen.Duration.Milliseconds())
		a.observer(seen)
		return nil
	}
}

// loggedMethod keeps words that somebody has made up for a method out of the log: they may be anything.
func loggedMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	default:
		return "other"
	}
}

// survive turns a panic into a 500 for this one request. When the answer has begun, the connection is cut instead: what
// was written must not pass for the whole.
func (a *API) survive(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares this sentinel in the same way
					panic(p)
				}
				a.log.ErrorContext(c.Request().Context(), "panic", "request_id", requestIDOf(c), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				c.Set(panicKey, true)
				if c.Response().Committed {
					a.observer(Observation{Method: c.Request().Method, Route: c.Path(), Status: c.Response().Status, Panicked: true})
					panic(http.ErrAbortHandler)
				}
				err = errors.New("panic in a handler")
			}
		}()
		return next(c)
	}
}
