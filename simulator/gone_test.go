package simulator_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a stored answer names may be gone when it is asked for again, and what a call names when it arrives.

func TestStoredAnswer_IsReplayedAfterWhatItNamesIsGone(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(customer, method, endpoint string) (path, params string){
		"payment for a customer": func(customer, _, _ string) (string, string) {
			return "/v1/payment_intents", "amount=1250&currency=eur&payment_method_types[]=card&confirm=true&payment_method=pm_card_visa&customer=" + customer
		},
		"change of a customer": func(customer, _, _ string) (string, string) { return "/v1/customers/" + customer, "name=x" },
		"attach to a customer": func(customer, _, _ string) (string, string) {
			return "/v1/payment_methods/pm_card_visa/attach", "customer=" + customer
		},
		"detach of a method": func(_, method, _ string) (string, string) { return "/v1/payment_methods/" + method + "/detach", "" },
		"change of an endpoint": func(_, _, endpoint string) (string, string) {
			return "/v1/webhook_endpoints/" + endpoint, "description=x"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			customer := b.post("c", "/v1/customers").id()
			method := b.post("m", "/v1/payment_methods/pm_card_visa/attach", "customer="+customer).id()
			endpoint := b.post("e", "/v1/webhook_endpoints", "url=http://127.0.0.1:9/", "enabled_events[]=invoice.paid").id()
			path, params := ask(customer, method, endpoint)
			first := b.post("k", path, params)
			require.Equal(t, 200, first.status, first.text)
			require.Equal(t, 200, b.send("DELETE", "/v1/customers/"+customer, "").status)
			require.Equal(t, 200, b.send("DELETE", "/v1/webhook_endpoints/"+endpoint, "").status)

			again := b.post("k", path, params)
			require.Equal(t, first.text, again.text)
			require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
		})
	}
}

func TestCustomerWhoIsGoneWhenTheCallArrives_IsNotCharged(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(b *bench) (path, params string){
		"payment": func(*bench) (string, string) {
			return "/v1/payment_intents", "amount=1250&currency=eur&payment_method_types[]=card&confirm=true&payment_method=pm_card_visa" +
				"&setup_future_usage=off_session&customer="
		},
		"attach": func(*bench) (string, string) { return "/v1/payment_methods/pm_card_visa/attach", "customer=" },
		"intent": func(b *bench) (string, string) { return "/v1/payment_intents/" + b.intent(), "customer=" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t)
			customer := b.post("c", "/v1/customers").id()
			path, params := ask(b)
			held := make(chan reply)
			go func() {
				r, _ := b.faulty("hold;barrier=gate", "k", path, params+customer)
				held <- r
			}()
			b.held("gate")
			b.send("DELETE", "/v1/customers/"+customer, "")
			b.control("/barriers/gate/release", "")
			r := <-held
			require.Equal(t, 400, r.status, r.text)
			require.Equal(t, "resource_missing", r.at("error", "code"))
			require.Empty(t, b.get("/v1/charges").at("data"))
			require.Empty(t, b.events("type=payment_method.attached"))

			other := b.post("other", "/v1/customers").id()
			require.Equal(t, 200, b.post("k", path, params+other).status, "it was not stored: the key is free")
		})
	}
}

func TestCardIsNotKeptForACustomerWhoIsGone(t *testing.T) {
	t.Parallel()
	b := start(t)
	customer := b.post("c", "/v1/customers").id()
	id := b.intent("customer="+customer, "setup_future_usage=off_session")
	b.send("DELETE", "/v1/customers/"+customer, "")
	paid := b.post("k", "/v1/payment_intents/"+id+"/confirm", "payment_method=pm_card_visa")
	require.Equal(t, 200, paid.status, paid.text)
	method, _ := paid.at("payment_method").(string)
	require.Nil(t, b.get("/v1/payment_methods/"+method).at("customer"))
}

func TestSomebodyElsesCard_IsRefusedWithoutATraceAndLeavesTheKeyFree(t *testing.T) {
	t.Parallel()
	b := start(t)
	owner, other := b.post("1", "/v1/customers").id(), b.post("2", "/v1/customers").id()
	method := b.post("m", "/v1/payment_methods/pm_card_visa/attach", "customer="+owner).id()
	for _, confirm := range []string{"", "confirm=true"} {
		wrong := b.post("k"+confirm, "/v1/payment_intents", card("customer="+other, "payment_method="+method, confirm)...)
		require.Equal(t, 400, wrong.status)
		require.Equal(t, "payment_method", wrong.at("error", "param"))
	}
	require.Empty(t, b.get("/v1/payment_intents").at("data"))
	for _, confirm := range []string{"", "confirm=true"} {
		right := b.post("k"+confirm, "/v1/payment_intents", card("customer="+owner, "payment_method="+method, confirm)...)
		require.Equal(t, 200, right.status, right.text)
	}
	id := b.intent("customer="+owner, "payment_method="+method)
	swapped := b.post("s", "/v1/payment_intents/"+id, "customer="+other)
	require.Equal(t, 400, swapped.status, "its card is not that customer's")
	require.Equal(t, owner, b.get("/v1/payment_intents/"+id).at("customer"))
}
