package payonce_test

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/dotenv"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"
)

// The files that start the program elsewhere name its settings and commands. Nothing but these tests would notice when
// the program moves on and the files do not.

// inFolder visits the product's sources of one folder.
func inFolder(t *testing.T, folder string, visit func(ast.Node)) {
	t.Helper()
	eachSource(t, func(s source) {
		if within(s.path, []string{folder}) && !s.isTest() {
			ast.Inspect(s.file, func(n ast.Node) bool { visit(n); return true })
		}
	})
}

// settings are the environment variables that the program knows, with their defaults: the tags of its configuration.
func settings(t *testing.T) map[string]string {
	t.Helper()
	known := map[string]string{}
	inFolder(t, "cmd/payonce", func(n ast.Node) {
		field, ok := n.(*ast.Field)
		if !ok || field.Tag == nil {
			return
		}
		text, err := strconv.Unquote(field.Tag.Value)
		require.NoError(t, err)
		name, _, _ := strings.Cut(reflect.StructTag(text).Get("env"), ",")
		if name != "" {
			known[name] = reflect.StructTag(text).Get("envDefault")
		}
	})
	require.NotEmpty(t, known)
	return known
}

// commands are the program's subcommands: the first word of each Use.
func commands(t *testing.T) (names []string) {
	t.Helper()
	inFolder(t, "cmd/payonce", func(n ast.Node) {
		pair, ok := n.(*ast.KeyValueExpr)
		if !ok || dotted(pair.Key) != "Use" {
			return
		}
		use, ok := pair.Value.(*ast.BasicLit)
		require.True(t, ok && use.Kind == token.STRING)
		text, err := strconv.Unquote(use.Value)
		require.NoError(t, err)
		names = append(names, strings.Fields(text)[0])
	})
	require.NotEmpty(t, names)
	return names
}

func TestEnvExample_ShowsEverySettingWithItsDefault(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(".env.example")
	require.NoError(t, err)
	require.NotRegexp(t, `(?m)^[A-Z]`, string(text), "a copied example must change nothing until somebody edits it")
	shown, err := dotenv.Parse(strings.NewReader(regexp.MustCompile(`(?m)^#([A-Z])`).ReplaceAllString(string(text), "$1")))
	require.NoError(t, err)
	known := settings(t)
	for name := range known {
		require.Contains(t, shown, name, "the program reads it")
	}
	for name, value := range shown {
		def, ok := known[name]
		require.True(t, ok || slices.Contains(forPrivatePostgres(t), name), "%s is shown, but nothing reads it", name)
		if def != "" {
			require.Equal(t, def, value, "the default of %s", name)
		}
	}
}

// forPrivatePostgres are the variables that the starter of the private PostgreSQL asks for.
func forPrivatePostgres(t *testing.T) (names []string) {
	t.Helper()
	inFolder(t, "repository/localpg", func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || !strings.HasSuffix(dotted(call.Fun), ".Getenv") {
			return
		}
		if name, ok := call.Args[0].(*ast.BasicLit); ok {
			text, err := strconv.Unquote(name.Value)
			require.NoError(t, err)
			names = append(names, text)
		}
	})
	return names
}

func project(t *testing.T) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{"docker-compose.yml"}, cli.WithEnv(nil))
	require.NoError(t, err)
	p, err := options.LoadProject(t.Context())
	require.NoError(t, err)
	return p
}

// unasked are the services without a health check, and why they have none.
var unasked = map[string]string{"migrate": "it ends", "seed": "it ends"}

func TestCompose_ServicesAreWatchedAndClosedToTheNetwork(t *testing.T) {
	t.Parallel()
	for name, service := range project(t).Services {
		require.True(t, service.Init != nil && *service.Init, "%s: without init, a process that was killed stays as a zombie", name)
		require.NotNil(t, service.HealthCheck, "%s must say how to see that it works, or that this cannot be seen", name)
		require.Equal(t, unasked[name] != "", service.HealthCheck.Disable, "%s: its health check, or its reason in unasked", name)
		for _, port := range service.Ports {
			require.Equal(t, "127.0.0.1", port.HostIP, "%s must not be open to the network", name)
		}
		require.False(t, service.Privileged, name)
	}
}

func TestCompose_NamesOnlyWhatTheProgramKnows(t *testing.T) {
	t.Parallel()
	known, subcommands, ours := settings(t), commands(t), 0
	for name, service := range project(t).Services {
		if service.Build == nil {
			continue
		}
		ours++
		require.Contains(t, subcommands, service.Command[0], name)
		if check := service.HealthCheck; !check.Disable {
			require.Equal(t, []string{"CMD", "/payonce"}, []string(check.Test[:2]), "%s: the image has no shell and no curl", name)
			require.Contains(t, subcommands, check.Test[2], name)
		}
		for variable, value := range service.Environment {
			require.Contains(t, known, variable, name)
			require.NotNil(t, value, "%s: %s comes from whatever the shell has", name, variable)
			require.NotRegexp(t, `[sp]k_live_|whsec_`, *value, "%s: %s", name, variable)
		}
	}
	require.Positive(t, ours)
}

func TestCompose_NothingServesBeforeTheSchemaIsThere(t *testing.T) {
	t.Parallel()
	p := project(t)
	waits := func(service, dependency, condition string) {
		found, err := p.GetService(service)
		require.NoError(t, err)
		require.Equal(t, condition, found.DependsOn[dependency].Condition, "%s waits for %s", service, dependency)
	}
	waits("migrate", "postgres", types.ServiceConditionHealthy)
	waits("seed", "migrate", types.ServiceConditionCompletedSuccessfully)
	for _, name := range []string{"serve", "worker"} {
		waits(name, "seed", types.ServiceConditionCompletedSuccessfully)
		waits(name, "simulator", types.ServiceConditionHealthy)
		service, err := p.GetService(name)
		require.NoError(t, err)
		require.Equal(t, "service:simulator", service.NetworkMode, "%s speaks plain http to it, which is for loopback only", name)
	}
}

// instructions are the lines of the Dockerfile, split into words.
func instructions(t *testing.T) (all [][]string) {
	t.Helper()
	text, err := os.ReadFile("Dockerfile")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(words[0], "#") {
			all = append(all, words)
		}
	}
	return all
}

func TestDockerfile_BuildsWithTheGoOfTheModuleAndDoesNotRunAsRoot(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(mod))
	require.NotNil(t, version)
	var images []string
	entrypoint, known := "", settings(t)
	for _, words := range instructions(t) {
		switch words[0] {
		case "FROM":
			images = append(images, words[1])
		case "ENTRYPOINT":
			entrypoint = words[1]
		case "CMD":
			require.Contains(t, commands(t), strings.Trim(words[1], `[]"`))
		case "ENV":
			for _, pair := range words[1:] {
				name, _, _ := strings.Cut(pair, "=")
				require.Contains(t, known, name)
			}
		}
	}
	require.Len(t, images, 2)
	require.Regexp(t, `^golang:`+regexp.QuoteMeta(version[1])+`(\.\d+)?(-|$)`, images[0])
	require.Regexp(t, `:nonroot$`, images[1])
	require.Equal(t, `["/payonce"]`, entrypoint)
}

func TestDockerfile_FindsWhatItCopies(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(".dockerignore")
	require.NoError(t, err)
	ignored := strings.Fields(regexp.MustCompile(`(?m)^#.*$`).ReplaceAllString(string(text), ""))
	left := func(file string) bool { // the patterns here are of the first level only
		first, _, _ := strings.Cut(filepath.ToSlash(file), "/")
		return slices.ContainsFunc(ignored, func(pattern string) bool { ok, err := filepath.Match(pattern, first); return ok || err != nil })
	}
	for _, words := range instructions(t) {
		if words[0] != "COPY" || strings.HasPrefix(words[1], "--from") {
			continue
		}
		for _, name := range words[1 : len(words)-1] {
			_, err := os.Stat(name)
			require.NoError(t, err, "COPY %s", name)
			require.False(t, left(name), "COPY %s: .dockerignore leaves it out", name)
		}
	}
	require.True(t, left(".env") && left(".git"), "keys and history do not belong into an image")
	root, err := os.Getwd()
	require.NoError(t, err)
	for _, p := range goList(t, "-deps", "./cmd/payonce") {
		inside, err := filepath.Rel(root, p.Dir)
		if err != nil || !within(p.ImportPath, []string{module}) {
			continue
		}
		for _, file := range append([]string{"any.go"}, p.EmbedFiles...) {
			require.False(t, left(filepath.Join(inside, file)), "%s is built into the program, and .dockerignore leaves it out", filepath.Join(inside, file))
		}
	}
}
