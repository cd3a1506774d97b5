package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// browser opens a headless browser, or skips the test where there is none.
func browser(t *testing.T) context.Context {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no chromium here")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 900),
		chromedp.Flag("no-sandbox", os.Getuid() == 0), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, stop := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	t.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(ctx)
	t.Cleanup(closeTab)
	_, err := chromedp.Run(ctx, chromedp.Navigate("about:blank"))
	require.NoError(t, err)
	return ctx
}

// tab runs steps in a browser, each within a limit, and keeps a picture of the page where one is wanted.
type tab struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // a chromedp context is the tab itself
}

func (b tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 20*time.Second)
	defer cancel()
	for i, step := range steps {
		_, err := chromedp.Run(ctx, step)
		require.NoError(b.t, err, "step %d", i+1)
	}
}

func (b tab) text(selector string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 20*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS(selector)))
	require.NoError(b.t, err)
	return text
}

// picture writes a screenshot into the folder that PAYONCE_SCREENSHOTS names, for people to look at.
func (b tab) picture(name string) {
	b.t.Helper()
	folder := os.Getenv("PAYONCE_SCREENSHOTS")
	if folder == "" {
		return
	}
	image, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(filepath.Join(folder, name+".png"), image, 0o600))
}

// fillCart puts two mugs into the cart and goes to the checkout.
func (b tab) fillCart(shop string) {
	b.t.Helper()
	add := `//article[.//h3[contains(., "mug")]]//button`
	b.do(chromedp.Navigate(shop+"/"), chromedp.Submit(add), chromedp.WaitVisible(`//a[contains(., "1 in cart")]`),
		chromedp.Submit(add), chromedp.WaitVisible(`//a[contains(., "2 in cart")]`),
		chromedp.Navigate(shop+"/checkout"), chromedp.SendKeys(chromedp.CSS("#email"), "you@example.com"))
}

func TestShop_BuyTwoMugsAndThenPayTwiceOnPurpose(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	binary, folder := built(t), t.TempDir()
	demo := startDemo(t, binary, folder)
	t.Cleanup(func() {
		require.NoError(t, demo.cmd.Process.Signal(os.Interrupt))
		<-demo.ended
		reset := exec.Command(binary, "demo", "--reset")
		reset.Dir = folder
		out, err := reset.CombinedOutput()
		require.NoError(t, err, string(out))
	})
	b := tab{t, ctx}

	b.fillCart(demo.shop)
	b.picture("checkout")
	b.do(chromedp.Click(chromedp.CSS("button.pay")), chromedp.WaitVisible(`//main//*[contains(., "pi_")]`))
	b.picture("order")
	require.Contains(t, strings.ToLower(b.text("main")), "paid")
	require.Contains(t, b.text("main"), "39.98")

	b.fillCart(demo.shop)
	b.do(chromedp.Click(chromedp.CSS("#twice-start")), chromedp.WaitVisible(chromedp.CSS("#verdict .big")))
	b.picture("twice")
	require.Contains(t, b.text("#verdict"), "Two requests, one order, one payment.")
	_, _, orders := demo.call(http.MethodGet, "/v1/orders?status=paid", "", "")
	require.Regexp(t, `"data":\[\{"id":"ord_.*\{"id":"ord_`, orders)
	_, _, charges := demo.call(http.MethodGet, "/v1/charges", "", "")
	require.NotRegexp(t, `("id":"chg_.*){3}`, charges, "two purchases, two charges")
}
