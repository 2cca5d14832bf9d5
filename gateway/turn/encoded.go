package turn

import "unicode/utf8"

// EncodedSize is how many bytes valid UTF-8 takes inside a JSON string.
func EncodedSize(text string) int {
	n := 0
	for _, r := range text {
		n += EncodedRune(r)
	}
	return n
}

// EncodedRune is what encoding/json makes of a character: it also escapes what
// HTML would take for markup, and the two line ends that JavaScript would.
func EncodedRune(r rune) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == '\f':
		return 2
	case r < 0x20 || r == '<' || r == '>' || r == '&' || r == 0x2028 || r == 0x2029:
		return 6
	}
	return utf8.RuneLen(r)
}
