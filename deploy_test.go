package payonce_test

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"
)

// settings are the environment variables that the program knows, read from the tags of its configuration.
func settings(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("cmd/payonce/config.go")
	require.NoError(t, err)
	_, err = parser.ParseFile(token.NewFileSet(), "config.go", text, 0)
	require.NoError(t, err)
	known := map[string]bool{}
	for _, tag := range regexp.MustCompile("`env:\"([A-Z_]+)\"").FindAllStringSubmatch(string(text), -1) {
		known[tag[1]] = true
	}
	require.NotEmpty(t, known)
	return known
}

func project(t *testing.T) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{"docker-compose.yml"}, cli.WithEnv(nil))
	require.NoError(t, err)
	p, err := options.LoadProject(t.Context())
	require.NoError(t, err)
	return p
}

func TestCompose(t *testing.T) {
	t.Parallel()
	p, known := project(t), settings(t)
	for name, service := range p.Services {
		require.NotNil(t, service.Init, "%s: without init, a process that is killed stays as a zombie", name)
		require.True(t, *service.Init, name)
		require.NotNil(t, service.HealthCheck, "%s says neither how to see that it works nor that it cannot be seen", name)
		for _, port := range service.Ports {
			require.Equal(t, "127.0.0.1", port.HostIP, "%s must not be open to the network", name)
		}
		if service.Build == nil {
			continue
		}
		for variable := range service.Environment {
			require.True(t, known[variable], "%s sets %s, which the program does not know", name, variable)
		}
	}
	for _, name := range []string{"postgres", "serve", "simulator"} {
		service, err := p.GetService(name)
		require.NoError(t, err)
		require.False(t, service.HealthCheck.Disable, name)
	}
}

func TestEnvExample_ListsEverySetting(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(".env.example")
	require.NoError(t, err)
	listed := map[string]bool{}
	for _, line := range regexp.MustCompile(`(?m)^#?([A-Z_]+)=`).FindAllStringSubmatch(string(text), -1) {
		listed[line[1]] = true
	}
	require.Equal(t, settings(t), listed)
}

func TestDockerfile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("Dockerfile")
	require.NoError(t, err)
	mod, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(mod))[1]
	require.Contains(t, string(text), "FROM golang:"+version+" ", "the image builds with the Go of go.mod")
	require.Contains(t, string(text), ":nonroot")
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != "COPY" || strings.HasPrefix(fields[1], "--from") {
			continue
		}
		for _, source := range fields[1 : len(fields)-1] {
			_, err := os.Stat(filepath.Clean(source))
			require.NoError(t, err, "COPY %s", source)
		}
	}
}
