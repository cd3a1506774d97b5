package stripe_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	stripego "github.com/stripe/stripe-go/v79"

	"payonce/provider"
	"payonce/provider/stripe"
)

// errAny stands for a cause of which nothing is passed on.
var errAny = errors.New("any")

func TestNoAnswerOnAFreshConnection_Unknown(t *testing.T) {
	t.Parallel()
	body, huge := paid.json(), paid.with(object{"x": strings.Repeat("x", 2<<20)}).json()
	for name, c := range map[string]struct {
		act    act
		status int
		cause  error
	}{
		"Reset":                     {reset, 0, syscall.ECONNRESET},
		"ClosedWithoutAWord":        {fin, 0, io.EOF},
		"SilentBeyondTheTimeout":    {stall, 0, context.DeadlineExceeded},
		"StatusLineCut":             {writes("HTTP/1.1 20"), 0, errAny},
		"AnotherProtocol":           {writes("SSH-2.0-" + private + "\r\n"), 0, errAny},
		"HeadersTooLarge":           {writes("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 100<<10) + "\r\nConnection: close\r\n\r\n" + body), 0, errAny},
		"BodyShorterThanItsLength":  {writes(answerText(200, body[:300], len(body))), 200, io.ErrUnexpectedEOF},
		"DeclineShorterThanItsBody": {writes(answerText(402, body[:300], len(body))), 402, io.ErrUnexpectedEOF},
		"BodyStalls":                {sends(answerText(200, body[:300], len(body))), 200, context.DeadlineExceeded},
		"BodyTooLarge":              {writes(answerText(200, huge, len(huge))), 200, errAny},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var logged logs
			p := listen(t, c.act)
			got := doConfirm(t, adapter(t, p.URL, logTo(&logged), func(o *stripe.Options) {
				if errors.Is(c.cause, context.DeadlineExceeded) {
					impatient(o)
				}
			}))
			require.Equal(t, provider.Unknown, got.Outcome)
			require.Equal(t, c.status, got.HTTPStatus)
			if !errors.Is(c.cause, errAny) {
				require.ErrorIs(t, got.Err, c.cause)
			}
			require.Error(t, got.Err)
			require.NotContains(t, got.Err.Error()+logged.String(), private)
			require.False(t, got.Repeatable, "it may have moved money")
			require.Equal(t, []string{"chg_1:confirm:1"}, p.arrived())
		})
	}
}

func TestLookUpWithoutAnAnswer_UnknownAndMayBeAskedAgain(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]act{"Reset": reset, "Closed": fin, "CutBody": writes(answerText(200, "{", 100))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := doLookUp(t, adapter(t, listen(t, broken).URL))
			require.Equal(t, provider.Unknown, got.Outcome)
			require.True(t, got.Repeatable)
		})
	}
}

func TestNoConnection_NotSent(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	tls := httptest.NewUnstartedServer(says(200, paid.json()))
	tls.Config.ErrorLog = discardLog()
	tls.StartTLS()
	t.Cleanup(tls.Close)
	hangUp := listen(t, fin) // plain HTTP, so it never understands a handshake
	for name, c := range map[string]struct {
		url   string
		cause error
	}{
		"Refused":            {"http://" + closed.Addr().String(), syscall.ECONNREFUSED},
		"NameNotResolved":    {"https://stripe.invalid", nil},
		"CertificateUnknown": {tls.URL, nil},
		"HandshakeNeverEnds": {strings.Replace(hangUp.URL, "http:", "https:", 1), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := doConfirm(t, adapter(t, c.url, impatient))
			require.Equal(t, provider.NotSent, got.Outcome)
			require.True(t, got.Repeatable)
			require.ErrorContains(t, got.Err, "no connection")
			if c.cause != nil {
				require.ErrorIs(t, got.Err, c.cause)
			}
			require.Empty(t, hangUp.arrived())
		})
	}
}

func TestNoFreeConnectionWithinTheTimeout_NotSent(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	p := listen(t, func(net.Conn) bool { close(arrived); return true })
	a := adapter(t, p.URL, func(o *stripe.Options) { o.Transport = &http.Transport{MaxConnsPerHost: 1} })
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan provider.Result, 1)
	go func() { first <- a.Intent(ctx, reference) }()
	<-arrived
	hurried, done := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer done()
	got := a.ConfirmIntent(hurried, "k", reference, provider.ConfirmParams{PaymentMethod: "pm_card_visa"})
	require.Equal(t, provider.NotSent, got.Outcome)
	require.ErrorIs(t, got.Err, context.DeadlineExceeded)
	cancel()
	require.Equal(t, provider.Unknown, (<-first).Outcome)
	require.Equal(t, []string{""}, p.arrived())
}

func TestContext(t *testing.T) {
	t.Parallel()
	method := provider.ConfirmParams{PaymentMethod: "pm_card_visa"}
	t.Run("OverBeforeTheCall_NotSent", func(t *testing.T) {
		t.Parallel()
		s := serve(t, says(200, paid.json()))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		got := adapter(t, s.URL).ConfirmIntent(ctx, "k", reference, method)
		require.Equal(t, provider.NotSent, got.Outcome)
		require.ErrorIs(t, got.Err, context.Canceled)
		require.Empty(t, s.seen())
	})
	t.Run("OverWhileConnecting_NotSent", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		never := &http.Transport{DialContext: func(dial context.Context, _, _ string) (net.Conn, error) {
			cancel()
			<-dial.Done()
			return nil, dial.Err()
		}}
		got := adapter(t, "", func(o *stripe.Options) { o.Transport = never }).ConfirmIntent(ctx, "k", reference, method)
		require.Equal(t, provider.NotSent, got.Outcome)
		require.False(t, got.Repeatable, "there is nobody to repeat it for")
		require.ErrorIs(t, got.Err, context.Canceled)
	})
	t.Run("CanceledWhileTheServerWorks_Unknown", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		p := listen(t, func(net.Conn) bool { cancel(); return true })
		got := adapter(t, p.URL).ConfirmIntent(ctx, "k", reference, method)
		require.Equal(t, provider.Unknown, got.Outcome)
		require.ErrorIs(t, got.Err, context.Canceled)
		require.Len(t, p.arrived(), 1)
	})
	t.Run("DeadlineWhileTheServerWorks_Unknown", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		p := listen(t, stall)
		got := adapter(t, p.URL).ConfirmIntent(ctx, "k", reference, method)
		require.Equal(t, provider.Unknown, got.Outcome)
		require.ErrorIs(t, got.Err, context.DeadlineExceeded)
		require.Len(t, p.arrived(), 1)
	})
}

// A kept-alive connection that turns out to be dead is the one case in which net/http sends a keyed request again. Each
// test first makes a call that leaves a connection behind.
func TestDeadKeptAliveConnection(t *testing.T) {
	t.Parallel()
	declined, shed := refusal("card_error", "card_declined"), refusal("invalid_request_error", "other")
	for name, c := range map[string]struct {
		second []act // what happens to the second call: on the old connection, then on a new one
		want   provider.Outcome
		sent   int
	}{
		"AnsweredOnTheNextOne_AnswerStands":        {[]act{fin, answers(200, paid.json())}, provider.Succeeded, 2},
		"DeclinedOnTheNextOne_DeclineStands":       {[]act{fin, answers(402, declined)}, provider.Declined, 2},
		"ResetInsteadOfClosed_AlsoSentAgain":       {[]act{reset, answers(200, paid.json())}, provider.Succeeded, 2},
		"NextOneDiesToo_Unknown":                   {[]act{fin, fin}, provider.Unknown, 2},
		"RateLimitedOnTheNextOne_UnknownNotUnsent": {[]act{fin, answers(429, refusal("invalid_request_error", "rate_limit"))}, provider.Unknown, 2},
		"ShedOnTheNextOneThoughStripeSaysRetry_Unknown": {[]act{fin, sends("HTTP/1.1 429 OK\r\nStripe-Should-Retry: true\r\nContent-Length: " +
			strconv.Itoa(len(shed)) + "\r\n\r\n" + shed)}, provider.Unknown, 2},
		"RefusedOnTheNextOne_UnknownNotRejected": {[]act{fin, answers(401, refusal("invalid_request_error", ""))}, provider.Unknown, 2},
		"CutWithinTheStatusLine_NotSentAgain":    {[]act{writes("HTTP/1.1 2")}, provider.Unknown, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var logged logs
			p := listen(t, append([]act{answers(200, intent("requires_payment_method").json())}, c.second...)...)
			a := adapter(t, p.URL, logTo(&logged))
			require.Equal(t, provider.Succeeded, doLookUp(t, a).Outcome)
			got := doConfirm(t, a)
			require.Equal(t, c.want, got.Outcome, "%v", got.Err)
			keys := p.arrived()[1:]
			require.Len(t, keys, c.sent)
			require.False(t, got.Repeatable)
			for _, key := range keys {
				require.Equal(t, "chg_1:confirm:1", key)
			}
			require.Equal(t, c.sent > 1, strings.Contains(logged.String(), `"connections":2`), "a repetition is logged: %s", &logged)
		})
	}
	t.Run("ThenConnectionRefused_UnknownNotUnsent", func(t *testing.T) {
		t.Parallel()
		var p *peer
		p = listen(t, answers(200, paid.json()), func(c net.Conn) bool { _ = p.listener.Close(); return fin(c) })
		a := adapter(t, p.URL)
		require.Equal(t, provider.Succeeded, doLookUp(t, a).Outcome)
		got := doConfirm(t, a)
		require.Equal(t, provider.Unknown, got.Outcome)
		require.ErrorIs(t, got.Err, syscall.ECONNREFUSED)
		require.Equal(t, []string{"", "chg_1:confirm:1"}, p.arrived(), "the confirm did arrive")
		require.Equal(t, provider.NotSent, doConfirm(t, a).Outcome, "without a connection left, refused means not sent")
	})
}

func TestTransportThatReportsNothing_ProvesNothing(t *testing.T) {
	t.Parallel()
	for _, err := range []error{errors.New(private), syscall.ECONNREFUSED, os.ErrDeadlineExceeded} {
		got := doConfirm(t, adapter(t, "", func(o *stripe.Options) { o.Transport = failing{err} }))
		require.Equal(t, provider.Unknown, got.Outcome)
		require.NotContains(t, got.Err.Error(), private)
	}
}

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// These settings cannot be seen from outside: net/http uses no proxy for a loopback host in any case, and stripe-go's
// default logger writes to the process's stderr.
func TestSettings_NoProxyNoRetryNoLogOfTheLibrary(t *testing.T) {
	t.Parallel()
	require.Nil(t, stripe.NewTransport().Proxy)
	backend, ok := adapter(t, "").Backend().(*stripego.BackendImplementation)
	require.True(t, ok)
	require.Zero(t, backend.MaxNetworkRetries)
	require.Equal(t, &stripego.LeveledLogger{Level: stripego.LevelNull}, backend.LeveledLogger)
	require.Equal(t, "https://api.stripe.com", backend.URL)
}

func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }
