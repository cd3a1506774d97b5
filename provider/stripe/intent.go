package stripe

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	stripego "github.com/stripe/stripe-go/v79"

	"payonce/domain"
	"payonce/provider"
)

// intent turns Stripe's object into the port's, or says why it proves nothing. The client secret stays behind.
func (s *Stripe) intent(pi *stripego.PaymentIntent, reference string) (*provider.Intent, error) {
	if err := s.checkIntent(pi); err != nil {
		return nil, err
	}
	if reference != "" && pi.ID != reference {
		return nil, errors.New("the answer is about another intent")
	}
	intent := readIntent(pi)
	if err := knownCurrency(intent.Amount); err != nil {
		return nil, err
	}
	if intent.Status == "" {
		return nil, fmt.Errorf("the intent's status %s is not known", token(string(pi.Status)))
	}
	return &intent, nil
}

func (s *Stripe) checkIntent(pi *stripego.PaymentIntent) error {
	// stripe-go decodes a body of another shape, {} or {"error":…} with status 200, into an empty object without an error.
	if pi == nil || pi.ID == "" || pi.Object != "payment_intent" {
		return errors.New("the answer holds no payment intent")
	}
	if pi.Livemode != s.live {
		return errors.New("the intent is not of the key's mode, test or live")
	}
	return nil
}

// readIntent reads what an intent shows, be it ours or not.
func readIntent(pi *stripego.PaymentIntent) provider.Intent {
	intent := provider.Intent{
		Reference:        pi.ID,
		Status:           intentStatus(pi),
		Amount:           money(pi.Amount, pi.Currency),
		AmountCapturable: pi.AmountCapturable,
		AmountReceived:   pi.AmountReceived,
		Metadata:         maps.Clone(pi.Metadata),
		Created:          at(pi.Created),
	}
	if pi.LatestCharge != nil {
		intent.LatestAttempt = pi.LatestCharge.ID
	}
	switch intent.Status {
	case provider.IntentFailed:
		intent.LastFailure = failure(pi.LastPaymentError)
	case provider.IntentRequiresAction:
		if pi.NextAction != nil && pi.NextAction.RedirectToURL != nil {
			intent.NextActionURL = pi.NextAction.RedirectToURL.URL // empty when only Stripe's own script can take the step
		}
	case provider.IntentAuthorized:
		if ch := pi.LatestCharge; ch != nil && ch.PaymentMethodDetails != nil && ch.PaymentMethodDetails.Card != nil {
			intent.CaptureBefore = at(ch.PaymentMethodDetails.Card.CaptureBefore)
		}
	case provider.IntentCanceled:
		intent.CanceledReason = token(string(pi.CancellationReason))
	default: // the other states say it all
	}
	return intent
}

// intentStatus is the table from Stripe's states to the port's, empty for one that is not known. An intent that asks for a
// payment method is either new or back from a refused attempt; its last error tells which. One that asks to be confirmed
// has been given a method since, so an error it still carries is history.
func intentStatus(pi *stripego.PaymentIntent) provider.IntentStatus {
	if pi.Status == stripego.PaymentIntentStatusRequiresPaymentMethod && pi.LastPaymentError != nil {
		return provider.IntentFailed
	}
	return intentStates[pi.Status]
}

var intentStates = map[stripego.PaymentIntentStatus]provider.IntentStatus{
	stripego.PaymentIntentStatusRequiresPaymentMethod: provider.IntentUnconfirmed,
	stripego.PaymentIntentStatusRequiresConfirmation:  provider.IntentUnconfirmed,
	stripego.PaymentIntentStatusRequiresAction:        provider.IntentRequiresAction,
	stripego.PaymentIntentStatusProcessing:            provider.IntentProcessing,
	stripego.PaymentIntentStatusRequiresCapture:       provider.IntentAuthorized,
	stripego.PaymentIntentStatusSucceeded:             provider.IntentSucceeded,
	stripego.PaymentIntentStatusCanceled:              provider.IntentCanceled,
}

// failure keeps an error's codes. Some errors have a type and nothing else; a failure always has a code.
func failure(e *stripego.Error) *provider.Failure {
	code := string(e.Code)
	if code == "" {
		code = string(e.Type)
	}
	return &provider.Failure{Code: codeOr(code, "unspecified"), DeclineCode: token(string(e.DeclineCode))}
}

func codeOr(code, otherwise string) string {
	if code == "" {
		return otherwise
	}
	return token(code)
}

// money is an amount as Stripe writes it. Of a currency that is no code of three letters nothing is kept.
func money(amount int64, currency stripego.Currency) domain.Money {
	code := strings.ToUpper(string(currency))
	if len(code) != 3 || strings.ContainsFunc(code, func(r rune) bool { return r < 'A' || r > 'Z' }) {
		code = ""
	}
	return domain.Money{Amount: amount, Currency: domain.Currency(code)}
}

// knownCurrency refuses an amount that we could not read: in another currency its minor unit may be another one.
func knownCurrency(m domain.Money) error {
	if _, known := m.Currency.Rule(); !known {
		return fmt.Errorf("the currency %s is not known", codeOr(string(m.Currency), "of the answer"))
	}
	return nil
}

// at is a time as Stripe writes it: Unix seconds, 0 for none.
func at(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// token passes what Stripe's codes and ids are made of. They go into logs, into the database and to callers, so text of
// another kind, which a broken or hostile server may send in their place, does not.
func token(s string) string {
	if len(s) > 100 {
		return "unreadable"
	}
	for _, r := range s {
		if !word(r) && r != '[' && r != ']' { // brackets are part of parameter names
			return "unreadable"
		}
	}
	return s
}

func word(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}
