package command

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"deckhand/gateway/turn"
)

// gapLine says how much is left out between head and tail.
var gapLine = regexp.MustCompile(`\n\[(\d+) of (\d+) bytes are left out here; [^\n]*\]\n`)

// TestEveryReceiptFitsAndCountsWhatIsMissing puts random outputs into receipts:
// none is too long as JSON, what is shown is the beginning and the end, cut
// between characters, and what is said to be missing is.
func TestEveryReceiptFitsAndCountsWhatIsMissing(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	alphabets := [][]string{{"a"}, {"a", "\n"}, {"é", "€", "😀"}, {"<", "\"", "\x01", "\t"}, {"a line of a log\n", "…"}, {"\xff", "a", "\xe2\x82"}}
	some := func() []byte {
		alphabet := alphabets[random.IntN(len(alphabets))]
		var b bytes.Buffer
		for size := random.IntN([]int{1, 100, 40_000, 70_000, 200_000, 400_000}[random.IntN(6)]); b.Len() < size; {
			b.WriteString(alphabet[random.IntN(len(alphabet))])
		}
		return b.Bytes()
	}
	for range 200 {
		stdout, stderr := some(), some()
		o := &outputs{}
		o.out.add(stdout)
		o.out.end()
		o.err.add(stderr)
		o.err.end()
		r := receipt(ending{took: time.Second}, o, []string{"a note"}, "/c/tmp")
		if size := turn.EncodedSize(r.Text); size > turn.MaxReceiptText || len(r.Text) > turn.MaxReceiptText || !utf8.ValidString(r.Text) {
			t.Fatalf("a receipt of %d bytes, %d as JSON, for %d and %d bytes", len(r.Text), size, len(stdout), len(stderr))
		}
		if len(stdout)+len(stderr) > 4*turn.MaxReceiptText && turn.EncodedSize(r.Text) < turn.MaxReceiptText/3 {
			t.Fatalf("a receipt of %d bytes for %d and %d bytes", len(r.Text), len(stdout), len(stderr))
		}
		outText, errText := sections(r.Text)
		outCut, errCut := check(t, "stdout", outText, stdout), check(t, "stderr", errText, stderr)
		if (outCut || errCut) != r.Truncated {
			t.Fatalf("truncated is %v", r.Truncated)
		}
	}
}

// sections splits a receipt.
func sections(text string) (stdout, stderr string) {
	head, stderr, _ := strings.Cut(text, "--- stderr ---\n")
	_, stdout, _ = strings.Cut(head, "--- stdout ---\n")
	return stdout, stderr
}

// check compares what is shown with all there was, and says whether it was cut.
func check(t *testing.T, name, shown string, whole []byte) bool {
	t.Helper()
	gap := gapLine.FindStringSubmatchIndex(shown)
	if gap == nil {
		if strings.TrimRight(shown, "\n") != strings.TrimRight(readable(whole), "\n") {
			t.Fatalf("%s of %d bytes is not shown as it was", name, len(whole))
		}
		return false
	}
	if !utf8.Valid(whole) {
		return true // what stands for one byte is longer
	}
	first, last := shown[:gap[0]], shown[gap[1]:]
	// The receipt has a line end more or less than the output.
	endings := []string{last, last + "\n", strings.TrimSuffix(last, "\n")}
	i := slices.IndexFunc(endings, func(l string) bool { return bytes.HasSuffix(whole, []byte(l)) })
	if i < 0 {
		t.Fatalf("%s: what is shown last is not the end", name)
	}
	last = endings[i]
	if !bytes.HasPrefix(whole, []byte(first)) {
		t.Fatalf("%s: what is shown first is not the beginning", name)
	}
	if want := fmt.Sprint(len(whole) - len(first) - len(last)); shown[gap[2]:gap[3]] != want || shown[gap[4]:gap[5]] != fmt.Sprint(len(whole)) {
		t.Fatalf("%s: %s of %s bytes are said to be missing, and %s of %d are", name, shown[gap[2]:gap[3]], shown[gap[4]:gap[5]], want, len(whole))
	}
	return true
}
