package simulator

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// letter is one attempt at a delivery, written and signed, ready to be sent.
type letter struct {
	url       string
	body      []byte
	signature string
	at        time.Time
	timeout   time.Duration
}

// write makes the letter of an attempt. Each attempt has a fresh signature. The caller holds mu.
func (w *world) write(d delivery, t endpoint, ev event) letter {
	shown := w.showEvent(ev)
	if d.Fault.is("wrong_version") {
		shown.APIVersion = d.Fault.text("version", "2020-08-27")
	}
	body := append(marshalIndented(shown), '\n')
	l := letter{url: t.URL, body: body, at: w.clock.now(), timeout: w.settings.deliveryTimeout()}
	dated := w.clock.real()
	if w.settings.WebhookTime == timeVirtual {
		dated = l.at
	}
	if d.Fault.is("old_timestamp") {
		dated = dated.Add(-time.Duration(d.Fault.integer("seconds", 3600)) * time.Second)
	}
	secrets := t.secretsAt(l.at)
	if d.Fault.is("bad_signature") {
		secrets = []string{"whsec_" + w.seed.text(32, "somebody else's secret", t.ID)}
	}
	l.signature = sign(dated, body, secrets)
	return l
}

// sign returns the Stripe-Signature header: the time, a v1 signature for each secret, and the v0 one that test mode adds
// and that proves nothing. There are no blanks in it: Stripe's own libraries refuse them.
func sign(at time.Time, body []byte, secrets []string) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	parts := []string{"t=" + seconds}
	signature := func(secret string) string {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(seconds + "."))
		mac.Write(body)
		return hex.EncodeToString(mac.Sum(nil))
	}
	for _, secret := range secrets {
		parts = append(parts, "v1="+signature(secret))
	}
	return strings.Join(append(parts, "v0="+signature("")), ",")
}

// send makes the attempt. It never takes longer than the letter's timeout, and ends when the world does.
func (l letter) send(courier *http.Client, closed <-chan struct{}) attempt {
	made := attempt{At: l.at}
	ctx, cancel := context.WithTimeout(context.Background(), l.timeout)
	defer cancel()
	go func() {
		select {
		case <-closed:
			cancel()
		case <-ctx.Done():
		}
	}()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, bytes.NewReader(l.body))
	if err != nil {
		made.Error = err.Error()
		return made
	}
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)")
	r.Header.Set("Stripe-Signature", l.signature)
	answer, err := courier.Do(r)
	if err != nil {
		if whole := (*url.Error)(nil); errors.As(err, &whole) {
			err = whole.Err // without the address, which everybody knows
		}
		made.Error = err.Error()
		if errors.Is(err, context.DeadlineExceeded) {
			made.Error = "no answer within " + l.timeout.String()
		}
		return made
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	// What an endpoint says is of no interest; reading a little of it keeps the connection for the next delivery.
	_, _ = io.CopyN(io.Discard, answer.Body, maxBody) //nolint:errcheck // the status has arrived
	made.Status = answer.StatusCode
	return made
}

// newCourier makes the client that deliveries are sent with. It goes straight to the endpoint and follows no redirect.
func newCourier() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: maxInFlight, IdleConnTimeout: 30 * time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// marshalIndented encodes a value of our own making for people to read.
func marshalIndented(v any) []byte {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err)
	}
	return text
}
