package executor

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"
)

// scanText scans a text with a buffer of the given size.
func scanText(t testing.TB, data []byte, text string, fold bool, size int, w want) hits {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "scan")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(data, 0); err != nil {
		t.Fatal(err)
	}
	var read atomic.Int64
	return newScanner(text, fold, size, &read).scan(t.Context(), int(f.Fd()), int64(len(data)), w)
}

// TestHitsOverBufferEdges shifts a text byte by byte over the edges of a small
// buffer and wants the same answer as from one that holds everything.
func TestHitsOverBufferEdges(t *testing.T) {
	const size = 4096
	everything := want{lines: 1000, bytes: 1 << 20}
	line := strings.Repeat("ab ", 30)
	for shift := size - scanMargin - 120; shift < size+20; shift++ {
		if shift > size-scanMargin+20 && shift < size-120 {
			continue // far from both edges
		}
		data := []byte(line[:shift%90] + strings.Repeat("z", max(0, shift-90-shift%90)) + "\n" + strings.Repeat("y", 88) + "needle" + strings.Repeat("w", shift%900) + "\nneedle\n" + strings.Repeat(line, 60) + "needle")
		small := scanText(t, data, "needle", false, size, everything)
		large := scanText(t, data, "needle", false, 1<<20, everything)
		if len(large.lines) != 3 || len(small.lines) != 3 {
			t.Fatalf("shift %d: %d and %d lines", shift, len(small.lines), len(large.lines))
		}
		for i := range large.lines {
			if small.lines[i] != large.lines[i] {
				t.Fatalf("shift %d: %q and %q", shift, small.lines[i].text, large.lines[i].text)
			}
		}
	}
}

func TestScanAgreesWithANaiveSearchOverBufferEdges(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for round := range 400 {
		var b strings.Builder
		for size := rnd.IntN(20_000); b.Len() < size; {
			switch rnd.IntN(6) {
			case 0:
				b.WriteString("needle")
			case 1:
				b.WriteString("nee")
			case 2:
				b.WriteString(strings.Repeat("long ", rnd.IntN(900)))
			case 3:
				b.WriteString("NeedLE ü😀")
			default:
				b.WriteString("\n")
			}
		}
		data := []byte(b.String())
		fold := round%2 == 0
		w := want{from: int64(rnd.IntN(20)), lines: 1 + rnd.IntN(50), bytes: 1 << 20}
		got := scanText(t, data, "Needle", fold, 2048, w)
		if !fold {
			got = scanText(t, data, "needle", fold, 2048, w)
		}
		lines, order := expectLines(data, "needle", fold)
		var more int64
		i := 0
		for _, n := range order {
			switch {
			case int64(n) < w.from:
			case i < w.lines:
				if i >= len(got.lines) || got.lines[i].line != int64(n) {
					t.Fatalf("round %d: line %d is missing in %v", round, n, got.lines)
				}
				checkHit(t, got.lines[i].text, lines[n], "needle", fold)
				i++
			default:
				more++
			}
		}
		if len(got.lines) != i || got.more != more || got.notUTF8 || got.skip != notSkipped {
			t.Fatalf("round %d: %d lines and %d more, want %d and %d", round, len(got.lines), got.more, i, more)
		}
	}
}

func TestScanOfOneEndlessLine(t *testing.T) {
	data := bytes.Repeat([]byte("ü"), 3<<20)
	copy(data[2<<20:], "needle")
	copy(data[4<<20:], "needle")
	got := scanText(t, data, "needle", false, scanBuffer, want{lines: 10, bytes: 1 << 20})
	if len(got.lines) != 1 || got.more != 0 || len(got.lines[0].text) > 600 || !strings.Contains(got.lines[0].text, "(from byte 2097033): ") {
		t.Errorf("%+v", got)
	}
}

func TestBinaryAndBadBytesAreFoundAnywhere(t *testing.T) {
	everything := want{lines: 10, bytes: 1 << 20}
	for _, at := range []int{0, 1, 2047, 2048, 2049, 9999} {
		data := bytes.Repeat([]byte("needle\n"), 1500)
		data[at] = 0
		if got := scanText(t, data, "needle", false, 2048, everything); got.skip != skipBinary || len(got.lines) > 0 {
			t.Errorf("NUL at %d: %+v", at, got)
		}
		data[at] = 0xff
		if got := scanText(t, data, "needle", false, 2048, everything); !got.notUTF8 || len(got.lines) != 10 {
			t.Errorf("bad byte at %d: %v, %d lines", at, got.notUTF8, len(got.lines))
		}
	}
	if got := scanText(t, nil, "needle", false, 2048, everything); got.notUTF8 || got.skip != notSkipped {
		t.Errorf("empty: %+v", got)
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte("a needle\nneedle"), "needle", true)
	f.Add([]byte("\xff\xfeneedle\r\n"), "é", false)
	f.Add([]byte(strings.Repeat("x\n", 3000)), "x\nx", false)
	f.Fuzz(func(t *testing.T, data []byte, text string, fold bool) {
		if text == "" || strings.ContainsAny(text, "\x00\n") || len(text) > 200 || len(data) > 1<<16 {
			return
		}
		got := scanText(t, data, text, fold, 2048, want{lines: 1 << 20, bytes: 1 << 30})
		if bytes.IndexByte(data, 0) >= 0 {
			if got.skip != skipBinary {
				t.Fatal("a NUL byte was missed")
			}
			return
		}
		_, order := expectLines(data, text, fold)
		if len(order) != len(got.lines) {
			t.Fatalf("%d lines, want %d", len(got.lines), len(order))
		}
		for i, n := range order {
			if got.lines[i].line != int64(n) {
				t.Fatalf("line %d, want %d", got.lines[i].line, n)
			}
		}
	})
}
