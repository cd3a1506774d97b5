package api

import (
	"html"
	"html/template"
	"regexp"
	"strings"
)

// markdown renders the part of CommonMark that the document is written in: paragraphs, lists, tables, indented code, and
// inside them code, strong, emphasis and links. Everything is escaped first, so no description can bring markup along.
func markdown(text string) template.HTML {
	var out strings.Builder
	for _, block := range blankLines.Split(strings.Trim(text, "\n"), -1) {
		lines := strings.Split(block, "\n")
		switch {
		case block == "":
		case strings.HasPrefix(block, "    "):
			out.WriteString("<pre><code>" + html.EscapeString(unindent(lines)) + "</code></pre>\n")
		case strings.HasPrefix(block, "- "):
			out.WriteString(markdownList(block))
		case strings.HasPrefix(block, "|"):
			out.WriteString(markdownTable(lines))
		default:
			out.WriteString("<p>" + inline(block) + "</p>\n")
		}
	}
	return template.HTML(out.String()) //nolint:gosec // every text in it went through html.EscapeString
}

// markdownLine renders a text that stands in a line with others.
func markdownLine(text string) template.HTML {
	return template.HTML(inline(text)) //nolint:gosec // every text in it went through html.EscapeString
}

var blankLines = regexp.MustCompile(`\n[ \t]*\n+`)

func unindent(lines []string) string {
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "    ")
	}
	return strings.Join(lines, "\n")
}

func markdownList(block string) string {
	var out strings.Builder
	out.WriteString("<ul>\n")
	for item := range strings.SplitSeq(strings.TrimPrefix(block, "- "), "\n- ") {
		out.WriteString("<li>" + inline(item) + "</li>\n")
	}
	return out.String() + "</ul>\n"
}

// markdownTable reads a table of GitHub's kind: a head, a line of dashes, rows. Each cell says which column it is of, so that
// a narrow screen can show a row as a card.
func markdownTable(lines []string) string {
	head := cells(lines[0])
	var out strings.Builder
	out.WriteString("<table><thead><tr>")
	for _, cell := range head {
		out.WriteString(`<th scope="col">` + inline(cell) + "</th>")
	}
	out.WriteString("</tr></thead><tbody>\n")
	for _, line := range lines[min(2, len(lines)):] {
		out.WriteString("<tr>")
		for i, cell := range cells(line) {
			column := ""
			if i < len(head) {
				column = head[i]
			}
			out.WriteString(`<td data-column="` + html.EscapeString(column) + `">` + inline(cell) + "</td>")
		}
		out.WriteString("</tr>\n")
	}
	return out.String() + "</tbody></table>\n"
}

func cells(line string) []string {
	parts := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	strong   = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	emphasis = regexp.MustCompile(`\*([^*]+)\*`)
	link     = regexp.MustCompile(`\[([^\]]+)\]\(([#/][^)\s]*)\)`) // to a place on our own pages only
)

// inline renders what stands inside a block. Code is taken out first and put back last: nothing in it is markup.
func inline(text string) string {
	var code []string
	text = codeSpan.ReplaceAllStringFunc(text, func(span string) string {
		code = append(code, "<code>"+html.EscapeString(strings.Trim(span, "`"))+"</code>")
		return "\x00"
	})
	text = html.EscapeString(text)
	text = strong.ReplaceAllString(text, "<strong>$1</strong>")
	text = emphasis.ReplaceAllString(text, "<em>$1</em>")
	text = link.ReplaceAllString(text, `<a href="$2">$1</a>`)
	for _, span := range code {
		text = strings.Replace(text, "\x00", span, 1)
	}
	return text
}
