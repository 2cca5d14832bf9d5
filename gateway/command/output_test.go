package command

import (
	"bytes"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestCountsAreThoseOfANaiveCount feeds random bytes in random pieces.
func TestCountsAreThoseOfANaiveCount(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "\n", "é", "\xff", "\xe2\x82", "€", "\xf0\x9f", "😀", "\x80", "zzzzzzzz"}
	for range 60 {
		var whole []byte
		var o output
		for range random.IntN(2000) {
			piece := []byte(alphabet[random.IntN(len(alphabet))])
			if random.IntN(200) == 0 {
				piece = bytes.Repeat(piece, random.IntN(40_000))
			}
			whole = append(whole, piece...)
			cut := random.IntN(len(piece) + 1)
			o.add(piece[:cut])
			o.add(piece[cut:])
		}
		o.end()
		bad, lines := int64(0), int64(bytes.Count(whole, []byte("\n")))
		for rest := whole; len(rest) > 0; {
			r, n := utf8.DecodeRune(rest)
			if r == utf8.RuneError && n == 1 {
				bad++
			}
			rest = rest[n:]
		}
		if len(whole) > 0 && whole[len(whole)-1] != '\n' {
			lines++
		}
		if o.total != int64(len(whole)) || o.lines() != lines || o.bad != bad {
			t.Fatalf("counted %d bytes, %d lines, %d bad, want %d, %d, %d", o.total, o.lines(), o.bad, len(whole), lines, bad)
		}
		if !bytes.HasPrefix(whole, o.head) || !bytes.HasSuffix(whole, o.tail) {
			t.Fatal("what is kept is not the head and the tail")
		}
		if len(whole) <= 2*keep && len(o.head)+len(o.tail) != len(whole) {
			t.Fatalf("%d bytes would fit, and %d are kept", len(whole), len(o.head)+len(o.tail))
		}
	}
}

// repeated is a reader of n bytes of a pattern that ends no line.
type repeated struct{ n int64 }

func (r *repeated) Read(b []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	n := min(r.n, int64(len(b)))
	for i := range b[:n] {
		b[i] = 'x'
	}
	r.n -= n
	return int(n), nil
}

// TestMemoryDoesNotGrowWithTheOutput takes much without a line end.
func TestMemoryDoesNotGrowWithTheOutput(t *testing.T) {
	const size = 128 << 20
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	o := &outputs{progress: func(int64, int64) {}}
	before := heap()
	o.take(&repeated{n: size}, &o.out)
	if grown := heap() - before; grown > size/100 {
		t.Errorf("taking %d bytes allocated %d", size, grown)
	}
	if o.out.total != size || o.out.lines() != 1 {
		t.Errorf("counted %d bytes and %d lines", o.out.total, o.out.lines())
	}
}

func TestProgressOnlyGrows(t *testing.T) {
	var last int64
	o := &outputs{progress: func(bytes, lines int64) {
		if bytes < last || lines != bytes/2 {
			t.Errorf("%d bytes and %d lines after %d bytes", bytes, lines, last)
		}
		last = bytes
	}}
	done := make(chan struct{})
	go func() {
		o.take(strings.NewReader(strings.Repeat("a\n", 300_000)), &o.err)
		close(done)
	}()
	o.take(strings.NewReader(strings.Repeat("b\n", 300_000)), &o.out)
	<-done
	if last != 1_200_000 {
		t.Errorf("at the end %d bytes", last)
	}
}
