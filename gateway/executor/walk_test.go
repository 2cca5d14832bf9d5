package executor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deckhand/gateway/turn"
)

func TestAFolderOfAnySizeIsGatheredInParts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	for range 200 {
		n, part := rnd.IntN(300), 1+rnd.IntN(40)
		var want, got []string
		for i := range n {
			want = append(want, fmt.Sprintf("%04d", i))
		}
		from := ""
		for {
			g := gather{from: from, part: part}
			for _, i := range rnd.Perm(n) {
				g.add(want[i], regularFile)
				if len(g.entries) >= 2*part {
					t.Fatalf("%d entries held for a part of %d", len(g.entries), part)
				}
			}
			entries, more := g.done()
			for _, e := range entries {
				got = append(got, e.key)
			}
			if more == "" {
				break
			}
			from = more
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d keys in parts of %d became %q", n, part, got)
		}
	}
}

func TestACursorGoesOnOnlyWithItsOwnSearch(t *testing.T) {
	f := newFixture(t)
	for i := range 20 {
		f.write(fmt.Sprintf("work/d/f%02d", i), "needle\nneedle\n")
	}
	cursor := func(tool string, a args) string {
		m := cursorLine.FindStringSubmatch(f.ok(tool, a).Text)
		if m == nil {
			t.Fatal("no cursor")
		}
		return m[1]
	}
	find := cursor("FindFiles", args{"limit": 3})
	text := cursor("SearchText", args{"text": "needle", "limit": 3})
	for _, c := range []struct {
		tool string
		a    args
	}{
		{"FindFiles", args{"cursor": find, "pattern": "f*"}},
		{"FindFiles", args{"cursor": find, "directory": "d"}},
		{"FindFiles", args{"cursor": find, "max_depth": 1}},
		{"FindFiles", args{"cursor": text}},
		{"FindFiles", args{"cursor": find[:8]}},
		{"FindFiles", args{"cursor": "x" + find}},
		{"FindFiles", args{"cursor": "///"}},
		{"SearchText", args{"cursor": text, "text": "needl"}},
		{"SearchText", args{"cursor": text, "text": "needle", "files_only": true}},
		{"SearchText", args{"cursor": find, "text": "needle"}},
	} {
		if r := f.run(c.tool, c.a); r.Code != turn.CursorInvalid {
			t.Errorf("%s %v: %s %s", c.tool, c.a, r.Code, r.Text)
		}
	}
	// Another limit is fine, and a place that is gone is skipped over.
	if err := os.Remove(f.path("work/d/f02")); err != nil {
		t.Fatal(err)
	}
	if r := f.ok("FindFiles", args{"cursor": find, "limit": 1}); !strings.Contains(r.Text, "\nd/f03\n") {
		t.Error(r.Text)
	}
}

func TestSearchesFillTheAnswerAndNoMore(t *testing.T) {
	f := newFixture(t)
	long := strings.Repeat("n", 200)
	for i := range 400 {
		f.write(fmt.Sprintf("work/%s%03d", long, i), strings.Repeat("needle "+long+"\n", 20))
	}
	got, _, answers := f.pages("FindFiles", args{"limit": 5000})
	if len(got) != 400 || answers != 2 {
		t.Errorf("%d entries in %d answers", len(got), answers)
	}
	r := f.ok("SearchText", args{"text": "needle", "limit": 2000})
	if !strings.Contains(r.Text, "more: the answer is full") || !strings.Contains(r.Text, "further lines of ") || len(r.Text) < 40_000 {
		t.Error(r.Text[len(r.Text)-600:])
	}
	got, _, _ = f.pages("SearchText", args{"text": "needle", "limit": 2000, "files_only": true})
	if len(got) != 400 {
		t.Errorf("%d files", len(got))
	}
}

// TestASwappedFolderNeverLeaks swaps a folder for a link to a protected one
// over and over while it is read, listed and searched.
func TestASwappedFolderNeverLeaks(t *testing.T) {
	f := newFixture(t)
	f.write("work/real/id", "public\n")
	f.write("work/real/sub/id", "public\n")
	f.mkdir("people/me/.ssh/sub")
	f.write("people/me/.ssh/sub/id", secret+"\n")
	f.write("people/me/.ssh/only-there", secret+"\n")
	f.symlink(f.home+"/.ssh", "work/fake")
	f.refresh()
	done := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(done)
	wg.Go(func() {
		// d is a link to the keys, then a folder, then the link again …
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			from := f.path([]string{"work/fake", "work/real"}[i%2])
			_ = os.Rename(from, f.path("work/d"))
			time.Sleep(time.Duration(i%7) * 10 * time.Microsecond)
			_ = os.Rename(f.path("work/d"), from)
		}
	})
	seen := map[turn.Code]int{}
	for i := range 1500 {
		var r turn.Result
		switch i % 4 {
		case 0:
			r = f.run("Read", args{"file_path": "d/id"})
		case 1:
			r = f.run("Read", args{"file_path": "d/sub/id"})
		case 2:
			r = f.run("SearchText", args{"directory": []string{".", "d"}[i/4%2], "text": "SECRET"})
			if r.Outcome == turn.OK && !strings.HasPrefix(r.Text, "0 lines") {
				t.Fatal(r.Text)
			}
		case 3:
			r = f.run("FindFiles", args{"directory": []string{".", "d"}[i/4%2]})
			if strings.Contains(r.Text, "only-there") {
				t.Fatal(r.Text)
			}
		}
		seen[r.Code]++
	}
	if seen[""] == 0 || seen[turn.ProtectedPath] == 0 {
		t.Errorf("the race never showed both sides: %v", seen)
	}
}

// TestAFileSwappedForAnythingNeverBlocks swaps a file for a FIFO and a link.
func TestAFileSwappedForAnythingNeverBlocks(t *testing.T) {
	f := newFixture(t)
	f.write("work/text", "public\n")
	f.symlink(f.home+"/.ssh/id", "work/link")
	if err := unix.Mkfifo(f.path("work/fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(done)
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			name := f.path("work/" + []string{"text", "fifo", "link"}[i%3])
			_ = os.Rename(name, f.path("work/f"))
			_ = os.Rename(f.path("work/f"), name)
		}
	})
	for range 250 {
		f.run("Read", args{"file_path": "f"})
		f.run("SearchText", args{"text": "SECRET", "pattern": "f"})
	}
}

func TestCancellingEndsASearchAndLeavesNothingBehind(t *testing.T) {
	f := newFixture(t)
	for i := range 300 {
		f.write(fmt.Sprintf("work/d%d/f", i), strings.Repeat("text ", 2000))
	}
	call := func(name, raw string) turn.ToolCall {
		c, err := f.e.Check(f.scope, name, []byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	calls := []turn.ToolCall{call("SearchText", `{"text":"nowhere"}`), call("FindFiles", `{}`), call("Read", `{"file_path":"d1/f"}`)}
	for i := range 60 {
		ctx, cancel := context.WithCancelCause(t.Context())
		if i%3 == 0 {
			cancel(errors.New("stopped"))
		} else {
			time.AfterFunc(time.Duration(i)*20*time.Microsecond, func() { cancel(errors.New("stopped")) })
		}
		r := f.e.Run(ctx, f.scope, calls[i%len(calls)], Sink{})
		if i%3 == 0 && (r.Outcome != turn.OutcomeCancelled || r.Code != turn.CancelledCode || r.Text == "") {
			t.Fatalf("%+v", r)
		}
		cancel(nil)
	}
}

func TestProgressOnlyGrows(t *testing.T) {
	f := newFixture(t)
	for i := range 300 {
		f.write(fmt.Sprintf("work/f%d", i), strings.Repeat("text ", 2000))
	}
	for name, raw := range map[string]string{"SearchText": `{"text":"nowhere"}`, "FindFiles": `{}`, "Read": `{"file_path":"f1"}`} {
		c, err := f.e.Check(f.scope, name, []byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		var last int64
		calls := 0
		f.e.Run(t.Context(), f.scope, c, Sink{Progress: func(n int64) {
			if n < last {
				t.Errorf("%s: %d after %d", name, n, last)
			}
			last = n
			calls++
		}})
		if calls == 0 || last == 0 || name == "SearchText" && last != 300*10_000 {
			t.Errorf("%s: %d calls up to %d", name, calls, last)
		}
	}
}

func TestSkipReasonsOfErrors(t *testing.T) {
	for err, want := range map[error]skipReason{
		unix.ENOENT: skipVanished, unix.ENOTDIR: skipVanished, unix.ELOOP: skipVanished, unix.EACCES: skipUnreadable, unix.EPERM: skipUnreadable,
		unix.EIO: skipUnreadable, unix.ENXIO: skipSpecial, fs.ErrPermission: skipUnreadable,
	} {
		if got := skipFor(err); got != want {
			t.Errorf("%v: %d, want %d", err, got, want)
		}
	}
	for i := skipReason(1); i < skipReasons; i++ {
		s := skips{}
		s[i] = 1
		one := s.String()
		s[i] = 2000
		if many := s.String(); one == many || !strings.HasPrefix(one, "skipped: 1 ") || !strings.HasPrefix(many, "skipped: 2,000 ") {
			t.Errorf("reason %d: %q, %q", i, one, many)
		}
	}
}
