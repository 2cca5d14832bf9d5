package tray

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCleanMakesOneHarmlessLine(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain text stays", "fix login_flow v2", "fix login_flow v2"},
		{"line breaks and tabs become a blank", "one\ntwo\r\n\tthree\u2028four", "one two three four"},
		{"blanks at the ends go", "  a  b \n", "a b"},
		{"terminal escapes lose their escape", "\x1b[31mred\x1b[0m\a", "[31mred[0m"},
		{"eight-bit controls go", "a\u009b31mb", "a31mb"},
		{"direction marks go", "safe\u202etxt.exe\u2066x\u2069\u200f", "safetxt.exex"},
		{"invisible fillers go", "a\u200bb\ufeffc\u3164d\u00ade", "abcde"},
		{"bytes that are no UTF-8 go", "a\xffb", "ab"},
		{"emoji stay whole", "👩‍💻 ❤️ 👍🏽 🇫🇷 1️⃣", "👩‍💻 ❤️ 👍🏽 🇫🇷 1️⃣"},
		{"flags of regions stay whole", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"},
		{"scripts stay", "日本語 עברית café", "日本語 עברית café"},
		{"nothing but marks is nothing", "\u202e\n\u200b", ""},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("%s: Clean(%+q) = %+q, want %+q", c.name, c.in, got, c.want)
		}
	}
}

func TestShortenNeverCutsThroughACharacter(t *testing.T) {
	for _, c := range []struct {
		name, in string
		max      int
		want     string
	}{
		{"short text stays", "shop", 4, "shop"},
		{"long text ends in dots", "shopping", 5, "shop…"},
		{"no blank before the dots", "shop cart", 6, "shop…"},
		{"a joined emoji goes whole", "ab👩‍💻cd", 5, "ab…"},
		{"a skin tone stays with its hand", "ab👍🏽cd", 4, "ab…"},
		{"a flag goes whole", "a🇫🇷🇩🇪z", 5, "a🇫🇷…"},
		{"an accent stays with its letter", "ae\u0301bcd", 3, "a…"},
	} {
		got := Shorten(c.in, c.max)
		if got != c.want {
			t.Errorf("%s: Shorten(%q, %d) = %q, want %q", c.name, c.in, c.max, got, c.want)
		}
		if n := utf8.RuneCountInString(got); n > c.max {
			t.Errorf("%s: %q has %d characters, more than %d", c.name, got, n, c.max)
		}
	}
}

func TestEscapeShowsShortcutMarksAsTheyAreWritten(t *testing.T) {
	for p, want := range map[Platform]string{Linux: "a__b&c", Windows: "a_b&&c", Darwin: "a_b&c"} {
		if got := Escape(p, "a_b&c"); got != want {
			t.Errorf("Escape(%s) = %q, want %q", p, got, want)
		}
	}
}

func TestWidthCountsColumns(t *testing.T) {
	for s, want := range map[string]int{"": 0, "shop": 4, "日本": 4, "é": 1, "e\u0301": 1, "👩‍💻": 2, "👍🏽": 2, "🇫🇷": 2, "◐ a…": 4} {
		if got := Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

func FuzzCleanIsStableAndHarmless(f *testing.F) {
	for _, s := range []string{"", "a\nb", "👩‍💻", "\x1b]0;x\a", "\u202e", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := Clean(s)
		if strings.ContainsAny(c, "\n\r\t\x1b\u202e\u2066\u200b") || !utf8.ValidString(c) {
			t.Errorf("Clean(%+q) = %+q is not harmless", s, c)
		}
		if again := Clean(c); again != c {
			t.Errorf("Clean is not stable: %+q, then %+q", c, again)
		}
		if short := Shorten(c, 10); utf8.RuneCountInString(short) > 10 {
			t.Errorf("Shorten(%+q, 10) = %+q", c, short)
		}
	})
}
