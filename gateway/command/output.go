package command

import (
	"bytes"
	"io"
	"sync"
	"unicode/utf8"
)

// keep is how many bytes of each output are kept, from its beginning and from
// its end: as much as a receipt could ever show.
const keep = 64 << 10

// output takes everything that a command writes to one of its outputs. Memory
// does not depend on how much that is.
type output struct {
	total int64 // bytes
	ends  int64 // line ends
	// head and tail are the first and the last bytes, without overlap; more
	// was between them if they are shorter than total.
	head, tail []byte
	// bad counts bytes that are part of no character; partial is what may yet
	// become one.
	bad     int64
	partial []byte
	open    bool // the last byte is no line end
}

// add takes the next bytes.
func (o *output) add(b []byte) {
	if len(b) == 0 {
		return
	}
	o.total += int64(len(b))
	o.ends += int64(bytes.Count(b, []byte{'\n'}))
	o.open = b[len(b)-1] != '\n'
	o.check(b)
	n := min(keep-len(o.head), len(b))
	o.head = append(o.head, b[:n]...)
	o.tail = append(o.tail, b[n:]...)
	// The tail moves to the front only when it has twice its length, so that
	// every byte is moved about once.
	if len(o.tail) > 2*keep {
		o.tail = o.tail[:copy(o.tail, o.tail[len(o.tail)-keep:])]
	}
}

// end is called after the last byte.
func (o *output) end() {
	o.bad += int64(len(o.partial))
	o.partial = nil
	if len(o.tail) > keep {
		o.tail = o.tail[len(o.tail)-keep:]
	}
}

// check counts the bytes that are no UTF-8.
func (o *output) check(b []byte) {
	if len(o.partial) > 0 {
		b = append(o.partial, b...)
		o.partial = nil
	}
	whole := len(b)
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i:]; utf8.RuneStart(c[0]) {
			if !utf8.FullRune(c) {
				whole -= i
				o.partial = bytes.Clone(c)
			}
			break
		}
	}
	if b = b[:whole]; utf8.Valid(b) {
		return
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			o.bad++
		}
		b = b[n:]
	}
}

// lines counts the last one also if it has no end.
func (o *output) lines() int64 {
	if o.open {
		return o.ends + 1
	}
	return o.ends
}

// outputs are the two of one command.
type outputs struct {
	progress func(bytes, lines int64)

	mu  sync.Mutex
	out output // guarded by mu while readers run
	err output // guarded by mu while readers run
}

// take reads one output to its end. An error other than the end is that the
// reading end was given up; what came until then counts.
func (o *outputs) take(from io.Reader, into *output) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		o.mu.Lock()
		into.add(buf[:n])
		if err != nil {
			into.end()
		}
		if n > 0 {
			o.progress(o.out.total+o.err.total, o.out.lines()+o.err.lines())
		}
		o.mu.Unlock()
		if err != nil {
			return
		}
	}
}
