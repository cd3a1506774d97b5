package simulator

import (
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// maxEndpoints is how many webhook endpoints an account has at most, as with Stripe.
const maxEndpoints = 16

// The states of a webhook endpoint.
const (
	endpointEnabled  = "enabled"
	endpointDisabled = "disabled"
)

// webhookEndpoint is the object as the API shows it. Times are in Unix seconds.
type webhookEndpoint struct {
	ID            string            `json:"id"`
	Object        string            `json:"object"`
	APIVersion    nullable          `json:"api_version"`
	Application   unset             `json:"application"`
	Created       int64             `json:"created"`
	Description   nullable          `json:"description"`
	EnabledEvents []string          `json:"enabled_events"` // exact types, or * for all
	Livemode      bool              `json:"livemode"`
	Metadata      map[string]string `json:"metadata"`
	Secret        string            `json:"secret,omitempty"` // in the answer to its creation only
	Status        string            `json:"status"`
	URL           string            `json:"url"`
}

// endpoint is a webhook endpoint with what only the simulator knows about it; its Secret is always empty.
type endpoint struct {
	webhookEndpoint
	Secrets []signingSecret `json:"sim_secrets"` // newest first
	Deleted bool            `json:"sim_deleted,omitempty"`
}

// signingSecret signs deliveries until a time; the zero time is for ever. During a roll there are two.
type signingSecret struct {
	Value string    `json:"value"`
	Until time.Time `json:"until,omitzero"`
}

func (t endpoint) key() string { return t.ID }

// wants reports whether a type of events goes to the endpoint.
func (t endpoint) wants(kind string) bool {
	return t.takes() && (slices.Contains(t.EnabledEvents, "*") || slices.Contains(t.EnabledEvents, kind))
}

// takes reports whether anything goes to the endpoint.
func (t endpoint) takes() bool { return !t.Deleted && t.Status == endpointEnabled }

// secretsAt returns the secrets that sign at a time, newest first.
func (t endpoint) secretsAt(now time.Time) []string {
	var good []string
	for _, s := range t.Secrets {
		if s.Until.IsZero() || now.Before(s.Until) {
			good = append(good, s.Value)
		}
	}
	return good
}

func (e *effect) endpoint(id string) (endpoint, bool) {
	return find(e.change.Endpoints, e.world.endpoints, id)
}

func (e *effect) putEndpoint(t endpoint) { e.change.Endpoints = replace(e.change.Endpoints, t) }

// newSecret draws a signing secret for an endpoint that has had so many before.
func (e *effect) newSecret(endpointID string, before int) string {
	return "whsec_" + e.world.seed.text(32, "signing secret", endpointID, strconv.Itoa(before))
}

// roll gives an endpoint a new secret. The old ones sign too until they end.
func (e *effect) roll(t endpoint, oldOnesFor time.Duration) (endpoint, string) {
	fresh := e.newSecret(t.ID, len(t.Secrets))
	ends := e.now.Add(oldOnesFor)
	secrets := []signingSecret{{Value: fresh}}
	for _, s := range t.Secrets {
		if s.Until.IsZero() || ends.Before(s.Until) {
			s.Until = ends
		}
		secrets = append(secrets, s)
	}
	t.Secrets = secrets
	e.putEndpoint(t)
	return t, fresh
}

// eventType is what the name of a type of events looks like. Endpoints may ask for types that the simulator never
// makes, as a real account's do.
var eventType = regexp.MustCompile(`^[a-z0-9_]+(\.[a-z0-9_]+)+$`)

// checkWebhookURL refuses an address that nothing should be delivered to. Plain http is for this machine only, and https is
// too unless a setting allows it anywhere.
func checkWebhookURL(text string, anywhere bool) *apiError {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https":
		return invalid("url", "url_invalid", "Invalid URL: a webhook endpoint has an address like https://shop.example/webhooks.")
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return invalid("url", "url_invalid", "Invalid URL: plain http is for loopback addresses only; use https.")
	case !anywhere && !isLoopback(u.Hostname()):
		return invalid("url", "url_invalid", "Invalid URL: this simulator sends webhooks to loopback addresses only.")
	default:
		return nil
	}
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
