package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"payonce/client"
)

// Example pays an order. The service takes the money, and the answer is lost on the way back: the client asks again with
// the same key and learns what happened.
func Example() {
	service := exampleService()
	defer service.Close()
	c, err := client.New(service.URL, "sk_test_example", client.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	intent := client.NewIntent()
	// Store intent.Key() with the order here. After a crash, client.StoredIntent goes on with it.
	charge, err := c.AwaitCharge(ctx, intent, "ord_1", client.ChargeParams{PaymentMethod: "pm_card_visa"})

	var refused *client.Problem
	var open *client.UnknownError
	switch {
	case err == nil && charge.Status == client.ChargeSucceeded:
		fmt.Println("paid once:", charge.Amount, charge.Currency, "replayed:", charge.Answer.Replayed)
	case err == nil && charge.Status == client.ChargeRequiresAction:
		fmt.Println("send the buyer to", charge.NextAction.URL)
	case errors.As(err, &open):
		fmt.Println("nobody knows yet; later, call AwaitCharge again with", open.Intent.Key())
	case errors.As(err, &refused) && refused.Type == client.TypeCardDeclined:
		fmt.Println("declined; another card is a new intent:", refused.Failure.Message)
	default:
		fmt.Println("not paid:", charge.Status, err)
	}
	// Output: paid once: 3998 EUR replayed: true
}

// exampleService stands in for the real one. It loses its first answer.
func exampleService() *httptest.Server {
	var answers sync.Map
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		made := `{"id":"chg_1","object":"charge","status":"succeeded","amount":3998,"currency":"EUR"}`
		answer, replayed := answers.LoadOrStore(r.Header.Get("Idempotency-Key"), made)
		if !replayed {
			panic(http.ErrAbortHandler) // the money is taken, and the connection is gone
		}
		w.Header().Set("Idempotent-Replayed", "true")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, answer)
	}))
}
