package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// seatbelt is a Policy in the words of macOS's sandbox: a profile and the
// values of its parameters.
//
// On macOS a Policy means:
//   - What is not allowed by name is denied. There is one view, (visible): the
//     base system or everything, and the paths of the Policy. Reading, mapping
//     and starting programs are allowed there, writing below Writable alone.
//     Hidden paths are left out of the view itself, so that no later rule can
//     bring them back; of two paths, one inside the other, the inner counts.
//   - In the whole view, files called .env or .env.something are left out too,
//     as are the temporary directories that all programs share, raw devices and
//     backups. Writable directories are the process's own: there such names are
//     like any other.
//   - Paths are judged as the kernel has them for the opened file, so links,
//     "..", /.vol and names in another case lead nowhere else. A data volume
//     has two names, and each path of the Policy stands for both.
//   - No network at all, also no loopback of its own, which macOS does not
//     have. With Policy.Listen one port of the host's loopback.
//   - No service of the system but user names, temporary directories and the
//     log; no Keychain, no LaunchServices, no Apple events, no preferences.
//   - Signals reach only processes of the same sandbox.
//
// Every value is a parameter and none is part of the text. The text has no
// (allow default), no modifier, and no allow of a service, a sysctl or the
// network without a name.
type seatbelt struct {
	text   string
	params []param
}

type param struct{ name, value string }

// seatbeltRules are what a profile is made from.
type seatbeltRules struct {
	// Whole shows everything but what is hidden, else the base system alone.
	Whole                      bool
	ReadOnly, Writable, Hidden []string
	// Port is the one of the host's loopback that may be connected to, or 0.
	Port int
	// Self is the stage's program.
	Self string
	// Mark is a name that no other run has.
	Mark string
}

const (
	// dataVolume is the other name of every path on the data volume.
	dataVolume = "/System/Volumes/Data"
	// maxSeatbeltPath: Seatbelt takes strings of about a thousand bytes.
	maxSeatbeltPath = 900
	// maxSeatbeltSize bounds text and values, which are arguments of a program.
	maxSeatbeltSize = 512 << 10
)

// makeSeatbelt writes the profile. An error says which path cannot be said.
func makeSeatbelt(r seatbeltRules) (seatbelt, error) {
	if err := r.clean(); err != nil {
		return seatbelt{}, err
	}
	w := seatbeltWriter{rules: r, names: map[string]string{}}
	w.write()
	size := w.text.Len()
	for _, p := range w.params {
		size += len(p.name) + len(p.value)
	}
	if size > maxSeatbeltSize {
		return seatbelt{}, fmt.Errorf("the profile would have %d bytes, more than %d", size, maxSeatbeltSize)
	}
	return seatbelt{text: w.text.String(), params: w.params}, nil
}

// arguments are those of sandbox-exec, without the command.
func (s seatbelt) arguments() []string {
	args := []string{"-p", s.text}
	for _, p := range s.params {
		args = append(args, "-D", p.name+"="+p.value)
	}
	return args
}

// clean gives every path its first name and order, and refuses what could not
// be enforced as it reads.
func (r *seatbeltRules) clean() error {
	if r.Mark == "" || strings.ContainsFunc(r.Mark, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return fmt.Errorf("%q is no mark", r.Mark)
	}
	if r.Port != 0 && (r.Port < 1024 || r.Port > 65535) {
		return fmt.Errorf("port %d is not in 1024 to 65535", r.Port)
	}
	var err error
	lists := []*[]string{&r.ReadOnly, &r.Writable, &r.Hidden}
	for _, list := range lists {
		paths := make([]string, 0, len(*list))
		for _, path := range *list {
			if path, err = seatbeltPath(path); err != nil {
				return err
			}
			paths = append(paths, path)
		}
		slices.Sort(paths)
		*list = slices.Compact(paths)
	}
	if r.Self, err = seatbeltPath(r.Self); err != nil {
		return err
	}
	r.ReadOnly = slices.DeleteFunc(r.ReadOnly, func(path string) bool { return path == r.Self })
	if slices.Contains(r.Hidden, r.Self) {
		return errors.New("the stage's program is hidden")
	}
	for i, a := range lists {
		for _, b := range lists[i+1:] {
			for _, path := range *a {
				if slices.Contains(*b, path) {
					return fmt.Errorf("%s stands in the policy twice", path)
				}
			}
		}
	}
	return nil
}

// seatbeltPath checks that a path can be said in a profile, and returns its
// name without the data volume.
func seatbeltPath(path string) (string, error) {
	switch {
	case !utf8.ValidString(path):
		return "", fmt.Errorf("%q is not UTF-8", path)
	case strings.ContainsFunc(path, unicode.IsControl):
		return "", fmt.Errorf("%q holds a control character", path)
	case len(path) > maxSeatbeltPath:
		return "", fmt.Errorf("%.40q... has more than %d bytes", path, maxSeatbeltPath)
	case !isClean(path):
		return "", fmt.Errorf("%q is not a clean absolute path", path)
	}
	if short, ok := strings.CutPrefix(path, dataVolume+"/"); ok {
		path = "/" + short
	}
	// The links of the root, on every Mac: rules are about where they lead.
	for _, link := range []string{"/etc", "/tmp", "/var"} {
		if path == link || inside(path, link) {
			path = "/private" + path
		}
	}
	if path == "/" || path == dataVolume {
		return "", errors.New("a policy cannot name a whole volume")
	}
	return path, nil
}

// isClean is filepath.Clean for slashes, whatever system the generator runs on.
func isClean(path string) bool {
	if !strings.HasPrefix(path, "/") {
		return false
	}
	for part := range strings.SplitSeq(path[1:], "/") {
		if part == "" && path != "/" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// spellings are the names that the kernel may have for a path.
func spellings(path string) []string {
	if path == "/System/Volumes" || inside(path, "/System/Volumes") {
		return []string{path}
	}
	return []string{path, dataVolume + path}
}

// ancestors are the directories above a path, without "/".
func ancestors(path string) []string {
	var all []string
	for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path[:i], '/') {
		all = append(all, path[:i])
	}
	return all
}
