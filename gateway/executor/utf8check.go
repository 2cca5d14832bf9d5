package executor

import (
	"bytes"
	"unicode/utf8"
)

// utf8Check finds the first byte of a stream that is no UTF-8, and NUL bytes.
// Its zero value is ready.
type utf8Check struct {
	// lines asks for the line of the bad byte.
	lines bool

	offset int64  // of the next byte
	line   int64  // complete lines before tail
	tail   []byte // a character that is not complete yet

	bad *badByte // the first one, or nil
}

// badByte is a byte where no character can go on.
type badByte struct {
	at, line int64 // from 0, from 1
	value    byte
}

// add looks at the next bytes. It returns the offset of the first NUL byte
// among them, or -1.
func (c *utf8Check) add(b []byte) (nul int64) {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return c.offset + int64(i)
	}
	if c.bad == nil {
		c.look(b)
	}
	c.offset += int64(len(b))
	return -1
}

func (c *utf8Check) look(b []byte) {
	at := c.offset
	if len(c.tail) > 0 {
		at -= int64(len(c.tail))
		b = append(c.tail, b...)
		c.tail = nil
	}
	whole := b[:trimPartial(b)]
	if !utf8.Valid(whole) {
		for i := 0; i < len(whole); {
			r, n := utf8.DecodeRune(whole[i:])
			if r == utf8.RuneError && n == 1 {
				c.found(at+int64(i), whole[i], whole[:i])
				return
			}
			i += n
		}
	}
	if c.lines {
		c.line += int64(bytes.Count(whole, []byte{'\n'}))
	}
	if len(whole) < len(b) {
		c.tail = bytes.Clone(b[len(whole):])
	}
}

func (c *utf8Check) found(at int64, value byte, before []byte) {
	c.bad = &badByte{at: at, value: value, line: c.line + int64(bytes.Count(before, []byte{'\n'})) + 1}
}

// end is called after the last byte: a character may not be cut off there.
func (c *utf8Check) end() {
	if c.bad == nil && len(c.tail) > 0 {
		c.found(c.offset-int64(len(c.tail)), c.tail[0], nil)
	}
}
