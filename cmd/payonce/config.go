package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// secret is a setting that must not be shown. It prints as a fixed text in every way that Go prints things.
type secret string

const hidden = "[hidden]"

// String implements fmt.Stringer.
func (s secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString implements fmt.GoStringer.
func (s secret) GoString() string { return s.String() }

// MarshalText implements encoding.TextMarshaler.
func (s secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil } //nolint:unparam // the interface wants it

// LogValue implements slog.LogValuer.
func (s secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// config is every setting of the program. The tags are also the documentation: the help of each command prints them.
type config struct {
	DatabaseURL secret `env:"DATABASE_URL" help:"PostgreSQL address; unset in demo: a private server is started"`
	Addr        string `env:"PAYONCE_ADDR" envDefault:"127.0.0.1:8080" help:"public address of shop and API"`
	SimAddr     string `env:"PAYONCE_SIM_ADDR" envDefault:"127.0.0.1:12110" help:"address of the Stripe simulator"`
	SimPublic   bool   `env:"PAYONCE_SIM_PUBLIC" envDefault:"false" help:"allow an address for it that other machines reach, any name in requests, and webhooks to other machines; it is not protected"`

	StripeKey           secret `env:"STRIPE_SECRET_KEY" help:"secret key of a Stripe account; unset in demo: the simulator is used"`
	StripePublishable   string `env:"STRIPE_PUBLISHABLE_KEY" help:"publishable key of the same account"`
	StripeWebhookSecret secret `env:"STRIPE_WEBHOOK_SECRET" help:"signing secret of the webhook endpoint (whsec_...)"`
	StripeBase          string `env:"STRIPE_API_BASE" help:"another base URL of the Stripe API, for example the simulator's"`

	ShopKey secret `env:"PAYONCE_SHOP_KEY" help:"API key of the merchant whose web shop is served at /; unset: no shop"`

	KeyRetention    time.Duration `env:"PAYONCE_KEY_RETENTION" envDefault:"720h" help:"how long an answer is kept under its idempotency key"`
	KeyRetentions   durations     `env:"PAYONCE_KEY_RETENTIONS" help:"operations that differ from it, such as charges.create=2160h,carts.create=48h"`
	KeyTombstone    time.Duration `env:"PAYONCE_KEY_TOMBSTONE" envDefault:"9600h" help:"how long after that a key is still recognised and never run again"`
	Lease           time.Duration `env:"PAYONCE_LEASE" envDefault:"30s" help:"how long an owner may hold a running key before another may recover it"`
	ProviderTimeout time.Duration `env:"PAYONCE_PROVIDER_TIMEOUT" envDefault:"10s" help:"limit of one call to the provider"`
	KeyHorizon      time.Duration `env:"PAYONCE_PROVIDER_KEY_HORIZON" envDefault:"23h" help:"after this a provider key is never sent again"`
	ProviderRate    float64       `env:"PAYONCE_PROVIDER_RATE" envDefault:"80" help:"provider calls per second, all processes together"`
	OrderTTL        time.Duration `env:"PAYONCE_ORDER_TTL" envDefault:"30m" help:"unpaid orders expire after this"`
	Interval        time.Duration `env:"PAYONCE_RECONCILE_INTERVAL" envDefault:"15s" help:"pause between two rounds of recovery"`
	Grace           time.Duration `env:"PAYONCE_RECONCILE_GRACE" envDefault:"10s" help:"recovery leaves a charge alone for this long"`

	Edge

	LogLevel slog.Level `env:"PAYONCE_LOG_LEVEL" envDefault:"info" help:"debug, info, warn or error"`
	LogJSON  bool       `env:"PAYONCE_LOG_JSON" envDefault:"false" help:"log in JSON instead of text"`
}

// fastestProvider is more calls per second than any provider allows.
const fastestProvider = 10_000

// need says which settings a command cannot do without.
type need int

const (
	needDatabase need = iota
	needProvider
)

// loadConfig reads the settings from the environment and reports everything that is wrong with them at once.
func loadConfig(environ []string, needs ...need) (config, error) {
	vars := map[string]string{}
	for _, line := range environ {
		if name, value, ok := strings.Cut(line, "="); ok && value != "" {
			vars[name] = value
		}
	}
	var c config
	var problems []error
	if err := env.ParseWithOptions(&c, env.Options{Environment: vars}); err != nil {
		problems = append(problems, readable(err)...)
	}
	problems = append(problems, c.check(needs)...)
	return c, errors.Join(problems...)
}

// readable names the variable in each parse error and leaves its value out, which may be a secret in the wrong place.
func readable(err error) []error {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return []error{errors.New("the environment cannot be read")}
	}
	var out []error
	for _, one := range all.Errors {
		var parse env.ParseError
		if errors.As(one, &parse) {
			out = append(out, fmt.Errorf("%s: is not a valid %s", variableOf(parse.Name), typeName(parse.Type.String())))
			continue
		}
		out = append(out, errors.New("a setting cannot be read"))
	}
	return out
}

func typeName(t string) string {
	switch t {
	case "time.Duration":
		return "duration, such as 30s, 15m or 24h"
	case "float64":
		return "number"
	case "main.networks":
		return "list of addresses and networks, such as 127.0.0.1,10.0.0.0/8"
	case "main.durations":
		return "list such as charges.create=2160h,carts.create=48h"
	case "slog.Level":
		return "level, which is debug, info, warn or error"
	default:
		return t
	}
}

func (c config) check(needs []need) (problems []error) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for _, n := range needs {
		switch {
		case n == needDatabase && c.DatabaseURL == "":
			wrong("DATABASE_URL: is not set, for example postgres://payonce@localhost/payonce?sslmode=disable")
		case n == needProvider && c.StripeKey == "":
			wrong("STRIPE_SECRET_KEY: is not set; with the simulator use any sk_test_ key and STRIPE_API_BASE=http://%s", c.SimAddr)
		}
	}
	for name, addr := range map[string]string{"PAYONCE_ADDR": c.Addr, "PAYONCE_SIM_ADDR": c.SimAddr} {
		if _, port, err := net.SplitHostPort(addr); err != nil || port == "" {
			wrong("%s: is not an address with a port, for example 127.0.0.1:8080", name)
		}
	}
	for name, d := range map[string]time.Duration{
		"PAYONCE_KEY_RETENTION": c.KeyRetention, "PAYONCE_KEY_TOMBSTONE": c.KeyTombstone, "PAYONCE_LEASE": c.Lease, "PAYONCE_PROVIDER_TIMEOUT": c.ProviderTimeout,
		"PAYONCE_PROVIDER_KEY_HORIZON": c.KeyHorizon, "PAYONCE_ORDER_TTL": c.OrderTTL,
		"PAYONCE_RECONCILE_INTERVAL": c.Interval, "PAYONCE_RECONCILE_GRACE": c.Grace,
	} {
		if d < time.Second {
			wrong("%s: must be at least 1s", name)
		}
	}
	if !(c.ProviderRate >= 1 && c.ProviderRate <= fastestProvider) { // which refuses what is not a number, too
		wrong("PAYONCE_PROVIDER_RATE: must be from 1 to %d", fastestProvider)
	}
	if c.KeyHorizon > 24*time.Hour {
		wrong("PAYONCE_PROVIDER_KEY_HORIZON: must be at most 24h, when Stripe may forget a key")
	}
	return slices.Concat(problems, c.Edge.check(), c.checkStripe())
}

// checkStripe refuses half a configuration: a key without its webhook secret would take payments and stay deaf.
func (c config) checkStripe() (problems []error) {
	if c.StripeKey == "" || c.StripeBase != "" {
		return nil
	}
	if c.StripeWebhookSecret == "" || !strings.HasPrefix(string(c.StripeWebhookSecret), "whsec_") {
		problems = append(problems, errors.New("STRIPE_WEBHOOK_SECRET: must be set with STRIPE_SECRET_KEY and begins with whsec_"))
	}
	if c.StripePublishable == "" || !strings.HasPrefix(c.StripePublishable, "pk_") {
		problems = append(problems, errors.New("STRIPE_PUBLISHABLE_KEY: must be set with STRIPE_SECRET_KEY and begins with pk_"))
	}
	return problems
}
