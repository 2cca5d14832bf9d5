package demo

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// hit is one line that a search found. Its path is absolute.
type hit struct {
	path string
	line int
	text string
}

// The first line of a search's result names the directory that all its paths
// are relative to; a line of a file begins with its number.
var (
	listHead   = regexp.MustCompile(`^[0-9,]+ \w+ in (.+?)(, more to come)?; paths are relative to it$`)
	searchHead = regexp.MustCompile(`^[0-9,]+ \w+ with the text.* below (.+?)(?:, more to come)?; [0-9,]+ files? searched$`)
	numbered   = regexp.MustCompile(`^([0-9]+): (.*)$`)
)

// isFoot reports whether a line is one of those that end a result.
func isFoot(line string) bool {
	for _, foot := range []string{"skipped: ", "truncated: ", "more: "} {
		if strings.HasPrefix(line, foot) {
			return true
		}
	}
	return false
}

// filesIn reads the files of a FindFiles result, as absolute paths.
func filesIn(text string) ([]string, error) {
	head, rest, _ := strings.Cut(text, "\n")
	match := listHead.FindStringSubmatch(head)
	if match == nil {
		return nil, fmt.Errorf("the list of files begins with %q", head)
	}
	var files []string
	for line := range strings.Lines(rest) {
		line = strings.TrimSuffix(line, "\n")
		if isFoot(line) {
			break
		}
		if line != "" && !strings.HasSuffix(line, "/") {
			files = append(files, path.Join(unquoted(match[1]), unquoted(line)))
		}
	}
	return files, nil
}

// hitsIn reads the lines of a SearchText result.
func hitsIn(text string) ([]hit, error) {
	head, rest, _ := strings.Cut(text, "\n")
	match := searchHead.FindStringSubmatch(head)
	if match == nil {
		return nil, fmt.Errorf("the result of the search begins with %q", head)
	}
	var hits []hit
	file := ""
	for line := range strings.Lines(rest) {
		line = strings.TrimSuffix(line, "\n")
		if isFoot(line) {
			break
		}
		found := numbered.FindStringSubmatch(line)
		if found == nil {
			file = path.Join(unquoted(match[1]), unquoted(line))
			continue
		}
		n, err := strconv.Atoi(found[1])
		if err != nil {
			return nil, fmt.Errorf("read the line number of a hit: %w", err)
		}
		hits = append(hits, hit{path: file, line: n, text: found[2]})
	}
	return hits, nil
}

// unquoted undoes the quoting of unusual names.
func unquoted(name string) string {
	if plain, err := strconv.Unquote(name); err == nil {
		return plain
	}
	return name
}

// short is a path relative to the directory that is explored, where it is in
// there.
func short(root, file string) string {
	if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(root, "/")+"/"); ok {
		return rest
	}
	return file
}
