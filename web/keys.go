package web

import "strings"

// A key's scope is what the key is for: a cart that is being bought, or an order after a refused charge. The browser's
// script keeps its keys under the same names.

// retryScope is the intent to pay an order once more after the given charge was refused or given up. A new refusal is a
// new charge, hence a new scope and a new key. The charge is empty for an order nobody has tried to pay.
func retryScope(order, charge string) string { return order + "/" + charge }

// underWayScope is the intent that was last sent for an order and is not decided yet.
func underWayScope(order string) string { return order + "/under-way" }

// cancelKey is the idempotency key under which the shop gives a charge up. It follows from the charge, so every press, tab
// and reload asks for the same one cancel, and nothing has to be remembered for it.
func cancelKey(charge string) string { return "give-up-" + charge }

// keyFor is the key of an intent: the one this browser was given before, or a new one.
func (v *visit) keyFor(scope string) string {
	if key, held := v.heldKey(scope); held {
		return key
	}
	return v.renewKey(scope)
}

// heldKey is the key that this browser was given for an intent, if it still has it.
func (v *visit) heldKey(scope string) (key string, held bool) {
	of, key, ok := strings.Cut(v.cookie(keyCookie), "|")
	return key, ok && of == scope && keySyntax.MatchString(key)
}

// renewKey makes a new key for an intent whose old key is spent.
func (v *visit) renewKey(scope string) string {
	key := v.shop.NewKey()
	v.keepKey(scope, key)
	return key
}

// keepKey remembers a key, whoever made it.
func (v *visit) keepKey(scope, key string) { v.setCookie(keyCookie, scope+"|"+key, rememberKey) }

// dropKey forgets the key when it belongs to one of the scopes: what it stood for is decided.
func (v *visit) dropKey(scopes []string) {
	scope, _, _ := strings.Cut(v.cookie(keyCookie), "|")
	for _, decided := range scopes {
		if scope == decided {
			v.setCookie(keyCookie, "", 0)
			return
		}
	}
}
