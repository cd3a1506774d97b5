package api_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"payonce/api"
)

// page is what a browser would make of an answer: the ids it could jump to and the places its links lead to.
type page struct {
	ids   map[string]bool
	links []string
	text  string
}

func readPage(t *testing.T, got answer) page {
	t.Helper()
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Equal(t, "text/html; charset=utf-8", got.header.Get("Content-Type"))
	root, err := html.Parse(strings.NewReader(got.body))
	require.NoError(t, err)
	p := page{ids: map[string]bool{}}
	var text strings.Builder
	for node := range root.Descendants() {
		if node.Type == html.TextNode {
			text.WriteString(node.Data)
		}
		for _, a := range node.Attr {
			switch a.Key {
			case "id":
				require.False(t, p.ids[a.Val], "the id %s is there twice", a.Val)
				p.ids[a.Val] = true
			case "href":
				p.links = append(p.links, a.Val)
			case "src", "srcset", "action", "style", "onclick":
				t.Errorf("%s=%q: the policy of the page does not allow it", a.Key, a.Val)
			}
		}
	}
	p.text = text.String()
	return p
}

func (b *bundle) page(path string, headers ...header) answer {
	b.t.Helper()
	return b.do(b.t.Context(), b.url, http.MethodGet, path, "", headers...)
}

func TestDocs_ShowEveryOperationObjectAndProblem(t *testing.T) {
	t.Parallel()
	b, c := setup(t), openDocument(t)
	shown := readPage(t, b.page("/docs"))
	for name, op := range c.operations() {
		require.True(t, shown.ids[op.text("operationId")], name)
		require.Contains(t, shown.text, op.text("summary"))
	}
	for code := range api.Problems() {
		require.True(t, shown.ids["problem-"+string(code)], code)
	}
	require.True(t, shown.ids["object-Order"])
	require.Contains(t, shown.text, "What does a key stand for?")
	require.NotContains(t, shown.text, "ZgotmplZ", "a value that the template does not trust")
}

func TestDocs_EveryLinkLeadsSomewhereOnThisService(t *testing.T) {
	t.Parallel()
	b := setup(t)
	reference := readPage(t, b.page("/docs"))
	pages := map[string]page{"/docs": reference}
	for code := range api.Problems() {
		path := "/problems/" + string(code)
		pages[path] = readPage(t, b.page(path))
	}
	for from, p := range pages {
		for _, link := range p.links {
			path, fragment, _ := strings.Cut(link, "#")
			if path == "" {
				path = from
			}
			to, known := pages[path]
			require.True(t, known || path == "/openapi.yaml", "%s links to %s", from, link)
			require.True(t, fragment == "" || to.ids[fragment], "%s links to %s", from, link)
		}
	}
}

func TestDocs_LoadNothingAndRunOnlyTheirOwnScript(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.page("/docs")
	policy := got.header.Get("Content-Security-Policy")
	require.True(t, strings.HasPrefix(policy, "default-src 'none'; "), policy)
	require.NotContains(t, policy, "unsafe")
	require.NotContains(t, policy, "'self'")
	require.Regexp(t, `style-src 'sha256-[0-9A-Za-z+/=]+'; script-src 'sha256-[0-9A-Za-z+/=]+'$`, policy)
	require.NotRegexp(t, `(?i)url\(|@import|https?://[^\s]*\.(js|css|woff2?)`, got.body)
}

func TestDocuments_AreAskedForAgainAndSentOnlyWhenTheyHaveChanged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{"/openapi.yaml", "/docs", "/problems/out-of-stock"} {
		first := b.page(path)
		require.Equal(t, http.StatusOK, first.status, path)
		require.Equal(t, "no-cache", first.header.Get("Cache-Control"))
		tag := first.header.Get("ETag")
		for _, known := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
			again := b.page(path, header{"If-None-Match", known})
			require.Equal(t, http.StatusNotModified, again.status, known)
			require.Empty(t, again.body)
			require.Equal(t, tag, again.header.Get("ETag"))
		}
		require.Equal(t, first.body, b.page(path, header{"If-None-Match", `"other"`}).body)
	}
	served := b.page("/openapi.yaml")
	require.Equal(t, "application/yaml", served.header.Get("Content-Type"))
	require.Equal(t, string(api.OpenAPI()), served.body)
}

func plain(text string) string { return strings.ReplaceAll(text, "`", "") }

func TestProblemPages_SayWhyWhatToDoAndShowIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for code, row := range api.Problems() {
		shown := readPage(t, b.page("/problems/"+string(code))).text
		for _, wanted := range []string{row.Title, plain(row.Cause), plain(row.Cure), "The idempotency key", "HTTP/1.1 ", "Content-Type: application/problem+json", `"type": "/problems/` + string(code) + `"`} {
			require.Contains(t, shown, wanted, code)
		}
		require.Greater(t, len(strings.Fields(row.Cause)), 8, "%s: why it comes up is told too briefly", code)
		require.Greater(t, len(strings.Fields(row.Cure)), 3, "%s: what to do is told too briefly", code)
	}
	require.Regexp(t, regexp.MustCompile(`stored, and the same key gives it again`), b.page("/problems/out-of-stock").body)
	require.Contains(t, b.page("/problems/unavailable").body, "Keep the key")
	require.Contains(t, b.page("/problems/validation-failed").body, "still free")
}
