package simulator

import "strings"

// matchPath matches path segments; ** stands for any number of them, none included.
func matchPath(glob, path string) bool {
	return matchSegments(strings.Split(glob, "/"), strings.Split(path, "/"))
}

func matchSegments(glob, path []string) bool {
	if len(glob) == 0 {
		return len(path) == 0
	}
	if glob[0] == "**" {
		return matchSegments(glob[1:], path) || len(path) > 0 && matchSegments(glob, path[1:])
	}
	return len(path) > 0 && matchText(glob[0], path[0]) && matchSegments(glob[1:], path[1:])
}

// matchText matches a text in which * stands for any characters.
func matchText(glob, text string) bool {
	parts := strings.Split(glob, "*")
	if len(parts) == 1 {
		return glob == text
	}
	first, last := parts[0], parts[len(parts)-1]
	if !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return strings.HasSuffix(text, last)
}
