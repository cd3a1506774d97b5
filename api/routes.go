package api

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"payonce/domain"
	"payonce/repository"
)

// route is one line of the table: what can be asked, who may ask it, which query parameters it knows, and, when it needs
// an idempotency key, the operation that is the key's scope.
type route struct {
	method, path string
	role         domain.Role // empty: no API key needed, and the answer may be something else than JSON
	query        []string
	handle       echo.HandlerFunc
	operation    domain.Operation
}

// routes is the whole interface.
func (a *API) routes() []route {
	const read, write = domain.RoleRead, domain.RoleWrite
	list := []string{"limit", "starting_after"}
	get, post, put, patch, remove := http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete
	return []route{
		{get, "/healthz", "", nil, a.health, ""},
		{get, "/readyz", "", nil, a.ready, ""},
		{get, "/problems/:slug", "", nil, a.explain, ""},
		{get, "/openapi.yaml", "", nil, a.openapi, ""},
		{get, "/docs", "", nil, a.docs, ""},

		{post, "/v1/products", write, nil, a.createProduct, domain.OpProductsCreate},
		{get, "/v1/products", read, list, a.listProducts, ""},
		{get, "/v1/products/:id", read, nil, a.getProduct, ""},
		{patch, "/v1/products/:id", write, nil, a.updateProduct, ""},
		{get, "/v1/products/:id/stock", read, nil, a.getStock, ""},
		{put, "/v1/products/:id/stock", write, nil, a.setStock, ""},

		{post, "/v1/carts", write, nil, a.createCart, domain.OpCartsCreate},
		{get, "/v1/carts/:id", read, nil, a.getCart, ""},
		{put, "/v1/carts/:id/items/:product_id", write, nil, a.putCartItem, ""},
		{remove, "/v1/carts/:id/items/:product_id", write, nil, a.deleteCartItem, ""},

		{post, "/v1/orders", write, nil, a.createOrder, domain.OpOrdersCreate},
		{get, "/v1/orders", read, append(list, "status", "customer_email", "created_after", "created_before"), a.listOrders, ""},
		{get, "/v1/orders/:id", read, nil, a.getOrder, ""},
		{get, "/v1/orders/:id/timeline", read, nil, a.getTimeline, ""},
		{put, "/v1/orders/:id/shipping_address", write, nil, a.setShippingAddress, ""},
		{post, "/v1/orders/:id/charges", write, nil, a.createCharge, domain.OpChargesCreate},

		{get, "/v1/charges", read, append(list, "order_id", "status"), a.listCharges, ""},
		{get, "/v1/charges/:id", read, nil, a.getCharge, ""},
		{post, "/v1/charges/:id/capture", write, nil, a.captureCharge, domain.OpChargesCapture},
		{post, "/v1/charges/:id/cancel", write, nil, a.cancelCharge, domain.OpChargesCancel},

		{get, "/v1/idempotency_policy", read, nil, a.getKeyPolicy, ""},
		{get, "/v1/idempotency_keys/:operation/:key", read, nil, a.getKey, ""},
	}
}

const callerKey = "caller"

func callerOf(c echo.Context) domain.Caller {
	caller, _ := c.Get(callerKey).(domain.Caller)
	return caller
}

// guard checks what is the same for every route, in the order of the contract: who asks, what they may do, what they
// accept, and that the query holds nothing the route does not know.
func (a *API) guard(r route) echo.HandlerFunc {
	return func(c echo.Context) error {
		if r.role != "" {
			caller, err := a.admit(c)
			if err != nil {
				return err
			}
			if !caller.Role.Includes(r.role) {
				return domain.E(domain.CodeForbidden, nil, "the API key has the role %q, and this needs %q", caller.Role, r.role)
			}
			c.Set(callerKey, caller)
			c.SetRequest(c.Request().WithContext(repository.AsMerchant(c.Request().Context(), caller.MerchantID)))
		}
		if r.role != "" && !acceptsJSON(c.Request().Header.Values("Accept")) {
			return domain.E(domain.CodeNotAcceptable, nil, "answers are application/json")
		}
		if err := checkPath(c); err != nil {
			return err
		}
		if err := checkQuery(c.Request().URL.RawQuery, r.query); err != nil {
			return err
		}
		return r.handle(c)
	}
}

// acceptsJSON reads Accept (RFC 9110, section 12.5.1) as far as it decides between JSON and nothing.
func acceptsJSON(values []string) bool {
	if len(values) == 0 {
		return true
	}
	ours := []string{"*/*", "application/*", "application/json", problemJSON}
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		kind, params, err := mime.ParseMediaType(part)
		refused := params["q"] != "" && strings.Trim(params["q"], "0.") == ""
		if err == nil && slices.Contains(ours, kind) && !refused {
			return true
		}
	}
	return false
}
