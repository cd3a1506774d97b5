package api

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"payonce/payment"
)

// list is the form of every list.
type list[T any] struct {
	Object  string `json:"object"`
	Data    []T    `json:"data"`
	HasMore bool   `json:"has_more"`
	URL     string `json:"url"`
}

func listed[T any](c echo.Context, data []T, more bool) error {
	if data == nil {
		data = []T{}
	}
	return c.JSONBlob(http.StatusOK, encode(list[T]{"list", data, more, c.Request().URL.Path}))
}

func object(c echo.Context, v any) error { return c.JSONBlob(http.StatusOK, encode(v)) }

// expiresHeader says until when the answer under a key is kept.
const expiresHeader = "Idempotency-Expires"

// answer writes the reply of a keyed operation: the stored bytes, and the headers that say what they are.
func (a *API) answer(c echo.Context, reply payment.Reply) error {
	h := c.Response().Header()
	if reply.Answer.Location != "" {
		h.Set("Location", reply.Answer.Location)
	}
	if !reply.ExpiresAt.IsZero() {
		h.Set(expiresHeader, reply.ExpiresAt.UTC().Format(http.TimeFormat))
	}
	if reply.Replayed {
		h.Set("Idempotent-Replayed", "true")
		h.Set("Original-Request", reply.OriginalID)
		if latest := pathOf(reply.Resource); latest != "" {
			h.Set("Link", "<"+latest+`>; rel="latest"`) // the bytes are the first answer; this is the object as it is now
		}
	}
	if reply.RetryAfter > 0 {
		h.Set("Retry-After", seconds(reply.RetryAfter))
	}
	kind := echo.MIMEApplicationJSON
	if reply.Answer.Status >= http.StatusBadRequest {
		kind = problemJSON
	}
	return c.Blob(reply.Answer.Status, kind, reply.Answer.Body)
}

// pathOf is where an object can be read, by the prefix of its id.
func pathOf(id string) string {
	prefix, _, _ := strings.Cut(id, "_")
	collection := map[string]string{"prd": "products", "cart": "carts", "ord": "orders", "chg": "charges"}[prefix]
	if collection == "" {
		return ""
	}
	return "/v1/" + collection + "/" + id
}
