package executor

import (
	"bytes"
	"slices"
)

// newContent is what a file is to hold. What it begins and ends with may be parts
// of the original, so that an edit of a long file copies little of it.
type newContent struct {
	// head is what the original begins with too, also if that is nothing.
	head, middle, tail []byte
}

func (c newContent) size() int64 { return int64(len(c.head) + len(c.middle) + len(c.tail)) }

func (c newContent) pieces() [3][]byte { return [3][]byte{c.head, c.middle, c.tail} }

func (c newContent) joined() []byte { return slices.Concat(c.head, c.middle, c.tail) }

// sha256 is the hash of the content, with was as the original.
func (c newContent) sha256(was *original) string {
	h, known := was.sum.upTo(len(c.head))
	h.Write(c.head[known:])
	h.Write(c.middle)
	h.Write(c.tail)
	return hexOf(h)
}

// around is a part of the content, from the beginning of a line to the end of
// one, that holds the middle and at least n lines before and after it, or all
// that there are. The part begins at offset at.
func (c newContent) around(n int) (part []byte, at int) {
	at = lineStart(c.head, len(c.head))
	to := lineStop(c.tail, 0)
	for range n {
		at = lineStart(c.head, max(at-1, 0))
		to = lineStop(c.tail, to)
	}
	return slices.Concat(c.head[at:], c.middle, c.tail[:to]), at
}

// apply makes a new content from splices, in order and not overlapping, of what
// follows the first mark bytes of an old one.
func apply(old []byte, mark int, splices []splice) newContent {
	if len(splices) == 0 {
		return newContent{head: old}
	}
	first, last := splices[0], splices[len(splices)-1]
	var middle bytes.Buffer
	at := mark + first.from
	for _, s := range splices {
		middle.Write(old[at : mark+s.from])
		middle.WriteString(s.text)
		at = mark + s.to
	}
	return newContent{head: old[:mark+first.from], middle: middle.Bytes(), tail: old[mark+last.to:]}
}
