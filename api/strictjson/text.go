package strictjson

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a string. Broken UTF-8, half surrogate pairs and NUL are refused: the first two would change silently on
// their way, and PostgreSQL cannot store the third. They are noted once per string and do not end the reading.
func (p *parser) text() (string, bool) {
	p.at++
	p.flaw = ""
	var out []byte // what was unescaped so far; everything from the last escape on stands for itself
	for from := p.at; p.at < len(p.in); {
		switch c := p.in[p.at]; {
		case c == '"':
			text := p.in[from:p.at]
			if out != nil {
				text = string(append(out, text...))
			}
			if p.flaw != "" {
				p.note("%s", p.flaw)
			}
			p.at++
			return text, true
		case c == '\\':
			out = append(out, p.in[from:p.at]...)
			r, ok := p.escape()
			if !ok {
				return "", false
			}
			out, from = utf8.AppendRune(out, r), p.at
		case c < 0x20:
			return "", p.fail("a control character in a string must be escaped")
		case c < utf8.RuneSelf:
			p.at++
		default:
			r, size := utf8.DecodeRuneInString(p.in[p.at:])
			if r == utf8.RuneError && size == 1 {
				p.flaw = "the text is not UTF-8"
			}
			p.at += size
		}
	}
	return "", p.fail("the string does not end")
}

func (p *parser) escape() (rune, bool) {
	p.at++
	c := p.next()
	if c == 'u' {
		return p.unicodeEscape()
	}
	p.at++
	switch c {
	case '"', '\\', '/':
		return rune(c), true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	default:
		return 0, p.fail("an unknown escape in a string")
	}
}

func (p *parser) unicodeEscape() (rune, bool) {
	r, ok := p.hex()
	if !ok {
		return 0, false
	}
	if r == 0 {
		p.flaw = "NUL characters are not accepted"
	}
	if !utf16.IsSurrogate(r) {
		return r, true
	}
	if strings.HasPrefix(p.in[p.at:], `\u`) {
		p.at++
		low, ok := p.hex()
		if !ok {
			return 0, false
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, true
		}
	}
	p.flaw = "half a surrogate pair"
	return utf8.RuneError, true
}

// hex reads the u and four digits of an escape.
func (p *parser) hex() (rune, bool) {
	if p.at+5 > len(p.in) {
		return 0, p.fail("an escape in a string is cut off")
	}
	n, err := strconv.ParseUint(p.in[p.at+1:p.at+5], 16, 16)
	if err != nil {
		return 0, p.fail("an escape in a string has no four hexadecimal digits")
	}
	p.at += 5
	return rune(n), true
}
