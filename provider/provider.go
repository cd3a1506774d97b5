package provider

// Provider is one payment provider account. Every method may be called by many goroutines at once. No method retries:
// a repeated call is a decision of the caller, who has written the key and the parameters down first.
//
// A key passed to a method names that one effect at the provider for ever; it is never invented inside an adapter.
type Provider interface {
	// Name is stored with each charge, for example "stripe".
	Name() string

	Intents
	Refunds
	Ledger
	Events
}
