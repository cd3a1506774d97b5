package api

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
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

	Proxies     Proxies          // whose word is taken for where a request comes from; none: nobody's
	KeyRate     Rate             // requests of one API key
	FailureRate Rate             // requests without a valid API key, from one client address
	Clock       func() time.Time // of rates and durations; nil means the system clock

	Draining func() bool       // reports that the process is about to stop, so that /readyz says so; nil: never
	Observer func(Observation) // is told about every request, by many goroutines at once; may be nil
}

// API is the HTTP interface.
type API struct {
	store    *repository.Store
	payments *payment.Service
	log      *slog.Logger
	newID    func(prefix string) string
	now      func() time.Time
	schema   uint
	proxies  Proxies
	limits   limits
	draining func() bool
	observer func(Observation)
	echo     *echo.Echo
}

// New builds the interface. It is an http.Handler with every route of the table.
func New(o Options) *API {
	if o.Clock == nil {
		o.Clock = time.Now //nolint:forbidigo // durations and rates are no business time
	}
	if o.Draining == nil {
		o.Draining = func() bool { return false }
	}
	if o.Observer == nil {
		o.Observer = func(Observation) {}
	}
	a := &API{
		store: o.Payments.Store, payments: o.Payments, log: o.Payments.Log, newID: o.Payments.NewID, now: o.Clock, schema: o.SchemaVersion,
		proxies: o.Proxies, draining: o.Draining, observer: o.Observer, echo: echo.New(),
		limits: limits{keys: newLimiter[string](o.KeyRate, o.Clock), failures: newLimiter[netip.Prefix](o.FailureRate, o.Clock)},
	}
	a.echo.HTTPErrorHandler = a.fail
	a.echo.IPExtractor = func(r *http.Request) string { return a.proxies.client(r).String() } // the framework has an opinion of its own otherwise
	a.echo.Pre(a.identify, a.observe, a.survive, headers, smallHeaders, budget)
	for _, r := range a.routes() {
		a.echo.Add(r.method, r.path, a.guard(r))
	}
	return a
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.echo.ServeHTTP(w, r) }

// securityHeaders keep browsers from doing anything with an answer but show it to the program that asked.
var securityHeaders = [][2]string{
	{"X-Content-Type-Options", "nosniff"},
	{"Cache-Control", "no-store"},
	{"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
	{"Referrer-Policy", "no-referrer"},
}

func headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		for _, header := range securityHeaders {
			h.Set(header[0], header[1])
		}
		if len(c.Request().TransferEncoding) > 0 {
			// A chunked request may have had a Content-Length as well; net/http follows the chunks and hides that. A proxy in
			// front that followed the length would take the rest for another request, so nothing more is read (RFC 9112, 6.3).
			h.Set("Connection", "close")
		}
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

// readyBudget bounds the readiness check, whose caller has a short timeout of its own.
const readyBudget = 2 * time.Second

// ready says that requests can be served: the process is not about to stop, the database answers, and it has the schema
// this program was built for. A pool that is full is no reason to be taken out: the others would get that load, too.
func (a *API) ready(c echo.Context) error {
	if a.draining() {
		return domain.ELater(domain.CodeTemporarilyUnavailable, retryAfter, nil, "this process is about to stop")
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyBudget)
	defer cancel()
	if err := a.store.Ready(ctx, a.schema); err != nil {
		return domain.ELater(domain.CodeTemporarilyUnavailable, retryAfter, err, "the database is not ready for this program")
	}
	return c.JSONBlob(http.StatusOK, encode(map[string]any{"status": "ready", "schema_version": a.schema}))
}
