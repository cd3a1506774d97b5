package client

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Answer is what the headers of a response say about it. It is in every object and every problem that a call returns; what
// came as an element of a list has none of its own.
type Answer struct {
	Status    int    // HTTP status; 202 is provisional
	RequestID string // of this request, for whoever looks into the service's log
	// Replayed says that this repeats the first answer under the key, made by OriginalRequest. It tells what was true then;
	// Latest is the path of the object as it is now.
	Replayed        bool
	OriginalRequest string
	Latest          string
	Location        string        // path of the object that was made
	ExpiresAt       time.Time     // until then the key is answered with the same; zero without a key
	RetryAfter      time.Duration // how long the service wants to be left alone; 0 when it says nothing
}

// readAnswer takes the metadata from a response that arrived at now, by the caller's clock.
func readAnswer(response *http.Response, now time.Time) Answer {
	h := response.Header
	a := Answer{
		Status:          response.StatusCode,
		RequestID:       h.Get("Request-Id"),
		Replayed:        h.Get("Idempotent-Replayed") == "true",
		OriginalRequest: h.Get("Original-Request"),
		Latest:          latest(h.Values("Link")),
		Location:        h.Get("Location"),
		RetryAfter:      retryAfter(h, now),
	}
	if expires, err := http.ParseTime(h.Get("Idempotency-Expires")); err == nil {
		a.ExpiresAt = expires
	}
	return a
}

// retryAfter reads Retry-After (RFC 9110, section 10.2.3): seconds, or a date. A date is by the service's clock, and so is
// the Date beside it; their difference is right even when the two machines disagree about the time.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseUint(value, 10, 31); err == nil { // 31 bits of seconds are 68 years, and fit a Duration
		return time.Duration(n) * time.Second
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return max(until.Sub(now), 0)
}

// latest finds the target with rel="latest" among the links (RFC 8288).
func latest(links []string) string {
	for link := range strings.SplitSeq(strings.Join(links, ","), ",") {
		target, parameters, _ := strings.Cut(strings.TrimSpace(link), ">")
		if path, ok := strings.CutPrefix(target, "<"); ok && strings.Contains(parameters, `rel="latest"`) {
			return path
		}
	}
	return ""
}
