package executor

import (
	"bytes"
	"strings"
)

// lineEnd is how a line ends; "" for none.
type lineEnd string

const (
	lf   lineEnd = "\n"
	crlf lineEnd = "\r\n"
	// cr ends lines only in files that have no other end.
	cr lineEnd = "\r"
)

func (e lineEnd) name() string {
	switch e {
	case crlf:
		return "CRLF"
	case cr:
		return "CR"
	}
	return "LF"
}

// prevailingEnd is the line end that most lines of a text have, that of the
// first line if there are as many of either, "" if it has none.
func prevailingEnd(text []byte) lineEnd {
	all := bytes.Count(text, []byte("\n"))
	if all == 0 {
		if bytes.IndexByte(text, '\r') >= 0 {
			return cr
		}
		return ""
	}
	both := bytes.Count(text, []byte("\r\n"))
	switch plain := all - both; {
	case both > plain:
		return crlf
	case both < plain:
		return lf
	}
	if first := bytes.IndexByte(text, '\n'); first > 0 && text[first-1] == '\r' {
		return crlf
	}
	return lf
}

// withEnd gives every line of a text the same end. A CR that ends no line stays
// as it is.
func withEnd(text string, end lineEnd) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if end == lf {
		return text
	}
	return strings.ReplaceAll(text, "\n", string(end))
}
