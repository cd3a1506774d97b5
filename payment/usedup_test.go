package payment_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/payment"
	"payonce/provider"
)

// A provider may store a failure under a key and repeat it for a day: nothing else will ever come of that key.

// stores makes the provider fail once at a path, and remember it.
func (b *bundle) stores(path, fault string) {
	b.t.Helper()
	b.simPost("/_sim/rules", `{"match":{"method":"POST","path_glob":"`+path+`"},"fault":{"name":"`+fault+`","status":"500","store":"true"},"times":1}`)
}

func TestUsedUpKey_TheSameRequestStillComesToItsEnd(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/v1/payment_intents", "/v1/payment_intents/*/confirm"} {
		for _, fault := range []string{"error_before_effect", "error_after_effect"} {
			t.Run(path+" "+fault, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				order, request := b.order(1), b.request()
				b.stores(path, fault)
				var reply payment.Reply
				for range 3 {
					var err error
					reply, err = b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
					require.NoError(t, err)
					if reply.RetryAfter == 0 {
						break
					}
				}
				require.Equal(t, http.StatusCreated, reply.Answer.Status, string(reply.Answer.Body))
				require.Equal(t, 1, b.audit(order).Succeeded)
			})
		}
	}
}

func TestUsedUpKey_ACaptureStillComesToItsEnd(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"error_before_effect", "error_after_effect"} {
		for _, who := range []string{"the caller", "recovery"} {
			t.Run(fault+", "+who, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				order, charge := b.held()
				request := b.request()
				b.stores("/v1/payment_intents/*/capture", fault)
				for range 3 {
					if who == "recovery" {
						b.longAgo()
						_, err := b.Recover(asSystem(t), 10)
						require.NoError(t, err)
					}
					_, err := b.CaptureCharge(asMerchant(t), again(request), all(charge))
					require.NoError(t, err)
				}
				reply, err := b.CaptureCharge(asMerchant(t), again(request), all(charge))
				require.NoError(t, err)
				require.Equal(t, http.StatusOK, reply.Answer.Status, string(reply.Answer.Body))
				require.Equal(t, int64(1999), b.audit(order).Captured)
			})
		}
	}
}

func TestCapture_LeftOutIsAll_UnderTheSameKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, charge := b.held()
	request := b.request()
	first, err := b.CaptureCharge(asMerchant(t), request, all(charge))
	require.NoError(t, err)
	whole := int64(1999)
	again, err := b.CaptureCharge(asMerchant(t), again(request), payment.CaptureCharge{ChargeID: charge, Amount: &whole})
	require.NoError(t, err)
	require.Equal(t, first.Answer, again.Answer)
}

func TestCapture_RefusedAndNobodyCanLook_IsNotToldAsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order, charge := b.held()
	request := b.request()
	b.between.after = func(kind string, r provider.Result) provider.Result {
		switch kind {
		case "capture": // captured by somebody else, and the answer does not show it
			return provider.Result{Outcome: provider.Rejected, HTTPStatus: http.StatusBadRequest}
		case "lookup":
			return provider.Result{Outcome: provider.Unknown}
		}
		return r
	}
	reply, err := b.CaptureCharge(asMerchant(t), request, all(charge))
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, reply.Answer.Status, "nothing is proved")
	require.True(t, b.charge(charge).Undecided())
	risks, err := b.Store.MoneyAtRisk(asMerchant(t))
	require.NoError(t, err)
	require.Equal(t, int64(1999), risks[0].Amount, "it is held, and perhaps taken")
	b.mended()
	reply, err = b.CaptureCharge(asMerchant(t), again(request), all(charge))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, reply.Answer.Status)
	require.Equal(t, 1, b.audit(order).Succeeded)
}

func TestTimeline_KeepsEverySending(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order, request := b.order(1), b.request()
	b.simPost("/_sim/rules", `{"match":{"path_glob":"/v1/payment_intents/*/confirm"},"fault":{"name":"error_before_effect","status":"401","store":"false"},"times":2}`)
	for range 2 {
		_, err := b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
		require.Equal(t, domain.CodeProviderUnavailable, domain.CodeOf(err))
	}
	_, err := b.CreateCharge(asMerchant(t), again(request), card(order, goodCard))
	require.NoError(t, err)
	entries, err := b.Store.Timeline(asMerchant(t), merchant, order)
	require.NoError(t, err)
	var statuses []int
	requests := map[string]bool{}
	for _, e := range entries {
		if e.Call == "confirm" {
			statuses = append(statuses, e.HTTPStatus)
			requests[e.ProviderRequestID] = true
		}
	}
	require.Equal(t, []int{401, 401, 200}, statuses)
	require.Len(t, requests, 3)
}

func TestProviderThatIsNotCalled_NothingIsWrittenAndReplaysGoOn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order, other, paid := b.order(1), b.order(1), b.request()
	_, err := b.CreateCharge(asMerchant(t), paid, card(order, goodCard))
	require.NoError(t, err)
	refusing := true
	b.Refusing = func() (time.Duration, bool) { return 3 * time.Second, refusing }
	before := b.db.Count(t, `SELECT (SELECT count(*) FROM provider_calls) + (SELECT count(*) FROM charges) + (SELECT count(*) FROM idempotency_keys)`)

	request := b.request()
	_, err = b.CreateCharge(asMerchant(t), request, card(other, goodCard))
	require.Equal(t, domain.CodeProviderUnavailable, domain.CodeOf(err))
	require.Equal(t, before, b.db.Count(t, `SELECT (SELECT count(*) FROM provider_calls) + (SELECT count(*) FROM charges) + (SELECT count(*) FROM idempotency_keys)`))
	replay, err := b.CreateCharge(asMerchant(t), again(paid), card(order, goodCard))
	require.NoError(t, err)
	require.True(t, replay.Replayed, "what is known needs no provider")

	refusing = false
	reply, err := b.CreateCharge(asMerchant(t), again(request), card(other, goodCard))
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, reply.Answer.Status)
}
