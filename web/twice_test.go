package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// answerToScript is what the script that pays twice on purpose reads.
type answerToScript struct {
	Kind       string `json:"kind"`
	OrderID    string `json:"order_id"`
	OrderURL   string `json:"order_url"`
	ChargeID   string `json:"charge_id"`
	AgainAfter int    `json:"again_after"`
	Calls      []struct {
		Operation string `json:"operation"`
		Status    int    `json:"status"`
		RequestID string `json:"request_id"`
		Replayed  bool   `json:"replayed"`
		Original  string `json:"original_request"`
	} `json:"calls"`
}

// byScript sends a form as the script does.
func (f *form) byScript() (int, answerToScript) {
	f.t.Helper()
	f.headers["Accept"] = "application/json"
	defer delete(f.headers, "Accept")
	page := f.once(http.MethodPost, f.action, f.values)
	var answer answerToScript
	require.NoError(f.t, json.Unmarshal([]byte(page.body), &answer), page.body)
	return page.status, answer
}

func TestPayTwiceOnPurpose(t *testing.T) {
	t.Parallel()

	t.Run("Approved_SecondRequestIsAReplayOfTheFirst", func(t *testing.T) {
		t.Parallel()
		api := stockedAPI()
		pay := newBuyer(t, api).toCheckout()
		status1, first := pay.byScript()
		status2, second := pay.byScript()
		require.Equal(t, []int{http.StatusCreated, http.StatusCreated}, []int{status1, status2})
		require.Equal(t, "told", first.Kind)
		require.Equal(t, first.OrderID, second.OrderID)
		require.Equal(t, first.ChargeID, second.ChargeID)
		require.NotEmpty(t, first.ChargeID)
		require.Len(t, second.Calls, 2)
		for i, operation := range []string{"orders.create", "charges.create"} {
			require.Equal(t, operation, second.Calls[i].Operation)
			require.False(t, first.Calls[i].Replayed)
			require.True(t, second.Calls[i].Replayed)
			require.Equal(t, first.Calls[i].RequestID, second.Calls[i].Original)
			require.NotEqual(t, first.Calls[i].RequestID, second.Calls[i].RequestID)
		}
		require.Len(t, api.charges, 1)
		require.Contains(t, state(pay.buyer, first.OrderURL), `"payments":1`)
	})
	t.Run("Declined_RefusedOnce", func(t *testing.T) {
		t.Parallel()
		api := stockedAPI()
		pay := newBuyer(t, api).toCheckout().fill("payment_method", "pm_card_visa_chargeDeclined")
		status, first := pay.byScript()
		_, second := pay.byScript()
		require.Equal(t, http.StatusPaymentRequired, status)
		require.Equal(t, api.charges[0].ID, first.ChargeID)
		require.Equal(t, first.ChargeID, second.ChargeID)
		require.Len(t, api.charges, 1)
		require.Contains(t, state(pay.buyer, first.OrderURL), `"payments":0`)
	})
	t.Run("NoAnswer_TellsWhenToAskAgain", func(t *testing.T) {
		t.Parallel()
		api := stockedAPI()
		pay := newBuyer(t, api).toCheckout()
		api.fail("charges.create", down)
		status, answer := pay.byScript()
		require.Equal(t, http.StatusServiceUnavailable, status)
		require.Equal(t, "again", answer.Kind)
		require.Equal(t, 3, answer.AgainAfter)
		_, answer = pay.byScript()
		require.Equal(t, "told", answer.Kind)
		require.Len(t, api.charges, 1)
	})
	t.Run("FormNotAccepted_TellsToShowTheForm", func(t *testing.T) {
		t.Parallel()
		status, answer := newBuyer(t, stockedAPI()).toCheckout().fill("email", "nobody").byScript()
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Equal(t, "refused", answer.Kind)
	})
	t.Run("WithoutScript_ThereIsNoButton", func(t *testing.T) {
		t.Parallel()
		b := newBuyer(t, stockedAPI())
		b.put("prd_mug")
		require.Contains(t, b.get("/checkout").body, `id="twice" hidden`)
	})
}

func TestKey_Life(t *testing.T) {
	t.Parallel()

	t.Run("Reloaded_TheSame", func(t *testing.T) {
		t.Parallel()
		b := newBuyer(t, stockedAPI())
		first := b.toCheckout().values.Get("key")
		require.Equal(t, first, b.get("/checkout").form("/checkout").values.Get("key"))
		b.get("/")
		require.Equal(t, first, b.get("/checkout").form("/checkout").values.Get("key"))
	})
	t.Run("ShownWithWhatItIsFor", func(t *testing.T) {
		t.Parallel()
		b := newBuyer(t, stockedAPI())
		key := b.toCheckout().values.Get("key")
		b.get("/checkout").says("Payment key "+key, "never pays twice")
	})
	t.Run("AnotherCart_AnotherKey", func(t *testing.T) {
		t.Parallel()
		b := newBuyer(t, stockedAPI())
		first := b.toCheckout()
		first.press()
		require.NotContains(t, b.cookies, "payonce_key", "paid: the key has done its work")
		require.NotEqual(t, first.values.Get("key"), b.toCheckout().values.Get("key"))
	})
	t.Run("MadeByTheScript_IsTheOneThatIsSent", func(t *testing.T) {
		t.Parallel()
		api := stockedAPI()
		pay := newBuyer(t, api).toCheckout().fill("key", "6e8f5e0c-3b1f-4d57-9f5b-1f0c2d3e4a5b")
		api.fail("charges.create", bankSilent)
		page := pay.press()
		require.Equal(t, pay.values.Get("key"), api.chargesSent()[0].Key)
		require.Equal(t, pay.values.Get("key"), page.form(page.path+"/charges").values.Get("key"), "and the page of the open order goes on with it")
	})
	t.Run("ScopeTellsTheScriptWhatItIsFor", func(t *testing.T) {
		t.Parallel()
		b := newBuyer(t, stockedAPI())
		pay := b.toCheckout()
		require.Contains(t, b.get("/checkout").body, `data-key-scope="`+pay.values.Get("cart_id")+`"`)
	})
	t.Run("Spent_ScriptIsToldWhichOne", func(t *testing.T) {
		t.Parallel()
		api := stockedAPI()
		pay := newBuyer(t, api).toCheckout()
		api.product("prd_mug").Available = 0
		require.Contains(t, pay.press().body, `data-key-spent="`+pay.values.Get("key")+`"`)
	})
	t.Run("Declined_ScriptForgetsTheOldAndKeepsTheNew", func(t *testing.T) {
		t.Parallel()
		api := stockedAPI()
		pay := newBuyer(t, api).toCheckout().fill("payment_method", "pm_card_visa_chargeDeclined")
		page := pay.press()
		order := page.path[len("/orders/"):]
		require.Contains(t, page.body, `data-key-scope="`+order+`/`+api.charges[0].ID+`"`)
		forget := attribute(all(page.document, "body")[0], "data-forget")
		require.Contains(t, forget, pay.values.Get("cart_id"))
		require.NotContains(t, forget, api.charges[0].ID)
	})
	t.Run("CookieTamperedWith_NewKey", func(t *testing.T) {
		t.Parallel()
		b := newBuyer(t, stockedAPI())
		scope := b.toCheckout().values.Get("cart_id")
		for _, value := range []string{scope, scope + "|", scope + "|a b", "|", url.QueryEscape(scope + "|x\x00")} {
			b.cookies["payonce_key"] = value
			require.Regexp(t, `^key-\d+$`, b.get("/checkout").form("/checkout").values.Get("key"))
		}
	})
}
