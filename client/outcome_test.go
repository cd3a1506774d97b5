package client_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/client"
)

// What a call can end with, and what it must not be taken for.

func TestFinalRefusals_AreReturnedAtOnce(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		status      int
		problemType string
	}{
		{http.StatusPaymentRequired, client.TypeCardDeclined},
		{http.StatusConflict, client.TypeOutOfStock},
		{http.StatusConflict, client.TypeKeyExpired},
		{http.StatusConflict, "something-newer-than-this-package"},
		{http.StatusUnprocessableEntity, client.TypeKeyReused},
	} {
		b := setup(t, refuse(row.status, row.problemType, ""))
		_, err := b.createOrder()
		require.True(t, asProblem(t, err, row.status, row.problemType).Final(), row.problemType)
		b.arrived(1)

		b = setup(t, lost, refuse(row.status, row.problemType, ""))
		_, err = b.createOrder()
		asProblem(t, err, row.status, row.problemType) // the key's own word counts after a lost answer, too
		b.arrived(2)
	}
}

func TestRefusedBeforeTheKey_IsReturnedAtOnceAndIsNotFinal(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		status      int
		problemType string
	}{
		{http.StatusBadRequest, "malformed-json"},
		{http.StatusUnauthorized, client.TypeUnauthenticated},
		{http.StatusForbidden, client.TypeForbidden},
		{http.StatusNotFound, client.TypeNotFound},
		{http.StatusRequestEntityTooLarge, "body-too-large"},
		{http.StatusUnprocessableEntity, client.TypeValidationFailed},
	} {
		b := setup(t, refuse(row.status, row.problemType, ""))
		_, err := b.createOrder()
		require.False(t, asProblem(t, err, row.status, row.problemType).Final(), row.problemType)
		b.arrived(1)

		b = setup(t, lost, refuse(row.status, row.problemType, ""))
		_, err = b.createOrder()
		require.Equal(t, row.problemType, b.asUnknown(err).LastProblem.Type, "it says nothing about the attempt whose answer was lost")
		b.arrived(2)
	}
}

func TestRateLimitedOnly_HasDoneNothing(t *testing.T) {
	t.Parallel()
	limited := refuse(http.StatusTooManyRequests, client.TypeRateLimited, "")
	b := setupWith(t, client.Options{Attempts: 2}, limited)
	_, err := b.createOrder()
	require.False(t, asProblem(t, err, http.StatusTooManyRequests, client.TypeRateLimited).Final())

	b = setupWith(t, client.Options{Attempts: 2}, lost, limited)
	_, err = b.createOrder()
	b.asUnknown(err)
}

func TestSomethingInBetweenRefuses_TheOutcomeIsOpen(t *testing.T) {
	t.Parallel()
	for situation, answer := range map[string]step{
		"forbidden by a gateway":      reply(http.StatusForbidden, "<h1>Forbidden</h1>"),
		"conflict without a problem":  reply(http.StatusConflict, `{"error":"conflict"}`),
		"declined without a problem":  reply(http.StatusPaymentRequired, `{}`),
		"problem of somebody else":    reply(http.StatusConflict, `{"type":"about:blank","title":"Conflict"}`),
		"redirect to another address": reply(http.StatusTemporaryRedirect, "", "Location", "/elsewhere"),
	} {
		b := setup(t, answer)
		_, err := b.createOrder()
		require.Empty(t, b.asUnknown(err).LastProblem.Type, situation)
		b.arrived(1)
	}
}

func TestProblem_HoldsWhatTheServiceSays(t *testing.T) {
	t.Parallel()
	b := setup(t, refuse(http.StatusConflict, client.TypeOutOfStock, `,"product_id":"prd_mug","available":3,"newer":[1]`,
		"Request-Id", "req_now", "Idempotent-Replayed", "true"))
	_, err := b.createOrder()
	p := asProblem(t, err, http.StatusConflict, client.TypeOutOfStock)
	require.True(t, client.IsProblem(err, client.TypeOutOfStock))
	require.False(t, client.IsProblem(err, client.TypeNotFound))
	require.Equal(t, "prd_mug", p.ProductID)
	require.Equal(t, int64(3), p.Available)
	require.Equal(t, "why", p.Detail)
	require.Equal(t, "req_first", p.RequestID)
	require.Equal(t, "req_now", p.Answer.RequestID)
	require.True(t, p.Answer.Replayed)
	require.JSONEq(t, `[1]`, string(p.Members["newer"]))
	require.Equal(t, "create order: 409 out-of-stock: why (request req_now)", err.Error())
}

func TestProblem_ListsEverythingThatIsWrongWithABody(t *testing.T) {
	t.Parallel()
	b := setup(t, refuse(http.StatusUnprocessableEntity, client.TypeValidationFailed, `,"errors":[{"pointer":"/currency","detail":"is not sold in"},{"pointer":"","detail":"more"}]`))
	_, err := b.createOrder()
	p := asProblem(t, err, http.StatusUnprocessableEntity, client.TypeValidationFailed)
	require.Equal(t, []client.FieldError{{Pointer: "/currency", Detail: "is not sold in"}, {Detail: "more"}}, p.Errors)
}

func TestProblem_MemberOfAnotherKind_DoesNotHideTheRefusal(t *testing.T) {
	t.Parallel()
	b := setup(t, refuse(http.StatusConflict, client.TypeOutOfStock, `,"available":"three","product_id":"prd_mug"`))
	_, err := b.createOrder()
	require.Equal(t, "prd_mug", asProblem(t, err, http.StatusConflict, client.TypeOutOfStock).ProductID)
}

func TestTwinAtWork_NamesWhatCanBeReadMeanwhile(t *testing.T) {
	t.Parallel()
	twin := refuse(http.StatusConflict, client.TypeKeyInProgress, `,"resource":"chg_1"`)
	b := setupWith(t, client.Options{Attempts: 3}, twin, twin, lost)
	_, err := b.createCharge()
	require.Equal(t, "chg_1", b.asUnknown(err).Resource)
	require.Equal(t, "wait=10", b.arrived(3).header.Get("Prefer"))
}

func TestSettingSomething_WithoutAnAnswer_IsOpenToo(t *testing.T) {
	t.Parallel()
	b := setup(t, lost)
	_, err := b.client.SetStock(t.Context(), "prd_mug", 5)
	var unknown *client.UnknownError
	require.ErrorAs(t, err, &unknown)
	require.True(t, unknown.Intent.IsZero())
	require.Contains(t, err.Error(), "send the same again")
}

func TestSettingSomething_RefusedAfterALostAnswer_IsOpen(t *testing.T) {
	t.Parallel()
	b := setup(t, lost, refuse(http.StatusConflict, client.TypeCartAlreadyOrdered, `,"order_id":"ord_1"`))
	_, err := b.client.SetCartItem(t.Context(), "cart_1", "prd_mug", 5)
	var unknown *client.UnknownError
	require.ErrorAs(t, err, &unknown, "no key says which of the two the refusal speaks of")
	require.Equal(t, "ord_1", unknown.LastProblem.OrderID)
}

func TestAnswer_HasTheMetadata(t *testing.T) {
	t.Parallel()
	b := setup(t, reply(http.StatusCreated, orderBody, "Request-Id", "req_now", "Idempotent-Replayed", "true", "Original-Request", "req_first",
		"Location", "/v1/orders/ord_1", "Idempotency-Expires", "Sun, 31 May 2026 12:00:00 GMT",
		"Link", `</docs>; rel="help", </v1/orders/ord_1>; rel="latest"`))
	order, err := b.createOrder()
	require.NoError(t, err)
	require.Equal(t, client.Answer{Status: 201, RequestID: "req_now", Replayed: true, OriginalRequest: "req_first", Latest: "/v1/orders/ord_1",
		Location: "/v1/orders/ord_1", ExpiresAt: time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC)}, order.Answer)
}
