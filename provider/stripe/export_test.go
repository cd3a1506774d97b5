package stripe

import stripego "github.com/stripe/stripe-go/v79"

// NewTransport is the adapter's own transport, for a look at its settings.
var NewTransport = newTransport

// Backend is what stripe-go was set up as.
func (s *Stripe) Backend() stripego.Backend { return s.intents.B }
