package beliefs

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/simulator/stripemocktest"
)

func TestMain(m *testing.M) { os.Exit(stripemocktest.Main(m)) }

// checks are numbered so that the two worlds are easily compared. calls is how many each makes at most.
var checks = []struct {
	name  string
	calls int
	ask   func(*testing.T, *world)
}{
	{"01_DeclinedConfirmSentAgain_TheSame402Replayed", 3, declinedConfirmSentAgain},
	{"02_KeyWithAnotherAmountOrPath_IdempotencyError", 4, keyWithAnotherRequest},
	{"03_TwoConfirmsAtOnce_OneExecutes", 6, twoConfirmsAtOnce},
	{"04_StateConflictIsStored_ValidationErrorIsNot", 5, whatIsStored},
	{"05_CancelOfSucceededOrCanceled_RefusedWithTheIntent", 5, cancelTooLate},
	{"06_ConfirmAfterCancel_RefusedAndNothingCharged", 4, confirmAfterCancel},
	{"07_UnknownIdInTheBody_400NamesTheParameter", 3, unknownIDInTheBody},
	{"08_DefaultCaptureIsAsynchronous_BalanceTransactionComesLater", 1 + looks, defaultCapture},
	{"09_RefundOfACardPayment_ChargeRefundedIsTold", 2 + looks, refundEvents},
	{"10_EventsNameTheKeyThatCausedThem", 2 + looks, eventsNameTheirKey},
	{"11_ListKnowsANewIntentAtOnce_SearchDoesNot", 3, listAndSearch},
	{"12_RefundOfTooMuch_ParamAmountAndNoCode", 2, refundOfTooMuch},
	{"13_OffSessionThatNeedsAuthentication_402AndBackToTheStart", 2, offSession},
	{"14_PartialCapture_TheRestIsReleased", 2 + looks, partialCapture},
}

func TestSimulator(t *testing.T) {
	t.Parallel()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := simulated(t)
			c.ask(t, w)
			require.LessOrEqual(t, w.calls, c.calls, "or Stripe would be asked more than announced")
		})
	}
}

func TestStripe(t *testing.T) { //nolint:paralleltest,tparallel // one request after the other, to stay below the limits
	w, whyNot, err := stripe()
	require.NoError(t, err)
	if whyNot != "" {
		t.Skip(whyNot)
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) { c.ask(t, w) })
	}
	t.Logf("%d calls", w.calls)
}

func TestChecks_TogetherWithinTheLimit(t *testing.T) {
	t.Parallel()
	sum := 0
	for _, c := range checks {
		sum += c.calls
	}
	require.LessOrEqual(t, sum, mostCalls)
}

//nolint:paralleltest // it sets the environment
func TestStripe_OnlyWhenAskedFor_OnlyTestMode(t *testing.T) {
	for _, row := range []struct {
		asked, key string
		world      bool
		fails      bool
	}{
		{"", "", false, false},
		{"", "sk_test_1", false, false},
		{"", "sk_live_1", false, false},
		{"1", "", false, true},
		{"1", "sk_live_1", false, true},
		{"1", "rk_live_1", false, true},
		{"1", "sk_test_1", true, false},
	} {
		t.Setenv("PAYONCE_ASK_STRIPE", row.asked)
		t.Setenv("STRIPE_SECRET_KEY", row.key)
		w, whyNot, err := stripe()
		require.Equal(t, row.world, w != nil, "%+v", row)
		require.Equal(t, row.fails, err != nil, "%+v", row)
		require.Equal(t, !row.world && !row.fails, whyNot != "", "%+v", row)
		if err != nil && row.key != "" {
			require.NotContains(t, err.Error(), row.key)
		}
	}
}
