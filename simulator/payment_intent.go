package simulator

import "time"

// intentStatus is the state of a payment intent.
type intentStatus string

const (
	requiresPaymentMethod intentStatus = "requires_payment_method"
	requiresConfirmation  intentStatus = "requires_confirmation"
	requiresAction        intentStatus = "requires_action"
	processing            intentStatus = "processing"
	requiresCapture       intentStatus = "requires_capture"
	succeeded             intentStatus = "succeeded"
	canceled              intentStatus = "canceled"
)

// The capture methods. automatic_async captures like automatic; it differs in when the balance transaction appears.
const (
	captureAutomatic      = "automatic"
	captureAutomaticAsync = "automatic_async"
	captureManual         = "manual"
)

// paymentIntent is the object as the API shows it. Amounts are in the currency's minor unit, times in Unix seconds.
type paymentIntent struct {
	ID                        string            `json:"id"`
	Object                    string            `json:"object"`
	Amount                    int64             `json:"amount"`
	AmountCapturable          int64             `json:"amount_capturable"`
	AmountReceived            int64             `json:"amount_received"`
	Application               unset             `json:"application"`
	ApplicationFeeAmount      unset             `json:"application_fee_amount"`
	AutomaticPaymentMethods   *automaticMethods `json:"automatic_payment_methods"`
	CanceledAt                *int64            `json:"canceled_at"`
	CancellationReason        nullable          `json:"cancellation_reason"`
	CaptureMethod             string            `json:"capture_method"`
	ClientSecret              string            `json:"client_secret"`
	ConfirmationMethod        string            `json:"confirmation_method"`
	Created                   int64             `json:"created"`
	Currency                  string            `json:"currency"`
	Customer                  reference         `json:"customer"`
	Description               nullable          `json:"description"`
	Invoice                   unset             `json:"invoice"`
	LastPaymentError          *apiError         `json:"last_payment_error"`
	LatestCharge              reference         `json:"latest_charge"`
	Livemode                  bool              `json:"livemode"`
	Metadata                  map[string]string `json:"metadata"`
	NextAction                *nextAction       `json:"next_action"`
	OnBehalfOf                unset             `json:"on_behalf_of"`
	PaymentMethod             reference         `json:"payment_method"`
	PaymentMethodOptions      unset             `json:"payment_method_options"`
	PaymentMethodTypes        []string          `json:"payment_method_types"`
	Processing                unset             `json:"processing"`
	ReceiptEmail              nullable          `json:"receipt_email"`
	Review                    unset             `json:"review"`
	SetupFutureUsage          nullable          `json:"setup_future_usage"`
	Shipping                  unset             `json:"shipping"`
	StatementDescriptor       unset             `json:"statement_descriptor"`
	StatementDescriptorSuffix nullable          `json:"statement_descriptor_suffix"`
	Status                    intentStatus      `json:"status"`
	TransferData              unset             `json:"transfer_data"`
	TransferGroup             unset             `json:"transfer_group"`
}

type automaticMethods struct {
	AllowRedirects string `json:"allow_redirects"`
	Enabled        bool   `json:"enabled"`
}

// nextAction tells the caller how the buyer authenticates: by a redirect when the confirm gave a return_url, by
// Stripe's script when not.
type nextAction struct {
	RedirectToURL *redirectToURL `json:"redirect_to_url,omitempty"`
	Type          string         `json:"type"`
	UseStripeSDK  *useStripeSDK  `json:"use_stripe_sdk,omitempty"`
}

type redirectToURL struct {
	ReturnURL string `json:"return_url"`
	URL       string `json:"url"`
}

type useStripeSDK struct {
	StripeJS string `json:"stripe_js"`
	Type     string `json:"type"`
}

// intent is a payment intent with what only the simulator knows about it.
type intent struct {
	paymentIntent
	// Authenticated: the buyer has passed the check for the attached payment method and nothing was charged yet.
	Authenticated bool `json:"sim_authenticated,omitempty"`
	// FencedConfirms counts the confirms that were refused because the intent was canceled before they arrived.
	FencedConfirms int `json:"sim_fenced_confirms,omitempty"`
	// ChangedAt is when this version was made, by the virtual clock.
	ChangedAt time.Time `json:"sim_changed_at"`
}

func (i intent) key() string { return i.ID }

// needsReturnURL: with redirects allowed, Stripe refuses a confirm that does not say where the buyer comes back to.
func (i paymentIntent) needsReturnURL() bool {
	return i.AutomaticPaymentMethods != nil && i.AutomaticPaymentMethods.Enabled &&
		i.AutomaticPaymentMethods.AllowRedirects != "never"
}

// returnURL is where the buyer goes after authenticating; "" when the intent waits for nothing or has none.
func (i paymentIntent) returnURL() string {
	if i.NextAction == nil || i.NextAction.RedirectToURL == nil {
		return ""
	}
	return i.NextAction.RedirectToURL.ReturnURL
}
