package executor

import (
	"context"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Bounds of what is under way in a search.
const (
	batchFiles  = 32
	batchesOpen = 64
)

// batch is up to batchFiles files that follow each other in one folder.
type batch struct {
	folder string // relative to the root, "" or with a slash at its end
	id     fileInfo
	files  []candidate
	done   chan struct{}
}

// candidate is a file to be scanned, or with end set the end of the walk.
type candidate struct {
	name string
	// before counts what was skipped since the candidate before; nil if nothing.
	before *skips
	want   want
	// must says that it is scanned to its end even if the time is up, so that
	// every answer gets further than the one before.
	must bool
	hits hits
	// end says that the walk ended here, resume at which path if before its end.
	end    bool
	resume string
}

// pipeline connects the walk, the scanners and the merge.
type pipeline struct {
	s       *search
	ordered chan *batch // for the merge, in order
	work    chan *batch // for the scanners
	ctx     context.Context
	timed   context.Context
	wg      sync.WaitGroup

	match   *glob
	part    int
	open    *batch // being filled
	skipped skips  // since the last candidate
	seen    bool   // something was visited
	first   bool   // the first candidate was made
	stopped string
}

// startPipeline starts the goroutines. timed ends when the time is up, ctx when
// nobody wants the answer any more.
func (s *search) startPipeline(ctx, timed context.Context, part int) *pipeline {
	p := &pipeline{
		s: s, ordered: make(chan *batch, batchesOpen), work: make(chan *batch, batchesOpen),
		ctx: ctx, timed: timed, match: newGlob(s.Pattern, false), part: part,
	}
	scanners := min(max(2*runtime.GOMAXPROCS(0), 4), 16)
	for range scanners {
		p.wg.Go(p.scan)
	}
	p.wg.Go(p.walk)
	return p
}

// wait returns when all goroutines have ended; ctx must have.
func (p *pipeline) wait() {
	for range p.ordered {
		// The walk may be waiting to hand over one more.
	}
	p.wg.Wait()
}

// walk makes batches in order.
func (p *pipeline) walk() {
	w := &walk{view: p.s.view, root: p.s.root, fd: p.s.fd, filter: p.match.match, part: p.part, from: p.s.from.path}
	w.run(p.ctx, p.visit)
	p.flush()
	p.hand(&batch{files: []candidate{{end: true, resume: p.stopped, before: p.takeSkips()}}})
	close(p.work)
	close(p.ordered)
}

func (p *pipeline) visit(dir *folder, e entry) bool {
	if p.seen && p.timed.Err() != nil {
		p.stopped = dir.path + e.key
		return false
	}
	p.seen = true
	switch {
	case e.skip != notSkipped:
		p.skipped[e.skip]++
		return true
	case e.kind == directory:
		p.flush()
		return true
	case !e.matched || p.match.folders:
		return true
	}
	p.add(dir, e)
	return p.ctx.Err() == nil
}

// add puts a file into the batch that is being filled.
func (p *pipeline) add(dir *folder, e entry) {
	if p.open != nil && (p.open.folder != dir.path || len(p.open.files) == batchFiles) {
		p.flush()
	}
	if p.open == nil {
		p.open = &batch{folder: dir.path, id: dir.info, files: make([]candidate, 0, batchFiles)}
	}
	c := candidate{name: e.name(), before: p.takeSkips(), must: !p.first}
	p.first = true
	c.want = want{lines: p.s.Limit + 1, bytes: searchBytes, first: p.s.FilesOnly}
	if dir.path+e.key == p.s.from.path {
		c.want.from = p.s.from.line
	}
	p.open.files = append(p.open.files, c)
}

func (p *pipeline) takeSkips() *skips {
	if p.skipped == (skips{}) {
		return nil
	}
	s := p.skipped
	p.skipped = skips{}
	return &s
}

// flush hands over the batch that is being filled.
func (p *pipeline) flush() {
	if p.open != nil {
		p.hand(p.open)
		p.open = nil
	}
}

// hand gives a batch to the merge and to the scanners.
func (p *pipeline) hand(b *batch) {
	b.done = make(chan struct{})
	select {
	case p.ordered <- b:
		p.work <- b
	case <-p.ctx.Done():
	}
}

// scan scans batches until there are none.
func (p *pipeline) scan() {
	var s *scanner
	for b := range p.work {
		if s == nil {
			s = newScanner(p.s.Text, p.s.IgnoreCase, scanBuffer, &p.s.read)
		}
		p.scanBatch(s, b)
		close(b.done)
	}
}

func (p *pipeline) scanBatch(s *scanner, b *batch) {
	if b.files[0].end {
		return
	}
	fd, skip := p.openBatch(b)
	if skip == notSkipped {
		defer unix.Close(fd)
	}
	for i := range b.files {
		f := &b.files[i]
		ctx := p.timed
		if f.must {
			ctx = p.ctx
		}
		switch {
		case ctx.Err() != nil:
			f.hits.unfinished = true
			return
		case skip != notSkipped:
			f.hits.skip = skip
		default:
			f.hits = s.scanFile(ctx, fd, f.name, f.want)
		}
		if f.hits.unfinished {
			return
		}
	}
}

// openBatch opens the folder of a batch again. If it is another one by now,
// what the walk decided does not hold for it.
func (p *pipeline) openBatch(b *batch) (int, skipReason) {
	fd, err := openBelow(p.s.fd, strings.TrimSuffix(b.folder, "/"))
	if err != nil {
		return -1, skipFor(err)
	}
	info, err := statFD(fd)
	if err == nil && info.dev == b.id.dev && info.ino == b.id.ino {
		return fd, notSkipped
	}
	unix.Close(fd)
	return -1, skipVanished
}
