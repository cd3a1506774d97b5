package stripe

import (
	"errors"
	"fmt"
	"maps"

	stripego "github.com/stripe/stripe-go/v79"

	"payonce/domain"
	"payonce/provider"
)

// intent turns Stripe's object into the port's, or says why it proves nothing. The client secret stays behind.
func (s *Stripe) intent(pi *stripego.PaymentIntent, reference string) (*provider.Intent, error) {
	// stripe-go decodes a body of another shape, {} or {"error":…} with status 200, into an empty object without an error.
	if pi == nil || pi.ID == "" || pi.Object != "payment_intent" {
		return nil, errors.New("the answer holds no payment intent")
	}
	if reference != "" && pi.ID != reference {
		return nil, errors.New("the answer is about another intent")
	}
	if pi.Livemode != s.live {
		return nil, errors.New("the intent is not of the key's mode, test or live")
	}
	currency, ok := domain.ParseCurrency(string(pi.Currency))
	if !ok {
		return nil, fmt.Errorf("the currency %s is not known", token(string(pi.Currency)))
	}
	status, ok := intentStatus(pi)
	if !ok {
		return nil, fmt.Errorf("the intent's status %s is not known", token(string(pi.Status)))
	}
	intent := &provider.Intent{
		Reference:      pi.ID,
		Status:         status,
		Amount:         domain.Money{Amount: pi.Amount, Currency: currency},
		AmountReceived: pi.AmountReceived,
		Metadata:       maps.Clone(pi.Metadata),
	}
	if pi.LatestCharge != nil {
		intent.LatestAttempt = pi.LatestCharge.ID
	}
	if status == provider.IntentFailed {
		intent.LastFailure = failure(pi.LastPaymentError)
	}
	if status == provider.IntentRequiresAction && pi.NextAction != nil && pi.NextAction.RedirectToURL != nil {
		intent.NextActionURL = pi.NextAction.RedirectToURL.URL // empty when only Stripe's own script can take the step
	}
	return intent, nil
}

// intentStatus is the table from Stripe's states to the port's. An intent that asks for a payment method is either new or
// back from a refused attempt; its last error tells which. One that asks to be confirmed has been given a method since, so
// an error it still carries is history.
func intentStatus(pi *stripego.PaymentIntent) (provider.IntentStatus, bool) {
	switch pi.Status {
	case stripego.PaymentIntentStatusRequiresPaymentMethod:
		if pi.LastPaymentError != nil {
			return provider.IntentFailed, true
		}
		return provider.IntentUnconfirmed, true
	case stripego.PaymentIntentStatusRequiresConfirmation:
		return provider.IntentUnconfirmed, true
	case stripego.PaymentIntentStatusRequiresAction:
		return provider.IntentRequiresAction, true
	case stripego.PaymentIntentStatusProcessing:
		return provider.IntentProcessing, true
	case stripego.PaymentIntentStatusRequiresCapture:
		return provider.IntentAuthorized, true
	case stripego.PaymentIntentStatusSucceeded:
		return provider.IntentSucceeded, true
	case stripego.PaymentIntentStatusCanceled:
		return provider.IntentCanceled, true
	}
	return "", false
}

// failure keeps an error's codes. Some errors have a type and nothing else; a failure always has a code.
func failure(e *stripego.Error) *provider.Failure {
	code := string(e.Code)
	if code == "" {
		code = string(e.Type)
	}
	if code == "" {
		code = "unspecified"
	}
	return &provider.Failure{Code: token(code), DeclineCode: token(string(e.DeclineCode))}
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
