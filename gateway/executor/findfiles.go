package executor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"deckhand/gateway/turn"
)

// searchBytes is how much of a search's answer the entries may take; the rest
// is for the lines around them, of which the cursor is the longest.
const searchBytes = turn.MaxReceiptText - 12<<10

type findArguments struct {
	Directory  string `json:"directory"`
	Pattern    string `json:"pattern"`
	Kind       string `json:"kind"`
	MaxDepth   int64  `json:"max_depth"`
	IgnoreCase bool   `json:"ignore_case"`
	Cursor     string `json:"cursor"`
	Limit      int    `json:"limit"`
}

func (a findArguments) check() error {
	if err := checkPath("directory", a.Directory); err != nil {
		return err
	}
	return checkGlob(a.Pattern)
}

// found is a FindFiles under way.
type found struct {
	kind  string
	match *glob
	limit int
	// timed ends when the time is up.
	timed context.Context

	b     strings.Builder
	n     int // entries in b
	seen  int64
	skips skips
	// next is where the answer ends, if it does so before the end of the tree,
	// and why.
	next *position
	why  string

	progress func(int64)
}

func (e *Executor) findFiles(ctx context.Context, scope Scope, doc document, progress func(int64)) turn.Result {
	a, err := decode[findArguments](doc)
	if err != nil {
		return result(err)
	}
	view := e.protected.View()
	dir := scope.absolute(a.Directory)
	root, err := locateDirectory(view, dir)
	if err != nil {
		return result(err)
	}
	defer root.close()
	digest := searchDigest(FindFilesTool, root.real, a.Pattern, a.Kind, a.MaxDepth, a.IgnoreCase)
	from, err := parseCursor(a.Cursor, digest)
	if err != nil {
		return result(err)
	}
	fd, err := openBelow(root.fd, "")
	if err != nil {
		return result(explainOpen(view, dir, err))
	}
	defer unix.Close(fd)

	timed, stop := context.WithTimeout(ctx, e.searchTime)
	defer stop()
	f := &found{kind: a.Kind, match: newGlob(a.Pattern, a.IgnoreCase), limit: a.Limit, timed: timed, progress: progress}
	if f.limit == 0 {
		f.limit = 1000
	}
	w := &walk{view: view, root: root, fd: fd, filter: f.filter, links: true, maxDepth: a.MaxDepth, part: e.folderPart, from: from.path}
	w.run(ctx, f.visit)
	return f.result(root.real, digest, e.searchTime)
}

func (f *found) filter(dir, name string) bool { return f.match.match(dir, name) }

// wants reports whether an entry is listed.
func (f *found) wants(e entry) bool {
	switch {
	case !e.matched:
		return false
	case e.kind == directory:
		return f.kind != "file" && (e.skip == notSkipped || e.skip == skipUnreadable || e.skip == skipFileSystem || e.skip == skipCloud)
	}
	return f.kind != "directory" && !f.match.folders && e.skip == notSkipped
}

func (f *found) visit(dir *folder, e entry) bool {
	wanted := f.wants(e)
	line := ""
	if wanted {
		line = showName(dir.path+e.key) + "\n"
	}
	switch {
	case wanted && f.n == f.limit:
		f.why = fmt.Sprintf("the limit of %d entries is reached", f.limit)
	case wanted && f.b.Len()+len(line) > searchBytes:
		f.why = "the answer is full"
	case f.seen > 0 && f.timed.Err() != nil:
		f.why = whyTime
	}
	if f.why != "" {
		f.next = &position{path: dir.path + e.key}
		return false
	}
	if wanted {
		f.b.WriteString(line)
		f.n++
	}
	// A hard link counts where its file would have been listed; everything else
	// is counted wherever it lies, because of what it may hold.
	if e.skip != notSkipped && (e.skip != skipHardLink || f.kind != "directory" && !f.match.folders) {
		f.skips[e.skip]++
	}
	if f.seen++; f.seen%4096 == 0 {
		f.progress(int64(f.b.Len()))
	}
	return true
}

func (f *found) result(root string, digest [8]byte, limit time.Duration) turn.Result {
	f.progress(int64(f.b.Len()))
	what := map[string]string{"file": "file", "directory": "folder"}[f.kind]
	if what == "" {
		what = "entry"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s", count(int64(f.n), what), showName(root))
	if f.next != nil {
		b.WriteString(", more to come")
	}
	b.WriteString("; paths are relative to it\n")
	b.WriteString(f.b.String())
	if f.next != nil {
		if f.why == whyTime {
			f.why = fmt.Sprintf("%v were up, all before %s is done", limit, showName(f.next.path))
		}
		fmt.Fprintf(&b, "more: %s; go on with cursor %s\n", f.why, f.next.cursor(digest))
	}
	b.WriteString(f.skips.String())
	b.WriteByte('\n')
	return turn.Result{Outcome: turn.OK, Text: b.String(), Truncated: f.next != nil}
}
