package client_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/client"
)

const (
	productBody = `{"id":"prd_mug","object":"product","sku":"mug","name":"Mug","prices":[{"currency":"EUR","unit_amount":1999}],"active":true,"available":100,"created_at":"2026-05-01T12:00:00.5Z"}`
	stockBody   = `{"product_id":"prd_mug","on_hand":5,"reserved":2,"available":3}`
	cartBody    = `{"id":"cart_1","object":"cart","currency":"EUR","items":[{"product_id":"prd_mug","quantity":2,"amount":3998}],"total":3998,"order_id":null}`
	keyBody     = `{"object":"idempotency_key","operation":"charges.create","key":"wish-1","status":"recoverable","recovery_point":"intent_recorded","resource":"chg_1","response_status":null}`
	policyBody  = `{"object":"idempotency_policy","header":"Idempotency-Key","max_length":255,"scope":["merchant","operation"],"in_progress":{"wait_seconds":1,"max_wait_seconds":10},
		"operations":[{"operation":"orders.create","method":"POST","path":"/v1/orders","retention_seconds":2592000,"tombstone_seconds":34560000,"reasons":[{"name":"client_retry","within_seconds":86400,"why":"it was offline"}]}]}`
)

// Each call as the service sees it: method, address, key and body.
func TestCalls(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		request, body string // body "" for none
		answer        string
		call          func(context.Context, *client.Client, client.Intent) (any, error)
		says          func(*testing.T, any)
	}{
		{"POST /v1/products", `{"sku":"mug","name":"Mug","prices":[{"currency":"EUR","unit_amount":1999}],"active":false}`, productBody,
			func(ctx context.Context, c *client.Client, i client.Intent) (any, error) {
				return c.CreateProduct(ctx, i, client.ProductParams{SKU: "mug", Name: "Mug", Prices: []client.Price{{Currency: "EUR", UnitAmount: 1999}}, Active: new(false)})
			}, func(t *testing.T, got any) {
				t.Helper()
				require.Equal(t, time.Date(2026, 5, 1, 12, 0, 0, 5e8, time.UTC), got.(client.Product).CreatedAt)
			}},
		{"GET /v1/products/prd_mug", "", productBody, func(ctx context.Context, c *client.Client, _ client.Intent) (any, error) {
			return c.GetProduct(ctx, "prd_mug")
		}, func(t *testing.T, got any) {
			t.Helper()
			require.Equal(t, []client.Price{{Currency: "EUR", UnitAmount: 1999}}, got.(client.Product).Prices)
		}},
		{"PATCH /v1/products/prd_mug", `{"name":"Cup","description":"","metadata":{}}`, productBody,
			func(ctx context.Context, c *client.Client, _ client.Intent) (any, error) {
				return c.UpdateProduct(ctx, "prd_mug", client.ProductUpdate{Name: new("Cup"), Description: new(""), Metadata: map[string]string{}})
			}, nil},
		{"GET /v1/products/prd_mug/stock", "", stockBody, func(ctx context.Context, c *client.Client, _ client.Intent) (any, error) {
			return c.GetStock(ctx, "prd_mug")
		}, nil},
		{"PUT /v1/products/prd_mug/stock", `{"on_hand":5}`, stockBody, func(ctx context.Context, c *client.Client, _ client.Intent) (any, error) {
			return c.SetStock(ctx, "prd_mug", 5)
		}, func(t *testing.T, got any) {
			t.Helper()
			require.Equal(t, int64(3), got.(client.Stock).Available)
		}},
		{"POST /v1/carts", `{"currency":"EUR"}`, cartBody, func(ctx context.Context, c *client.Client, i client.Intent) (any, error) {
			return c.CreateCart(ctx, i, client.CartParams{Currency: "EUR"})
		}, func(t *testing.T, got any) {
			t.Helper()
			require.Empty(t, got.(client.Cart).OrderID)
		}},
		{"GET /v1/carts/cart_1", "", cartBody, func(ctx context.Context, c *client.Client, _ client.Intent) (any, error) {
			return c.GetCart(ctx, "cart_1")
		}, nil},
		{"PUT /v1/carts/cart_1/items/prd_mug", `{"quantity":2}`, cartBody, func(ctx context.Context, c *client.Client, _ client.Intent) (any, error) {
			return c.SetCartItem(ctx, "cart_1", "prd_mug", 2)
		}, nil},
		{"DELETE /v1/carts/cart_1/items/prd_mug", "", cartBody, func(ctx context.Context, c *client.Client, _ client.Intent) (any, error) {
			return c.RemoveCartItem(ctx, "cart_1", "prd_mug")
		}, nil},
		{"POST /v1/orders", `{"cart_id":"cart_1","customer":{"email":"a@example.com","name":"A"},"expected_total":0}`, orderBody,
			func(ctx context.Context, c *client.Client, i client.Intent) (any, error) {
				return c.CreateOrder(ctx, i, client.OrderParams{CartID: "cart_1", Customer: client.Customer{Email: "a@example.com", Name: "A"}, ExpectedTotal: new(int64)})
			}, func(t *testing.T, got any) {
				t.Helper()
				require.Empty(t, got.(client.Order).ChargeID)
			}},
		{"GET /v1/orders/ord_1", "", orderBody, func(ctx context.Context, c *client.Client, _ client.Intent) (any, error) {
			return c.GetOrder(ctx, "ord_1")
		}, nil},
		{"PUT /v1/orders/ord_1/shipping_address", `{"line1":"1 High St","city":"Ely","postal_code":"CB7","country":"GB"}`, orderBody,
			func(ctx context.Context, c *client.Client, _ client.Intent) (any, error) {
				return c.SetShippingAddress(ctx, "ord_1", client.Address{Line1: "1 High St", City: "Ely", PostalCode: "CB7", Country: "GB"})
			}, nil},
		{"POST /v1/orders/ord_1/charges", `{"payment_method":"pm_card_visa","capture_method":"automatic","return_url":"https://shop.example"}`, succeeded,
			func(ctx context.Context, c *client.Client, i client.Intent) (any, error) {
				return c.CreateCharge(ctx, i, "ord_1", client.ChargeParams{PaymentMethod: "pm_card_visa", CaptureMethod: client.CaptureAutomatic, ReturnURL: "https://shop.example"})
			}, nil},
		{"POST /v1/charges/chg_1/capture", `{"amount":500}`, succeeded, func(ctx context.Context, c *client.Client, i client.Intent) (any, error) {
			return c.CaptureCharge(ctx, i, "chg_1", client.CaptureParams{Amount: new(int64(500))})
		}, nil},
		{"POST /v1/charges/chg_1/capture", `{}`, succeeded, func(ctx context.Context, c *client.Client, i client.Intent) (any, error) {
			return c.CaptureCharge(ctx, i, "chg_1", client.CaptureParams{})
		}, nil},
		{"POST /v1/charges/chg_1/cancel", `{"reason":"late"}`, succeeded, func(ctx context.Context, c *client.Client, i client.Intent) (any, error) {
			return c.CancelCharge(ctx, i, "chg_1", client.CancelParams{Reason: "late"})
		}, nil},
		{"GET /v1/charges/chg_1", "", succeeded, func(ctx context.Context, c *client.Client, _ client.Intent) (any, error) {
			return c.GetCharge(ctx, "chg_1")
		}, nil},
		{"GET /v1/idempotency_keys/charges.create/wish-1", "", keyBody, func(ctx context.Context, c *client.Client, i client.Intent) (any, error) {
			return c.GetKeyStatus(ctx, client.OpChargesCreate, i)
		}, func(t *testing.T, got any) {
			t.Helper()
			key := got.(client.KeyStatus)
			require.Equal(t, client.KeyRecoverable, key.Status)
			require.Equal(t, "chg_1", key.Resource)
			require.Zero(t, key.ResponseStatus)
		}},
		{"GET /v1/idempotency_policy", "", policyBody, func(ctx context.Context, c *client.Client, _ client.Intent) (any, error) {
			return c.GetPolicy(ctx)
		}, func(t *testing.T, got any) {
			t.Helper()
			policy := got.(client.Policy)
			require.Equal(t, int64(10), policy.InProgress.MaxWaitSeconds)
			require.Equal(t, int64(2592000), policy.Operations[0].RetentionSeconds)
		}},
	} {
		t.Run(row.request, func(t *testing.T) {
			t.Parallel()
			b := setup(t, reply(http.StatusOK, row.answer, "Request-Id", "req_1"))
			got, err := row.call(t.Context(), b.client, b.intent)
			require.NoError(t, err)
			sent := b.arrived(1)
			require.Equal(t, row.request, sent.method+" "+sent.uri)
			require.Equal(t, "Bearer "+apiKey, sent.header.Get("Authorization"))
			require.Equal(t, sent.method == http.MethodPost, sent.key != "", "every POST has a key, and nothing else")
			if row.body == "" {
				require.Empty(t, sent.body)
				require.Empty(t, sent.header.Get("Content-Type"))
			} else {
				require.JSONEq(t, row.body, sent.body)
				require.Equal(t, "application/json", sent.header.Get("Content-Type"))
			}
			if row.says != nil {
				row.says(t, got)
			}
		})
	}
}

func TestIDs_CannotLeadToAnotherAddress(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", ".", ".."} {
		b := setup(t, reply(http.StatusOK, orderBody))
		_, err := b.client.GetOrder(t.Context(), id)
		require.ErrorContains(t, err, "no id")
		require.Empty(t, b.sent())
	}
	b := setup(t, reply(http.StatusOK, orderBody))
	_, err := b.client.GetOrder(t.Context(), "a/../b?c#d")
	require.NoError(t, err)
	require.Equal(t, "/v1/orders/a%2F..%2Fb%3Fc%23d", b.arrived(1).uri)
}

func TestNew_RefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		url, key string
		options  client.Options
	}{
		{"", apiKey, client.Options{}},
		{"service.example", apiKey, client.Options{}},
		{"ftp://service.example", apiKey, client.Options{}},
		{"https://user:word@service.example", apiKey, client.Options{}},
		{"https://service.example?x=1", apiKey, client.Options{}},
		{"https://service.example", "", client.Options{}},
		{"https://service.example", apiKey + "\n", client.Options{}},
		{"https://service.example", apiKey, client.Options{Attempts: -1}},
		{"https://service.example", apiKey, client.Options{TotalTime: -1}},
	} {
		_, err := client.New(row.url, row.key, row.options)
		require.Error(t, err, row)
		require.NotContains(t, err.Error(), apiKey)
		require.NotContains(t, err.Error(), "word")
	}
}

func TestNew_ServiceBelowAPath(t *testing.T) {
	t.Parallel()
	b := setup(t, reply(http.StatusOK, orderBody))
	c, err := client.New(b.url+"/payments/", apiKey, client.Options{})
	require.NoError(t, err)
	_, err = c.GetOrder(t.Context(), "ord_1")
	require.NoError(t, err)
	require.Equal(t, "/payments/v1/orders/ord_1", b.arrived(1).uri)
}
