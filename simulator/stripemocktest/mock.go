package stripemocktest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

const mockModule = "github.com/stripe/stripe-mock"

// mock is a running stripe-mock.
type mock struct {
	url      string
	process  *exec.Cmd
	lifeline io.Closer
}

// toolsFolder is where the module that pins stripe-mock is: in this module's root, wherever the test runs.
func toolsFolder(ctx context.Context) (string, error) {
	file, err := goTool(ctx, ".", "env", "GOMOD")
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(file), "tools"), nil
}

// goTool runs the go command and returns the line that it prints.
func goTool(ctx context.Context, folder string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // the arguments are ours
	cmd.Dir = folder
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, strings.Join(strings.Fields(complaints.String()), " "))
	}
	return strings.TrimSpace(string(out)), nil
}

// buildMock builds stripe-mock into a folder and returns where it is.
func buildMock(ctx context.Context, tools, folder string) (string, error) {
	program := filepath.Join(folder, "stripe-mock")
	if _, err := goTool(ctx, tools, "build", "-o", program, mockModule); err != nil {
		return "", fmt.Errorf("build stripe-mock (it needs its module once, from the network): %w", err)
	}
	return program, nil
}

// withLifeline runs a program until its own input ends: when this process closes it, and also when this process is killed,
// so that no stripe-mock is left behind. The output is the program's alone, and ends with it.
const withLifeline = `"$0" "$@" 2>&1 & exec >/dev/null; read -r end; kill $!`

// startMock starts stripe-mock on free ports of this machine, with the description in a file in place of its own.
func startMock(program, spec string) (*mock, error) {
	// Without an address for HTTPS it would open that on every interface.
	args := []string{"-c", withLifeline, program, "-spec", spec, "-http-addr", "127.0.0.1:0", "-https-addr", "127.0.0.1:0"}
	m := &mock{process: exec.Command("sh", args...)} //nolint:noctx,gosec // it was just built, and ends with the tests, by stop
	in, err := m.process.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start stripe-mock: %w", err)
	}
	m.lifeline = in
	out, err := m.process.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start stripe-mock: %w", err)
	}
	if err := m.process.Start(); err != nil {
		return nil, fmt.Errorf("start stripe-mock: %w", err)
	}
	if m.url, err = announcedURL(out); err != nil {
		m.stop()
		return nil, fmt.Errorf("start stripe-mock: %w", err)
	}
	go io.Copy(io.Discard, out) //nolint:errcheck // so that it never waits for a reader
	return m, nil
}

var announcement = regexp.MustCompile(`HTTP at address: (127\.0\.0\.1:\d+)`)

// announcedURL reads what stripe-mock prints until it has said where it listens.
func announcedURL(out io.Reader) (string, error) {
	said := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if found := announcement.FindStringSubmatch(lines.Text()); found != nil {
			return "http://" + found[1], nil
		}
		said += lines.Text() + " "
	}
	return "", fmt.Errorf("it named no address on 127.0.0.1: %q", said)
}

// stop ends the process.
func (m *mock) stop() {
	_ = m.lifeline.Close() //nolint:errcheck // it has ended already
	_ = m.process.Wait()   //nolint:errcheck // it was killed
}

// refusal sends a request to stripe-mock and returns what it says against it, "" when it takes it.
func (m *mock) refusal(ctx context.Context, s shape) (string, error) {
	req, err := http.NewRequestWithContext(ctx, s.method, m.url+s.target(), strings.NewReader(s.form))
	if err != nil {
		return "", fmt.Errorf("request to stripe-mock: %w", err)
	}
	req.Header.Set("Authorization", "Bearer sk_test_123")
	if s.method == http.MethodPost { // stripe-mock wants it even where there is no form
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("ask stripe-mock: %w", err)
	}
	defer res.Body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return "", fmt.Errorf("answer of stripe-mock: %w", err)
	}
	if res.StatusCode == http.StatusOK {
		return "", nil
	}
	said := struct{ Error struct{ Message string } }{}
	if err := json.Unmarshal(text, &said); err != nil {
		return "", fmt.Errorf("answer of stripe-mock, status %d: %w", res.StatusCode, err)
	}
	return fmt.Sprintf("%d %s", res.StatusCode, said.Error.Message), nil
}
