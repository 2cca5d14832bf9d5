package protected

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of the look into folders that hold credentials.
const (
	surveyPerRule = 2_000
	surveyTotal   = 16_000
	surveyDepth   = 8
)

// survey builds a view from the rules and from what the disk holds now.
func (p *Paths) survey() *View {
	s := survey{
		view: &View{
			goos: p.goos, names: &p.names, root: &node{}, ids: map[identity]*rule{}, fixed: map[identity]*rule{},
			places: map[string]*rule{}, stamps: p.stamp(), made: time.Now(),
		},
		homes: p.homes(), resolved: map[string]string{}, perRule: p.perRule, left: p.total,
	}
	p.hideOtherHomes(&s)
	for i := range p.rules {
		r := &p.rules[i]
		s.add(r)
	}
	s.addAliases()
	s.view.gather = p.gatherable(&s)
	return s.view
}

// homes returns the spellings of the user's own home.
func (p *Paths) homes() []string {
	if real := realPrefix(p.home); real != p.home {
		return []string{p.home, real}
	}
	return []string{p.home}
}

type survey struct {
	view *View
	// homes are the spellings of the user's own home.
	homes []string
	// resolved is what realPrefix said of folders.
	resolved map[string]string
	// perRule is how many entries of one rule may be looked at, left how many
	// of all.
	perRule, left int
}

// add inserts a rule under the path it names and under the real path of what is
// there now.
func (s *survey) add(r *rule) {
	s.view.insert(r.pattern, r)
	if r.kind == Pseudo {
		return
	}
	found := []string{unescapeGlob(r.pattern)}
	if isGlob(r.pattern) {
		// Only a malformed pattern is an error, and New refused those.
		found, _ = filepath.Glob(r.pattern)
	}
	for _, path := range found {
		real := s.resolve(path)
		if s.holdsOwnHome(real) {
			continue
		}
		if real != path {
			s.view.insert(escapeGlob(real), r)
		}
		if r.kind == Hidden {
			s.identify(real, r)
		} else if info, err := os.Lstat(real); err == nil {
			s.view.fixed[identify(info)] = r
		}
	}
}

// identify remembers a hidden file or folder by its identity and looks into
// folders that hold credentials.
func (s *survey) identify(real string, r *rule) {
	info, err := os.Lstat(real)
	if err != nil {
		return
	}
	s.view.ids[identify(info)] = r
	s.view.place(real, r)
	if !info.IsDir() || !r.deep {
		return
	}
	dev := identify(info).dev
	left := min(s.perRule, s.left)
	s.left -= left
	// An entry that cannot be looked at is protected by its path all the same.
	_ = filepath.WalkDir(real, func(path string, e fs.DirEntry, err error) error {
		if left--; left < 0 {
			return fs.SkipAll
		}
		if err != nil {
			return nil
		}
		if e.Type()&fs.ModeSymlink != 0 {
			s.follow(path, r)
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return nil
		}
		if e.IsDir() && (identify(info).dev != dev || strings.Count(path[len(real):], "/") >= surveyDepth) {
			return fs.SkipDir
		}
		s.remember(info, r)
		return nil
	})
	s.left += max(left, 0)
}

// remember keeps what can be reached under another name: a folder by a bind
// mount, a file by a hard link.
func (s *survey) remember(info fs.FileInfo, r *rule) {
	if info.IsDir() || info.Mode().IsRegular() && links(info) > 1 {
		s.view.ids[identify(info)] = r
	}
}

// follow covers what a link inside a hidden folder leads to.
func (s *survey) follow(link string, r *rule) {
	real, err := filepath.EvalSymlinks(link)
	if err != nil {
		return
	}
	info, err := os.Lstat(real)
	if err != nil || s.broad(real, info.IsDir()) {
		return
	}
	s.view.insert(escapeGlob(real), r)
	s.view.place(real, r)
	s.remember(info, r)
}

// broad reports whether hiding a path because a link leads there would hide far
// more than a secret: the home or what holds it, a visible folder right in the
// home, or programs.
func (s *survey) broad(real string, dir bool) bool {
	if s.holdsOwnHome(real) {
		return true
	}
	for _, home := range s.homes {
		if dir && filepath.Dir(real) == home && !strings.HasPrefix(filepath.Base(real), ".") {
			return true
		}
	}
	return ofTheSystem(real) || dir && strings.Count(real, "/") < 2
}

// ofTheSystem reports whether a path lies among the programs of the system.
func ofTheSystem(real string) bool {
	return slices.ContainsFunc([]string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/nix/store", "/System", "/Applications", "/opt/homebrew", "/dev", "/proc", "/sys"},
		func(root string) bool { return inside(real, root) })
}

// resolve is realPrefix with a memory: most rules lie in the same few folders.
func (s *survey) resolve(path string) string {
	dir := filepath.Dir(path)
	real, ok := s.resolved[dir]
	if !ok {
		real = realPrefix(dir)
		s.resolved[dir] = real
	}
	real = filepath.Join(real, filepath.Base(path))
	if info, err := os.Lstat(real); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return realPrefix(real)
	}
	return real
}

// realPrefix resolves the links of the part of path that exists.
func realPrefix(path string) string {
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == "/" {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// otherHomes is why the homes of other users are hidden.
var otherHomes = rule{kind: Hidden, spelled: "homes of other users", reason: "it is the home of another user"}

// otherHomesIn are the usual places of homes.
func otherHomesIn(goos string) []string {
	if goos == "darwin" {
		return []string{"/Users/*", "/private/var/root"}
	}
	return []string{"/home/*", "/var/home/*", "/root"}
}

// hideOtherHomes covers the usual places of homes and the homes that the
// computer's list of users names, but the user's own and what holds it.
func (p *Paths) hideOtherHomes(s *survey) {
	patterns := otherHomesIn(p.goos)
	keep := []string{"/home/linuxbrew", "/home/lost+found", "/var/home/linuxbrew"}
	if p.goos == "darwin" {
		keep = []string{"/Users/Shared"}
	}
	for _, home := range usersIn(p.passwd) {
		patterns = append(patterns, escapeGlob(home))
	}
	keep = append(keep, s.homes...)
	for _, pattern := range patterns {
		if !isGlob(pattern) {
			s.hideHome(unescapeGlob(pattern))
			continue
		}
		s.view.insert(pattern, &otherHomes)
		for _, path := range keep {
			s.keepOpen(filepath.Dir(pattern), path)
		}
		// Only a malformed pattern is an error.
		found, _ := filepath.Glob(pattern)
		for _, path := range found {
			if !slices.ContainsFunc(keep, func(k string) bool { return inside(k, path) }) {
				s.hideHome(path)
			}
		}
	}
}

// hideHome covers a home that is not the user's, nor holds it, nor lies in it.
func (s *survey) hideHome(path string) {
	if s.holdsOwnHome(path) || s.inOwnHome(path) {
		return
	}
	s.view.insert(escapeGlob(path), &otherHomes)
	if real := s.resolve(path); !s.holdsOwnHome(real) && !s.inOwnHome(real) {
		s.view.insert(escapeGlob(real), &otherHomes)
		s.view.place(real, &otherHomes)
	}
}

// holdsOwnHome reports whether the user's home is path or lies below it.
func (s *survey) holdsOwnHome(path string) bool {
	return slices.ContainsFunc(s.homes, func(home string) bool { return inside(home, path) })
}

func (s *survey) inOwnHome(path string) bool {
	return slices.ContainsFunc(s.homes, func(home string) bool { return inside(path, home) })
}

// keepOpen exempts path, or the part of it right below dir, from globs in dir.
func (s *survey) keepOpen(dir, path string) {
	if path == dir || !inside(path, dir) {
		return
	}
	name, _, _ := strings.Cut(path[len(dir)+1:], "/")
	n := s.view.root
	for part := range strings.SplitSeq(dir[1:], "/") {
		n = n.child(part, s.view.goos == "darwin")
	}
	if s.view.goos == "darwin" {
		name = foldCase(name)
	}
	if n.open == nil {
		n.open = map[string]bool{}
	}
	n.open[name] = true
}

// usersIn returns the homes of people, as opposed to services, in a passwd
// file. A file that cannot be read lists nobody: the usual places stay hidden.
func usersIn(passwd string) []string {
	f, err := os.Open(passwd)
	if err != nil {
		return nil
	}
	defer f.Close()
	var homes []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		field := strings.Split(lines.Text(), ":")
		if len(field) != 7 {
			continue
		}
		uid, err := strconv.Atoi(field[2])
		if err != nil || uid < 1000 || uid >= 60000 {
			continue
		}
		if home := filepath.Clean(field[5]); filepath.IsAbs(home) && strings.Count(home, "/") >= 2 {
			homes = append(homes, home)
		}
	}
	return homes
}
