package executor

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// budget bounds a search for an explanation by time; what it does not reach in
// time it does not say.
type budget struct {
	end time.Time
	// out is set once the time was up.
	out bool
}

func newBudget(d time.Duration) *budget { return &budget{end: time.Now().Add(d)} }

func (b *budget) spent() bool {
	b.out = b.out || !time.Now().Before(b.end)
	return b.out
}

// lookPiece is how much is looked at between two looks at the clock.
const lookPiece = 256 << 10

// index is bytes.Index from offset from on, as far as the time goes.
func (b *budget) index(text, needle []byte, from int) int {
	for at := from; at+len(needle) <= len(text); at += lookPiece {
		if b.spent() {
			return -1
		}
		end := min(len(text), at+lookPiece+len(needle)-1)
		if i := bytes.Index(text[at:end], needle); i >= 0 {
			return at + i
		}
	}
	return -1
}

// nearMiss says what in a text is nearly old, which is not in it.
func nearMiss(t *flatText, old string, left *budget) string {
	if strings.HasPrefix(old, bom) {
		return "old_string begins with a byte order mark. That of a file is kept and is no part of the text that is compared; leave it out."
	}
	old = t.like(old)
	for _, look := range []func(*flatText, string, *budget) string{missedFold, missedEscape, missedPrefix} {
		if s := look(t, old, left); s != "" {
			return s
		}
	}
	if left.out {
		return "Nothing like it was found in the part of the file that could be compared in a moment. Read the file again and copy the text exactly."
	}
	return "Nothing like it was found either. Read the file again and copy the text exactly."
}

// fold is a set of differences that are overlooked.
type fold uint8

const (
	foldSpaces fold = 1 << iota
	foldForms
	foldQuotes
	foldLetters
	foldAll = foldSpaces | foldForms | foldQuotes | foldLetters
)

// folds are all sets but the empty one, smaller ones first.
var folds = []fold{
	foldSpaces, foldForms, foldQuotes, foldLetters,
	foldSpaces | foldForms, foldSpaces | foldQuotes, foldSpaces | foldLetters, foldForms | foldQuotes, foldForms | foldLetters, foldQuotes | foldLetters,
	foldAll &^ foldSpaces, foldAll &^ foldForms, foldAll &^ foldQuotes, foldAll &^ foldLetters, foldAll,
}

// of returns s without the differences of the set.
func (f fold) of(s []byte) []byte {
	if f&foldForms != 0 {
		s = norm.NFC.Bytes(s)
	}
	if f&foldLetters != 0 {
		s = bytes.ToLower(s)
	}
	if f&(foldQuotes|foldSpaces) == 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	space := true // at the beginning there is none
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(s[i:])
		}
		switch {
		case f&foldSpaces != 0 && isBlank(r):
			if !space {
				out = append(out, ' ')
			}
			space = true
		case f&foldQuotes != 0 && n > 1 && plainOf(r) != "":
			out, space = append(out, plainOf(r)...), false
		default:
			out, space = append(out, s[i:i+n]...), false
		}
		i += n
	}
	if f&foldSpaces != 0 {
		out = bytes.TrimRight(out, " ")
	}
	return out
}

// isBlank reports characters that show as nothing.
func isBlank(r rune) bool {
	return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r > 0x7f && (unicode.IsSpace(r) || r >= 0x200b && r <= 0x200d || r == 0xfeff || r == 0x2060 || r == 0xad) || r == '\v' || r == '\f'
}

// plainOf is the ASCII that is typed for a typographic character.
func plainOf(r rune) string {
	switch r {
	case '\u2018', '\u2019', '\u201a', '\u201b', '\u2032', '\u00b4', '\u02bc':
		return "'"
	case '\u201c', '\u201d', '\u201e', '\u201f', '\u2033', '\u00ab', '\u00bb':
		return `"`
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2015', '\u2212':
		return "-"
	case '\u2026':
		return "..."
	}
	return ""
}

// says names the difference.
func (f fold) says() string {
	var parts []string
	for _, p := range []struct {
		f    fold
		name string
	}{{foldSpaces, "white space"}, {foldForms, "Unicode normalisation (composed and decomposed characters)"}, {foldQuotes, "typographic quotes, dashes or dots"}, {foldLetters, "upper and lower case"}} {
		if f&p.f != 0 {
			parts = append(parts, p.name)
		}
	}
	return strings.Join(parts, " and ")
}

// longestFolded is up to how many bytes of old differences are overlooked.
const longestFolded = 8 << 10

// missedFold looks for a place that differs in what is easily overlooked.
func missedFold(t *flatText, old string, left *budget) string {
	if len(old) > longestFolded {
		return "" // how far it goes says more
	}
	want := foldAll.of([]byte(old))
	if len(want) == 0 {
		return "old_string is nothing but white space, and the file does not hold exactly that."
	}
	from, to := 0, 0
	if !left.nearAnchor(t.flat, old, want, &from, &to) && !left.anywhere(t.flat, old, want, &from, &to) {
		return ""
	}
	from, to = narrow(t.flat, from, to, want)
	place := t.flat[from:to]
	wide := t.flat[max(0, from-1):to] // with the line end before
	for _, f := range folds {
		if left.spent() {
			break
		}
		if !bytes.Contains(f.of(wide), f.of([]byte(old))) {
			continue
		}
		what := f.says()
		if f == foldSpaces {
			what = spaceDifference(place, old)
		}
		return fmt.Sprintf("It differs only in %s from %s:%s", what, t.lines(from, to), quoteLines(place, f&foldForms != 0))
	}
	return fmt.Sprintf("It differs only in %s from %s:%s", foldAll.says(), t.lines(from, to), quoteLines(place, true))
}

// nearAnchor looks around each place that holds the longest word of old.
func (b *budget) nearAnchor(text []byte, old string, want []byte, from, to *int) bool {
	word := longestWord(old)
	if len(word) < 3 {
		return false
	}
	reach := 2*len(old) + 256
	for at := 0; ; {
		i := b.index(text, []byte(word), at)
		if i < 0 || b.spent() {
			return false
		}
		*from, *to = lineStart(text, max(0, i-reach)), lineStop(text, min(len(text), i+reach))
		*from, *to = max(*from, i-2*reach), min(*to, i+2*reach) // lines may be long
		if bytes.Contains(foldAll.of(text[*from:*to]), want) {
			return true
		}
		at = i + len(word)
	}
}

// anywhere looks at the whole text, part by part.
func (b *budget) anywhere(text []byte, old string, want []byte, from, to *int) bool {
	overlap := 2*len(old) + 256
	step := max(32<<10, overlap)
	for at := 0; at < len(text); at += step {
		if b.spent() {
			return false
		}
		*from, *to = at, min(len(text), at+step+overlap)
		if bytes.Contains(foldAll.of(text[*from:*to]), want) {
			return true
		}
	}
	return false
}

// narrow drops lines from both ends of a place as long as it holds want, by
// halving.
func narrow(text []byte, from, to int, want []byte) (int, int) {
	holds := func(from, to int) bool { return from < to && bytes.Contains(foldAll.of(text[from:to]), want) }
	for span := to - from; span > 0; span /= 2 {
		for at := lineStart(text, min(from+span, to)); at > from && holds(at, to); at = lineStart(text, min(from+span, to)) {
			from = at
		}
	}
	for span := to - from; span > 0; span /= 2 {
		for at := lineStart(text, max(to-span, from)); at < to && at > from && holds(from, at); at = lineStart(text, max(to-span, from)) {
			to = at
		}
	}
	return from, to
}

// longestWord is the longest run of ASCII letters, digits and underscores.
func longestWord(s string) string {
	best := ""
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		if len(word) > len(best) {
			best = word
		}
	}
	return best
}

// spaceDifference says which white space differs.
func spaceDifference(place []byte, old string) string {
	tabs := func(s string) int { return strings.Count(s, "\t") }
	p := string(place)
	switch {
	case tabs(p) > tabs(old):
		return "white space: the file has tabs where old_string has spaces (tabs vs spaces)"
	case tabs(p) < tabs(old):
		return "white space: the file has spaces where old_string has tabs (tabs vs spaces)"
	case !strings.Contains(onlyBreaks(p), onlyBreaks(strings.TrimSpace(old))):
		return "white space: its line breaks"
	}
	return "white space"
}

// onlyBreaks is s without any white space but line ends.
func onlyBreaks(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && isBlank(r) {
			return -1
		}
		return r
	}, s)
}

// lines names the lines of a place.
func (t *flatText) lines(from, to int) string {
	first := t.line(from)
	last := first + int64(bytes.Count(t.flat[from:max(from, to-1)], []byte{'\n'})) // not the line end
	if first == last {
		return "line " + digits(first)
	}
	return fmt.Sprintf("lines %s-%s", digits(first), digits(last))
}

// quoteLines shows a few lines so that every character can be told. ascii
// escapes whatever is not ASCII.
func quoteLines(place []byte, ascii bool) string {
	quote := strconv.Quote
	if ascii {
		quote = strconv.QuoteToASCII
	}
	var b strings.Builder
	for i, line := range strings.SplitAfter(string(place), "\n") {
		if line == "" {
			break
		}
		if i == 6 {
			b.WriteString("\n…")
			break
		}
		b.WriteString("\n" + quote(clip(line, 240)))
	}
	return b.String()
}

// missedEscape looks for old with what stands for other characters undone.
func missedEscape(t *flatText, old string, left *budget) string {
	for _, v := range []struct {
		undo *strings.Replacer
		says string
	}{
		{strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\\`, `\`), `old_string holds backslash escapes (such as \n or \") where the file holds the characters themselves`},
		{strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'", "&amp;", "&"), "old_string holds HTML entities where the file holds the characters themselves"},
	} {
		if plain := v.undo.Replace(old); plain != old && plain != "" {
			if i := left.index(t.flat, []byte(plain), 0); i >= 0 {
				return fmt.Sprintf("%s: %s.", v.says, t.lines(i, i+len(plain)))
			}
		}
	}
	return ""
}

// leastPrefix is how much of old has to be there to be worth a word, in bytes,
// if old has twice as many.
const leastPrefix = 12

// missedPrefix finds how far old goes on in the text.
func missedPrefix(t *flatText, old string, left *budget) string {
	at, n := -1, 0
	for low, high := min(leastPrefix, max(4, len(old)/2)), len(old); low <= high && !left.spent(); {
		middle := cutBefore(old, (low+high)/2)
		i := left.index(t.flat, []byte(old[:middle]), 0)
		if i >= 0 && middle > n {
			at, n = i, middle
		}
		if i >= 0 {
			low = (low+high)/2 + 1
		} else {
			high = (low+high)/2 - 1
		}
	}
	if at < 0 {
		return ""
	}
	rest := t.flat[at+n:]
	return fmt.Sprintf("Its first %s stand in the file, up to line %s. There the file goes on with %s and old_string with %s.",
		count(int64(n), "byte"), digits(t.line(at+n)), strconv.Quote(clip(string(rest[:min(len(rest), 200)]), 60)), strconv.Quote(clip(old[n:], 60)))
}
