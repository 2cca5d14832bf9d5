package executor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deckhand/gateway/protected"
	"deckhand/gateway/turn"
)

// byHand is what durability costs whoever writes a file: the same bytes to a
// temporary file, synced, renamed, and the folder synced.
func byHand(b *testing.B, path string, content []byte) {
	b.Helper()
	f, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		_, err = f.Write(content)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = os.Rename(path+".tmp", path)
	}
	dir, err2 := os.Open(filepath.Dir(path))
	if err == nil && err2 == nil {
		err = dir.Sync()
		dir.Close()
	}
	if err != nil || err2 != nil {
		b.Fatal(err, err2)
	}
}

// BenchmarkDurable runs each write in turn with the same bytes by hand, and
// reports the ratio of the two. Preparing costs nothing here: what a ledger
// makes of it is the ledger's.
func BenchmarkDurable(b *testing.B) {
	for _, c := range []struct {
		tool string
		size int
	}{{"Edit", 1 << 10}, {"Edit", 1 << 20}, {"Edit", 50 << 20}, {"Write", 1 << 10}, {"Write", 700 << 10}} {
		b.Run(fmt.Sprintf("%s/%dKiB", c.tool, c.size>>10), func(b *testing.B) {
			base, err := os.MkdirTemp(".", ".bench-")
			if err == nil {
				base, err = filepath.Abs(base)
			}
			if err != nil {
				b.Fatal(err)
			}
			defer os.RemoveAll(base)
			for _, dir := range []string{"me", "state", "work", "hand"} {
				if err := os.Mkdir(filepath.Join(base, dir), 0o700); err != nil {
					b.Fatal(err)
				}
			}
			paths, err := protected.New(protected.Config{Home: base + "/me", State: base + "/state"})
			if err != nil {
				b.Fatal(err)
			}
			e, err := New(Config{Protected: paths})
			if err != nil {
				b.Fatal(err)
			}
			scope := Scope{Profile: turn.DirectWrite, Subagent: turn.NoSubagent, WorkingDirectory: base + "/work", Root: base + "/work"}
			text := "first 0\n" + strings.Repeat("a line of text, as long as many\n", c.size/32) + "last 0\n"
			for _, name := range []string{"work/f", "hand/f"} {
				if err := os.WriteFile(filepath.Join(base, name), []byte(text), 0o644); err != nil {
					b.Fatal(err)
				}
			}
			var ours, hand time.Duration
			n := 0
			for b.Loop() {
				n++
				call := turn.ToolCall{Name: "Edit", Arguments: fmt.Appendf(nil, `{"file_path":"f","old_string":"last %d","new_string":"last %d"}`, n-1, n)}
				content := strings.Replace(text, "last 0", fmt.Sprintf("last %d", n), 1)
				if c.tool == "Write" {
					call = turn.ToolCall{Name: "Write", Arguments: fmt.Appendf(nil, `{"file_path":"f","content":%q}`, content)}
				}
				sink := Sink{Action: turn.NewActionID(), Prepare: func(turn.WriteIntent, []byte) error { return nil }}
				start := time.Now()
				r := e.Run(b.Context(), scope, call, sink)
				ours += time.Since(start)
				if r.Outcome != turn.OK {
					b.Fatal(r.Text)
				}
				start = time.Now()
				byHand(b, base+"/hand/f", []byte(content))
				hand += time.Since(start)
			}
			b.ReportMetric(float64(ours)/float64(hand), "ratio")
			b.ReportMetric(float64(ours.Microseconds())/float64(n), "µs/ours")
			b.ReportMetric(float64(hand.Microseconds())/float64(n), "µs/hand")
		})
	}
}
