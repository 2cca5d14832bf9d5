package executor

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// readAs is an original as reading it in pieces of so many bytes makes it.
func readAs(b []byte, piece int) *original {
	o := &original{exists: true, content: b, sum: newDigest(int64(len(b)))}
	for part := range slices.Chunk(b, piece) {
		o.sum.add(part)
	}
	o.sum.end()
	return o
}

func TestDigestIsThatOfTheContentAndOfWhatBeginsLikeIt(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcde\n"), 3*aloneBelow/32)
	for _, size := range []int{0, 1, 64, aloneBelow, aloneBelow + 1, len(text)} {
		b := text[:size]
		o := readAs(b, 100_000)
		if got := o.sha256(); got != hashOf(b) {
			t.Errorf("%d bytes: %s", size, got)
		}
		for _, head := range []int{0, 1, 99_999, 100_000, 100_001, size} {
			if head > size {
				continue
			}
			c := newContent{head: b[:head], middle: []byte("new"), tail: b[head/2:]}
			if got := c.sha256(o); got != hashOf(c.joined()) {
				t.Errorf("%d bytes, of which %d stay: %s", size, head, got)
			}
			if _, known := o.sum.upTo(head); head-known > 100_000 {
				t.Errorf("%d bytes, of which %d stay: only %d are not hashed again", size, head, known)
			}
		}
	}
	absent := &original{}
	if c := (newContent{middle: []byte("new")}); c.sha256(absent) != hashOf([]byte("new")) {
		t.Error("a new file has another hash")
	}
}

// TestApplySplicesAtRandom compares apply with the plain way, and shows the
// lines around from a part of the text as from the whole.
func TestApplySplicesAtRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	for range 2000 {
		old := []byte(strings.Repeat(bom, rng.IntN(2)))
		mark := len(old)
		for range rng.IntN(30) {
			old = append(old, strings.Repeat("x", rng.IntN(6))+"\n"...)
		}
		old = append(old, strings.Repeat("y", rng.IntN(3))...)
		var splices []splice
		want, at := slices.Clone(old[:mark]), mark
		for at < len(old) && len(splices) < 4 {
			from := at + rng.IntN(len(old)-at+1)
			to := from + rng.IntN(len(old)-from+1)
			text := strings.Repeat("n\n", rng.IntN(3)) + strings.Repeat("z", rng.IntN(2))
			splices = append(splices, splice{from - mark, to - mark, text})
			want = append(append(want, old[at:from]...), text...)
			at = to
		}
		want = append(want, old[at:]...)
		got := apply(old, mark, splices)
		if !bytes.Equal(got.joined(), want) || got.size() != int64(len(want)) {
			t.Fatalf("%q with %v is %q, want %q", old, splices, got.joined(), want)
		}
		if len(splices) == 0 {
			continue
		}
		whole := newContent{head: old[:mark], middle: want[mark:]}
		if got, want := showChange(got, mark, splices), showChange(whole, mark, splices); got != want {
			t.Fatalf("%q with %v is shown as %q, want %q", old, splices, got, want)
		}
	}
}
