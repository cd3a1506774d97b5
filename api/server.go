package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/labstack/echo/v4"

	"payonce/domain"
	"payonce/payment"
	"payonce/repository"
)

const (
	// maxBody is the largest body in bytes, read in full before it is looked at.
	maxBody = 64 << 10
	// maxHeaders is the largest sum of the request line and all headers, in bytes. The server in front must let more
	// through, or it answers by itself, without a problem that says so.
	maxHeaders = 16 << 10
	// requestBudget bounds everything a request may wait for before its key is claimed; it exceeds the longest wait a
	// caller can ask for with Prefer. What runs after the claim has its own, detached budget.
	requestBudget = 15 * time.Second
	retryAfter    = time.Second
)

// Options are what the interface works with.
type Options struct {
	Payments      *payment.Service
	SchemaVersion uint // what /readyz expects of the database
}

// API is the HTTP interface.
type API struct {
	store    *repository.Store
	payments *payment.Service
	log      *slog.Logger
	newID    func(prefix string) string
	schema   uint
	echo     *echo.Echo
}

// New builds the interface. It is an http.Handler with every route of the table.
func New(o Options) *API {
	a := &API{store: o.Payments.Store, payments: o.Payments, log: o.Payments.Log, newID: o.Payments.NewID, schema: o.SchemaVersion, echo: echo.New()}
	a.echo.HTTPErrorHandler = a.fail
	// Nobody's word is taken for the caller's address: an X-Forwarded-For is only as true as whoever sends it.
	a.echo.IPExtractor = echo.ExtractIPDirect()
	a.echo.Pre(a.identify, a.observe, a.survive, headers, smallHeaders, budget)
	for _, r := range a.routes() {
		a.echo.Add(r.method, r.path, a.guard(r))
	}
	return a
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.echo.ServeHTTP(w, r) }

const requestIDKey = "request_id"

func requestIDOf(c echo.Context) string {
	id, _ := c.Get(requestIDKey).(string)
	return id
}

// identify gives each request a fresh id. It is for tracing and never a key, so a caller's own header is not taken over.
func (a *API) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := a.newID("req")
		c.Set(requestIDKey, id)
		c.Response().Header().Set("Request-Id", id)
		return next(c)
	}
}

// observe writes one line per request. The route's pattern is logged instead of the path, which holds ids, and neither
// the query nor any header is.
func (a *API) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now() //nolint:forbidigo // measures a duration, which is no business time
		err := next(c)
		if err != nil {
			c.Error(err) // writes the problem now, so that its status is logged
		}
		a.log.InfoContext(c.Request().Context(), "request", "request_id", requestIDOf(c), "method", c.Request().Method, "route", c.Path(),
			"status", c.Response().Status, "replayed", c.Response().Header().Get("Idempotent-Replayed") == "true",
			"duration_ms", time.Since(start).Milliseconds()) //nolint:forbidigo // as above
		return nil
	}
}

// survive turns a panic into a 500 for this one request.
func (a *API) survive(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares this sentinel in the same way
					panic(p)
				}
				a.log.ErrorContext(c.Request().Context(), "panic", "request_id", requestIDOf(c), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				err = errors.New("panic in a handler")
			}
		}()
		return next(c)
	}
}

// headers keeps browsers from doing anything with an answer but show it to the program that asked.
func headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		return next(c)
	}
}

func smallHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		size := len(r.Method) + len(r.RequestURI) + len(r.Host)
		for name, values := range r.Header {
			for _, value := range values {
				size += len(name) + len(value) + len(": \r\n")
			}
		}
		if size > maxHeaders {
			return domain.E(domain.CodeHeadersTooLarge, nil, "the request line and headers may have at most %d bytes together", maxHeaders)
		}
		return next(c)
	}
}

func budget(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		ctx, cancel := context.WithTimeout(c.Request().Context(), requestBudget)
		defer cancel()
		c.SetRequest(c.Request().WithContext(ctx))
		return next(c)
	}
}

func seconds(d time.Duration) string { return decimal(int64(math.Ceil(d.Seconds()))) }

// health says that the process runs.
func (a *API) health(c echo.Context) error {
	return c.JSONBlob(http.StatusOK, encode(map[string]string{"status": "ok"}))
}

// ready says that requests can be served: the database answers and has the schema this program was built for.
func (a *API) ready(c echo.Context) error {
	if err := a.store.Ready(c.Request().Context(), a.schema); err != nil {
		return domain.ELater(domain.CodeTemporarilyUnavailable, retryAfter, err, "the database is not ready for this program")
	}
	return c.JSONBlob(http.StatusOK, encode(map[string]any{"status": "ready", "schema_version": a.schema}))
}
