package session

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"deckhand/gateway/turn"
)

// shorten cuts text between characters so that it takes at most limit bytes as
// JSON, a last line included that says how much is missing, and what of.
func shorten(text string, limit int, of string) (string, bool) {
	if turn.EncodedSize(text) <= limit {
		return text, false
	}
	// The line's own length depends little on the number in it: leave room for
	// the longest.
	room := limit - turn.EncodedSize(missing(len(text), len(text), of))
	cut := 0
	for i, r := range text {
		if room -= turn.EncodedRune(r); room < 0 {
			break
		}
		cut = i + utf8.RuneLen(r)
	}
	return text[:cut] + missing(len(text)-cut, len(text), of), true
}

// shortenMiddle is shorten for a text whose end matters as much as its beginning,
// as that of a command's output does: the line that says how much is missing
// stands between the two.
func shortenMiddle(text string, limit int, of string) (string, bool) {
	if turn.EncodedSize(text) <= limit {
		return text, false
	}
	room := (limit - turn.EncodedSize(missing(len(text), len(text), of)+"\n")) / 2
	head, left := 0, room
	for i, r := range text {
		if left -= turn.EncodedRune(r); left < 0 {
			break
		}
		head = i + utf8.RuneLen(r)
	}
	tail, left := len(text), room
	for tail > head {
		r, n := utf8.DecodeLastRuneInString(text[:tail])
		if left -= turn.EncodedRune(r); left < 0 {
			break
		}
		tail -= n
	}
	return text[:head] + missing(tail-head, len(text), of) + "\n" + text[tail:], true
}

func missing(n, total int, of string) string {
	return fmt.Sprintf("\n[%d of %d bytes are left out %s]", n, total, of)
}

// shares divides budget fairly: what the small ones do not need goes to the
// large ones, and equals get equal shares.
func shares(sizes []int, budget int) []int {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return sizes[a] - sizes[b] })
	result := make([]int, len(sizes))
	for n, i := range order {
		share := min(sizes[i], budget/(len(sizes)-n))
		result[i] = share
		budget -= share
	}
	return result
}

// headFor is what Claude Code gets of a receipt: the whole text if it is
// short, else its head and what identifies the rest.
func headFor(text string, r turn.Receipt) string {
	if len(text) <= turn.MaxClaudeResult {
		return text
	}
	head, _ := shorten(text, turn.MaxClaudeResult-200, "here")
	return head + fmt.Sprintf("\n[receipt %s, %d bytes, sha256 %s]", r.ID, r.Bytes, r.SHA256)
}
