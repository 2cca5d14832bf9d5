package entry

import "strings"

// split cuts a string into arguments as `env -S` does: at blanks, with quotes,
// backslashes and a comment. What a variable would put in stays as it is
// written. Of a string that env refuses it returns what comes before the fault.
func split(s string) []string {
	var args []string
	var word strings.Builder
	inWord := false
	quote := byte(0)
	end := func() {
		if inWord {
			args = append(args, word.String())
		}
		word.Reset()
		inWord = false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s) && (quote != '\'' || s[i+1] == '\'' || s[i+1] == '\\'):
			i++
			if s[i] == 'c' && quote == 0 {
				end()
				return args
			}
			if s[i] == '_' && quote == 0 {
				end()
				continue
			}
			word.WriteByte(unescape(s[i]))
			inWord = true
		case c == quote && quote != 0:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, inWord = c, true
		case quote == 0 && strings.IndexByte(" \t\n\v\f\r", c) >= 0:
			end()
		case quote == 0 && c == '#' && !inWord:
			return args
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if quote == 0 {
		end()
	}
	return args
}

// unescape returns what env puts for a backslash and c.
func unescape(c byte) byte {
	if i := strings.IndexByte("fnrtv_", c); i >= 0 {
		return "\f\n\r\t\v "[i]
	}
	return c
}

// words cuts the first command off a command line, as far as that can be told
// without a shell: without what is set before it.
func words(line string) []string {
	args := split(line)
	for len(args) > 0 && strings.IndexByte(args[0], '=') > 0 {
		args = args[1:]
	}
	return args
}
