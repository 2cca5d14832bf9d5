package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf16"
)

// jsonValue is one value of a JSON text, by where it stands.
type jsonValue struct {
	from, to int
	// kind is the first byte of the value, 'N' for what Python writes and JSON
	// does not know: NaN and the infinities.
	kind    byte
	members []jsonMember // of an object, in order, down to keptDepth
	items   []jsonValue  // of an array, likewise
}

type jsonMember struct {
	from  int // of the key
	name  string
	value jsonValue
}

// Bounds of a JSON text.
const (
	jsonDepth = 500 // levels in each other
	keptDepth = 4   // levels of which members and items are kept
)

// scanJSON finds where the values of a JSON text stand. It is strict, but for
// NaN, Infinity and -Infinity; a key that stands twice in one object is an
// error. The text is valid UTF-8.
func scanJSON(text []byte) (jsonValue, error) {
	s := &jsonScan{text: text}
	v, err := s.value(0)
	if err != nil {
		return v, err
	}
	if s.space(); s.at < len(text) {
		return v, s.fail("more follows the value")
	}
	return v, nil
}

type jsonScan struct {
	text []byte
	at   int
}

func (s *jsonScan) fail(what string) error {
	return fmt.Errorf("%s at byte offset %d", what, s.at)
}

// space skips white space.
func (s *jsonScan) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// next skips white space and takes the byte c if it follows.
func (s *jsonScan) next(c byte) bool {
	s.space()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *jsonScan) value(depth int) (v jsonValue, err error) {
	s.space()
	if s.at >= len(s.text) {
		return v, s.fail("the text ends where a value is missing")
	}
	if depth > jsonDepth {
		return v, s.fail("too many levels")
	}
	v.from, v.kind = s.at, s.text[s.at]
	switch v.kind {
	case '{':
		err = s.object(&v, depth)
	case '[':
		err = s.array(&v, depth)
	case '"':
		_, err = s.str()
	case 't':
		err = s.word("true")
	case 'f':
		err = s.word("false")
	case 'n':
		err = s.word("null")
	default:
		err = s.number(&v)
	}
	v.to = s.at
	return v, err
}

func (s *jsonScan) word(word string) error {
	end := s.at + len(word)
	if end > len(s.text) || string(s.text[s.at:end]) != word {
		return s.fail("no JSON value")
	}
	s.at = end
	return nil
}

func (s *jsonScan) object(v *jsonValue, depth int) error {
	s.at++
	if s.next('}') {
		return nil
	}
	seen := keySet{}
	for {
		s.space()
		m := jsonMember{from: s.at}
		if s.at >= len(s.text) || s.text[s.at] != '"' {
			return s.fail("a key is missing")
		}
		var err error
		if m.name, err = s.str(); err != nil {
			return err
		}
		if !seen.add(m.name) {
			return s.fail(fmt.Sprintf("the key %s stands twice in one object", showName(clip(m.name, 80))))
		}
		if !s.next(':') {
			return s.fail("a colon is missing")
		}
		if m.value, err = s.value(depth + 1); err != nil {
			return err
		}
		if depth < keptDepth {
			v.members = append(v.members, m)
		}
		if s.next('}') {
			return nil
		}
		if !s.next(',') {
			return s.fail("a comma or the end of an object is missing")
		}
	}
}

func (s *jsonScan) array(v *jsonValue, depth int) error {
	s.at++
	if s.next(']') {
		return nil
	}
	for {
		item, err := s.value(depth + 1)
		if err != nil {
			return err
		}
		if depth < keptDepth {
			v.items = append(v.items, item)
		}
		if s.next(']') {
			return nil
		}
		if !s.next(',') {
			return s.fail("a comma or the end of an array is missing")
		}
	}
}

// keySet remembers the keys of one object. Most objects have few.
type keySet struct {
	few  []string
	many map[string]bool
}

// add reports whether key is new.
func (k *keySet) add(key string) bool {
	if k.many == nil {
		for _, have := range k.few {
			if have == key {
				return false
			}
		}
		if k.few = append(k.few, key); len(k.few) > 16 {
			k.many = map[string]bool{}
			for _, have := range k.few {
				k.many[have] = true
			}
		}
		return true
	}
	if k.many[key] {
		return false
	}
	k.many[key] = true
	return true
}

// str scans a string and returns what it says.
func (s *jsonScan) str() (string, error) {
	from := s.at
	escaped := false
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			if !escaped {
				return string(s.text[from+1 : s.at-1]), nil
			}
			return unquoteJSON(s.text[from:s.at]), nil
		case c < 0x20:
			return "", s.fail("a control character stands in a string")
		case c == '\\':
			escaped = true
			if err := s.escape(); err != nil {
				return "", err
			}
		}
	}
	return "", s.fail("a string has no end")
}

// escape goes to the last byte of an escape.
func (s *jsonScan) escape() error {
	s.at++
	if s.at >= len(s.text) {
		return s.fail("a string has no end")
	}
	switch s.text[s.at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		for range 4 {
			s.at++
			if s.at >= len(s.text) || !isHex(s.text[s.at]) {
				return s.fail("an escape is not complete")
			}
		}
		return nil
	}
	return s.fail("there is no such escape")
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// unquoteJSON returns what a scanned string says. Half a surrogate pair, which
// no Go string can hold apart, becomes U+FFFD.
func unquoteJSON(raw []byte) string {
	var text string
	// It was scanned, so it cannot fail.
	_ = json.Unmarshal(raw, &text)
	return text
}

func (s *jsonScan) number(v *jsonValue) error {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if s.word(word) == nil {
			v.kind = 'N'
			return nil
		}
	}
	v.kind = '0'
	digits := func() bool {
		from := s.at
		for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
			s.at++
		}
		return s.at > from
	}
	if s.text[s.at] == '-' {
		s.at++
	}
	start := s.at
	if !digits() {
		return s.fail("no JSON value")
	}
	if s.text[start] == '0' && s.at > start+1 {
		return s.fail("a number begins with 0")
	}
	if s.at < len(s.text) && s.text[s.at] == '.' {
		if s.at++; !digits() {
			return s.fail("a number is not complete")
		}
	}
	if s.at < len(s.text) && (s.text[s.at] == 'e' || s.text[s.at] == 'E') {
		s.at++
		if s.at < len(s.text) && (s.text[s.at] == '+' || s.text[s.at] == '-') {
			s.at++
		}
		if !digits() {
			return s.fail("a number is not complete")
		}
	}
	return nil
}

// member returns the value of a key of an object.
func (v jsonValue) member(name string) (jsonValue, bool) {
	for _, m := range v.members {
		if m.name == name {
			return m.value, true
		}
	}
	return jsonValue{}, false
}

var errNotWhole = errors.New("not a whole number")

// whole returns a value that is a small whole number.
func (v jsonValue) whole(text []byte) (int, error) {
	if v.kind != '0' {
		return 0, errNotWhole
	}
	var n int
	if err := json.Unmarshal(text[v.from:v.to], &n); err != nil {
		return 0, errNotWhole
	}
	return n, nil
}

// text returns what a string says.
func (v jsonValue) text(all []byte) (string, bool) {
	if v.kind != '"' {
		return "", false
	}
	return unquoteJSON(all[v.from:v.to]), true
}

// quoteJSON writes a string as Python's json module does, with everything but
// ASCII escaped if ascii is set.
func quoteJSON(s string, ascii bool) string {
	b := append(make([]byte, 0, len(s)+2), '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\b':
			b = append(b, `\b`...)
		case r == '\f':
			b = append(b, `\f`...)
		case r < 0x20, ascii && r > 0x7e && r <= 0xffff:
			b = fmt.Appendf(b, `\u%04x`, r)
		case ascii && r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = append(b, string(r)...)
		}
	}
	return string(append(b, '"'))
}
