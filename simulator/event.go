package simulator

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// eventHistory is how long an event can be read back.
const eventHistory = 30 * 24 * time.Hour

// eventObject is an event as the API shows it: an object as it was the moment something happened to it.
type eventObject struct {
	ID         string    `json:"id"`
	Object     string    `json:"object"`
	APIVersion string    `json:"api_version"`
	Created    int64     `json:"created"` // Unix seconds: too coarse to put events in order by
	Data       eventData `json:"data"`
	Livemode   bool      `json:"livemode"`
	// PendingWebhooks is how many endpoints have not taken it yet. It is counted when the event is shown.
	PendingWebhooks int          `json:"pending_webhooks"`
	Request         eventRequest `json:"request"`
	Type            string       `json:"type"`
}

type eventData struct {
	Object             json.RawMessage `json:"object"`
	PreviousAttributes json.RawMessage `json:"previous_attributes,omitempty"`
}

// eventRequest is the API call that caused an event, both null when nobody called: the buyer, the bank or time did.
type eventRequest struct {
	ID             nullable `json:"id"`
	IdempotencyKey nullable `json:"idempotency_key"`
}

// event is an event with what only the simulator knows about it.
type event struct {
	eventObject
	Subject string `json:"sim_subject"` // the id of the object it is about
}

func (ev event) key() string { return ev.ID }

func (ev event) expired(now time.Time) bool {
	return now.Sub(time.Unix(ev.Created, 0)) > eventHistory
}

// eventKind groups the events that a rule's nth counts.
type eventKind struct{ kind, subject string }

// eventCount is how many events of a kind were made that have expired.
type eventCount struct {
	Type    string `json:"type"`
	Subject string `json:"subject"`
	Count   int    `json:"count"`
}

func (ev event) eventKind() eventKind { return eventKind{ev.Type, ev.Subject} }

// nth counts an event that is about to be made among those of its kind; made are those of the same change that come before
// it. The caller holds mu.
func (w *world) nth(ev event, made []event) int {
	n := w.announced[ev.eventKind()] + 1
	for _, earlier := range made {
		if earlier.eventKind() == ev.eventKind() {
			n++
		}
	}
	return n
}

// subject is what all objects of the API have in common.
type subject struct {
	ID       string            `json:"id"`
	Metadata map[string]string `json:"metadata"`
}

// about reads the event's object.
func (ev event) about() subject {
	var s subject
	if err := json.Unmarshal(ev.Data.Object, &s); err != nil {
		panic(err) // it is a snapshot of one of our own objects
	}
	return s
}

// The two families in which API versions tell of refunds. 2024-06-20 has the first one for cards, and later versions
// the second one; which are made is a setting.
var (
	legacyRefundEvents = []string{"charge.refunded", "charge.refund.updated"}
	newRefundEvents    = []string{"refund.created", "refund.updated", "refund.failed"}
)

// announceRefund makes an event about a refund, if the settings want its family.
func (e *effect) announceRefund(kind string, object any, previous map[string]any) {
	families := e.world.settings.RefundEvents
	if families == refundEventsNew && slices.Contains(legacyRefundEvents, kind) ||
		families == refundEventsLegacy && slices.Contains(newRefundEvents, kind) {
		return
	}
	e.announce(kind, object, previous)
}

// announce makes an event: what happened, the object as the API shows it now, and the old values of what changed, if
// the event has them. It is committed with the change, and the webhooks that are owed for it are too. The event's id comes
// from what happened to which object for the how manyth time, a count that outlives the event: no id is ever used twice.
func (e *effect) announce(kind string, object any, previous map[string]any) {
	ev := event{eventObject: eventObject{
		Object: "event", APIVersion: apiVersion, Created: e.now.Unix(), Data: eventData{Object: marshal(object)}, Type: kind,
	}}
	if ev.Subject = ev.about().ID; ev.Subject == "" {
		panic("event " + kind + " is about no object")
	}
	ev.ID = "evt_" + e.world.seed.text(24, "event", kind, ev.Subject, strconv.Itoa(e.world.nth(ev, e.change.Events)))
	if previous != nil {
		ev.Data.PreviousAttributes = marshal(previous)
	}
	if e.requestID != "" {
		ev.Request = eventRequest{ID: nullable(e.requestID), IdempotencyKey: nullable(e.key)}
	}
	e.change.Events = append(e.change.Events, ev)
}

// marshal encodes a value of our own making.
func marshal(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
