package api_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/domain"
)

func TestBuyTwoMugs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cart := b.post(alpha, "/v1/carts", "cart", `{"currency":"eur"}`)
	require.Equal(t, http.StatusCreated, cart.status, cart.body)
	path := "/v1/carts/" + cart.text("id")
	filled := b.send(alpha, http.MethodPut, path+"/items/"+b.mug, `{"quantity":2}`)
	require.Equal(t, http.StatusOK, filled.status, filled.body)
	require.InDelta(t, 3998, filled.member("total"), 0)
	require.Equal(t, filled.body, b.get(alpha, path).body)

	order := b.post(alpha, "/v1/orders", "order", `{"cart_id":"`+cart.text("id")+`","customer":{"email":"a@example.com","name":"A"},"expected_total":3998,
		"shipping_address":{"line1":"1 Street","city":"Town","postal_code":"12345","country":"DE"},"shipping_method":"standard","metadata":{"note":"gift"}}`)
	require.Equal(t, http.StatusCreated, order.status, order.body)
	require.Equal(t, "pending_payment", order.text("status"))
	require.Equal(t, "Town", order.text("shipping_address.city"))
	again := b.post(alpha, "/v1/orders", "order-2", `{"cart_id":"`+cart.text("id")+`","customer":{"email":"a@example.com"}}`).
		problem(http.StatusConflict, "cart-already-ordered")
	require.Equal(t, order.text("id"), again.text("order_id"))
	b.send(alpha, http.MethodPut, path+"/items/"+b.mug, `{"quantity":3}`).problem(http.StatusConflict, "cart-already-ordered")

	charge := b.post(alpha, order.header.Get("Location")+"/charges", "charge", goodCard)
	require.Equal(t, http.StatusCreated, charge.status, charge.body)
	require.Equal(t, "succeeded", charge.text("status"))
	require.Equal(t, "response", charge.text("resolved_by"))
	require.InDelta(t, 3998, charge.member("amount_captured"), 0)
	require.True(t, strings.HasPrefix(charge.text("provider_reference"), "pi_"))

	paid := b.get(alpha, order.header.Get("Location"))
	require.Equal(t, "paid", paid.text("status"))
	require.Equal(t, charge.text("id"), paid.text("charge_id"))
	require.InDelta(t, 3998, paid.member("amount_paid"), 0)
	stock := b.get(alpha, "/v1/products/"+b.mug+"/stock")
	require.InDelta(t, 98, stock.member("on_hand"), 0)
	require.InDelta(t, 98, stock.member("available"), 0)
}

func TestOrder_ExpectedTotal(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := strings.Replace(b.orderBody("2"), `"currency"`, `"expected_total":1,"currency"`, 1)
	got := b.post(alpha, "/v1/orders", "k", body).problem(http.StatusConflict, "total-changed")
	require.InDelta(t, 3998, got.member("total"), 0)
	require.Zero(t, b.db.Count(t, `SELECT count(*) FROM orders`))
}

func TestOrder_InDinars(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order := b.post(alpha, "/v1/orders", "k", strings.Replace(b.orderBody("1"), "EUR", "KWD", 1))
	require.Equal(t, http.StatusCreated, order.status, order.body)
	charge := b.post(alpha, order.header.Get("Location")+"/charges", "k", goodCard)
	require.Equal(t, "succeeded", charge.text("status"), charge.body)
	require.InDelta(t, 6500, charge.member("amount"), 0)
}

func TestProduct_IsChangedByWhatIsGiven(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/v1/products/" + b.mug
	before := b.get(alpha, path)
	changed := b.send(alpha, http.MethodPatch, path, `{"name":"Large mug","prices":[{"currency":"EUR","unit_amount":2499}]}`)
	require.Equal(t, http.StatusOK, changed.status, changed.body)
	require.Equal(t, "Large mug", changed.text("name"))
	require.Equal(t, before.text("sku"), changed.text("sku"))
	require.NotContains(t, changed.body, "KWD")
	require.Equal(t, changed.body, b.get(alpha, path).body)

	b.send(alpha, http.MethodPatch, path, `{"name":null}`).problem(http.StatusBadRequest, "malformed-json")
	b.send(alpha, http.MethodPatch, path, `{"prices":[{"currency":"KWD","unit_amount":1001}]}`).problem(http.StatusUnprocessableEntity, "validation-failed")
	b.send(alpha, http.MethodPatch, path, `{"prices":[{"currency":"EUR","unit_amount":1},{"currency":"eur","unit_amount":2}]}`).problem(http.StatusUnprocessableEntity, "validation-failed")
	taken := b.post(alpha, "/v1/products", "k", `{"sku":"mug","name":"Other","prices":[{"currency":"EUR","unit_amount":1}]}`).problem(http.StatusUnprocessableEntity, "validation-failed")
	require.Contains(t, taken.body, `"pointer":"/sku"`)

	withdrawn := b.send(alpha, http.MethodPatch, path, `{"active":false}`)
	require.Equal(t, false, withdrawn.member("active"))
	b.post(alpha, "/v1/orders", "k", b.orderBody("1")).problem(http.StatusUnprocessableEntity, "validation-failed")
}

func TestStock_CannotFallBelowWhatIsReserved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.order("o")
	b.send(alpha, http.MethodPut, "/v1/products/"+b.mug+"/stock", `{"on_hand":1}`).problem(http.StatusUnprocessableEntity, "validation-failed")
	got := b.send(alpha, http.MethodPut, "/v1/products/"+b.mug+"/stock", `{"on_hand":2}`)
	require.JSONEq(t, `{"product_id":"`+b.mug+`","on_hand":2,"reserved":2,"available":0}`, got.body)
}

func TestShippingAddress_IsASet(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := "/v1/orders/" + b.order("o") + "/shipping_address"
	body := `{"line1":"1 Street","city":"Town","postal_code":"12345","country":"DE"}`
	require.Equal(t, "Town", b.send(alpha, http.MethodPut, path, body).text("shipping_address.city"))
	require.Equal(t, http.StatusOK, b.send(alpha, http.MethodPut, path, body).status)
	b.send(alpha, http.MethodPut, path, `{"line1":"1 Street"}`).problem(http.StatusUnprocessableEntity, "validation-failed")
}

func TestLists_PageThroughNewestFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var placed []string
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		placed = append([]string{b.order(key)}, placed...)
	}
	b.db.Exec(t, `ALTER TABLE orders DISABLE TRIGGER USER`)
	b.db.Exec(t, `UPDATE orders SET created_at = '2026-01-01T00:00:00Z'`) // equal times must not lose or repeat anything
	var seen []string
	for path, more := "/v1/orders?limit=2", true; more; {
		got := b.get(alpha, path)
		require.Equal(t, "list", got.text("object"))
		require.Equal(t, "/v1/orders", got.text("url"))
		data, ok := got.member("data").([]any)
		require.True(t, ok)
		for _, item := range data {
			order, ok := item.(map[string]any)
			require.True(t, ok)
			seen = append(seen, order["id"].(string))
		}
		more, _ = got.member("has_more").(bool)
		path = "/v1/orders?limit=2&starting_after=" + seen[len(seen)-1]
	}
	require.ElementsMatch(t, placed, seen)
	require.Len(t, seen, 5)
}

func TestLists_Filters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	paid, open := b.order("a"), b.order("b")
	b.post(alpha, "/v1/orders/"+paid+"/charges", "k", goodCard)
	b.post(alpha, "/v1/orders/"+open+"/charges", "k2", badCard)
	for path, wants := range map[string][2]string{
		"/v1/orders?status=paid":                                               {paid, open},
		"/v1/orders?status=pending_payment":                                    {open, paid},
		"/v1/charges?status=failed":                                            {open, paid},
		"/v1/charges?order_id=" + paid:                                         {paid, open},
		"/v1/orders?customer_email=A@example.com&status=paid&limit=100":        {paid, open},
		"/v1/orders?created_after=2020-01-01T00:00:00%2B02:00&status=paid":     {paid, open},
		"/v1/orders?created_before=2020-01-01T00:00:00Z&status=paid&limit=100": {"\"data\":[]", paid},
	} {
		got := b.get(alpha, path)
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.Contains(t, got.body, wants[0], path)
		require.NotContains(t, got.body, wants[1], path)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.JSONEq(t, `{"status":"ok"}`, b.do(t.Context(), b.url, http.MethodGet, "/healthz", "").body)
	require.Equal(t, http.StatusOK, b.do(t.Context(), b.url, http.MethodGet, "/readyz", "").status)
	b.db.Exec(t, `UPDATE schema_migrations SET version = 1`)
	b.do(t.Context(), b.url, http.MethodGet, "/readyz", "").problem(http.StatusServiceUnavailable, "unavailable")
	require.Equal(t, http.StatusOK, b.do(t.Context(), b.url, http.MethodGet, "/healthz", "").status)
}

func TestObjects_HaveTheMembersOfTheContract(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order := b.post(alpha, "/v1/orders", "k", b.orderBody("2"))
	for _, name := range []string{"id", "object", "status", "currency", "subtotal", "discount", "shipping", "tax", "total", "amount_paid", "amount_refunded",
		"items", "customer", "shipping_address", "charge_id", "metadata", "expires_at", "created_at", "updated_at"} {
		require.Contains(t, order.body, `"`+name+`":`)
	}
	charge := b.post(alpha, order.header.Get("Location")+"/charges", "k", goodCard)
	for _, name := range []string{"id", "object", "order_id", "amount", "currency", "status", "capture_method", "amount_captured", "amount_refunded",
		"payment_method", "provider", "provider_reference", "failure", "next_action", "resolved_by", "metadata", "created_at", "updated_at"} {
		require.Contains(t, charge.body, `"`+name+`":`)
	}
	require.Regexp(t, `"created_at":"[0-9-]+T[0-9:.]+Z"`, order.body)
	require.Equal(t, "stripe", charge.text("provider"))
	require.NotContains(t, order.body+charge.body, "mrc_alpha")
	require.Equal(t, string(domain.OrderPendingPayment), order.text("status"))
}

func TestCart_BecomesOneOrderAndThenNoLongerChanges(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for round := range 5 {
		n := strconv.Itoa(round)
		cart := b.post(alpha, "/v1/carts", "cart-"+n, `{"currency":"EUR"}`).text("id")
		b.send(alpha, http.MethodPut, "/v1/carts/"+cart+"/items/"+b.mug, `{"quantity":1}`)
		var all sync.WaitGroup
		statuses := make([]int, 20)
		for i := range statuses {
			all.Go(func() {
				if i%4 == 3 { // one in four tries to change the cart meanwhile
					b.send(alpha, http.MethodPut, "/v1/carts/"+cart+"/items/"+b.mug, `{"quantity":2}`)
					return
				}
				statuses[i] = b.post(alpha, "/v1/orders", n+"-"+strconv.Itoa(i), `{"cart_id":"`+cart+`","customer":{"email":"a@example.com"}}`).status
			})
		}
		all.Wait()
		count := map[int]int{}
		for _, status := range statuses {
			count[status]++
		}
		require.Equal(t, map[int]int{0: 5, http.StatusCreated: 1, http.StatusConflict: 14}, count)
		ordered := b.get(alpha, "/v1/carts/"+cart)
		order := b.get(alpha, "/v1/orders/"+ordered.text("order_id"))
		require.InDelta(t, order.member("total"), ordered.member("total"), 0, "the cart is what was ordered")
	}
}

func TestCapture_HeldMoneyIsTakenOnceOrLetGo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	held := func(n string) (order, charge string) {
		order = b.order("order-" + n)
		made := b.post(alpha, "/v1/orders/"+order+"/charges", "charge-"+n, `{"payment_method":"pm_card_visa","capture_method":"manual"}`)
		require.Equal(t, http.StatusCreated, made.status, made.body)
		require.Equal(t, "authorized", made.text("status"))
		return order, made.text("id")
	}
	order, charge := held("a")
	b.post(alpha, "/v1/charges/"+charge+"/capture", "capture-a", `{"amount":5000}`).problem(http.StatusUnprocessableEntity, "validation-failed")
	b.post(beta, "/v1/charges/"+charge+"/capture", "capture-a", `{}`).problem(http.StatusNotFound, "not-found")
	b.post(reader, "/v1/charges/"+charge+"/cancel", "cancel-a", `{}`).problem(http.StatusForbidden, "forbidden")
	taken := b.post(alpha, "/v1/charges/"+charge+"/capture", "capture-a", `{"amount":1500}`)
	require.Equal(t, http.StatusOK, taken.status, taken.body)
	require.Equal(t, "succeeded", taken.text("status"))
	require.InDelta(t, 1500, taken.member("amount_captured"), 0)
	again := b.post(alpha, "/v1/charges/"+charge+"/capture", "capture-a", `{"amount":1500}`)
	require.Equal(t, taken.body, again.body)
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	paid := b.get(alpha, "/v1/orders/"+order)
	require.Equal(t, "paid", paid.text("status"))
	require.InDelta(t, 1500, paid.member("amount_paid"), 0)
	b.post(alpha, "/v1/charges/"+charge+"/capture", "capture-b", `{}`).problem(http.StatusConflict, "charge-not-capturable")
	b.post(alpha, "/v1/charges/"+charge+"/cancel", "cancel-b", `{}`).problem(http.StatusConflict, "order-already-paid")

	_, charge = held("c")
	whole := b.post(alpha, "/v1/charges/"+charge+"/capture", "capture-d", "")
	require.Equal(t, http.StatusOK, whole.status, whole.body)
	require.Equal(t, whole.body, b.post(alpha, "/v1/charges/"+charge+"/capture", "capture-d", `{"amount":3998}`).body, "left out is all")

	_, charge = held("b")
	let := b.post(alpha, "/v1/charges/"+charge+"/cancel", "cancel-c", `{"reason":"changed her mind"}`)
	require.Equal(t, http.StatusOK, let.status, let.body)
	require.Equal(t, "canceled", let.text("status"))
	gone := b.post(alpha, "/v1/charges/"+charge+"/capture", "capture-c", `{}`).problem(http.StatusConflict, "charge-not-capturable")
	require.Equal(t, "canceled", gone.text("charge_status"))
}

func TestTimeline_ShowsTheWholeStory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order := b.order("o")
	b.post(alpha, "/v1/orders/"+order+"/charges", "declined", badCard)
	b.post(alpha, "/v1/orders/"+order+"/charges", "paid", goodCard)
	story := b.get(reader, "/v1/orders/"+order+"/timeline")
	require.Equal(t, http.StatusOK, story.status, story.body)
	for _, word := range []string{`"type":"request"`, `"operation":"charges.create"`, `"call":"confirm"`, `"status":"declined"`, `"provider_request_id":"req_`, `"status":"paid"`} {
		require.Contains(t, story.body, word)
	}
	b.get(beta, "/v1/orders/"+order+"/timeline").problem(http.StatusNotFound, "not-found")
	b.get(alpha, "/v1/orders/ord_unknown/timeline").problem(http.StatusNotFound, "not-found")
}

func TestCapture_OutcomeNotKnown_202UntilItIsProved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	order := b.order("o")
	charge := b.post(alpha, "/v1/orders/"+order+"/charges", "k", `{"payment_method":"pm_card_visa","capture_method":"manual"}`).text("id")
	b.simulator(http.MethodPost, "/_sim/rules", `{"match":{"path_glob":"/v1/payment_intents/**"},"fault":{"name":"drop_after_effect","mode":"fin"}}`)
	open := b.post(alpha, "/v1/charges/"+charge+"/capture", "c", `{}`)
	require.Equal(t, http.StatusAccepted, open.status, open.body)
	require.Equal(t, "/v1/charges/"+charge, open.header.Get("Location"))
	b.post(alpha, "/v1/charges/"+charge+"/cancel", "x", `{}`).problem(http.StatusConflict, "charge-in-progress")
	b.simulator(http.MethodDelete, "/_sim/rules", "")
	require.Equal(t, http.StatusOK, b.post(alpha, "/v1/charges/"+charge+"/capture", "c", `{}`).status)
}
