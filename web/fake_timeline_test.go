package web_test

import (
	"net/http"
	"time"
)

// fakeEntry is an entry of an order's timeline. The reason of a refusal is among its members, so that tests can see it kept
// from the page.
type fakeEntry struct {
	At                time.Time  `json:"at"`
	Type              string     `json:"type"`
	Status            string     `json:"status"`
	ChargeID          string     `json:"charge_id,omitempty"`
	ResolvedBy        string     `json:"resolved_by,omitempty"`
	Operation         string     `json:"operation,omitempty"`
	RequestID         string     `json:"request_id,omitempty"`
	HTTPStatus        int        `json:"http_status,omitempty"`
	Call              string     `json:"call,omitempty"`
	Attempt           int        `json:"attempt,omitempty"`
	ProviderKey       string     `json:"provider_key,omitempty"`
	ProviderRequestID string     `json:"provider_request_id,omitempty"`
	Found             string     `json:"found,omitempty"`
	FailureCode       string     `json:"failure_code,omitempty"`
	EndedAt           *time.Time `json:"ended_at,omitempty"`
}

// wrote adds to an order's timeline. Entries come a second apart.
func (f *fakeAPI) wrote(order string, entries ...fakeEntry) {
	for _, e := range entries {
		e.At = noon.Add(time.Duration(len(f.timelines[order])) * time.Second)
		if e.Status != "open" && (e.Type == "provider_call" || e.Type == "request") {
			ended := e.At.Add(40 * time.Millisecond)
			e.EndedAt = &ended
		}
		f.timelines[order] = append(f.timelines[order], e)
	}
}

// asked is a call to the provider with its answer.
func (f *fakeAPI) asked(c *fakeCharge, call, outcome string) fakeEntry {
	return fakeEntry{Type: "provider_call", Status: outcome, ChargeID: c.ID, Call: call, Attempt: 1,
		ProviderKey: c.ID + ":" + call + ":1", ProviderRequestID: "req_bank_" + call}
}

func (f *fakeAPI) getTimeline(w http.ResponseWriter, r *http.Request) {
	if f.strike("orders.timeline", w) {
		return
	}
	id := r.PathValue("id")
	f.write(w, http.StatusOK, map[string]any{"object": "timeline", "order_id": id, "data": f.timelines[id]})
}

// cancelCharge fences a charge. Where the bank is silent it is accepted only, and the same key goes on with it.
func (f *fakeAPI) cancelCharge(w http.ResponseWriter, r *http.Request) {
	if f.onCancel != nil {
		f.onCancel()
	}
	c := f.charge(r.PathValue("id"))
	request := fakeEntry{Type: "request", Status: "finished", Operation: "charges.cancel", RequestID: "req_cancel", HTTPStatus: http.StatusOK}
	if c != nil {
		request.ChargeID = c.ID
	}
	silent := len(f.faults["charges.cancel"]) > 0 && f.faults["charges.cancel"][0] == bankSilent
	switch {
	case c == nil:
		f.problem(w, http.StatusNotFound, "not-found", nil)
	case silent:
		f.faults["charges.cancel"] = f.faults["charges.cancel"][1:]
		request.Status, request.HTTPStatus = "accepted", 0
		f.wrote(c.OrderID, request, f.asked(c, "cancel", "unknown"))
		w.Header().Set("Retry-After", "2")
		f.write(w, http.StatusAccepted, c)
	case c.Status == "succeeded":
		f.problem(w, http.StatusConflict, "order-already-paid", map[string]any{"charge_id": c.ID})
	default:
		f.wrote(c.OrderID, request, f.asked(c, "cancel", "succeeded"))
		f.settle(c.ID, "canceled")
		f.write(w, http.StatusOK, c)
	}
}
