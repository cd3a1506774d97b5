package stripe_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v79/webhook"

	"payonce/provider"
	"payonce/simulator"
	"payonce/simulator/stripemocktest"
)

const secret, oldSecret = "whsec_new", "whsec_old"

var eventTime = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) // not near any clock of a machine that runs this

// news is an event as Stripe sends it.
func news(changes ...object) object {
	o := object{
		"id": "evt_1", "object": "event", "type": "payment_intent.succeeded", "created": 1700000000, "livemode": false, "api_version": "2024-06-20",
		"data": object{"object": paid}, "request": object{"id": "req_1", "idempotency_key": "chg_1:confirm:1"},
	}
	for _, change := range changes {
		o = o.with(change)
	}
	return o
}

func about(o object) object { return object{"data": object{"object": o}} }

// signed is a Stripe-Signature header.
func signed(at time.Time, body string, secrets ...string) string {
	header := fmt.Sprintf("t=%d", at.Unix())
	for _, s := range secrets {
		header += ",v1=" + hex.EncodeToString(webhook.ComputeSignature(at, []byte(body), s))
	}
	return header
}

func TestVerifyEvent_OnlyWhatStripeSignedJustNow(t *testing.T) {
	t.Parallel()
	body := news().json()
	good := signed(eventTime, body, secret)
	earlier := func(d time.Duration) string { return signed(eventTime.Add(-d), body, secret) }
	v1 := good[strings.Index(good, ",")+1:]
	for name, c := range map[string]struct {
		body, header string
		want         error
	}{
		"Signed":                           {body, good, nil},
		"SignedWithTheOldSecret":           {body, signed(eventTime, body, oldSecret), nil},
		"SignedWithBothSecrets":            {body, signed(eventTime, body, oldSecret, secret), nil},
		"SignedWithAnUnknownOneToo":        {body, signed(eventTime, body, "whsec_other", secret), nil},
		"TestModesV0BesideIt":              {body, good + ",v0=00", nil},
		"FiveMinutesAgo":                   {body, earlier(300 * time.Second), nil},
		"MoreThanFiveMinutesAgo":           {body, earlier(301 * time.Second), provider.ErrEventTimestamp},
		"TwoDaysAgo":                       {body, earlier(48 * time.Hour), provider.ErrEventTimestamp},
		"AMinuteAhead":                     {body, earlier(-60 * time.Second), nil},
		"MoreThanAMinuteAhead":             {body, earlier(-61 * time.Second), provider.ErrEventTimestamp},
		"TwoDaysAhead":                     {body, earlier(-48 * time.Hour), provider.ErrEventTimestamp},
		"UnsignedAndLongAgo_Signature":     {body, signed(eventTime.Add(-time.Hour), body, "whsec_other"), provider.ErrEventSignature},
		"SignedByAnother":                  {body, signed(eventTime, body, "whsec_other"), provider.ErrEventSignature},
		"SignedWithAnEmptySecret":          {body, signed(eventTime, body, ""), provider.ErrEventSignature},
		"OneByteChanged":                   {strings.Replace(body, "1999", "1998", 1), good, provider.ErrEventSignature},
		"OneByteMore":                      {body + "\n", good, provider.ErrEventSignature},
		"TimeChanged":                      {body, fmt.Sprintf("t=%d,", eventTime.Unix()+1) + v1, provider.ErrEventSignature},
		"NoTime":                           {body, v1, provider.ErrEventSignature},
		"TimeIsNoNumber":                   {body, "t=now," + v1, provider.ErrEventSignature},
		"OnlyV0":                           {body, strings.Replace(good, "v1=", "v0=", 1), provider.ErrEventSignature},
		"NoHeader":                         {body, "", provider.ErrEventSignature},
		"Nonsense":                         {body, "=,=,==", provider.ErrEventSignature},
		"OldSignatureUnderAFreshTime":      {body, fmt.Sprintf("t=%d,", eventTime.Unix()) + earlier(time.Hour), provider.ErrEventSignature},
		"FreshTimeAfterAnOldSignature":     {body, earlier(time.Hour) + fmt.Sprintf(",t=%d", eventTime.Unix()), provider.ErrEventSignature},
		"AuthenticButNoJSON":               {"<html>" + private, signed(eventTime, "<html>"+private, secret), provider.ErrEventUnreadable},
		"AuthenticButNull":                 {"null", signed(eventTime, "null", secret), provider.ErrEventUnreadable},
		"AuthenticButCut":                  {body[:200], signed(eventTime, body[:200], secret), provider.ErrEventUnreadable},
		"AuthenticButEmpty":                {"", signed(eventTime, "", secret), provider.ErrEventUnreadable},
		"UnsignedAndNoJSON_SignatureFirst": {"<html>", signed(eventTime, "<html>", "whsec_other"), provider.ErrEventSignature},
		"OldAndNoJSON_TimeFirst":           {"<html>", signed(eventTime.Add(-time.Hour), "<html>", secret), provider.ErrEventTimestamp},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := adapter(t, "").VerifyEvent([]byte(c.body), c.header, []string{secret, oldSecret}, eventTime)
			if c.want == nil {
				require.NoError(t, err)
				require.Equal(t, "evt_1", got.Reference)
				return
			}
			require.ErrorIs(t, err, c.want)
			require.Zero(t, got)
			require.NotContains(t, err.Error(), private)
			require.NotContains(t, err.Error(), secret)
		})
	}
}

func TestVerifyEvent_WithoutASecret_NothingIsAccepted(t *testing.T) {
	t.Parallel()
	body := news().json()
	for _, secrets := range [][]string{nil, {}, {""}, {secret, ""}, {"", secret}} {
		for _, by := range []string{"", secret} {
			_, err := adapter(t, "").VerifyEvent([]byte(body), signed(eventTime, body, by), secrets, eventTime)
			require.ErrorContains(t, err, "webhook secrets")
			require.NotErrorIs(t, err, provider.ErrEventSignature, "it is our fault and not the sender's")
		}
	}
}

func TestEvents_WhatTheyShow(t *testing.T) {
	t.Parallel()
	base := provider.Event{
		Reference: "evt_1", Type: "payment_intent.succeeded", Created: time.Unix(1700000000, 0).UTC(), Version: "2024-06-20",
		Object: provider.EventAboutIntent, ObjectReference: reference, Intent: reference,
		Metadata: map[string]string{"charge_id": "chg_1", "order_id": "ord_1"}, Key: "chg_1:confirm:1", RequestID: "req_1",
	}
	ours := object{"order_id": "ord_1"}
	of := func(about provider.EventObject, reference, intent string, change ...func(*provider.Event)) func(*provider.Event) {
		return func(e *provider.Event) {
			e.Object, e.ObjectReference, e.Intent, e.Metadata = about, reference, intent, nil
			for _, c := range change {
				c(e)
			}
		}
	}
	named := func(e *provider.Event) { e.Metadata = map[string]string{"order_id": "ord_1"} }
	for name, c := range map[string]struct {
		event object
		want  func(*provider.Event) // nil when it cannot be read
	}{
		"Intent": {news(), func(*provider.Event) {}},
		"Charge": {news(about(object{"id": "ch_1", "object": "charge", "payment_intent": "pi_1", "metadata": ours})), of(provider.EventAboutAttempt, "ch_1", "pi_1", named)},
		"ChargeWithItsIntentExpanded": {news(about(object{"id": "ch_1", "object": "charge", "payment_intent": object{"id": "pi_1", "status": 7}})),
			of(provider.EventAboutAttempt, "ch_1", "pi_1")},
		"ChargeOfNoIntent":                   {news(about(object{"id": "ch_1", "object": "charge", "payment_intent": nil})), of(provider.EventAboutAttempt, "ch_1", "")},
		"Refund":                             {news(about(given("pending"))), of(provider.EventAboutRefund, "re_1", "pi_1", func(e *provider.Event) { e.Metadata = map[string]string{"refund_id": "rfd_1"} })},
		"Dispute":                            {news(about(object{"id": "dp_1", "object": "dispute", "payment_intent": "pi_1"})), of(provider.EventAboutDispute, "dp_1", "pi_1")},
		"Payout":                             {news(about(object{"id": "po_1", "object": "payout"})), of(provider.EventAboutPayout, "po_1", "")},
		"SomethingElse":                      {news(about(object{"id": "cus_1", "object": "customer"})), of(provider.EventAboutOther, "cus_1", "")},
		"IntentThatIsNoReference":            {news(about(object{"id": "ch_1", "object": "charge", "payment_intent": "../x"})), of(provider.EventAboutAttempt, "ch_1", "")},
		"IntentThatIsANumber":                {news(about(object{"id": "ch_1", "object": "charge", "payment_intent": 7})), of(provider.EventAboutAttempt, "ch_1", "")},
		"ObjectWithoutAnID":                  {news(about(object{"object": "payment_intent"})), of(provider.EventAboutOther, "", "")},
		"ObjectOfAnotherShape":               {news(about(object{"id": "pi_1", "object": "payment_intent", "metadata": []string{"x"}})), of(provider.EventAboutOther, "", "")},
		"NoData":                             {news(object{"data": nil}), of(provider.EventAboutOther, "", "")},
		"NewerVersion_ToldAndNotRefused":     {news(object{"api_version": "2025-03-31.basil"}), func(e *provider.Event) { e.Version = "2025-03-31.basil" }},
		"NoVersion":                          {news(object{"api_version": nil}), func(e *provider.Event) { e.Version = "" }},
		"Live_ToldAndNotRefused":             {news(object{"livemode": true}), func(e *provider.Event) { e.Live = true }},
		"AnotherAccount_ToldAndNotRefused":   {news(object{"account": "acct_2"}), func(e *provider.Event) { e.Account = "acct_2" }},
		"CausedByNoCall":                     {news(object{"request": nil}), func(e *provider.Event) { e.Key, e.RequestID = "", "" }},
		"CausedByACallWithoutAKey":           {news(object{"request": object{"id": nil, "idempotency_key": nil}}), func(e *provider.Event) { e.Key, e.RequestID = "", "" }},
		"KeyThatNoHeaderCanHold_NotPassedOn": {news(object{"request": object{"id": "req_1", "idempotency_key": "a\nb"}}), func(e *provider.Event) { e.Key = "" }},
		"TypeThatWeDoNotKnow":                {news(object{"type": "treasury.v2.sunk"}), func(e *provider.Event) { e.Type = "treasury.v2.sunk" }},
		"NoID":                               {news(object{"id": ""}), nil},
		"IDThatIsNone":                       {news(object{"id": "evt 1"}), nil},
		"NoType":                             {news(object{"type": nil}), nil},
		"TypeThatIsText":                     {news(object{"type": "<script>"}), nil},
		"AnotherKindOfObject":                {news(object{"object": "charge"}), nil},
		"CreatedAsText":                      {news(object{"created": "now"}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := c.event.json()
			got, err := adapter(t, "").VerifyEvent([]byte(body), signed(eventTime, body, secret), []string{secret}, eventTime)
			if c.want == nil {
				require.ErrorIs(t, err, provider.ErrEventUnreadable)
				require.Zero(t, got)
				return
			}
			want := base
			c.want(&want)
			require.NoError(t, err)
			require.Equal(t, want, got)

			page, result := adapter(t, serve(t, says(200, page(false, c.event).json())).URL).ListEvents(t.Context(), provider.Query{})
			if want.Live {
				require.Equal(t, provider.Unknown, result.Outcome, "the list of a test key has test events only")
				return
			}
			require.Equal(t, []provider.Event{want}, page.Items, "%v", result.Err)
		})
	}
}

// What the simulated Stripe really delivers is accepted, and is the event that its list shows.
func TestVerifyEvent_DeliveredBySimulator(t *testing.T) {
	t.Parallel()
	type letter struct {
		body   []byte
		header string
	}
	letters := make(chan letter, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		letters <- letter{body, r.Header.Get("Stripe-Signature")}
	}))
	sim, err := simulator.New(simulator.Options{Seed: 1})
	require.NoError(t, err)
	hs := httptest.NewServer(stripemocktest.Watch(t, sim.Handler()))
	t.Cleanup(func() { require.NoError(t, sim.Close()); hs.Close(); receiver.Close() })
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, hs.URL+"/v1/webhook_endpoints",
		strings.NewReader("enabled_events[]=payment_intent.created&url="+receiver.URL))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+testKey)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	_, rest, found := bytes.Cut(body, []byte(`"whsec_`))
	require.True(t, found, "%s", body)
	hook, _, _ := bytes.Cut(rest, []byte(`"`))

	a := adapter(t, hs.URL)
	require.Equal(t, provider.Succeeded, doCreate(t, a).Outcome)
	got := <-letters
	event, err := a.VerifyEvent(got.body, got.header, []string{"whsec_" + string(hook)}, time.Now())
	require.NoError(t, err)
	require.Equal(t, "chg_1:create:1", event.Key)
	page, result := a.ListEvents(t.Context(), provider.Query{})
	require.Equal(t, provider.Succeeded, result.Outcome)
	require.Equal(t, []provider.Event{event}, page.Items)
}
