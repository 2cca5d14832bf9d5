package protected

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	// MaxScreen is how many places Screen names at most on Linux, where each is a
	// mount and the cost of a start grows with their square.
	MaxScreen = 48
	// maxScreenDarwin is the same where each is a line of a profile.
	maxScreenDarwin = 480
)

// Screen returns the files and folders that the sandbox of a command has to
// hide: real paths without a link in them, that exist now, none inside another,
// sorted, at most MaxScreen of them. dirs are real paths of folders that the
// command sees as its own, such as its working directory and the root of its
// session.
//
// It names what the hidden rules cover on this machine: what they name, where
// links in credential folders lead, and the same under the path of another
// mount; environment files, core files and password stores right in dirs and in
// the folders between two of them. It does not name:
//   - .git, which commands may read;
//   - what the operating system keeps from this user anyway;
//   - files of those names elsewhere: no folder is walked;
//   - a hard link to a hidden file, and copies in snapshots.
//
// Where there are too many, some folders of settings stand for what is hidden
// in them. If that is not enough, or a folder cannot be looked into, it fails,
// and the command must not run.
//
// The answer is true for the moment. A hidden file that comes into being while
// a command runs is seen by it, unless a folder around it is hidden. On Linux
// that goes for a hidden file too that a program outside replaces by another:
// the kernel takes the mount away with the old one.
func (p *Paths) Screen(dirs ...string) ([]string, error) {
	// A place that is gone or has become a link since the look at the disk is a
	// reason to look once more.
	for range 3 {
		v := p.viewUnless(func(v *View) bool { return v.old() || v.changed() })
		list, err := v.screen(dirs, p.maxScreen)
		if err != nil {
			return nil, fmt.Errorf("hide protected paths: %w", err)
		}
		if !slices.ContainsFunc(list, moved) {
			return list, nil
		}
		p.viewUnless(func(last *View) bool { return last == v })
	}
	return nil, errors.New("hide protected paths: they change while they are looked at")
}

// moved reports whether a place is no place any more.
func moved(path string) bool {
	info, err := os.Lstat(path)
	return err != nil || info.Mode()&fs.ModeSymlink != 0
}

func (v *View) screen(dirs []string, most int) ([]string, error) {
	hidden := map[string]*rule{}
	maps.Copy(hidden, v.places)
	folders, err := between(dirs)
	if err != nil {
		return nil, err
	}
	for _, dir := range folders {
		if r := v.At(dir).closed; r != nil && r != v.names.git {
			return nil, fmt.Errorf("the command's folder is protected: %s", r.reason)
		}
		if err := v.screenNames(dir, hidden); err != nil {
			return nil, err
		}
	}
	list := outermost(slices.Collect(maps.Keys(hidden)))
	for _, g := range v.gather {
		if len(list) <= most {
			break
		}
		if !slices.ContainsFunc(folders, func(dir string) bool { return inside(dir, g) }) {
			list = gatherIn(list, g)
		}
	}
	if len(list) > most {
		return nil, fmt.Errorf("%d files and folders would have to be hidden from the command, and at most %d can be; most of them, %s", len(list), most, commonest(list, hidden))
	}
	return list, nil
}

// between returns dirs and every folder between two of them, without repeating
// one.
func between(dirs []string) ([]string, error) {
	var all []string
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
			return nil, fmt.Errorf("%q is not a clean absolute path", dir)
		}
		top := dir
		for _, other := range dirs {
			if inside(dir, other) && len(other) < len(top) {
				top = other
			}
		}
		for at := dir; ; at = filepath.Dir(at) {
			all = append(all, at)
			if at == top {
				break
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// usualNames are asked for where a folder may be passed and not listed.
var usualNames = []string{".env", ".env.local", ".env.development", ".env.production", ".env.staging", ".env.test"}

// screenNames adds what the rules about one name cover right in dir.
func (v *View) screenNames(dir string, hidden map[string]*rule) error {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		for _, name := range usualNames {
			v.screenName(dir, name, hidden)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for environment files: %w", err)
	}
	defer f.Close()
	for {
		names, err := f.Readdirnames(1024)
		for _, name := range names {
			v.screenName(dir, name, hidden)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("look for environment files: %w", err)
		}
	}
}

// screenName adds dir/name if a rule about names other than Git's covers it.
// The exceptions are no environment files: a folder that is a Python
// environment, and the target of a link that is a folder, a program of the
// system or an example.
func (v *View) screenName(dir, name string, hidden map[string]*rule) {
	r := v.names.match(name)
	if r == nil || r == v.names.git {
		return
	}
	path := filepath.Join(dir, name)
	info, err := os.Lstat(path)
	if err != nil {
		return // gone, or never there
	}
	switch {
	case info.IsDir():
		if _, err := os.Lstat(filepath.Join(path, "pyvenv.cfg")); err == nil {
			return
		}
	case info.Mode()&fs.ModeSymlink != 0:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return
		}
		info, err := os.Lstat(path)
		if err != nil || info.IsDir() || ofTheSystem(path) || v.exampleName(filepath.Base(path)) {
			return
		}
	}
	hidden[path] = r
}

// exampleName reports whether a name is that of an environment file without
// secrets.
func (v *View) exampleName(name string) bool {
	return strings.HasPrefix(foldCase(name), ".env.") && v.names.match(name) == nil
}

// place remembers a hidden file or folder that is there, by its real path,
// unless the operating system keeps it from this user: then it does from the
// user's commands. A link is there only where it leads to nothing or to itself.
func (v *View) place(real string, r *rule) {
	info, err := os.Lstat(real)
	if err == nil && info.Mode()&fs.ModeSymlink == 0 && !denied(real) {
		v.places[real] = r
	}
}

// denied reports whether this user can neither read what is at path, nor enter
// it, nor change that.
func denied(path string) bool {
	const readable, enterable = 4, 1
	info, err := os.Lstat(path)
	if err != nil || owner(info) == os.Geteuid() {
		return false
	}
	return syscall.Access(path, readable) != nil && (!info.IsDir() || syscall.Access(path, enterable) != nil)
}

// outermost sorts paths and leaves out what lies inside another.
func outermost(paths []string) []string {
	// By components, so that what lies inside follows what it lies in.
	slices.SortFunc(paths, byComponents)
	var list []string
	for _, path := range paths {
		if len(list) == 0 || !inside(path, list[len(list)-1]) {
			list = append(list, path)
		}
	}
	return list
}

// byComponents compares paths with a slash before every other byte.
func byComponents(a, b string) int {
	for i := range min(len(a), len(b)) {
		switch {
		case a[i] == b[i]:
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		default:
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

// gatherIn puts folder in the place of what it holds, if that is more than one.
func gatherIn(list []string, folder string) []string {
	held := func(path string) bool { return inside(path, folder) }
	if n := len(slices.DeleteFunc(slices.Clone(list), held)); n > len(list)-2 {
		return list
	}
	return outermost(append(slices.Clone(list), folder))
}

// commonest says which rule covers the most of a list, and how many.
func commonest(list []string, hidden map[string]*rule) string {
	count := map[string]int{}
	best := ""
	for _, path := range list {
		if r := hidden[path]; r != nil {
			count[r.spelled]++
			if n := count[r.spelled]; n > count[best] || n == count[best] && r.spelled < best {
				best = r.spelled
			}
		}
	}
	return fmt.Sprintf("%d, are of %q", count[best], best)
}

// stamp is a folder that rules look into, and when something came into it or
// left it last; zero if it was not there.
type stamp struct {
	path    string
	changed time.Time
}

// clockTick is more than the step in which file systems tell the time.
const clockTick = 20 * time.Millisecond

// stamp looks at the folders in which hidden rules look for something.
func (p *Paths) stamp() []stamp {
	seen := map[string]bool{}
	for _, r := range p.rules {
		if r.kind == Hidden {
			seen[folderOf(r.pattern)] = true
		}
	}
	for _, pattern := range otherHomesIn(p.goos) {
		seen[folderOf(pattern)] = true
	}
	var stamps []stamp
	for path := range seen {
		stamps = append(stamps, stamp{path, lastChange(path)})
	}
	return stamps
}

// folderOf returns the folder in which the first glob or the last name of a
// pattern is looked for.
func folderOf(pattern string) string {
	if i := strings.IndexAny(pattern, `*?[`); i >= 0 {
		pattern = pattern[:i] + "x"
	}
	return unescapeGlob(filepath.Dir(pattern))
}

func lastChange(folder string) time.Time {
	info, err := os.Stat(folder)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// changed reports whether something may have come into a folder of the rules
// since the view was made.
func (v *View) changed() bool {
	return slices.ContainsFunc(v.stamps, func(s stamp) bool {
		// What changed just before the look may have changed just after it, too.
		return !s.changed.IsZero() && s.changed.After(v.made.Add(-clockTick)) || !lastChange(s.path).Equal(s.changed)
	})
}
