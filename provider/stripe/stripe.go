package stripe

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	stripego "github.com/stripe/stripe-go/v79"
	"github.com/stripe/stripe-go/v79/paymentintent"
	striperefund "github.com/stripe/stripe-go/v79/refund"

	"payonce/provider"
)

// defaultTimeout is how long one call may take, from looking for a connection to the last byte of the answer. A confirm
// waits for the card's bank, which is slow at times; whoever waits longer than this gets more by asking again.
const defaultTimeout = 10 * time.Second

// Options configure an adapter. Only SecretKey is required.
type Options struct {
	// SecretKey is a secret (sk_) or restricted (rk_) API key. Its mode, test or live, must be that of every answer.
	SecretKey string
	// BaseURL is where the API answers, Stripe itself when empty. Plain http is accepted for loopback hosts only, another
	// host than Stripe's for test keys only. A path is kept in front of /v1.
	BaseURL string
	// Timeout limits one call; zero means 10 s.
	Timeout time.Duration
	// Transport carries the requests; nil means the adapter's own. Another one must call the hooks of net/http/httptrace
	// as *http.Transport does: without them a call that failed can never be shown to be unsent.
	Transport http.RoundTripper
	// Log receives what the results do not tell; nil means nobody is told.
	Log *slog.Logger
}

// Stripe is the adapter. It implements [provider.Provider], has no state that changes, and shares none with another one.
type Stripe struct {
	intents paymentintent.Client
	refunds striperefund.Client
	live    bool // the mode of the key, which every object must share
	log     *slog.Logger
}

var _ provider.Provider = (*Stripe)(nil)

// New makes an adapter, or says what is wrong with the options. It sends nothing. The API version is the one stripe-go was
// built for.
func New(o Options) (*Stripe, error) {
	live, err := keyMode(o.SecretKey)
	if err != nil {
		return nil, fmt.Errorf("stripe secret key: %w", err)
	}
	base, err := baseURL(o.BaseURL, live)
	if err != nil {
		return nil, fmt.Errorf("stripe base URL: %w", err)
	}
	switch {
	case o.Timeout < 0:
		return nil, errors.New("stripe timeout: must not be negative")
	case o.Timeout == 0:
		o.Timeout = defaultTimeout
	}
	if o.Transport == nil {
		o.Transport = newTransport()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	backend := stripego.GetBackendWithConfig(stripego.APIBackend, &stripego.BackendConfig{
		HTTPClient:        newClient(o.Transport, o.Timeout),
		LeveledLogger:     &stripego.LeveledLogger{Level: stripego.LevelNull}, // nil would log answers to stderr
		MaxNetworkRetries: stripego.Int64(0),
		EnableTelemetry:   stripego.Bool(false), // on by default, by way of a global
		URL:               stripego.String(base),
	})
	return &Stripe{
		intents: paymentintent.Client{B: backend, Key: o.SecretKey},
		refunds: striperefund.Client{B: backend, Key: o.SecretKey},
		live:    live,
		log:     o.Log,
	}, nil
}

// Name is what a charge's provider is stored as.
func (s *Stripe) Name() string { return "stripe" }

// keyMode tells a live key from a test key. A key of another kind is refused: without a mode nothing could be compared.
func keyMode(key string) (live bool, err error) {
	switch {
	case key == "":
		return false, errors.New("must not be empty")
	case !printable(key):
		return false, errors.New("must be printable ASCII without spaces")
	case strings.HasPrefix(key, "sk_test_"), strings.HasPrefix(key, "rk_test_"):
		return false, nil
	case strings.HasPrefix(key, "sk_live_"), strings.HasPrefix(key, "rk_live_"):
		return true, nil
	}
	return false, errors.New("must begin with sk_test_, rk_test_, sk_live_ or rk_live_")
}

// baseURL checks where requests will go. A key is sent with each of them, so it goes over plain http to this machine
// only, and a live key to Stripe only.
func baseURL(base string, live bool) (string, error) {
	if base == "" {
		return stripego.APIURL, nil
	}
	base = strings.TrimSuffix(base, "/")
	if live && base != stripego.APIURL {
		return "", fmt.Errorf("must be %s with a live key", stripego.APIURL)
	}
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return "", errors.New("is not a URL")
	case u.User != nil, u.RawQuery != "", u.Fragment != "", u.Hostname() == "":
		return "", errors.New("must be scheme, host and path only")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return "", errors.New("must be https, except for a loopback host")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("must be https")
	}
	return base, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// printable reports whether s is made of visible ASCII characters only, so that it means the same in a header.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}
