package executor

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// showName writes a name or path so that a reader can tell what it is: as it
// stands if that is plain, else quoted as a Go string, where \xNN is a byte
// that is no UTF-8.
func showName(name string) string {
	plain := utf8.ValidString(name) && name != "" && !strings.HasPrefix(name, `"`) &&
		!strings.HasPrefix(name, " ") && !strings.HasSuffix(name, " ") &&
		strings.IndexFunc(name, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) < 0
	if plain {
		return name
	}
	return strconv.Quote(name)
}

// showText writes a piece of a file as valid UTF-8: bytes that are none become
// \xNN. It reports whether there were any.
func showText(text []byte) (string, bool) {
	if utf8.Valid(text) {
		return string(text), false
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 {
			b.WriteString(`\x`)
			b.WriteByte("0123456789abcdef"[text[0]>>4])
			b.WriteByte("0123456789abcdef"[text[0]&15])
		} else {
			b.Write(text[:n])
		}
		text = text[n:]
	}
	return b.String(), true
}

// cutBefore returns the largest length up to n at which s can be cut without
// splitting a character.
func cutBefore[S string | []byte](s S, n int) int {
	if n >= len(s) {
		return len(s)
	}
	for i := n; i > 0 && i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return n
}

// cutAfter returns the smallest length from n on at which s can be cut without
// splitting a character.
func cutAfter(s []byte, n int) int {
	for i := n; i < len(s) && i < n+utf8.UTFMax; i++ {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return min(n, len(s))
}

// count writes a number with its noun: "1 line", "12,345 lines".
func count(n int64, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "y"):
		noun = noun[:len(noun)-1] + "ies"
	default:
		noun += "s"
	}
	return digits(n) + " " + noun
}

// digits writes a number with commas.
func digits(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
