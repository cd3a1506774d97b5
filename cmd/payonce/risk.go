package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"payonce/domain"
	"payonce/provider/edge"
	"payonce/repository"
)

// risk tells, whenever somebody collects the metrics, how much money nobody can say the whereabouts of, and for how long.
// It should be 0 nearly always, so every currency is shown, and an alarm has something to compare with.
type risk struct {
	store                   *repository.Store
	log                     *slog.Logger
	amount, charges, oldest *prometheus.Desc
}

func newRisk(store *repository.Store, log *slog.Logger) risk {
	describe := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{"currency"}, nil)
	}
	return risk{store, log,
		describe("payonce_money_at_risk", "Sum of the charges whose outcome is not proved, in the currency's minor unit."),
		describe("payonce_undecided_charges", "Charges whose outcome is not proved."),
		describe("payonce_oldest_undecided_charge_seconds", "Since the oldest of them changed last."),
	}
}

// Describe implements prometheus.Collector.
func (r risk) Describe(to chan<- *prometheus.Desc) { to <- r.amount; to <- r.charges; to <- r.oldest }

// Collect implements prometheus.Collector. When the database cannot say, nothing is shown: a 0 would be a lie.
func (r risk) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(repository.AsSystem(context.Background()), 2*time.Second)
	defer cancel()
	risks, err := r.store.MoneyAtRisk(ctx)
	if err != nil {
		r.log.WarnContext(ctx, "money at risk cannot be told", "error", err)
		return
	}
	by := map[domain.Currency]repository.Risk{}
	for _, one := range risks {
		by[one.Currency] = one
	}
	for _, currency := range domain.Currencies() {
		one, label := by[currency.Code], string(currency.Code)
		to <- prometheus.MustNewConstMetric(r.amount, prometheus.GaugeValue, float64(one.Amount), label)
		to <- prometheus.MustNewConstMetric(r.charges, prometheus.GaugeValue, float64(one.Charges), label)
		to <- prometheus.MustNewConstMetric(r.oldest, prometheus.GaugeValue, one.Oldest.Seconds(), label)
	}
}

// watchEdge shows how the provider does, and what was kept from it.
func (m *metrics) watchEdge(e *edge.Edge, r *edge.Retrier) {
	gauge := func(name, help string, read func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
	}
	counter := func(name, help string, labels prometheus.Labels, read func() float64) {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, read))
	}
	gauge("payonce_provider_calls_at_work", "Calls to the provider that are on their way.", func() float64 { return float64(e.Stats().AtWork) })
	gauge("payonce_provider_circuit_open", "1 while calls to the provider are refused because it was silent, 0.5 while it is tried out.", func() float64 {
		return map[string]float64{"open": 1, "half-open": 0.5}[e.Stats().Circuit]
	})
	for reason, read := range map[string]func(edge.Stats) uint64{
		"no_place": func(s edge.Stats) uint64 { return s.NoPlace }, "no_token": func(s edge.Stats) uint64 { return s.NoToken },
		"no_circuit": func(s edge.Stats) uint64 { return s.NoCircuit },
	} {
		counter("payonce_provider_calls_refused_total", "Calls that were not sent, so that they provably did nothing.", prometheus.Labels{"reason": reason},
			func() float64 { return float64(read(e.Stats())) })
	}
	for outcome := range e.Stats().Outcomes {
		counter("payonce_provider_calls_total", "Calls to the provider by what they came to.", prometheus.Labels{"outcome": string(outcome)},
			func() float64 { return float64(e.Stats().Outcomes[outcome]) })
	}
	counter("payonce_provider_repeats_withheld_total", "Repetitions that were due, but would have made too many.", nil,
		func() float64 { return float64(r.Stats().Withheld) })
}
