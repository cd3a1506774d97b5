package client_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/client"
)

// How a charge whose outcome is not proved is told from one whose is.

func charge(status string) string { return strings.Replace(undecided, `"unknown"`, `"`+status+`"`, 1) }

func TestCharge_OnlyWhatIsProvedIsDecided(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		httpStatus int
		status     client.ChargeStatus
		decided    bool
	}{
		{http.StatusCreated, client.ChargeSucceeded, true},
		{http.StatusCreated, client.ChargeAuthorized, true},
		{http.StatusCreated, client.ChargeRequiresAction, true},
		{http.StatusOK, client.ChargeFailed, true},
		{http.StatusOK, client.ChargeCanceled, true},
		{http.StatusAccepted, client.ChargeUnknown, false},
		{http.StatusAccepted, client.ChargeProcessing, false},
		{http.StatusOK, client.ChargeCreated, false},
		{http.StatusCreated, client.ChargeUnknown, false},
		{http.StatusAccepted, client.ChargeSucceeded, false},
		{http.StatusCreated, "newer_than_this_package", false},
	} {
		b := setup(t, reply(row.httpStatus, charge(string(row.status))))
		got, err := b.createCharge()
		require.NoError(t, err)
		require.Equal(t, row.status, got.Status)
		require.Equal(t, row.decided, got.Decided(), "%d %s", row.httpStatus, row.status)
		b.arrived(1)
	}
}

func TestUndecided_AwaitAsksAgainWithTheSameKeyUntilItIsProved(t *testing.T) {
	t.Parallel()
	ask := reply(http.StatusAccepted, undecided, "Retry-After", "2", "Location", "/v1/charges/chg_1")
	b := setup(t, lost, ask, refuse(http.StatusConflict, client.TypeKeyInProgress, "", "Retry-After", "1"), ask, reply(http.StatusCreated, succeeded))
	got, err := b.client.AwaitCharge(t.Context(), b.intent, "ord_1", card)
	require.NoError(t, err)
	require.Equal(t, client.ChargeSucceeded, got.Status)
	require.Equal(t, http.StatusCreated, got.Answer.Status)
	sent := b.arrived(5)
	require.Equal(t, "POST /v1/orders/ord_1/charges", sent.method+" "+sent.uri)
	require.Equal(t, `"wish-1"`, sent.key)
	const ms = time.Millisecond
	require.Equal(t, []time.Duration{100 * ms, 2100 * ms, 1100 * ms, 2100 * ms}, b.pauses)
}

func TestUndecided_DeclinedInTheEnd_IsTheRefusal(t *testing.T) {
	t.Parallel()
	declined := refuse(http.StatusPaymentRequired, client.TypeCardDeclined, `,"order_id":"ord_1","charge":`+charge("failed")+
		`,"failure":{"code":"card_declined","decline_code":"insufficient_funds","message":"The card has insufficient funds."}`)
	b := setup(t, reply(http.StatusAccepted, undecided), declined)
	_, err := b.client.AwaitCharge(t.Context(), b.intent, "ord_1", card)
	p := asProblem(t, err, http.StatusPaymentRequired, client.TypeCardDeclined)
	require.True(t, p.Final())
	require.Equal(t, "The card has insufficient funds.", p.Failure.Message)
	require.Equal(t, client.ChargeFailed, p.Charge.Status)
	require.Equal(t, "ord_1", p.OrderID)
}

func TestUndecided_ContextEnds_IsOpenAndNoSuccess(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	b.plays(reply(http.StatusAccepted, undecided), func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		b.cancel = cancel
		b.mu.Unlock()
		reply(http.StatusAccepted, undecided, "Retry-After", "3")(w, r)
	})
	got, err := b.client.AwaitCharge(ctx, b.intent, "ord_1", card)
	require.Zero(t, got)
	unknown := b.asUnknown(err)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "chg_1", unknown.Resource)
	require.Equal(t, 2, unknown.Attempts)
	require.Equal(t, 3*time.Second, unknown.Answer.RetryAfter)
}

func TestUndecided_ThenRefusedAtTheDoor_IsStillOpen(t *testing.T) {
	t.Parallel()
	b := setup(t, reply(http.StatusAccepted, undecided), refuse(http.StatusUnauthorized, client.TypeUnauthenticated, ""))
	_, err := b.client.AwaitCharge(t.Context(), b.intent, "ord_1", card)
	require.Equal(t, "chg_1", b.asUnknown(err).Resource)
}

func TestOnlyTheIDIsKnown_AwaitLooksUntilItIsDecided(t *testing.T) {
	t.Parallel()
	b := setup(t, reply(http.StatusAccepted, undecided, "Retry-After", "2"), lost, reply(http.StatusOK, charge("canceled")))
	got, err := b.client.AwaitChargeID(t.Context(), "chg_1")
	require.NoError(t, err)
	require.Equal(t, client.ChargeCanceled, got.Status)
	sent := b.arrived(3)
	require.Equal(t, "GET /v1/charges/chg_1", sent.method+" "+sent.uri)
	require.Empty(t, sent.key)
}

func TestOnlyTheIDIsKnown_NoAnswerAfterAnOpenOne_IsOpen(t *testing.T) {
	t.Parallel()
	b := setup(t, reply(http.StatusAccepted, undecided), refuse(http.StatusUnauthorized, client.TypeUnauthenticated, ""))
	_, err := b.client.AwaitChargeID(t.Context(), "chg_1")
	var unknown *client.UnknownError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "chg_1", unknown.Resource)
}
