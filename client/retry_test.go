package client_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/client"
)

// What the client does when the first answer is none, one situation after the other.

func TestAnswerLostAfterTheEffect_SameKeyAndBytesAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, lost, reply(http.StatusCreated, orderBody, "Idempotent-Replayed", "true", "Original-Request", "req_first"))
	order, err := b.createOrder()
	require.NoError(t, err)
	require.Equal(t, "ord_1", order.ID)
	require.True(t, order.Answer.Replayed, "the effect was there already, and nothing was done twice")
	require.Equal(t, "req_first", order.Answer.OriginalRequest)
	sent := b.arrived(2)
	require.Equal(t, `"wish-1"`, sent.key)
	require.JSONEq(t, `{"items":[{"product_id":"prd_mug","quantity":2}],"currency":"EUR","customer":{"email":"a@example.com"}}`, sent.body)
}

func TestNotStored_AskedAgainUntilThereIsAnAnswer(t *testing.T) {
	t.Parallel()
	for situation, first := range map[string]step{
		"connection lost":                 lost,
		"answer cut in the middle":        cut(orderBody),
		"twin at work":                    refuse(http.StatusConflict, client.TypeKeyInProgress, `,"resource":"ord_1"`),
		"rate limited":                    refuse(http.StatusTooManyRequests, client.TypeRateLimited, ""),
		"fault of the service":            refuse(http.StatusInternalServerError, "internal", ""),
		"provider unavailable":            refuse(http.StatusServiceUnavailable, "provider-unavailable", ""),
		"gateway lost the service":        reply(http.StatusBadGateway, "<h1>Bad Gateway</h1>"),
		"success that is no JSON":         reply(http.StatusCreated, "<h1>Welcome</h1>"),
		"success that is an empty object": reply(http.StatusCreated, "{}"),
		"success that is another object":  reply(http.StatusCreated, succeeded),
		"success with something behind":   reply(http.StatusCreated, orderBody+orderBody),
		"success with a fraction":         reply(http.StatusCreated, strings.Replace(orderBody, "3998", "39.98", 1)),
		"success without a body":          reply(http.StatusNoContent, ""),
		"success in part":                 reply(http.StatusPartialContent, orderBody),
		"success without an end":          reply(http.StatusCreated, orderBody+strings.Repeat(" ", 5<<20)),
	} {
		t.Run(situation, func(t *testing.T) {
			t.Parallel()
			b := setup(t, first, first, reply(http.StatusCreated, orderBody))
			order, err := b.createOrder()
			require.NoError(t, err)
			require.Equal(t, int64(3998), order.Total)
			b.arrived(3)
			require.Equal(t, []time.Duration{100 * time.Millisecond, 200 * time.Millisecond}, b.pauses, "half of limits that double")
		})
	}
}

func TestNeverAnswered_TheOutcomeIsOpenAndTheKeyIsKept(t *testing.T) {
	t.Parallel()
	b := setupWith(t, client.Options{Attempts: 3}, lost)
	_, err := b.createOrder()
	require.Equal(t, 3, b.asUnknown(err).Attempts)
	first := b.arrived(3)

	b.plays(reply(http.StatusCreated, orderBody))
	stored, err := client.StoredIntent(b.intent.Key())
	require.NoError(t, err)
	require.Equal(t, b.intent, stored, "a program that was started again goes on where it was")
	b.intent = stored
	_, err = b.createOrder()
	require.NoError(t, err)
	require.Equal(t, first, b.arrived(1))
}

func TestTimeout_NeverMakesANewKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var keys []string
		silent := transport(func(r *http.Request) (*http.Response, error) {
			keys = append(keys, r.Header.Get("Idempotency-Key"))
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		c, err := client.New("http://service.example", apiKey, client.Options{Transport: silent})
		require.NoError(t, err)
		intent, start := client.NewIntent(), time.Now()
		_, err = c.CreateCharge(t.Context(), intent, "ord_1", card)
		var unknown *client.UnknownError
		require.ErrorAs(t, err, &unknown)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, intent, unknown.Intent)
		require.Greater(t, len(keys), 1)
		for _, key := range keys {
			require.Equal(t, `"`+intent.Key()+`"`, key)
		}
		require.LessOrEqual(t, time.Since(start), 2*time.Minute, "the call as a whole is bounded")
	})
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestContextEnds_TheOutcomeIsOpen(t *testing.T) {
	t.Parallel()
	b := setup(t, refuse(http.StatusServiceUnavailable, "unavailable", ""))
	ctx, cancel := context.WithCancel(t.Context())
	b.cancel = cancel
	_, err := b.client.CreateCharge(ctx, b.intent, "ord_1", card)
	b.asUnknown(err)
	require.ErrorIs(t, err, context.Canceled)
	b.arrived(1)
}

func TestContextHasEndedBefore_NothingIsSent(t *testing.T) {
	t.Parallel()
	b := setup(t, lost)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := b.client.CreateCharge(ctx, b.intent, "ord_1", card)
	require.ErrorIs(t, err, context.Canceled)
	var unknown *client.UnknownError
	require.NotErrorAs(t, err, &unknown)
	require.Empty(t, b.sent())
}

func TestRetryAfter_IsHonoured(t *testing.T) {
	t.Parallel()
	const little = 100 * time.Millisecond // so that all who were told the same do not come at once
	for _, row := range []struct {
		situation string
		headers   []string
		pause     time.Duration
	}{
		{"seconds", []string{"Retry-After", "7"}, 7*time.Second + little},
		{"a date, by the service's own clock", []string{"Retry-After", "Fri, 01 May 2026 15:00:09 GMT", "Date", "Fri, 01 May 2026 15:00:00 GMT"}, 9*time.Second + little},
		{"a date that is past", []string{"Retry-After", "Fri, 01 May 2026 11:00:00 GMT", "Date", "Fri, 01 May 2026 12:00:00 GMT"}, little},
		{"nothing that can be read", []string{"Retry-After", "soon"}, little},
		{"a negative number", []string{"Retry-After", "-5"}, little},
	} {
		for _, refusal := range []step{
			refuse(http.StatusTooManyRequests, client.TypeRateLimited, "", row.headers...),
			refuse(http.StatusConflict, client.TypeKeyInProgress, "", row.headers...),
			refuse(http.StatusServiceUnavailable, "unavailable", "", row.headers...),
		} {
			b := setup(t, refusal, reply(http.StatusCreated, orderBody))
			_, err := b.createOrder()
			require.NoError(t, err, row.situation)
			require.Equal(t, []time.Duration{row.pause}, b.pauses, row.situation)
		}
	}
}

func TestRetryAfter_DateWithoutTheServicesClock_IsByOurs(t *testing.T) {
	t.Parallel()
	b := setup(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = nil
		refuse(http.StatusTooManyRequests, client.TypeRateLimited, "", "Retry-After", "Fri, 01 May 2026 12:00:30 GMT")(w, r)
	}, reply(http.StatusCreated, orderBody))
	_, err := b.createOrder()
	require.NoError(t, err)
	require.Equal(t, []time.Duration{30*time.Second + 100*time.Millisecond}, b.pauses)
}

func TestRetryAfter_BeyondTheTotalTime_GivesUpAtOnceRatherThanComingEarly(t *testing.T) {
	t.Parallel()
	for _, advice := range []string{"3600", "2147483647"} {
		b := setup(t, refuse(http.StatusServiceUnavailable, "unavailable", "", "Retry-After", advice, "Request-Id", "req_503"))
		_, err := b.createOrder()
		unknown := b.asUnknown(err)
		require.GreaterOrEqual(t, unknown.Answer.RetryAfter, time.Hour)
		require.Equal(t, "unavailable", unknown.LastProblem.Type)
		require.Equal(t, "req_503", unknown.Answer.RequestID)
		require.Empty(t, b.pauses)
		b.arrived(1)
	}
}

func TestPauses_DoubleUpToALimitAndAreJittered(t *testing.T) {
	t.Parallel()
	b := setupWith(t, client.Options{Attempts: 9}, lost)
	_, err := b.createOrder()
	b.asUnknown(err)
	const ms = time.Millisecond
	require.Equal(t, []time.Duration{100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 5000 * ms, 5000 * ms}, b.pauses)
}

func TestTotalTime_BoundsTheCall(t *testing.T) {
	t.Parallel()
	b := setupWith(t, client.Options{Attempts: 100, TotalTime: time.Second}, lost)
	_, err := b.createOrder()
	require.Equal(t, 4, b.asUnknown(err).Attempts, "0.1 + 0.2 + 0.4 s, and the next pause would be too long")
}

func TestUsedConnectionBreaks_NetHTTPRepeatsWithTheSameKey(t *testing.T) {
	t.Parallel()
	b := setup(t, reply(http.StatusCreated, orderBody), lost, reply(http.StatusCreated, orderBody))
	c, err := client.New(b.url, apiKey, client.Options{Transport: &http.Transport{}, Now: b.clock, Sleep: b.sleep})
	require.NoError(t, err)
	b.client = c
	for range 2 {
		_, err := b.createOrder()
		require.NoError(t, err)
	}
	b.arrived(3)
}

func TestReads_AreAskedAgainToo(t *testing.T) {
	t.Parallel()
	b := setup(t, lost, cut(orderBody), refuse(http.StatusServiceUnavailable, "unavailable", ""), reply(http.StatusOK, orderBody))
	order, err := b.client.GetOrder(t.Context(), "ord_1")
	require.NoError(t, err)
	require.Equal(t, client.OrderPendingPayment, order.Status)
	require.Empty(t, b.arrived(4).key)
}

func TestReads_HaveNoOutcomeThatCouldBeOpen(t *testing.T) {
	t.Parallel()
	var unknown *client.UnknownError
	b := setup(t, lost)
	_, err := b.client.GetOrder(t.Context(), "ord_1")
	require.Error(t, err)
	require.NotErrorAs(t, err, &unknown)
	b = setup(t, refuse(http.StatusServiceUnavailable, "unavailable", ""))
	_, err = b.client.GetOrder(t.Context(), "ord_1")
	asProblem(t, err, http.StatusServiceUnavailable, "unavailable")
}
