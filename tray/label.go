package tray

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// MaxTitle is the length of a session's title in a menu, in characters.
const MaxTitle = 32

// Platform decides how a menu reads special characters in a title.
type Platform string

const (
	Linux   Platform = "linux"
	Darwin  Platform = "darwin"
	Windows Platform = "windows"
)

// Clean makes one harmless line of text that came from outside: line breaks,
// tabs and runs of blanks become one blank; control characters, direction
// marks, invisible fillers and bytes that are no UTF-8 go. Emoji stay whole,
// with the joiners and variation marks they are made of.
func Clean(s string) string {
	var b strings.Builder
	blank := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			blank = b.Len() > 0
			continue
		case r == utf8.RuneError, unicode.IsControl(r), hidden(r):
			continue
		}
		if blank {
			b.WriteByte(' ')
			blank = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// hidden reports format characters that change how the text around them looks
// without being seen. The joiners are kept: emoji and several scripts need
// them. So are tag characters, of which flags are made, after nothing else.
func hidden(r rune) bool {
	switch r {
	case zeroWidthJoiner, zeroWidthNonJoiner:
		return false
	case 0x115F, 0x1160, 0x3164, 0xFFA0: // Hangul fillers
		return true
	}
	return unicode.Is(unicode.Cf, r) && !tag(r)
}

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// tag reports the characters that spell the flag of a region after a black
// flag.
func tag(r rune) bool { return r >= 0xE0020 && r <= 0xE007F }

// Shorten cuts s to at most max characters, the last of them "…" if anything
// was cut. It never cuts through an emoji or an accented letter.
func Shorten(s string, max int) string {
	if utf8.RuneCountInString(s) <= max {
		return s
	}
	runes := []rune(s)
	end := max - 1
	for end > 0 && joined(runes, end) {
		end--
	}
	return strings.TrimRight(string(runes[:end]), " ") + "…"
}

// joined reports whether runes[i] belongs to the character before it.
func joined(runes []rune, i int) bool {
	r, prev := runes[i], runes[i-1]
	switch {
	case r == zeroWidthJoiner, prev == zeroWidthJoiner:
		return true
	case unicode.Is(unicode.M, r): // accents, variation selectors, keycaps
		return true
	case r >= 0x1F3FB && r <= 0x1F3FF, tag(r): // skin tones, flag tags
		return true
	case regional(r) && regional(prev):
		// Two regional indicators make a flag: r ends one if an odd number of
		// them stands before it.
		n := 0
		for j := i - 1; j >= 0 && regional(runes[j]); j-- {
			n++
		}
		return n%2 == 1
	}
	return false
}

func regional(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// Width is how many columns of a terminal s takes. Terminals differ in how they
// show joined emoji; this counts what those do that join them.
func Width(s string) int {
	runes, n := []rune(s), 0
	for i, r := range runes {
		switch {
		case r == zeroWidthNonJoiner, i > 0 && joined(runes, i) && !regional(r):
			continue
		}
		n++
		switch width.LookupRune(r).Kind() {
		case width.EastAsianWide, width.EastAsianFullwidth:
			n++
		}
	}
	return n
}

// Escape makes a title show as it is written: menus on Linux take "_", those on
// Windows "&" as the mark of a shortcut.
func Escape(p Platform, title string) string {
	switch p {
	case Linux:
		return strings.ReplaceAll(title, "_", "__")
	case Windows:
		return strings.ReplaceAll(title, "&", "&&")
	}
	return title
}
