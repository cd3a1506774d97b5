package simulator_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79"

	"payonce/simulator"
)

func TestWebhookEndpoint_ShowsItsSecretOnlyWhenItIsMade(t *testing.T) {
	t.Parallel()
	b := start(t)
	made, err := b.stripe.WebhookEndpoints.New(&stripe.WebhookEndpointParams{
		URL: stripe.String("http://127.0.0.1:9/webhooks"), EnabledEvents: stripe.StringSlice([]string{"charge.succeeded"}),
		APIVersion: stripe.String("2024-06-20"), Description: stripe.String("the shop"), Metadata: map[string]string{"a": "b"},
	})
	require.NoError(t, err)
	require.Regexp(t, `^whsec_\w{32}$`, made.Secret)
	require.Regexp(t, `^we_\w{24}$`, made.ID)
	require.Equal(t, "enabled", made.Status)

	got, err := b.stripe.WebhookEndpoints.Get(made.ID, nil)
	require.NoError(t, err)
	require.Empty(t, got.Secret)
	made.Secret = ""
	made.LastResponse, got.LastResponse = nil, nil
	require.Equal(t, made, got)
	require.NotContains(t, b.get("/v1/webhook_endpoints").text, "whsec_")
	require.NotContains(t, b.send("POST", "/v1/webhook_endpoints/"+made.ID, "description=x").text, "whsec_")
	require.NotContains(t, b.get("/_sim").text, "whsec_")
}

func TestWebhookEndpoint_IsChangedAndDeleted(t *testing.T) {
	t.Parallel()
	b := startWith(t, simulator.Options{Seed: 1, WebhooksAnywhere: true})
	shop := b.listen("charge.succeeded")
	changed, err := b.stripe.WebhookEndpoints.Update(shop.id, &stripe.WebhookEndpointParams{
		EnabledEvents: stripe.StringSlice([]string{"*"}), URL: stripe.String("https://shop.example/hooks"),
		Disabled: stripe.Bool(true), Description: stripe.String("off"), Metadata: map[string]string{"k": "v"},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"*"}, changed.EnabledEvents)
	require.Equal(t, "https://shop.example/hooks", changed.URL)
	require.Equal(t, "disabled", changed.Status)
	require.Equal(t, "off", changed.Description)
	require.Equal(t, map[string]string{"k": "v"}, changed.Metadata)
	require.Equal(t, "enabled", b.send("POST", "/v1/webhook_endpoints/"+shop.id, "disabled=false").at("status"))

	gone, err := b.stripe.WebhookEndpoints.Del(shop.id, nil)
	require.NoError(t, err)
	require.True(t, gone.Deleted)
	require.Empty(t, b.get("/v1/webhook_endpoints").at("data"))
	for _, again := range []reply{
		b.get("/v1/webhook_endpoints/" + shop.id), b.send("DELETE", "/v1/webhook_endpoints/"+shop.id, ""),
		b.send("POST", "/v1/webhook_endpoints/"+shop.id, "disabled=true"),
	} {
		require.Equal(t, 404, again.status)
		require.Equal(t, "resource_missing", again.at("error", "code"))
	}
}

func TestWebhookEndpoint_IsRefusedWhenItMakesNoSense(t *testing.T) {
	t.Parallel()
	b := start(t)
	for form, param := range map[string]string{
		"enabled_events[]=*":                                                "url",
		"url=http://127.0.0.1:9/":                                           "enabled_events",
		"url=http://127.0.0.1:9/&enabled_events=":                           "enabled_events",
		"url=http://127.0.0.1:9/&enabled_events[]=anything":                 "enabled_events",
		"url=http://127.0.0.1:9/&enabled_events[]=charge.*":                 "enabled_events",
		"url=http://shop.example/&enabled_events[]=*":                       "url",
		"url=http://10.0.0.1/&enabled_events[]=*":                           "url",
		"url=https://shop.example/&enabled_events[]=*":                      "url",
		"url=ftp://127.0.0.1/&enabled_events[]=*":                           "url",
		"url=http://user:pass@127.0.0.1/&enabled_events[]=*":                "url",
		"url=/webhooks&enabled_events[]=*":                                  "url",
		"url=http://127.0.0.1:9/&enabled_events[]=*&api_version=2020-08-27": "api_version",
		"url=http://127.0.0.1:9/&enabled_events[]=*&connect=true":           "connect",
		"url=http://127.0.0.1:9/&enabled_events[]=*&disabled=true":          "disabled",
	} {
		r := b.send("POST", "/v1/webhook_endpoints", form)
		require.Equal(t, 400, r.status, form)
		require.Equal(t, param, r.at("error", "param"), form)
	}
	for _, good := range []string{"https://localhost/hooks", "http://localhost:9/", "http://[::1]:9/"} {
		r := b.send("POST", "/v1/webhook_endpoints", "enabled_events[]=*&url="+url.QueryEscape(good))
		require.Equal(t, 200, r.status, r.text)
		require.Nil(t, r.at("api_version"))
		b.send("DELETE", "/v1/webhook_endpoints/"+r.id(), "")
	}
}

func TestSixteenWebhookEndpoints_AreTheLimit(t *testing.T) {
	t.Parallel()
	b := start(t)
	add := func() int {
		return b.send("POST", "/v1/webhook_endpoints", "url=http://127.0.0.1:9/&enabled_events[]=*").status
	}
	for range 16 {
		require.Equal(t, 200, add())
	}
	require.Equal(t, 400, add())
	first := b.get("/v1/webhook_endpoints?limit=1").at("data").([]any)[0].(map[string]any)["id"]
	b.send("DELETE", fmt.Sprint("/v1/webhook_endpoints/", first), "")
	require.Equal(t, 200, add())
	require.Len(t, b.get("/v1/webhook_endpoints?limit=100").at("data"), 16)
}

func TestSecrets_DifferByEndpointAndSeed(t *testing.T) {
	t.Parallel()
	one, two := start(t), startWith(t, simOptions(2))
	secrets := map[string]bool{}
	for _, b := range []*bench{one, two} {
		for range 2 {
			secrets[b.listen().secret] = true
		}
	}
	require.Len(t, secrets, 4)
	require.False(t, strings.Contains(one.get("/_sim/journal").text, "whsec_"))
}
