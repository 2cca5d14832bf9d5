package executor

import (
	"container/heap"
	"context"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"deckhand/gateway/protected"
)

// Bounds of a walk's memory, in entries.
const (
	// folderPart is how many entries of one folder are kept at a time; of a
	// larger one the smallest are taken first, and it is read again for the rest.
	folderPart = 1 << 16
	// aheadEntries is how many entries of folders not yet visited are kept.
	aheadEntries = 1 << 16
)

// readers is how many goroutines read folders ahead of the visit.
const readers = 3

// entry is one name in a folder. Its key is the name, with a slash if it is a
// folder: keys sort like the paths below them.
type entry struct {
	key  string
	kind fileKind
	skip skipReason
	// matched says that the walk's filter wants this file.
	matched bool
}

func (e entry) name() string { return strings.TrimSuffix(e.key, "/") }

// folder is one folder of a walk, or a further part of a large one.
type folder struct {
	// path is relative to the root: "" for the root, else with a slash at the
	// end.
	path  string
	place protected.Place
	depth int64
	dev   uint64 // of the parent
	// from is the smallest key wanted.
	from string

	// Set when it was read, before state becomes folderRead:
	info    fileInfo
	entries []entry
	// children are the folders among entries that are entered, in their order.
	children []*folder
	// next is the part that follows, nil for the last.
	next *folder
	// refused says why it was not entered.
	refused skipReason

	state folderState   // guarded by walk.mu
	ready chan struct{} // made by who waits; guarded by walk.mu
}

type folderState uint8

const (
	folderWaiting folderState = iota
	folderReading
	folderRead
)

// walk visits a tree in byte order of paths, one goroutine visiting, others
// reading folders ahead.
type walk struct {
	view *protected.View
	root *located
	fd   int // of root, for opening below it
	// filter says which files are wanted, by path relative to the root and
	// name. It is called by several goroutines.
	filter func(dir, name string) bool
	// links asks for a look at wanted files: those with several names are
	// skipped as hard links.
	links    bool
	maxDepth int64 // 0: no limit
	part     int   // folderPart
	// from is the path to begin at, "" for all.
	from string

	mu      sync.Mutex
	work    *sync.Cond // something is to be read, or the walk ended
	waiting folderHeap
	ahead   int // entries read and not visited
	ended   bool
}

// visitor is called for each folder and each wanted file, and for each entry
// that is skipped, in order. It returns false to end the walk before the entry.
type visitor func(dir *folder, e entry) bool

// run visits the tree. It returns when all its goroutines have.
func (w *walk) run(ctx context.Context, visit visitor) {
	w.work = sync.NewCond(&w.mu)
	var wg sync.WaitGroup
	for range readers {
		wg.Go(w.readAhead)
	}
	stop := context.AfterFunc(ctx, w.end)
	root := &folder{place: w.view.At(w.root.real), dev: w.root.info.dev, from: firstPart(w.from)}
	w.visitFolder(ctx, root, w.from, visit)
	w.end()
	stop()
	wg.Wait()
}

func (w *walk) end() {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.work.Broadcast()
}

// firstPart is the key of the entry that a path begins with.
func firstPart(path string) string {
	if i := strings.IndexByte(path, '/'); i >= 0 {
		return path[:i+1]
	}
	return path
}

// visitFolder visits what is in f, from the relative path from on. It returns
// false if the visitor ended the walk.
func (w *walk) visitFolder(ctx context.Context, f *folder, from string, visit visitor) bool {
	for ; f != nil; f = f.next {
		w.wait(f)
		child := 0
		for _, e := range f.entries {
			if ctx.Err() != nil {
				return false
			}
			var dir *folder
			if e.kind == directory && e.skip == notSkipped && w.enters(f.depth) {
				dir = f.children[child]
				child++
			}
			if e.key < from {
				if dir == nil || !strings.HasPrefix(from, e.key) {
					continue
				}
				// The walk begins inside this folder, which was visited before.
				w.wait(dir)
				if dir.refused == notSkipped && !w.visitFolder(ctx, dir, from[len(e.key):], visit) {
					return false
				}
				continue
			}
			if dir != nil {
				w.wait(dir)
				e.skip = dir.refused
			}
			if !visit(f, e) {
				return false
			}
			if dir != nil && dir.refused == notSkipped && !w.visitFolder(ctx, dir, "", visit) {
				return false
			}
		}
		w.leave(f)
		from = ""
	}
	return true
}

// enters reports whether folders in a folder of this depth are entered.
func (w *walk) enters(depth int64) bool { return w.maxDepth == 0 || depth+1 < w.maxDepth }

// leave gives back what a visited folder held.
func (w *walk) leave(f *folder) {
	w.mu.Lock()
	w.ahead -= len(f.entries)
	w.mu.Unlock()
	w.work.Signal()
	f.entries, f.children = nil, nil
}

// wait returns when f was read; it reads f itself if nobody has begun.
func (w *walk) wait(f *folder) {
	w.mu.Lock()
	switch f.state {
	case folderRead:
		w.mu.Unlock()
		return
	case folderReading:
		ready := make(chan struct{})
		f.ready = ready
		w.mu.Unlock()
		<-ready
		return
	}
	f.state = folderReading
	w.mu.Unlock()
	w.read(f)
}

// readAhead reads waiting folders in order, as long as memory allows.
func (w *walk) readAhead() {
	for {
		w.mu.Lock()
		for !w.ended && (len(w.waiting) == 0 || w.ahead >= aheadEntries) {
			w.work.Wait()
		}
		if w.ended {
			w.mu.Unlock()
			return
		}
		f := heap.Pop(&w.waiting).(*folder)
		if f.state != folderWaiting {
			w.mu.Unlock()
			continue
		}
		f.state = folderReading
		w.mu.Unlock()
		w.read(f)
	}
}

// read fills f and makes it known.
func (w *walk) read(f *folder) {
	f.refused = w.fill(f)
	w.mu.Lock()
	f.state = folderRead
	w.ahead += len(f.entries)
	for _, c := range f.children {
		heap.Push(&w.waiting, c)
	}
	if f.ready != nil {
		close(f.ready)
	}
	n := len(f.children)
	w.mu.Unlock()
	switch {
	case n > 1:
		w.work.Broadcast()
	case n == 1:
		w.work.Signal()
	}
}

// fill opens and reads a folder, and decides on each of its entries.
func (w *walk) fill(f *folder) skipReason {
	fd, err := openBelow(w.fd, strings.TrimSuffix(f.path, "/"))
	if err != nil {
		return skipFor(err)
	}
	defer unix.Close(fd)
	if f.info, err = statFD(fd); err != nil {
		return skipFor(err)
	}
	if !w.view.Same(f.info.dev, f.info.ino).Allowed {
		return skipProtected
	}
	if f.info.remote {
		return skipCloud
	}
	if f.info.dev != f.dev && fileSystemOf(fd) != localFileSystem {
		return skipFileSystem
	}
	entries, more, err := readFolder(fd, f.from, w.part)
	if err != nil {
		return skipFor(err)
	}
	for i := range entries {
		w.judge(fd, f, &entries[i])
	}
	f.entries = entries
	if more != "" {
		f.next = &folder{path: f.path, place: f.place, depth: f.depth, dev: f.dev, from: more}
	}
	return notSkipped
}

// judge decides on one entry and lines up a folder to be entered.
func (w *walk) judge(fd int, f *folder, e *entry) {
	name := e.name()
	place := f.place.Child(name)
	if d := place.Decide(protected.Read); !d.Allowed {
		switch {
		case d.Rule == protected.GitRule:
			e.skip = skipGit
		case d.Kind == protected.Pseudo:
			e.skip = skipFileSystem
		default:
			e.skip = skipProtected
		}
		return
	}
	switch e.kind {
	case symlink:
		e.skip = skipSymlink
	case directory:
		e.matched = w.filter(f.path, name)
		if w.enters(f.depth) {
			c := &folder{path: f.path + e.key, place: place, depth: f.depth + 1, dev: f.info.dev}
			if rest, ok := strings.CutPrefix(w.from, c.path); ok {
				c.from = firstPart(rest)
			}
			f.children = append(f.children, c)
		}
	case regularFile:
		if e.matched = w.filter(f.path, name); !e.matched || !w.links {
			return
		}
		info, err := statIn(fd, name)
		switch {
		case err != nil:
			e.skip = skipFor(err)
		case info.kind != regularFile:
			e.skip = skipVanished
		case info.links > 1:
			e.skip = skipHardLink
		}
	default:
		e.skip = skipSpecial
	}
}

// folderHeap is a heap of folders by path.
type folderHeap []*folder

func (h folderHeap) Len() int           { return len(h) }
func (h folderHeap) Less(i, j int) bool { return h[i].path < h[j].path }
func (h folderHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *folderHeap) Push(x any)        { *h = append(*h, x.(*folder)) }
func (h *folderHeap) Pop() any {
	old := *h
	f := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return f
}
