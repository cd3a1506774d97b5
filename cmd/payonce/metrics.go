package main

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"payonce/api"
	"payonce/domain"
	"payonce/migrations"
	"payonce/payment"
	"payonce/repository"
)

// metrics are what a process counts. No label holds an id, a key, a path or an address: each has a small number of
// values that the program knows beforehand, or callers could fill the memory of whoever collects them.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	problems *prometheus.CounterVec
	replays  *prometheus.CounterVec
	resumed  *prometheus.CounterVec
	panics   prometheus.Counter
}

// worthZero are the problems that are shown before the first one happens, so that an alarm on their rate sees it.
var worthZero = []domain.Code{domain.CodeKeyReused, domain.CodeKeyInProgress, domain.CodeKeyExpired, domain.CodeRateLimited, domain.CodeUnauthenticated,
	domain.CodeInternal, domain.CodeTemporarilyUnavailable, domain.CodeProviderUnavailable}

func newMetrics(service *payment.Service) *metrics {
	store := service.Store
	counters := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "payonce_http_request_duration_seconds", Help: "Requests to the API, by route, method and status.",
			Buckets: []float64{.002, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"route", "method", "status"}),
		problems: counters("payonce_problems_total", "Refusals and failures that were told, by the slug of their type; final answers of keyed operations are not among them.", "problem"),
		replays:  counters("payonce_idempotency_replays_total", "Answers that an earlier request had stored, by route.", "route"),
		resumed:  counters("payonce_idempotency_keys_resumed_total", "Keys taken over from an owner who had not come to an end, by who did it.", "by"),
		panics:   prometheus.NewCounter(prometheus.CounterOpts{Name: "payonce_panics_total", Help: "Requests and rounds that ended by a panic."}),
	}
	for _, code := range worthZero {
		m.problems.WithLabelValues(string(code))
	}
	for _, by := range []domain.ResolvedBy{domain.ByResponse, domain.ByReconciliation} {
		m.resumed.WithLabelValues(string(by))
	}
	m.registry.MustRegister(m.requests, m.problems, m.replays, m.resumed, m.panics, buildInfo(),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, gauge := range []struct {
		name, help string
		read       func(repository.PoolStats) int
	}{
		{"payonce_database_places", "How many callers may be at the database at once.", func(s repository.PoolStats) int { return s.Places }},
		{"payonce_database_in_use", "How many callers are at the database.", func(s repository.PoolStats) int { return s.InUse }},
		{"payonce_database_waiting", "How many callers wait for a place at the database.", func(s repository.PoolStats) int { return s.Waiting }},
	} {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: gauge.name, Help: gauge.help},
			func() float64 { return float64(gauge.read(store.Stats())) }))
	}
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "payonce_database_refused_total", Help: "Callers who were turned away because no place at the database became free in time."},
		func() float64 { return float64(store.Stats().Refused) }), newRisk(store, service.Log))
	if guarded, ok := service.Provider.(guardedProvider); ok {
		m.watchEdge(guarded.edge, guarded.retrier)
	}
	return m
}

func buildInfo() prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{Name: "payonce_build_info", Help: "Always 1; the labels say which program this is.",
		ConstLabels: prometheus.Labels{"version": programVersion(), "schema": strconv.FormatUint(uint64(migrations.Latest()), 10)}})
	info.Set(1)
	return info
}

// methods are those that are counted by name. A request may bring any word for one.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}

// observe counts a request.
func (m *metrics) observe(o api.Observation) {
	if !slices.Contains(methods, o.Method) {
		o.Method = "other"
	}
	if o.Route == "" {
		o.Route = "none"
	}
	m.requests.WithLabelValues(o.Route, o.Method, strconv.Itoa(o.Status)).Observe(o.Duration.Seconds())
	if o.Problem != "" {
		m.problems.WithLabelValues(string(o.Problem)).Inc()
	}
	if o.Replayed {
		m.replays.WithLabelValues(o.Route).Inc()
	}
	if o.Panicked {
		m.panics.Inc()
	}
}

// resume counts a key that was taken over.
func (m *metrics) resume(by domain.ResolvedBy) { m.resumed.WithLabelValues(string(by)).Inc() }
