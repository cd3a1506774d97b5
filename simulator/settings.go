package simulator

import (
	"fmt"
	"slices"
	"time"
)

// The words of the settings.
const (
	refundEventsLegacy = "legacy"
	refundEventsNew    = "new"
	refundEventsBoth   = "both" // so that a receiver has to cope with hearing of one thing twice

	retriesTest = "test" // three more attempts within hours, then never again
	retriesLive = "live" // for three days

	timeReal    = "real" // what receivers compare with
	timeVirtual = "virtual"
)

// The limits of the settings that are numbers.
const (
	maxInFlight        = 32
	maxDeliveryTimeout = 60_000 // milliseconds
)

// settings are the choices of a world that are no faults. They can be read and changed at /_sim/settings.
type settings struct {
	RefundEvents     string `json:"refund_events"`      // legacy, new or both: in which families refunds are told of
	WebhookRetries   string `json:"webhook_retries"`    // test or live: how often a delivery is tried again
	WebhookTime      string `json:"webhook_time"`       // real or virtual: the clock that signatures are dated by
	WebhookInFlight  int    `json:"webhook_in_flight"`  // deliveries to one endpoint at a time, 1 to 32; 1 keeps them in order
	WebhookTimeoutMS int    `json:"webhook_timeout_ms"` // how long an endpoint may take, in real milliseconds
	WebhooksPaused   bool   `json:"webhooks_paused"`    // deliveries are held back
}

var defaultSettings = settings{
	RefundEvents: refundEventsBoth, WebhookRetries: retriesTest, WebhookTime: timeReal, WebhookInFlight: 1,
	WebhookTimeoutMS: 10_000,
}

func (s settings) check() error {
	for _, choice := range []struct {
		name, value string
		words       []string
	}{
		{"refund_events", s.RefundEvents, []string{refundEventsLegacy, refundEventsNew, refundEventsBoth}},
		{"webhook_retries", s.WebhookRetries, []string{retriesTest, retriesLive}},
		{"webhook_time", s.WebhookTime, []string{timeReal, timeVirtual}},
	} {
		if !slices.Contains(choice.words, choice.value) {
			return fmt.Errorf("%s: %q is none of %v", choice.name, choice.value, choice.words)
		}
	}
	if s.WebhookInFlight < 1 || s.WebhookInFlight > maxInFlight {
		return fmt.Errorf("webhook_in_flight: %d is not between 1 and %d", s.WebhookInFlight, maxInFlight)
	}
	if s.WebhookTimeoutMS < 1 || s.WebhookTimeoutMS > maxDeliveryTimeout {
		return fmt.Errorf("webhook_timeout_ms: %d is not between 1 and %d", s.WebhookTimeoutMS, maxDeliveryTimeout)
	}
	return nil
}

func (s settings) deliveryTimeout() time.Duration {
	return time.Duration(s.WebhookTimeoutMS) * time.Millisecond
}

func (w *world) setPaused(paused bool) error {
	_, err := w.choose(func(s *settings) error { s.WebhooksPaused = paused; return nil })
	return err
}

// choose changes the settings, and returns them as they are then.
func (w *world) choose(alter func(*settings) error) (settings, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := w.settings
	if err := alter(&next); err != nil {
		return w.settings, err
	}
	if err := next.check(); err != nil {
		return w.settings, err
	}
	if err := w.commit(change{Settings: &next}); err != nil {
		return w.settings, err
	}
	w.happen() // what was held back may go now
	w.post.note()
	return next, nil
}
