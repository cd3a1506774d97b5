package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/payment"
	"payonce/repository/repositorytest"
	"payonce/simulator"
)

// What happens to the charges that are running when the process is told to stop.

// shopfront is a database with the demo's catalogue, and a simulated Stripe.
type shopfront struct {
	t       *testing.T
	config  config
	service *payment.Service
	sim     string
	environ []string
}

func newShopfront(t *testing.T, settings ...string) *shopfront {
	t.Helper()
	sim, err := simulator.New(simulator.Options{Seed: 1, Now: time.Now})
	require.NoError(t, err)
	stripe := httptest.NewServer(sim.Handler())
	t.Cleanup(stripe.Close)
	t.Cleanup(func() { _ = sim.Close() }) // lets go what a failed test still holds
	f := &shopfront{t: t, sim: stripe.URL}
	f.environ = append([]string{"DATABASE_URL=" + repositorytest.URL(t), "STRIPE_SECRET_KEY=sk_test_x", "STRIPE_API_BASE=" + stripe.URL,
		"PAYONCE_ADDR=127.0.0.1:0", "PAYONCE_ADMIN_ADDR=127.0.0.1:0", "PAYONCE_PROVIDER_TIMEOUT=60s", "PAYONCE_LEASE=2m"}, settings...)
	f.config, err = loadConfig(f.environ, needDatabase, needProvider)
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	store, err := openStore(t.Context(), f.config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	_, err = seedDemo(t.Context(), f.config, store, log)
	require.NoError(t, err)
	f.service, err = newService(f.config, store, log)
	require.NoError(t, err)
	return f
}

// call sends a request with the key of merchant alpha.
func (f *shopfront) call(ctx context.Context, method, url, key, body string) (status int, header http.Header, text string, err error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, "", err
	}
	r.Header.Set("Authorization", "Bearer "+demoAlpha)
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	connection := &http.Transport{} // for this request alone
	defer connection.CloseIdleConnections()
	answer, err := connection.RoundTrip(r)
	if err != nil {
		return 0, nil, "", err
	}
	defer answer.Body.Close()
	if answer.Close {
		answer.Header.Set("Connection", "close") // the transport takes it for itself
	}
	read, err := io.ReadAll(answer.Body)
	return answer.StatusCode, answer.Header, string(read), err
}

func (f *shopfront) must(method, url, key, body string) (int, http.Header, string) {
	f.t.Helper()
	status, header, text, err := f.call(f.t.Context(), method, url, key, body)
	require.NoError(f.t, err)
	return status, header, text
}

const card = `{"payment_method":"pm_card_visa"}`

// order makes an order that can be paid, and returns where.
func (f *shopfront) order(url string) (charges string) {
	f.t.Helper()
	_, _, products := f.must(http.MethodGet, url+"/v1/products?limit=1", "", "")
	product := regexp.MustCompile(`prd_[0-9a-z]+`).FindString(products)
	status, _, order := f.must(http.MethodPost, url+"/v1/orders", "order",
		`{"items":[{"product_id":"`+product+`","quantity":1}],"currency":"EUR","customer":{"email":"a@example.com"}}`)
	require.Equal(f.t, http.StatusCreated, status, order)
	return url + "/v1/orders/" + idIn(f.t, order) + "/charges"
}

type told struct {
	status int
	text   string
	err    error
}

// holdCharge sends a charge that waits at the provider until release.
func (f *shopfront) holdCharge(ctx context.Context, charges string) (answer chan told, release func()) {
	f.t.Helper()
	status, _, text := f.must(http.MethodPost, f.sim+"/_sim/rules", "",
		`{"match":{"method":"POST","path_glob":"/v1/payment_intents/*/confirm"},"fault":{"name":"hold","barrier":"b","point":"before_effect"},"times":1}`)
	require.Equal(f.t, http.StatusCreated, status, text)
	answer = make(chan told, 1)
	go func() {
		status, _, text, err := f.call(ctx, http.MethodPost, charges, "charge", card)
		answer <- told{status, text, err}
	}()
	status, _, text = f.must(http.MethodGet, f.sim+"/_sim/barriers/b?wait=20s", "", "")
	require.Equal(f.t, http.StatusOK, status, text)
	return answer, func() { f.must(http.MethodPost, f.sim+"/_sim/barriers/b/release", "", "") }
}

// served is a site of this process.
type served struct {
	url   string
	stop  func()
	stops chan time.Duration // is told the delay when the site has announced that it stops ...
	go_   chan time.Time     // ... and goes on stopping by this
	ended chan error
}

func (f *shopfront) serve(limit time.Duration) *served {
	f.t.Helper()
	listener, err := listen(f.config.Addr, "PAYONCE_ADDR")
	require.NoError(f.t, err)
	ctx, stop := context.WithCancel(f.t.Context())
	s := &served{url: "http://" + listener.Addr().String(), stop: stop, stops: make(chan time.Duration, 1), go_: make(chan time.Time), ended: make(chan error, 1)}
	after := func(d time.Duration) <-chan time.Time {
		s.stops <- d
		return s.go_
	}
	at := newSite(f.config, f.service, newMetrics(f.service).observe)
	go func() {
		s.ended <- at.serve(ctx, listener, stopping{delay: f.config.DrainDelay, after: after, limit: limit})
	}()
	return s
}

// stopsAccepting waits until nobody listens any more.
func (s *served) stopsAccepting(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, 20*time.Second, time.Millisecond)
}

func TestDrain_SaysSoFirst_AndEndsWhenTheChargeIsAnswered(t *testing.T) {
	t.Parallel()
	f := newShopfront(t, "PAYONCE_DRAIN_DELAY=7s")
	s := f.serve(time.Minute)
	answer, release := f.holdCharge(t.Context(), f.order(s.url))
	status, header, _ := f.must(http.MethodGet, s.url+"/readyz", "", "")
	require.Equal(t, http.StatusOK, status)
	require.Empty(t, header.Get("Connection"))
	s.stop()
	require.Equal(t, 7*time.Second, <-s.stops)
	status, _, text := f.must(http.MethodGet, s.url+"/readyz", "", "")
	require.Equal(t, http.StatusServiceUnavailable, status, text)
	status, header, _ = f.must(http.MethodGet, s.url+"/v1/orders", "", "")
	require.Equal(t, http.StatusOK, status, "who has not noticed yet is still served")
	require.Equal(t, "close", header.Get("Connection"), "and sent elsewhere for the next request")
	s.go_ <- time.Time{}
	s.stopsAccepting(t)
	require.Empty(t, s.ended, "the charge is not answered")
	release()
	got := <-answer
	require.NoError(t, got.err)
	require.Equal(t, http.StatusCreated, got.status, got.text)
	require.NoError(t, <-s.ended)
}

func TestDrain_ChargeWhoseCallerHasHungUp_IsAnsweredAllTheSame(t *testing.T) {
	t.Parallel()
	f := newShopfront(t)
	s := f.serve(time.Minute)
	charges := f.order(s.url)
	ctx, hangUp := context.WithCancel(t.Context())
	answer, release := f.holdCharge(ctx, charges)
	hangUp()
	require.ErrorIs(t, (<-answer).err, context.Canceled)
	s.stop()
	<-s.stops
	s.go_ <- time.Time{}
	s.stopsAccepting(t)
	require.Empty(t, s.ended, "nobody waits for the charge any more, but it runs")
	release()
	require.NoError(t, <-s.ended)

	next := f.serve(time.Minute)
	status, header, text := f.must(http.MethodPost, strings.Replace(charges, s.url, next.url, 1), "charge", card)
	require.Equal(t, http.StatusCreated, status, text)
	require.Equal(t, "true", header.Get("Idempotent-Replayed"), "its answer was stored")
}

func TestDrain_WhatTakesTooLong_IsCountedAndCanBeResumed(t *testing.T) {
	t.Parallel()
	f := newShopfront(t)
	s := f.serve(time.Millisecond)
	charges := f.order(s.url)
	answer, release := f.holdCharge(t.Context(), charges)
	s.stop()
	<-s.stops
	s.go_ <- time.Time{}
	require.ErrorContains(t, <-s.ended, "requests cut off after 1ms: 1")
	require.Error(t, (<-answer).err)
	release()
	next := f.serve(time.Minute)
	require.Eventually(t, func() bool {
		status, _, _ := f.must(http.MethodPost, strings.Replace(charges, s.url, next.url, 1), "charge", card)
		return status == http.StatusCreated
	}, 20*time.Second, 10*time.Millisecond)
}

// command is a process of the program, with what it says in its log.
type command struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
	text  strings.Builder
}

func startCommand(t *testing.T, binary string, environ []string, args ...string) *command {
	t.Helper()
	c := &command{t: t, cmd: exec.Command(binary, args...)}
	c.cmd.Env = append(os.Environ(), environ...)
	stderr, err := c.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.cmd.Start())
	t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	c.lines = bufio.NewScanner(stderr)
	return c
}

// says waits for a line of the log and returns the address in it.
func (c *command) says(message string) (address string) {
	c.t.Helper()
	pattern := regexp.MustCompile(`msg="?` + message + `"? address=(\S+)`)
	for c.lines.Scan() {
		c.text.WriteString(c.lines.Text() + "\n")
		if m := pattern.FindStringSubmatch(c.lines.Text()); m != nil {
			return "http://" + m[1]
		}
	}
	require.FailNow(c.t, "the log does not say "+message, c.text.String())
	return ""
}

// ends sends SIGTERM and waits for exit code 0.
func (c *command) ends() {
	c.t.Helper()
	require.NoError(c.t, c.cmd.Process.Signal(syscall.SIGTERM))
	c.ended()
}

func (c *command) ended() {
	c.t.Helper()
	for c.lines.Scan() {
		c.text.WriteString(c.lines.Text() + "\n")
	}
	require.NoError(c.t, c.cmd.Wait(), c.text.String())
}

func TestServe_ToldToStop_AnswersWhatItHasBegunAndExitsWithZero(t *testing.T) {
	t.Parallel()
	f := newShopfront(t, "PAYONCE_DRAIN_DELAY=1ms")
	process := startCommand(t, built(t), f.environ, "serve")
	admin, url := process.says("metrics"), process.says("serving")
	answer, release := f.holdCharge(t.Context(), f.order(url))
	require.NoError(t, process.cmd.Process.Signal(syscall.SIGTERM))
	process.says("stopping")
	status, _, _ := f.must(http.MethodGet, admin+"/metrics", "", "")
	require.Equal(t, http.StatusOK, status, "the drain can be watched")
	release()
	got := <-answer
	require.NoError(t, got.err)
	require.Equal(t, http.StatusCreated, got.status, got.text)
	process.ended()
}

func TestWorker_HasMetricsAndEndsInOrder(t *testing.T) {
	t.Parallel()
	f, binary := newShopfront(t), built(t)
	worker := startCommand(t, binary, f.environ, "worker")
	admin := worker.says("metrics")
	_, _, text := f.must(http.MethodGet, admin+"/metrics", "", "")
	require.Contains(t, text, `payonce_idempotency_keys_resumed_total{by="reconciliation"} 0`)
	health := exec.Command(binary, "health", "--admin")
	health.Env = []string{"PAYONCE_ADMIN_ADDR=" + strings.TrimPrefix(admin, "http://")}
	out, err := health.CombinedOutput()
	require.NoError(t, err, string(out))
	worker.ends()
}
