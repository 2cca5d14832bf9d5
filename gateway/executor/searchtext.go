package executor

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"deckhand/gateway/protected"
	"deckhand/gateway/turn"

	"golang.org/x/sys/unix"
)

type searchArguments struct {
	Directory  string `json:"directory"`
	Text       string `json:"text"`
	Pattern    string `json:"pattern"`
	IgnoreCase bool   `json:"ignore_case"`
	FilesOnly  bool   `json:"files_only"`
	Cursor     string `json:"cursor"`
	Limit      int    `json:"limit"`
}

func (a searchArguments) check() error {
	if err := checkPath("directory", a.Directory); err != nil {
		return err
	}
	return checkGlob(a.Pattern)
}

// search is a SearchText under way. One goroutine walks and makes batches of
// files, several scan them, and the one that called merges them in order.
type search struct {
	searchArguments
	view *protected.View
	root *located
	fd   int
	from position
	// read counts bytes of all scanners.
	read     atomic.Int64
	progress func(int64)

	b       strings.Builder
	lines   int   // in b
	files   int64 // with a shown line
	scanned int64
	notUTF8 int64
	cut     int64 // lines that were found and not shown
	skips   skips
	// next is where the answer ends, if it does so before the end of the tree,
	// and why.
	next *position
	why  string
	// shown is the file whose heading was written last.
	shown string
}

func (e *Executor) searchText(ctx context.Context, scope Scope, doc document, progress func(int64)) turn.Result {
	a, err := decode[searchArguments](doc)
	if err != nil {
		return result(err)
	}
	if a.Limit == 0 {
		a.Limit = 200
	}
	view := e.protected.View()
	dir := scope.absolute(a.Directory)
	root, err := locateDirectory(view, dir)
	if err != nil {
		return result(err)
	}
	defer root.close()
	digest := searchDigest(SearchTextTool, root.real, a.Text, a.Pattern, a.IgnoreCase, a.FilesOnly)
	from, err := parseCursor(a.Cursor, digest)
	if err != nil {
		return result(err)
	}
	fd, err := openBelow(root.fd, "")
	if err != nil {
		return result(explainOpen(view, dir, err))
	}
	defer unix.Close(fd)

	s := &search{searchArguments: a, view: view, root: root, fd: fd, from: from, progress: progress}
	s.run(ctx, e.searchTime, e.folderPart)
	return s.result(digest, e.searchTime)
}

// run searches until the tree ends, the answer is full or the time is up.
func (s *search) run(ctx context.Context, limit time.Duration, part int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	timed, stop := context.WithTimeout(ctx, limit)
	defer stop()
	p := s.startPipeline(ctx, timed, part)
	for b := range p.ordered {
		<-b.done
		if !s.merge(b) {
			break
		}
		if s.scanned%64 == 0 {
			s.progress(s.read.Load())
		}
	}
	cancel()
	p.wait()
	s.progress(s.read.Load())
}

// merge adds one batch to the answer. It returns false if the answer ends in
// it.
func (s *search) merge(b *batch) bool {
	for i := range b.files {
		f := &b.files[i]
		if f.before != nil {
			s.skips.add(f.before)
		}
		path := b.folder + f.name
		switch {
		case f.end:
			if f.resume != "" {
				s.next, s.why = &position{path: f.resume}, whyTime
			}
			return false
		case f.hits.unfinished:
			s.next, s.why = &position{path: path, line: f.want.from}, whyTime
			return false
		case f.hits.skip != notSkipped:
			s.skips[f.hits.skip]++
		default:
			if !s.show(path, &f.hits) {
				return false // the file counts where its last line is shown
			}
			s.scanned++
			if f.hits.notUTF8 {
				s.notUTF8++
			}
		}
	}
	return true
}

// whyTime is why an answer ends when the time is up.
const whyTime = "the time is up"

// show adds the lines of one file. A scan keeps more than fits into an answer
// before it only counts, so that counted lines always end one here.
func (s *search) show(path string, h *hits) bool {
	for i, line := range h.lines {
		text, head := line.text+"\n", ""
		switch {
		case s.FilesOnly:
			text = showName(path) + ":" + fmt.Sprint(line.line) + "\n"
		case s.shown != path:
			head = showName(path) + "\n"
		}
		switch {
		case s.lines == s.Limit:
			s.why = fmt.Sprintf("the limit of %d lines is reached", s.Limit)
		case s.b.Len()+len(head)+len(text) > searchBytes:
			s.why = "the answer is full"
		}
		if s.why != "" {
			s.next = &position{path: path, line: line.line}
			s.cut = int64(len(h.lines)-i) + h.more
			return false
		}
		if s.shown != path {
			s.shown = path
			s.files++
		}
		s.b.WriteString(head)
		s.b.WriteString(text)
		s.lines++
	}
	return true
}

func (s *search) result(digest [8]byte, limit time.Duration) turn.Result {
	var b strings.Builder
	noun := "line"
	if s.FilesOnly {
		noun = "file"
	}
	fmt.Fprintf(&b, "%s with the text", count(int64(s.lines), noun))
	if !s.FilesOnly && s.lines > 0 {
		fmt.Fprintf(&b, " in %s", count(s.files, "file"))
	}
	fmt.Fprintf(&b, " below %s", showName(s.root.real))
	if s.next != nil {
		b.WriteString(", more to come")
	}
	fmt.Fprintf(&b, "; %s searched\n", count(s.scanned, "file"))
	b.WriteString(s.b.String())
	if s.next != nil {
		if s.why == whyTime {
			s.why = fmt.Sprintf("%v were up, all before %s is done", limit, showName(s.next.path))
		}
		fmt.Fprintf(&b, "more: %s; go on with cursor %s\n", s.why, s.next.cursor(digest))
	}
	switch {
	case s.cut > 0:
		fmt.Fprintf(&b, "truncated: %s of %s, and what comes after that file\n", count(s.cut, "further line"), showName(s.next.path))
	case s.next != nil:
		fmt.Fprintf(&b, "truncated: nothing before %s; it and what comes after were not searched\n", showName(s.next.path))
	default:
		b.WriteString("truncated: nothing\n")
	}
	b.WriteString(s.skips.String())
	if s.notUTF8 > 0 {
		fmt.Fprintf(&b, "\nsearched as bytes because they are not UTF-8: %s; bytes that are none are shown as \\xNN", count(s.notUTF8, "file"))
	}
	b.WriteByte('\n')
	return turn.Result{Outcome: turn.OK, Text: b.String(), Truncated: s.next != nil}
}
