package executor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Bounds of a shown line, in bytes.
const (
	shownLine   = 400 // a line up to this is shown whole
	shownBefore = 120 // before the hit in a longer one
	shownAfter  = 280 // from the hit on in a longer one
)

// scanBuffer is how much of a file a scanner holds at once. Files up to this
// are read at one go.
const scanBuffer = 512 << 10

// scanMargin is how much of the end of a full buffer is not searched yet,
// beside the length of the text: a hit there may have its window cut off.
const scanMargin = shownLine + shownAfter

// scanner finds a text in one file after the other. It is used by one
// goroutine.
type scanner struct {
	needle []byte
	fold   bool
	// read counts bytes for all scanners of a search.
	read *atomic.Int64

	buf []byte
	// low is buf with small letters if fold is set, else buf itself.
	low   []byte
	check utf8Check
}

func newScanner(text string, fold bool, size int, read *atomic.Int64) *scanner {
	s := &scanner{needle: []byte(text), fold: fold, read: read, buf: make([]byte, size)}
	s.low = s.buf
	if fold {
		s.needle = []byte(foldASCII(text))
		s.low = make([]byte, size)
	}
	return s
}

// hit is one line that holds the text, ready to be shown.
type hit struct {
	line int64
	text string
}

// hits is what a scan of one file says.
type hits struct {
	lines []hit
	// more counts lines beyond those kept.
	more int64
	// notUTF8 says that the file has bytes that are no UTF-8.
	notUTF8 bool
	skip    skipReason
	// unfinished says that the context ended before the file did.
	unfinished bool
}

// want bounds what a scan keeps.
type want struct {
	from  int64 // lines before it were shown earlier
	lines int   // how many to keep
	bytes int   // how long they may be together
	// first ends the search, not the reading, at the first line.
	first bool
}

// scan searches a file that is open for reading. size is what stat said.
func (s *scanner) scan(ctx context.Context, fd int, size int64, w want) hits {
	st := &scan{scanner: s, want: w, line: 1}
	s.check = utf8Check{}
	for !st.eof {
		if ctx.Err() != nil {
			return hits{unfinished: true}
		}
		st.makeRoom()
		if skip := st.fill(fd, size); skip != notSkipped {
			return hits{skip: skip}
		}
		st.search()
	}
	s.check.end()
	st.hits.notUTF8 = s.check.bad != nil
	return st.hits
}

// scan is the state of one file. Offsets without a word are in the buffer.
type scan struct {
	*scanner
	want want
	hits hits

	n     int   // filled
	pos   int   // everything before was searched
	base  int64 // offset in the file of the buffer's start
	total int64 // bytes read
	eof   bool

	line  int64 // number of the line that pos lies in
	start int64 // offset in the file of that line's start
	// inHit says that the line that pos lies in was already counted.
	inHit bool
	bytes int // of kept lines
}

// makeRoom drops what is searched, but for what a window may still show.
func (s *scan) makeRoom() {
	drop := s.pos - shownBefore - 8
	if drop <= 0 {
		return
	}
	copy(s.buf, s.buf[drop:s.n])
	if s.fold {
		copy(s.low, s.low[drop:s.n])
	}
	s.n -= drop
	s.pos -= drop
	s.base += int64(drop)
}

// fill reads until the buffer is full or the file ends.
func (s *scan) fill(fd int, size int64) skipReason {
	for s.n < len(s.buf) {
		n, err := unix.Read(fd, s.buf[s.n:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return skipUnreadable
		case n == 0:
			s.eof = true
			return notSkipped
		}
		fresh := s.buf[s.n : s.n+n]
		if s.check.add(fresh) >= 0 {
			return skipBinary
		}
		if s.fold {
			lowerASCII(s.low[s.n:], fresh)
		}
		s.n += n
		s.total += int64(n)
		s.read.Add(int64(n))
		if s.total > wholeFile {
			return skipTooLarge // it grew
		}
		if size > 0 && s.total == size {
			s.eof = true
			return notSkipped
		}
	}
	return notSkipped
}

// search finds the lines that begin in what the buffer holds and can be judged:
// before the end of the file not the last bytes, where a hit or its window may
// be cut off.
func (s *scan) search() {
	limit := s.n
	if !s.eof {
		limit -= len(s.needle) + scanMargin
	}
	for s.pos < limit {
		if s.inHit {
			i := bytes.IndexByte(s.buf[s.pos:limit], '\n')
			if i < 0 {
				s.pos = limit
				return
			}
			s.pos += i + 1
			s.line++
			s.start = s.base + int64(s.pos)
			s.inHit = false
			continue
		}
		if s.want.first && len(s.hits.lines) > 0 {
			s.pos = limit
			return
		}
		i := bytes.Index(s.low[s.pos:min(s.n, limit+len(s.needle)-1)], s.needle)
		if i < 0 {
			if !s.eof {
				s.countLines(limit)
			}
			s.pos = limit
			return
		}
		at := s.pos + i
		s.countLines(at)
		s.pos = at
		s.inHit = true
		s.keep(at)
	}
}

// countLines moves line and start on to the offset end.
func (s *scan) countLines(end int) {
	part := s.buf[s.pos:end]
	if n := bytes.Count(part, []byte{'\n'}); n > 0 {
		s.line += int64(n)
		s.start = s.base + int64(s.pos+bytes.LastIndexByte(part, '\n')+1)
	}
}

// keep takes the line of the hit at an offset, or counts it.
func (s *scan) keep(at int) {
	switch {
	case s.line < s.want.from:
		return
	case len(s.hits.lines) >= s.want.lines || s.bytes >= s.want.bytes:
		s.hits.more++
		return
	}
	h := hit{line: s.line, text: s.window(at)}
	s.bytes += len(h.text)
	s.hits.lines = append(s.hits.lines, h)
}

// window shows the line around the hit at an offset.
func (s *scan) window(at int) string {
	begin := int(max(s.start-s.base, 0))
	// A line longer than shownLine need not be known to its end.
	rest := s.buf[begin:min(s.n, max(begin+shownLine, at+shownAfter)+2)]
	end := begin + len(rest)
	whole := s.start >= s.base
	ended := end == s.n && s.eof
	if i := bytes.IndexByte(s.buf[at:end], '\n'); i >= 0 {
		end, ended = at+i, true
	}
	if ended && end > begin && s.buf[end-1] == '\r' {
		end--
	}
	if whole && ended && end-begin <= shownLine {
		text, _ := showText(s.buf[begin:end])
		return fmt.Sprintf("%d: %s", s.line, text)
	}
	from, to := max(begin, at-shownBefore), min(end, at+shownAfter)
	if !whole || from > begin {
		from = max(cutAfter(s.buf[:s.n], from), begin)
	}
	cut := to < end || !ended
	if cut {
		to = max(cutBefore(s.buf[:s.n], to), from)
	}
	text, _ := showText(s.buf[from:to])
	prefix := ""
	if skipped := s.base + int64(from) - s.start; skipped > 0 {
		prefix = fmt.Sprintf(" (from byte %d)", skipped+1)
	}
	if cut {
		text += " [line goes on]"
	}
	return fmt.Sprintf("%d%s: %s", s.line, prefix, text)
}

// scanFile opens and scans the file name in the open folder dir.
func (s *scanner) scanFile(ctx context.Context, dir int, name string, w want) hits {
	fd, err := openFileIn(dir, name)
	if err != nil {
		return hits{skip: skipFor(err)}
	}
	defer unix.Close(fd)
	info, err := statFD(fd)
	switch {
	case err != nil:
		return hits{skip: skipFor(err)}
	case info.kind != regularFile:
		return hits{skip: skipVanished}
	case info.links > 1:
		return hits{skip: skipHardLink}
	case info.size > wholeFile:
		return hits{skip: skipTooLarge}
	case info.remote:
		return hits{skip: skipCloud}
	}
	return s.scan(ctx, fd, info.size, w)
}
