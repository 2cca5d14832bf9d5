package protected

import (
	"bufio"
	"os"
	"path"
	"strconv"
	"strings"
)

// mountTable is where Linux tells what is mounted where.
const mountTable = "/proc/self/mountinfo"

// mount is one line of it: a part of a file system and where it is seen.
type mount struct{ device, root, point string }

// addAliases covers what is hidden under its other paths as well: a file system,
// or a part of one, that is mounted a second time (bind mount). A system that
// tells nothing of its mounts has none.
func (s *survey) addAliases() {
	f, err := os.Open(mountTable)
	if err != nil {
		return
	}
	defer f.Close()
	mounts := readMounts(bufio.NewScanner(f))
	type alias struct {
		path string
		rule *rule
	}
	var found []alias
	for place, r := range s.view.places {
		for path, as := range aliasesOf(place, mounts) {
			if !s.holdsOwnHome(path) && sameFile(path, as) {
				found = append(found, alias{path, r})
			}
		}
	}
	for _, a := range found {
		s.view.insert(escapeGlob(a.path), a.rule)
		s.view.place(a.path, a.rule)
	}
}

func readMounts(lines *bufio.Scanner) []mount {
	var all []mount
	for lines.Scan() {
		if field := strings.Fields(lines.Text()); len(field) > 4 {
			all = append(all, mount{device: field[2], root: unescapeMount(field[3]), point: unescapeMount(field[4])})
		}
	}
	return all
}

// aliasesOf returns the other paths under which mounts show what is at place or
// below it, each with the path below place that it stands for.
func aliasesOf(place string, mounts []mount) map[string]string {
	var under mount
	for _, m := range mounts {
		if inside(place, m.point) && len(m.point) >= len(under.point) {
			under = m
		}
	}
	if under.point == "" {
		return nil
	}
	within := path.Join(under.root, strings.TrimPrefix(place, under.point))
	aliases := map[string]string{}
	for _, m := range mounts {
		switch {
		case m.device != under.device || m == under:
		case inside(within, m.root):
			aliases[path.Join(m.point, strings.TrimPrefix(within, m.root))] = place
		case inside(m.root, within):
			aliases[m.point] = path.Join(place, strings.TrimPrefix(m.root, within))
		}
	}
	delete(aliases, place)
	return aliases
}

// sameFile reports whether two paths are seen to be one file or folder: a mount
// may lie under a later one.
func sameFile(a, b string) bool {
	first, err := os.Lstat(a)
	if err != nil {
		return false
	}
	second, err := os.Lstat(b)
	return err == nil && identify(first) == identify(second)
}

// unescapeMount undoes the octal escapes of the table.
func unescapeMount(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
