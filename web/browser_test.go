//go:build browser

package web_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"payonce/web"
)

// These tests run the shop's script in a real browser: go test -tags browser ./web. They need Chromium on the machine.

// tab is one page of a browser that has an own, empty profile.
type tab struct {
	t    *testing.T
	ctx  context.Context //nolint:containedctx // chromedp keeps the browser in it
	base string
}

func openTab(t *testing.T, api *fakeAPI) *tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	server := httptest.NewServer(web.New(optionsFor(api)))
	t.Cleanup(server.Close)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-component-update", true))
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	return &tab{t: t, ctx: ctx, base: server.URL}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b.ctx, steps...))
}

func (b *tab) text(expression string) string {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](expression))
	require.NoError(b.t, err)
	return value
}

// until waits for a condition of the page, over reloads.
func (b *tab) until(condition string) {
	b.t.Helper()
	for {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("document.readyState === 'complete' && !!("+condition+")"))
		if err == nil && ok {
			return
		}
		require.NoError(b.t, b.ctx.Err(), "until %s", condition)
		b.do(chromedp.Sleep(50 * time.Millisecond))
	}
}

func (b *tab) untilHeadline(words string) {
	b.until("document.querySelector('h1')?.textContent === '" + words + "'")
}

// toCheckout puts a mug into the cart and types an address.
func (b *tab) toCheckout() {
	b.do(chromedp.Navigate(b.base+"/"), chromedp.Click(chromedp.CSS("#prd_mug button")))
	b.until("document.querySelector('#prd_mug .have')")
	b.do(chromedp.Navigate(b.base+"/checkout"), chromedp.SendKeys(chromedp.CSS("#email"), "ada@example.com"))
}

const keyField = "document.querySelector('#checkout [name=key]').value"

func TestBrowser_KeyIsMadeKeptSentAndForgotten(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	b := openTab(t, api)
	b.toCheckout()
	key := b.text(keyField)
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$`, key)
	require.Equal(t, key, b.text("document.querySelector('[data-key-shown]').textContent"))
	require.Equal(t, key, b.text("localStorage.getItem('payonce.key.' + document.querySelector('[name=cart_id]').value)"))

	b.do(chromedp.Reload())
	require.Equal(t, key, b.text(keyField), "a reload keeps it")
	b.do(chromedp.SetValue(chromedp.CSS("#email"), "ada@example.com"), chromedp.Click(chromedp.CSS("#checkout .pay")))
	b.untilHeadline("Paid. Thank you.")
	require.Equal(t, key, api.chargesSent()[0].Key)
	require.Equal(t, "0", b.text("String(localStorage.length)"), "decided: it is forgotten")
}

func TestBrowser_PayTwiceOnPurpose_OnePayment(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	b := openTab(t, api)
	b.toCheckout()
	api.fail("charges.create", twinAtWork) // one of the two has to ask again
	b.do(chromedp.Click(chromedp.CSS("#twice-start")))
	b.until("document.querySelector('#verdict a')")
	require.Equal(t, "Two requests, one order, one payment.", b.text("document.querySelector('#verdict .big').textContent"))
	require.Equal(t, "2", b.text("String(document.querySelectorAll('.twin.worked, .twin.replayed').length)"))
	require.Len(t, api.orders, 1)
	require.Len(t, api.charges, 1)
	b.do(chromedp.Click(chromedp.CSS("#verdict a")))
	b.untilHeadline("Paid. Thank you.")
}

func TestBrowser_OutOfStock_NextTryHasANewKey(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	b := openTab(t, api)
	b.toCheckout()
	key := b.text(keyField)
	api.mu.Lock()
	api.product("prd_mug").Available = 0
	api.mu.Unlock()
	b.do(chromedp.Click(chromedp.CSS("#checkout .pay")))
	b.until("document.querySelector('.note.bad')")
	require.NotEqual(t, key, b.text(keyField))
}

func TestBrowser_OutcomeOpen_PageLooksAgainByItself(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	b := openTab(t, api)
	b.toCheckout()
	api.fail("charges.create", bankSilent)
	b.do(chromedp.Click(chromedp.CSS("#checkout .pay")))
	b.untilHeadline("We are finding out what happened")
	api.mu.Lock()
	api.settle(api.charges[0].ID, "succeeded")
	api.mu.Unlock()
	b.untilHeadline("Paid. Thank you.")
}

func TestBrowser_TwinAtWork_PageAsksAgainByItself(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	b := openTab(t, api)
	b.toCheckout()
	api.fail("charges.create", twinAtWork, twinAtWork)
	b.do(chromedp.Click(chromedp.CSS("#checkout .pay")))
	b.untilHeadline("Paid. Thank you.")
	require.Len(t, api.chargesSent(), 3)
	require.Len(t, api.charges, 1)
}

func TestBrowser_WalkedAwayFromTheBank_AnotherCardPaysOnce(t *testing.T) {
	t.Parallel()
	api := stockedAPI()
	b := openTab(t, api)
	b.toCheckout()
	const choose = `document.querySelector("[value='%s']").click()`
	b.text("String(" + fmt.Sprintf(choose, "pm_card_authenticationRequired") + ")")
	b.do(chromedp.Click(chromedp.CSS("#checkout .pay")))
	b.untilHeadline("Your bank wants to be sure it is you")
	first := b.text("localStorage.getItem(Object.keys(localStorage)[0])")
	api.fail("charges.cancel", bankSilent)
	b.do(chromedp.Click(chromedp.CSS("form[action$='/cancel'] button")))
	b.untilHeadline("We are making sure")
	api.mu.Lock()
	api.settle(api.charges[0].ID, "canceled")
	api.mu.Unlock()
	b.untilHeadline("That try was given up")
	require.NotEqual(t, first, b.text("document.querySelector('[name=key]').value"), "another card is another intent")
	b.do(chromedp.Click(chromedp.CSS("form[action$='/charges'] .pay")))
	b.untilHeadline("Paid. Thank you.")
	require.Len(t, api.charges, 2)
	require.Equal(t, "0", b.text("String(localStorage.length)"))
	require.Equal(t, "false", b.text("String(document.querySelector('details').open)"))
	b.do(chromedp.Click(chromedp.CSS("summary")))
	b.until("document.querySelector('.curious dd').offsetHeight > 0")
}
