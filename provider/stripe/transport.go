package stripe

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	connectTimeout = 1 * time.Second // a host that is up answers within milliseconds; waiting longer only queues buyers
	tlsTimeout     = 2 * time.Second
	// maxConnections limits what a slow Stripe can cost us. A call that finds none free waits within its timeout and was
	// then provably not sent. It is also how many may stay idle, so that a burst does not pay for handshakes.
	maxConnections = 128
	idleTimeout    = 30 * time.Second // below any balancer's own limit, so that few calls meet a dead connection
	maxHeader      = 64 << 10
	maxBody        = 1 << 20 // an intent with its charge has about 8 KiB; more than this is not an answer of Stripe's
	maxList        = 8 << 20 // a hundred objects, each with as much metadata as Stripe takes
	maxRetryAfter  = time.Hour
)

// newTransport is the adapter's own: nothing else in the process can use up its connections or change it.
//
// It uses no proxy from the environment. A variable that was set for something else must not decide who sees payments,
// and a proxy that stores requests can deliver a confirm long after we gave it up. Who needs a proxy names it, in a
// transport of their own.
//
// It speaks HTTP/1.1: a broken connection then leaves one call in doubt, not all that share it.
func newTransport() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		DialContext:            (&net.Dialer{Timeout: connectTimeout, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout:    tlsTimeout,
		MaxConnsPerHost:        maxConnections,
		MaxIdleConns:           maxConnections,
		MaxIdleConnsPerHost:    maxConnections,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeader,
		Protocols:              protocols,
	}
}

// newClient follows no redirects: a 307 would send a confirm, with its key, to an address that an answer chose.
func newClient(transport http.RoundTripper, timeout time.Duration) *http.Client {
	return &http.Client{
		Transport:     recorder{transport},
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// wire is what one call left behind on the network. stripe-go keeps none of it when an answer is not the JSON it expects,
// and net/http's errors do not say whether an earlier connection had already carried the request.
type wire struct {
	asked       atomic.Int64 // how often a connection was asked for
	connections atomic.Int64 // how many were handed to the call; from then on its bytes may have left
	status      int          // of the answer; 0 when no status line was read
	header      http.Header  // of the answer
	maxBody     int64        // what is read of the answer's body
}

type wireKey struct{}

// watch returns a context that fills w in as the call goes on.
func (w *wire) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(context.WithValue(ctx, wireKey{}, w), &httptrace.ClientTrace{
		GetConn: func(string) { w.asked.Add(1) },
		GotConn: func(httptrace.GotConnInfo) { w.connections.Add(1) },
	})
}

// unsent reports whether it is proved that no byte of the request left: a connection was looked for and none was had. A
// TLS handshake belongs to having one. That a connection was looked for must be seen: a transport that reports nothing
// proves nothing.
func (w *wire) unsent() bool { return w.asked.Load() > 0 && w.connections.Load() == 0 }

// requestID is Stripe's id of the request, which its support asks for.
func (w *wire) requestID() string { return token(w.header.Get("Request-Id")) }

// retryAfter is how long Stripe asks us to wait, 0 when it does not say. A date is taken relative to the answer's own
// date, so that our clock does not matter.
func (w *wire) retryAfter() time.Duration {
	value := w.header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(maxRetryAfter/time.Second))) * time.Second
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	date, err := http.ParseTime(w.header.Get("Date"))
	if err != nil {
		return 0
	}
	return max(0, min(until.Sub(date), maxRetryAfter))
}

// recorder notes each answer's head in the call's wire and limits its body.
type recorder struct{ next http.RoundTripper }

func (t recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if w, ok := req.Context().Value(wireKey{}).(*wire); ok {
		w.status, w.header = res.StatusCode, res.Header
		res.Body = limitedBody{io.LimitReader(res.Body, w.maxBody), res.Body}
	}
	return res, nil
}

type limitedBody struct {
	io.Reader
	io.Closer
}

var errWithheld = errors.New("the cause is withheld, as it may quote the answer")

// safeCause keeps of an error what cannot hold text of the other side. Once something may have been received, errors quote
// it (a malformed status line, the beginning of a body), and with it perhaps a client secret; so only causes that are known
// by identity pass. Before that, an error tells about addresses, names and certificates.
func (w *wire) safeCause(err error) error {
	if w.unsent() {
		if u := (*url.Error)(nil); errors.As(err, &u) {
			return u.Err // without the method and the URL, which the caller knows
		}
		return err
	}
	for _, known := range []error{context.Canceled, context.DeadlineExceeded, io.ErrUnexpectedEOF, io.EOF,
		syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNREFUSED} {
		if errors.Is(err, known) {
			return known
		}
	}
	if timeout := (net.Error)(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return os.ErrDeadlineExceeded
	}
	return errWithheld
}
