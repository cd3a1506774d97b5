package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// built builds the program once per test that needs real processes.
func built(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "payonce")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	return binary
}

// process is a running demo.
type process struct {
	t         *testing.T
	cmd       *exec.Cmd
	shop, sim string
	log       *bytes.Buffer
	ended     chan error
}

var (
	shopLine = regexp.MustCompile(`Shop +http://(\S+)/`)
	simLine  = regexp.MustCompile(`Provider +http://([^/]+)/_sim`)
)

func startDemo(t *testing.T, binary, folder string, settings ...string) *process {
	t.Helper()
	p := &process{t: t, log: &bytes.Buffer{}, ended: make(chan error, 1)}
	p.cmd = exec.Command(binary, "demo")
	p.cmd.Dir = folder
	p.cmd.Env = append(os.Environ(), "PAYONCE_ADDR=127.0.0.1:0", "PAYONCE_SIM_ADDR=127.0.0.1:0", "PAYONCE_ADMIN_ADDR=", "DATABASE_URL=", "STRIPE_SECRET_KEY=",
		"PGHOSTADDR=127.0.0.1", "PGPORT=1", "PGSSLMODE=require") // meant for other programs; the demo must not follow them
	p.cmd.Env = append(p.cmd.Env, settings...)
	p.cmd.Stderr = p.log
	stdout, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if m := shopLine.FindStringSubmatch(lines.Text()); m != nil {
			p.shop = "http://" + m[1]
		}
		if m := simLine.FindStringSubmatch(lines.Text()); m != nil {
			p.sim = "http://" + m[1]
		}
		if strings.Contains(lines.Text(), "Stop with Ctrl-C") {
			break
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, stdout)
		p.ended <- p.cmd.Wait()
	}()
	if p.shop == "" || p.sim == "" {
		<-p.ended
		require.FailNow(t, "the demo did not start", p.log.String())
	}
	return p
}

func (p *process) kill() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Kill())
	<-p.ended
}

func (p *process) call(method, path, key, body string) (int, http.Header, string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(context.WithoutCancel(p.t.Context()), method, p.shop+path, strings.NewReader(body))
	require.NoError(p.t, err)
	r.Header.Set("Authorization", "Bearer "+demoAlpha)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(p.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(p.t, err)
	return answer.StatusCode, answer.Header, string(text)
}

// interrupt ends a demo as Ctrl-C does.
func (p *process) interrupt() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGINT))
	require.NoError(p.t, <-p.ended, "Ctrl-C ends with exit code 0: %s", p.log)
}

// resetDemo deletes what a demo has left.
func resetDemo(t *testing.T, binary, folder string) {
	t.Helper()
	reset := exec.Command(binary, "demo", "--reset")
	reset.Dir = folder
	out, err := reset.CombinedOutput()
	require.NoError(t, err, string(out))
}

// succeeded is how often the provider has taken the money of an order.
func (p *process) succeeded(order string) int {
	p.t.Helper()
	r, err := http.NewRequestWithContext(context.WithoutCancel(p.t.Context()), http.MethodGet, p.sim+"/_sim/audit", http.NoBody)
	require.NoError(p.t, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(p.t, err)
	defer answer.Body.Close()
	var audit struct {
		References []struct {
			Reference string `json:"reference"`
			Succeeded int    `json:"succeeded"`
		} `json:"references"`
	}
	require.NoError(p.t, json.NewDecoder(answer.Body).Decode(&audit))
	for _, reference := range audit.References {
		if reference.Reference == order {
			return reference.Succeeded
		}
	}
	return 0
}

func idIn(t *testing.T, body string) string {
	t.Helper()
	var object struct {
		ID string `json:"id"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &object), body)
	return object.ID
}

func TestDemo_KilledAndStartedAgain_LosesNothing(t *testing.T) {
	t.Parallel()
	binary, folder := built(t), t.TempDir()
	t.Cleanup(func() { resetDemo(t, binary, folder) })
	first := startDemo(t, binary, folder)

	_, _, products := first.call(http.MethodGet, "/v1/products?limit=1", "", "")
	product := regexp.MustCompile(`prd_[0-9a-z]+`).FindString(products)
	require.NotEmpty(t, product, products)
	body := `{"items":[{"product_id":"` + product + `","quantity":2}],"currency":"EUR","customer":{"email":"a@example.com"}}`
	status, _, order := first.call(http.MethodPost, "/v1/orders", "order", body)
	require.Equal(t, http.StatusCreated, status, order)
	charges := "/v1/orders/" + idIn(t, order) + "/charges"
	status, _, declined := first.call(http.MethodPost, charges, "declined", `{"payment_method":"pm_card_visa_chargeDeclined"}`)
	require.Equal(t, http.StatusPaymentRequired, status, declined)
	status, _, charge := first.call(http.MethodPost, charges, "charge", `{"payment_method":"pm_card_visa"}`)
	require.Equal(t, http.StatusCreated, status, charge)
	first.kill()

	second := startDemo(t, binary, folder)
	for _, row := range []struct{ path, key, body, told string }{
		{"/v1/orders", "order", body, order},
		{charges, "declined", `{"payment_method":"pm_card_visa_chargeDeclined"}`, declined},
		{charges, "charge", `{"payment_method":"pm_card_visa"}`, charge},
	} {
		_, header, again := second.call(http.MethodPost, row.path, row.key, row.body)
		require.Equal(t, row.told, again)
		require.Equal(t, "true", header.Get("Idempotent-Replayed"))
	}
	_, _, paid := second.call(http.MethodGet, "/v1/orders/"+idIn(t, order), "", "")
	require.Contains(t, paid, `"status":"paid"`)
	require.Equal(t, 1, second.succeeded(idIn(t, order)), "the provider remembers one payment, and only one")

	second.interrupt()
}

func TestDemo_PortInUse_SaysWhatToSet(t *testing.T) {
	t.Parallel()
	taken, err := listen("127.0.0.1:0", "X")
	require.NoError(t, err)
	defer taken.Close()
	var out, errs bytes.Buffer
	code := run([]string{"demo"}, []string{"PAYONCE_ADDR=" + taken.Addr().String()}, &out, &errs)
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs.String(), "set PAYONCE_ADDR")
}
