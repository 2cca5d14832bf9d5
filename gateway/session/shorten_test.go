package session

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"deckhand/gateway/turn"
)

func TestShortenedTextIsWholeCharactersWithinItsLimitAndSaysWhatIsMissing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	letters := []rune("aé漢😀\n\x01<\"\u2028")
	for range 2000 {
		var b strings.Builder
		for range random.IntN(400) {
			b.WriteRune(letters[random.IntN(len(letters))])
		}
		text, limit := b.String(), 120+random.IntN(600)
		got, cut := shorten(text, limit, "of it")
		switch {
		case !utf8.ValidString(got):
			t.Fatalf("cut inside a character: %q", got)
		case turn.EncodedSize(text) != encodedLength(t, text):
			t.Fatalf("%q takes %d bytes as JSON, counted %d", text, encodedLength(t, text), turn.EncodedSize(text))
		case cut != (turn.EncodedSize(text) > limit):
			t.Fatalf("%d bytes, limit %d, cut %t", len(text), limit, cut)
		case encodedLength(t, got) > limit:
			t.Fatalf("%d bytes over the limit of %d", encodedLength(t, got), limit)
		case !cut && got != text:
			t.Fatalf("changed without need: %q", got)
		}
		if !cut {
			continue
		}
		i := strings.LastIndex(got, "\n[")
		if i < 0 || !strings.HasPrefix(text, got[:i]) || got[i:] != missing(len(text)-i, len(text), "of it") {
			t.Fatalf("the last line is not true: %q", got)
		}
	}
}

func TestWhatIsShortenedInItsMiddleKeepsBothEnds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	letters := []rune("aé漢😀\n\x01<\"\u2028")
	for range 2000 {
		var b strings.Builder
		for range random.IntN(400) {
			b.WriteRune(letters[random.IntN(len(letters))])
		}
		text, limit := b.String(), 120+random.IntN(600)
		got, cut := shortenMiddle(text, limit, "of it")
		if !utf8.ValidString(got) || encodedLength(t, got) > limit || cut != (turn.EncodedSize(text) > limit) || !cut && got != text {
			t.Fatalf("%d bytes shortened to %d give %t, %q", len(text), limit, cut, got)
		}
		if !cut {
			continue
		}
		head, rest, _ := strings.Cut(got, "\n[")
		_, tail, _ := strings.Cut(rest, "of it]\n")
		if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) || got != head+missing(len(text)-len(head)-len(tail), len(text), "of it")+"\n"+tail {
			t.Fatalf("the line in the middle is not true: %q", got)
		}
		if len(head) == 0 || len(tail) == 0 {
			t.Fatalf("one end is gone: %q", got)
		}
	}
}

// encodedLength is what a text takes inside a JSON string.
func encodedLength(t *testing.T, text string) int {
	t.Helper()
	data, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return len(data) - len(`""`)
}

func TestSharesAreFairAndFitTheBudget(t *testing.T) {
	for _, c := range []struct {
		sizes  []int
		budget int
		want   []int
	}{
		{nil, 100, []int{}},
		{[]int{10, 20}, 100, []int{10, 20}},
		{[]int{500, 500}, 100, []int{50, 50}},
		{[]int{500, 10, 500}, 100, []int{45, 10, 45}},
		{[]int{0, 0, 1000}, 100, []int{0, 0, 100}},
	} {
		got := shares(c.sizes, c.budget)
		for i := range c.want {
			if len(got) != len(c.want) || got[i] != c.want[i] {
				t.Errorf("shares(%v, %d) = %v, want %v", c.sizes, c.budget, got, c.want)
				break
			}
		}
	}
}

// Sixteen full receipts, the most that one reply can ask for, stay within the
// budget of a turn.
func TestManyFullReceiptsFitATurn(t *testing.T) {
	sizes := make([]int, turn.MaxCallsPerReply)
	for i := range sizes {
		sizes[i] = turn.MaxReceiptText
	}
	total := 0
	for i, share := range shares(sizes, turn.DefaultTurnBudget) {
		got, _ := shorten(strings.Repeat("x", sizes[i]), share, "of this result")
		total += len(got)
	}
	if total > turn.DefaultTurnBudget {
		t.Errorf("%d bytes over the budget of %d", total, turn.DefaultTurnBudget)
	}
}

func TestClaudeGetsShortTextsWholeAndOfLongOnesWhatIdentifiesTheRest(t *testing.T) {
	r := turn.Receipt{ID: "rec_1", Bytes: 60_000, SHA256: strings.Repeat("a", 64)}
	short := strings.Repeat("x", turn.MaxClaudeResult)
	if got := headFor(short, r); got != short {
		t.Errorf("a text of the limit was changed to %d bytes", len(got))
	}
	got := headFor(strings.Repeat("漢", 20_000), r)
	if len(got) > turn.MaxClaudeResult || !utf8.ValidString(got) || !strings.Contains(got, "rec_1") || !strings.Contains(got, r.SHA256) {
		t.Errorf("%d bytes: …%q", len(got), got[max(0, len(got)-200):])
	}
}
