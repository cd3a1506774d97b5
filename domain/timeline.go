package domain

import "time"

// TimelineEntry is one thing that happened to an order: it or one of its charges came to a new state, a request asked for
// something, or the provider was called. Members that do not apply are left out.
type TimelineEntry struct {
	At   time.Time `json:"at"`
	Type string    `json:"type"` // "order", "request", "charge" or "provider_call"

	// Status is the new state of an order or charge, the recovery point that a request's key has reached, and the outcome
	// of a provider call ("open" while there is none).
	Status   string `json:"status"`
	ChargeID string `json:"charge_id,omitempty"`

	ResolvedBy string `json:"resolved_by,omitempty"` // what proved a charge's state

	Operation  Operation `json:"operation,omitempty"` // of a request
	RequestID  string    `json:"request_id,omitempty"`
	HTTPStatus int       `json:"http_status,omitempty"` // of the request's answer, or of the provider's

	Call              string     `json:"call,omitempty"`    // what was asked of the provider
	Attempt           int        `json:"attempt,omitempty"` // and for the how manieth time
	ProviderKey       string     `json:"provider_key,omitempty"`
	ProviderRequestID string     `json:"provider_request_id,omitempty"`
	Found             string     `json:"found,omitempty"` // the state of the provider's object as the answer showed it
	FailureCode       string     `json:"failure_code,omitempty"`
	EndedAt           *time.Time `json:"ended_at,omitempty"` // when a request or call had its answer
}
