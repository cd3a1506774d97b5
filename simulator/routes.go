package simulator

import (
	"strings"
	"time"
)

// operation is what a call asks for, its parameters found good.
type operation struct {
	object string        // the id that is locked while it runs, "" for none
	takes  time.Duration // real time that it waits for the bank, holding its object
	// run does the work on an effect. Its answer is stored under the idempotency key, errors included but for those of
	// the parameters.
	run func(*effect) (any, *apiError)
}

// route is one endpoint.
type route[H any] struct {
	method   string
	template string // {id} stands for one segment
	handle   H
}

// apiRoutes is every endpoint of the simulated API. A handler only prepares: it checks parameters and returns the
// operation, with the world's mutex held.
var apiRoutes = []route[func(*call) (operation, *apiError)]{
	{"POST", "/v1/payment_intents", prepareCreateIntent},
	{"GET", "/v1/payment_intents", prepareListIntents},
	{"GET", "/v1/payment_intents/search", prepareSearchIntents}, // before the one that would take search for an id
	{"GET", "/v1/payment_intents/{id}", prepareGetIntent},
	{"POST", "/v1/payment_intents/{id}", prepareUpdateIntent},
	{"POST", "/v1/payment_intents/{id}/confirm", prepareConfirmIntent},
	{"POST", "/v1/payment_intents/{id}/capture", prepareCaptureIntent},
	{"POST", "/v1/payment_intents/{id}/cancel", prepareCancelIntent},
	{"GET", "/v1/payment_methods", prepareListMethods},
	{"GET", "/v1/payment_methods/{id}", prepareGetMethod},
	{"POST", "/v1/payment_methods/{id}/attach", prepareAttachMethod},
	{"POST", "/v1/payment_methods/{id}/detach", prepareDetachMethod},
	{"POST", "/v1/customers", prepareCreateCustomer},
	{"GET", "/v1/customers", prepareListCustomers},
	{"GET", "/v1/customers/{id}", prepareGetCustomer},
	{"POST", "/v1/customers/{id}", prepareUpdateCustomer},
	{"DELETE", "/v1/customers/{id}", prepareDeleteCustomer},
	{"GET", "/v1/customers/{id}/payment_methods", prepareListCustomerMethods},
	{"GET", "/v1/charges", prepareListCharges},
	{"GET", "/v1/charges/{id}", prepareGetCharge},
	{"POST", "/v1/refunds", prepareCreateRefund},
	{"GET", "/v1/refunds", prepareListRefunds},
	{"GET", "/v1/refunds/{id}", prepareGetRefund},
	{"POST", "/v1/refunds/{id}", prepareUpdateRefund},
	{"POST", "/v1/refunds/{id}/cancel", prepareCancelRefund},
	{"GET", "/v1/balance_transactions", prepareListEntries},
	{"GET", "/v1/balance_transactions/{id}", prepareGetEntry},
	{"GET", "/v1/disputes", prepareListDisputes},
	{"GET", "/v1/disputes/{id}", prepareGetDispute},
	{"POST", "/v1/disputes/{id}", prepareUpdateDispute},
	{"POST", "/v1/disputes/{id}/close", prepareCloseDispute},
	{"GET", "/v1/payouts", prepareListPayouts},
	{"GET", "/v1/payouts/{id}", prepareGetPayout},
	{"GET", "/v1/events", prepareListEvents},
	{"GET", "/v1/events/{id}", prepareGetEvent},
	{"POST", "/v1/webhook_endpoints", prepareCreateEndpoint},
	{"GET", "/v1/webhook_endpoints", prepareListEndpoints},
	{"GET", "/v1/webhook_endpoints/{id}", prepareGetEndpoint},
	{"POST", "/v1/webhook_endpoints/{id}", prepareUpdateEndpoint},
	{"DELETE", "/v1/webhook_endpoints/{id}", prepareDeleteEndpoint},
}

// match finds the route of a request and the id in its path.
func match[H any](routes []route[H], method, path string) (r route[H], id string, ok bool) {
	for _, r := range routes {
		if r.method != method {
			continue
		}
		if id, ok := matchTemplate(r.template, path); ok {
			return r, id, true
		}
	}
	return route[H]{}, "", false
}

func matchTemplate(template, path string) (id string, ok bool) {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return "", false
	}
	for n, step := range want {
		switch {
		case step == "{id}" && got[n] != "":
			id = got[n]
		case step != got[n]:
			return "", false
		}
	}
	return id, true
}
