package executor

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"deckhand/gateway/protected"
)

// naive walks a tree in the plainest way there is and says what a search has
// to find: an oracle that shares no code with the walk.
type naive struct {
	paths   *protected.Paths
	root    string
	depth   int
	visit   func(rel string, e fs.DirEntry)
	skipped map[string]int
}

func (n *naive) walk(t *testing.T, rel string, depth int) {
	entries, err := os.ReadDir(filepath.Join(n.root, rel))
	if err != nil {
		t.Fatal(err)
	}
	key := func(e fs.DirEntry) string {
		if e.IsDir() {
			return e.Name() + "/"
		}
		return e.Name()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(key(a), key(b)) })
	for _, e := range entries {
		path := rel + key(e)
		lower := strings.ToLower(e.Name())
		switch {
		case lower == ".git":
			n.skipped[".git"]++
		case !n.paths.Decide(filepath.Join(n.root, path), protected.Read).Allowed:
			n.skipped["protected"]++
		case e.Type()&fs.ModeSymlink != 0:
			n.skipped["symbolic"]++
		case e.IsDir():
			n.visit(path, e)
			if n.depth == 0 || depth < n.depth {
				n.walk(t, path, depth+1)
			}
		case !e.Type().IsRegular():
			n.skipped["special"]++
		default:
			n.visit(path, e)
		}
	}
}

func nlink(t *testing.T, path string) uint64 {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return uint64(info.Sys().(*syscall.Stat_t).Nlink)
}

// words for the counts in the last lines of an answer.
var skipWords = map[string]*regexp.Regexp{
	"symbolic": regexp.MustCompile(`([\d,]+) symbolic link`), "hard": regexp.MustCompile(`([\d,]+) hard-linked`), "protected": regexp.MustCompile(`([\d,]+) protected path`),
	".git": regexp.MustCompile(`([\d,]+) \.git entr`), "special": regexp.MustCompile(`([\d,]+) devices?, FIFOs? or socket`), "binary": regexp.MustCompile(`([\d,]+) binary file`),
	"large": regexp.MustCompile(`([\d,]+) files? over 256 MiB`), "utf8": regexp.MustCompile(`not UTF-8: ([\d,]+) file`), "searched": regexp.MustCompile(`([\d,]+) files? searched`),
}

func countsIn(t *testing.T, text string, into map[string]int) {
	t.Helper()
	for word, re := range skipWords {
		if m := re.FindStringSubmatch(text); m != nil {
			n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
			if err != nil {
				t.Fatal(err)
			}
			into[word] += n
		}
	}
}

var cursorLine = regexp.MustCompile(`(?m)^more: .*; go on with cursor (\S+)$`)

// pages follows the cursor to the end and returns the entries of all answers
// with the sum of their counts.
func (f *fixture) pages(tool string, a args) (entries []string, counts map[string]int, answers int) {
	f.t.Helper()
	counts = map[string]int{}
	for {
		if answers++; answers > 3000 {
			f.t.Fatalf("%s %v: no end", tool, a)
		}
		r := f.ok(tool, a)
		lines := strings.Split(strings.TrimSuffix(r.Text, "\n"), "\n")
		end := slices.IndexFunc(lines, func(l string) bool {
			return strings.HasPrefix(l, "more: ") || strings.HasPrefix(l, "truncated: ") || strings.HasPrefix(l, "skipped: ")
		})
		entries = append(entries, lines[1:end]...)
		head, tail := lines[0], strings.Join(lines[end:], "\n")
		if !strings.Contains(tail, "skipped: ") || tool == "SearchText" && !strings.Contains(tail, "truncated: ") {
			f.t.Fatalf("%s %v: counts are missing in\n%s", tool, a, r.Text)
		}
		countsIn(f.t, head, counts)
		countsIn(f.t, tail, counts)
		m := cursorLine.FindStringSubmatch(tail)
		if (m != nil) != r.Truncated || r.Truncated != strings.Contains(head, "more to come") {
			f.t.Fatalf("truncated is %v in\n%s", r.Truncated, r.Text)
		}
		if m == nil {
			return entries, counts, answers
		}
		next := args{"cursor": m[1]}
		for k, v := range a {
			if k != "cursor" {
				next[k] = v
			}
		}
		a = next
	}
}

func TestFindFilesAgreesWithANaiveWalk(t *testing.T) {
	f := newFixture(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	patterns := map[string]func(rel, name string) bool{
		"":          func(_, _ string) bool { return true },
		"*":         func(_, _ string) bool { return true },
		"*.txt":     func(_, name string) bool { return strings.HasSuffix(name, ".txt") },
		"a":         func(_, name string) bool { return name == "a" },
		"[ab]*":     func(_, name string) bool { return name[0] == 'a' || name[0] == 'b' },
		"{a,b}.txt": func(_, name string) bool { return name == "a.txt" || name == "b.txt" },
		"d1/**":     func(rel, _ string) bool { return rel == "d1" || strings.HasPrefix(rel, "d1/") },
		"**/a/*":    func(rel, _ string) bool { p := "/" + rel; return filepath.Base(filepath.Dir(p)) == "a" },
		"ü.txt":     func(_, name string) bool { return name == "ü.txt" || name == "u\u0308.txt" },
	}
	for round := range 15 {
		f.randomTree(rnd)
		f.e.folderPart = []int{folderPart, 1, 2, 3}[rnd.IntN(4)]
		for pattern, match := range patterns {
			kind := []string{"any", "file", "directory"}[rnd.IntN(3)]
			depth := rnd.IntN(4)
			want := []string{}
			n := &naive{paths: f.e.protected, root: f.work, depth: depth, skipped: map[string]int{}}
			n.visit = func(rel string, e fs.DirEntry) {
				if !match(strings.TrimSuffix(rel, "/"), e.Name()) {
					return
				}
				switch {
				case e.IsDir():
					if kind != "file" {
						want = append(want, showName(rel))
					}
				case kind == "directory":
				case nlink(t, filepath.Join(f.work, rel)) > 1:
					n.skipped["hard"]++
				default:
					want = append(want, showName(rel))
				}
			}
			n.walk(t, "", 1)
			if kind == "directory" {
				// Hard links count where they would be listed.
				delete(n.skipped, "hard")
			}
			a := args{"kind": kind, "limit": 1 + rnd.IntN(20)}
			if pattern != "" {
				a["pattern"] = pattern
			}
			if depth > 0 {
				a["max_depth"] = depth
			}
			if rnd.IntN(3) == 0 {
				f.e.searchTime = time.Nanosecond
			}
			got, counts, _ := f.pages("FindFiles", a)
			f.e.searchTime = time.Minute
			if d := cmp.Diff(want, append([]string{}, got...)); d != "" {
				t.Fatalf("round %d, %v: %s", round, a, d)
			}
			if d := cmp.Diff(n.skipped, counts); d != "" {
				t.Fatalf("round %d, %v: skipped: %s", round, a, d)
			}
		}
	}
}

// expectLines is what SearchText has to show of one file, line numbers first.
func expectLines(data []byte, text string, fold bool) (lines map[int]string, order []int) {
	if fold {
		text = foldASCII(text)
	}
	lines = map[int]string{}
	for i, line := range bytes.Split(data, []byte("\n")) {
		look := string(line)
		if fold {
			look = foldASCII(look)
		}
		if strings.Contains(look, text) {
			lines[i+1] = string(line)
			order = append(order, i+1)
		}
	}
	return lines, order
}

var shownHit = regexp.MustCompile(`(?s)^(\d+)(?: \(from byte (\d+)\))?: (.*?)( \[line goes on\])?$`)

// checkHit compares one shown line with the file's.
func checkHit(t *testing.T, shown, line, text string, fold bool) {
	t.Helper()
	m := shownHit.FindStringSubmatch(shown)
	if m == nil {
		t.Fatalf("not a hit: %q", shown)
	}
	valid := utf8.ValidString(line)
	line = strings.TrimSuffix(line, "\r")
	if len(line) <= shownLine {
		want, _ := showText([]byte(line))
		if m[3] != want || m[2] != "" || m[4] != "" {
			t.Fatalf("a short line is %q, not %q", shown, want)
		}
		return
	}
	if !valid {
		return // the window is escaped
	}
	from := 0
	if m[2] != "" {
		n, _ := strconv.Atoi(m[2])
		from = n - 1
	}
	if !strings.HasPrefix(line[from:], m[3]) || (m[4] == "") != (from+len(m[3]) == len(line)) {
		t.Fatalf("%q is not what stands at byte %d of a line of %d bytes", shown, from, len(line))
	}
	look := m[3]
	if fold {
		look, text = foldASCII(look), foldASCII(text)
	}
	if !strings.Contains(look, text) {
		t.Fatalf("the window misses the text: %q", shown)
	}
}

func TestSearchTextAgreesWithANaiveSearch(t *testing.T) {
	f := newFixture(t)
	rnd := rand.New(rand.NewPCG(5, 6))
	for round := range 30 {
		f.randomTree(rnd)
		if rnd.IntN(4) == 0 {
			f.write("work/d1/large", "")
			if err := os.Truncate(f.path("work/d1/large"), wholeFile+1); err != nil {
				t.Fatal(err)
			}
		}
		f.e.folderPart = []int{folderPart, 1, 3}[rnd.IntN(3)]
		fold, only := rnd.IntN(2) == 0, rnd.IntN(3) == 0
		text := []string{needle, "x", "filler filler", "😀", "nowhere"}[rnd.IntN(5)]
		pattern := []string{"", "*.txt"}[rnd.IntN(2)]

		type file struct {
			heading string
			lines   map[int]string
			order   []int
		}
		var want []file
		n := &naive{paths: f.e.protected, root: f.work, skipped: map[string]int{"searched": 0}}
		n.visit = func(rel string, e fs.DirEntry) {
			if e.IsDir() || pattern != "" && !strings.HasSuffix(rel, ".txt") {
				return
			}
			path := f.work + "/" + rel
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if nlink(t, path) > 1 {
				n.skipped["hard"]++
				return
			}
			if info.Size() > wholeFile {
				n.skipped["large"]++
				return
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.IndexByte(data, 0) >= 0 {
				n.skipped["binary"]++
				return
			}
			if !utf8.Valid(data) {
				n.skipped["utf8"]++
			}
			n.skipped["searched"]++
			if lines, order := expectLines(data, text, fold); len(order) > 0 {
				want = append(want, file{showName(rel), lines, order})
			}
		}
		n.walk(t, "", 1)

		a := args{"text": text, "ignore_case": fold, "files_only": only, "limit": 1 + rnd.IntN(40)}
		if pattern != "" {
			a["pattern"] = pattern
		}
		if rnd.IntN(5) == 0 {
			f.e.searchTime = time.Nanosecond
		}
		got, counts, _ := f.pages("SearchText", a)
		f.e.searchTime = time.Minute
		if d := cmp.Diff(n.skipped, counts); d != "" {
			t.Fatalf("round %d, %v: %s", round, a, d)
		}
		for _, w := range want {
			if only {
				if len(got) == 0 || got[0] != fmt.Sprintf("%s:%d", w.heading, w.order[0]) {
					t.Fatalf("round %d, %v: %s is missing in %q", round, a, w.heading, got)
				}
				got = got[1:]
				continue
			}
			for i, line := range w.order {
				// The heading stands before a file's first line on each page.
				if len(got) > 0 && got[0] == w.heading {
					got = got[1:]
				} else if i == 0 {
					t.Fatalf("round %d, %v: %s is missing in %q", round, a, w.heading, got)
				}
				if len(got) == 0 || !strings.HasPrefix(got[0], fmt.Sprint(line)) {
					t.Fatalf("round %d, %v: line %d of %s is missing", round, a, line, w.heading)
				}
				checkHit(t, got[0], w.lines[line], text, fold)
				got = got[1:]
			}
		}
		if len(got) > 0 {
			t.Fatalf("round %d, %v: shown and not there: %q", round, a, got)
		}
	}
}
