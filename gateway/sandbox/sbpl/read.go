package sbpl

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Node is one expression: a list, a symbol, a string or a regular expression.
type Node struct {
	Kind Kind
	// Text is the symbol, or what stands between the quotes.
	Text string
	// List are the elements of a list.
	List []Node
	// Line counts from 1.
	Line int
}

// Kind is what a Node is.
type Kind string

const (
	List   Kind = "list"
	Symbol Kind = "symbol"
	String Kind = "string"
	Regex  Kind = "regex"
)

// maxDepth bounds the nesting of lists.
const maxDepth = 100

// head returns the symbol that a list begins with, or "".
func (n Node) head() string {
	if n.Kind == List && len(n.List) > 0 && n.List[0].Kind == Symbol {
		return n.List[0].Text
	}
	return ""
}

// Read reads all expressions of a text. On an error it returns none.
func Read(text string) ([]Node, error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("read profile: not UTF-8")
	}
	r := reader{text: text, line: 1}
	var all []Node
	for {
		r.skip()
		if r.at == len(r.text) {
			return all, nil
		}
		n, err := r.node(0)
		if err != nil {
			return nil, fmt.Errorf("read profile: line %d: %w", r.line, err)
		}
		all = append(all, n)
	}
}

type reader struct {
	text     string
	at, line int
}

// skip passes over space and comments.
func (r *reader) skip() {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == ';':
			if end := strings.IndexByte(r.text[r.at:], '\n'); end >= 0 {
				r.at += end
			} else {
				r.at = len(r.text)
			}
		case c == '\n':
			r.line++
			r.at++
		case c == ' ' || c == '\t':
			r.at++
		default:
			return
		}
	}
}

func (r *reader) node(depth int) (Node, error) {
	if depth > maxDepth {
		return Node{}, fmt.Errorf("lists nest more than %d deep", maxDepth)
	}
	line := r.line
	switch rest := r.text[r.at:]; {
	case rest[0] == ')':
		return Node{}, fmt.Errorf("a parenthesis closes nothing")
	case rest[0] == '(':
		r.at++
		n := Node{Kind: List, Line: line}
		for {
			r.skip()
			if r.at == len(r.text) {
				return Node{}, fmt.Errorf("the list of line %d does not end", line)
			}
			if r.text[r.at] == ')' {
				r.at++
				return n, nil
			}
			element, err := r.node(depth + 1)
			if err != nil {
				return Node{}, err
			}
			n.List = append(n.List, element)
		}
	case rest[0] == '"':
		r.at++
		text, err := r.quoted(true)
		return Node{Kind: String, Text: text, Line: line}, err
	case strings.HasPrefix(rest, `#"`):
		r.at += 2
		text, err := r.quoted(false)
		return Node{Kind: Regex, Text: text, Line: line}, err
	default:
		end := strings.IndexAny(rest, " \t\n()\";")
		if end < 0 {
			end = len(rest)
		}
		text := rest[:end]
		r.at += end
		if i := strings.IndexFunc(text, func(c rune) bool { return c == '#' || !unicode.IsGraphic(c) }); i >= 0 {
			return Node{}, fmt.Errorf("%q is no symbol", text)
		}
		return Node{Kind: Symbol, Text: text, Line: line}, nil
	}
}

// quoted reads up to the closing quote. Only a string has escapes.
func (r *reader) quoted(escapes bool) (string, error) {
	var b strings.Builder
	for r.at < len(r.text) {
		c := r.text[r.at]
		r.at++
		switch {
		case c == '"':
			return b.String(), nil
		case c < ' ':
			return "", fmt.Errorf("a control character stands between quotes")
		case c == '\\' && escapes:
			if r.at == len(r.text) || !strings.ContainsRune(`"\`, rune(r.text[r.at])) {
				return "", fmt.Errorf("an escape is neither \\\" nor \\\\")
			}
			b.WriteByte(r.text[r.at])
			r.at++
		default:
			b.WriteByte(c)
		}
	}
	return "", fmt.Errorf("a quote does not close")
}
