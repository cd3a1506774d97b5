package providertest

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/provider"
)

// Account is a new, empty account at a provider, seen from both sides: through the adapter, and through the provider's own
// books. Its functions fail the test when they cannot do their work.
type Account struct {
	Provider provider.Provider
	Methods  Methods

	// Break makes the next call through Provider meet a fault.
	Break func(Fault)
	// Hold makes the next call through Provider wait at the provider.
	Hold func(Place) Barrier
	// Authenticate lets the buyer finish the step that an intent waits for, well or badly.
	Authenticate func(reference string, well bool)
	// Arrived counts the requests that reached the provider with a key, Executed those of them that had an effect.
	Arrived, Executed func(key string) int
	// Taken is what the provider has done for one of our charges, Returned what it has done for one of our refunds.
	Taken    func(chargeID string) Taken
	Returned func(refundID string) Returned

	// SettleRefund lets the bank decide on a refund, well or badly.
	SettleRefund func(reference string, well bool)
	// Dispute lets the buyer's bank ask for the money of an attempt.
	Dispute func(attempt string)
	// PayOut lets time pass until everything in the balance can be paid out, and pays it out.
	PayOut func()
}

// Methods are payment methods, named by what the bank does when an intent is confirmed with one.
type Methods struct {
	Approved      string
	Declined      string
	DeclinedAs    provider.Failure
	Authenticates string // approved once the buyer has authenticated
	RefundsLater  string // approved; a refund waits for the bank
}

// Taken is what a provider's books say about one charge.
type Taken struct {
	Intents  int
	Payments int   // successful ones that took money; one that is only held is not among them
	Amount   int64 // minor units taken
}

// Returned is what a provider's books say about one refund of ours.
type Returned struct {
	Refunds int   // that were made, whatever became of them
	Amount  int64 // minor units given back
}

// Fault is something that goes wrong with one call.
type Fault string

// The faults.
const (
	LostBefore  Fault = "lost_before"  // the request arrives, is not executed, and the connection breaks
	LostAfter   Fault = "lost_after"   // the call is executed, its answer is remembered, and the connection breaks
	FailedAfter Fault = "failed_after" // the call is executed, and the answer is a server error
)

// Place is where a call can be made to wait. Its key is taken in either.
type Place string

// The places.
const (
	Queued    Place = "queued"    // not begun: other calls about the same intent pass
	Executing Place = "executing" // holding the intent
)

// Barrier is what a call waits at. Await returns when it is there, Release lets it go on.
type Barrier struct{ Await, Release func() }

// Run runs the suite. Every test opens an account of its own.
func Run(t *testing.T, open func(*testing.T) Account) {
	t.Helper()
	for name, group := range map[string]map[string]func(*bench){
		"Create": createTests, "Confirm": confirmTests, "Capture": captureTests, "Cancel": cancelTests, "LookUp": lookupTests,
		"Refund": refundTests, "List": listTests, "Ledger": ledgerTests, "Lost": lostTests, "Overlapping": overlapTests,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for name, test := range group {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(&bench{T: t, Account: open(t)})
				})
			}
		})
	}
}

// bench is one test with its account.
type bench struct {
	*testing.T
	Account
}

const chargeID = "chg_1"

// intentParams ask for 19.99 EUR, taken at once.
func intentParams() provider.IntentParams {
	return provider.IntentParams{
		Amount:        domain.Money{Amount: 1999, Currency: domain.EUR},
		CaptureMethod: domain.CaptureAutomatic,
		Description:   "Order ord_1",
		Metadata:      map[string]string{"charge_id": chargeID, "order_id": "ord_1", "merchant_id": "mer_1"},
	}
}

// created makes an intent and returns its reference.
func (b *bench) created(change ...func(*provider.IntentParams)) string {
	b.Helper()
	p := intentParams()
	for _, c := range change {
		c(&p)
	}
	got := b.Provider.CreateIntent(b.Context(), "chg_1:create:1", p)
	b.shows(got, provider.Succeeded, provider.IntentUnconfirmed)
	require.Equal(b, p.Amount, got.Intent.Amount)
	require.Equal(b, p.Metadata, maps.Clone(got.Intent.Metadata))
	return got.Intent.Reference
}

func held(p *provider.IntentParams) { p.CaptureMethod = domain.CaptureManual }

func (b *bench) confirm(key, reference, method string) provider.Result {
	b.Helper()
	return b.Provider.ConfirmIntent(b.Context(), key, reference, provider.ConfirmParams{PaymentMethod: method, ReturnURL: "https://shop.example/back"})
}

// paid makes an intent that is paid.
func (b *bench) paid() string {
	b.Helper()
	reference := b.created()
	b.shows(b.confirm("chg_1:confirm:1", reference, b.Methods.Approved), provider.Succeeded, provider.IntentSucceeded)
	return reference
}

// shows checks a result's outcome and the state of its intent, and that only what went well comes without an error.
func (b *bench) shows(got provider.Result, outcome provider.Outcome, status provider.IntentStatus) {
	b.Helper()
	b.is(got, outcome)
	require.NotNil(b, got.Intent)
	require.Equal(b, status, got.Intent.Status)
}

func (b *bench) is(got provider.Result, outcome provider.Outcome) {
	b.Helper()
	require.Equal(b, outcome, got.Outcome, "%v", got.Err)
	switch outcome {
	case provider.Succeeded, provider.Pending:
		require.NoError(b, got.Err)
	case provider.Declined:
		require.NotNil(b, got.Failure)
	case provider.Rejected:
		require.NotNil(b, got.Failure)
		require.Error(b, got.Err)
	case provider.NotSent, provider.Unknown:
		require.Error(b, got.Err)
	}
}

// stands checks what a look-up shows now.
func (b *bench) stands(reference string, status provider.IntentStatus) *provider.Intent {
	b.Helper()
	got := b.Provider.Intent(b.Context(), reference)
	b.shows(got, provider.Succeeded, status)
	require.Equal(b, reference, got.Intent.Reference)
	return got.Intent
}

func (b *bench) tookOnce() {
	b.Helper()
	require.Equal(b, Taken{Intents: 1, Payments: 1, Amount: 1999}, b.Taken(chargeID))
}

func (b *bench) tookNothing() {
	b.Helper()
	require.Equal(b, Taken{Intents: 1}, b.Taken(chargeID))
}
