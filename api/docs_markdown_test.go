package api

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for situation, row := range map[string]struct{ text, html string }{
		"paragraphs":                   {"One\nline.\n\nTwo.\n", "<p>One\nline.</p>\n<p>Two.</p>\n"},
		"a list with a wrapped item":   {"- a\n  b\n- c", "<ul>\n<li>a\n  b</li>\n<li>c</li>\n</ul>\n"},
		"a table":                      {"| A | B |\n|---|---|\n| 1 | 2 |", "<table><thead><tr><th scope=\"col\">A</th><th scope=\"col\">B</th></tr></thead><tbody>\n<tr><td data-column=\"A\">1</td><td data-column=\"B\">2</td></tr>\n</tbody></table>\n"},
		"indented code":                {"    a <b>\n      c", "<pre><code>a &lt;b&gt;\n  c</code></pre>\n"},
		"strong, emphasis and a link":  {"**a** *b* [c](#d)", "<p><strong>a</strong> <em>b</em> <a href=\"#d\">c</a></p>\n"},
		"nothing in code is markup":    {"`**a** <b>` and `[c](#d)`", "<p><code>**a** &lt;b&gt;</code> and <code>[c](#d)</code></p>\n"},
		"markup is text":               {"<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"},
		"no link leads away":           {"[x](javascript:alert(1)) [y](https://example.com)", "<p>[x](javascript:alert(1)) [y](https://example.com)</p>\n"},
		"a link cannot leave its href": {`[x](#"onclick="a)`, "<p><a href=\"#&#34;onclick=&#34;a\">x</a></p>\n"},
		"nothing":                      {"\n", ""},
	} {
		require.Equal(t, row.html, string(markdown(row.text)), situation)
	}
}
