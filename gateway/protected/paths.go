package protected

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config says what is particular to this machine and user.
type Config struct {
	// Home is the user's home directory, absolute.
	Home string
	// State is Deckhand's state directory, absolute. All of it is hidden.
	State string
	// Own are Deckhand's config and programs, and Claude Code's: never written.
	Own []string
	// Search are the directories of the user's PATH: never written.
	Search []string
	// Hidden and ReadOnly are the user's additions: absolute, or "~/" for
	// something in the home. Components may be globs.
	Hidden, ReadOnly []string
}

// surveyAge is how old a look at the disk may be that a decision rests on.
const surveyAge = 10 * time.Second

// Paths knows every rule. It is safe for concurrent use.
type Paths struct {
	goos  string
	home  string
	rules []rule
	names nameRules
	// passwd is the file that lists the homes of this computer's users.
	passwd string
	// search are the directories of the user's PATH.
	search []string
	// perRule and total are surveyPerRule and surveyTotal but in tests, and
	// maxScreen is MaxScreen or maxScreenDarwin.
	perRule, total, maxScreen int

	mu   sync.Mutex
	view *View // guarded by mu
}

// New checks the config and takes a first look at the disk. Errors name the
// entry of the config that is wrong.
func New(cfg Config) (*Paths, error) { return newFor(runtime.GOOS, "/etc/passwd", cfg) }

func newFor(goos, passwd string, cfg Config) (*Paths, error) {
	for name, dir := range map[string]string{"home": cfg.Home, "state": cfg.State} {
		if !filepath.IsAbs(dir) {
			return nil, fmt.Errorf("protect paths: the %s directory %q is not absolute", name, dir)
		}
	}
	p := &Paths{goos: goos, home: filepath.Clean(cfg.Home), passwd: passwd, search: cfg.Search, perRule: surveyPerRule, total: surveyTotal, maxScreen: MaxScreen}
	if goos == "darwin" {
		p.maxScreen = maxScreenDarwin
	}
	if p.home == "/" {
		return nil, errors.New("protect paths: the home directory is /")
	}
	for _, g := range table {
		own := g.linux
		if goos == "darwin" {
			own = g.mac
		}
		for _, list := range [][]string{g.both, own} {
			for _, path := range list {
				p.add(rule{kind: g.kind, spelled: path, reason: g.reason, deep: g.deep, holds: "it holds files of the system or of many programs"})
			}
		}
	}
	more := []rule{{kind: Hidden, spelled: "Deckhand's state", pattern: escapeGlob(cfg.State), reason: "it is Deckhand's private state", holds: "it holds Deckhand's private state"}}
	for _, path := range cfg.Own {
		more = append(more, rule{kind: ReadOnly, spelled: "programs and settings of Deckhand and Claude Code", pattern: escapeGlob(path), reason: "it belongs to Deckhand or to Claude Code"})
	}
	for _, path := range cfg.Search {
		more = append(more, rule{kind: ReadOnly, spelled: "PATH", pattern: escapeGlob(path), reason: "programs are started from it"})
	}
	for _, path := range cfg.Hidden {
		more = append(more, rule{kind: Hidden, spelled: path, pattern: path, reason: "the user hides it", deep: true})
	}
	for _, path := range cfg.ReadOnly {
		more = append(more, rule{kind: ReadOnly, spelled: path, pattern: path, reason: "the user keeps it read-only"})
	}
	builtIn := len(p.rules)
	p.rules = append(p.rules, more...)
	for i := range p.rules {
		r := &p.rules[i]
		var err error
		if r.pattern, err = p.expand(r.pattern); err != nil {
			return nil, fmt.Errorf("protect paths: %w", err)
		}
		if r.pattern == "/" {
			return nil, fmt.Errorf("protect paths: %q covers the whole computer", r.spelled)
		}
		if i >= builtIn && r.kind == Hidden && p.coversHome(r.pattern) {
			return nil, fmt.Errorf("protect paths: %q covers all of the home directory", r.spelled)
		}
	}
	p.View()
	return p, nil
}

func (p *Paths) add(r rule) {
	r.pattern = r.spelled
	if !p.names.add(&r) {
		p.rules = append(p.rules, r)
	}
}

// coversHome reports whether the home matches a pattern or lies in what does.
func (p *Paths) coversHome(pattern string) bool {
	depth := strings.Count(pattern, "/")
	return slices.ContainsFunc(p.homes(), func(home string) bool {
		for strings.Count(home, "/") > depth {
			home = filepath.Dir(home)
		}
		ok, err := filepath.Match(p.fold(pattern), p.fold(home))
		return ok && err == nil
	})
}

// CheckPattern says what is wrong with a path that a user adds to a list,
// whatever the user's home is; nil if nothing.
func CheckPattern(spelled string) error {
	p := Paths{home: "/~"}
	pattern, err := p.expand(spelled)
	switch {
	case err != nil:
		return err
	case pattern == "/":
		return fmt.Errorf("%q covers the whole computer", spelled)
	case pattern == p.home:
		return fmt.Errorf("%q covers all of the home directory", spelled)
	}
	return nil
}

// expand turns a path of the table or the config into an absolute pattern.
func (p *Paths) expand(spelled string) (string, error) {
	path := spelled
	if rest, ok := strings.CutPrefix(spelled, "~/"); ok {
		path = escapeGlob(p.home) + "/" + rest
	}
	if !strings.HasPrefix(path, "/") {
		return "", fmt.Errorf("%q is neither absolute nor below ~/", spelled)
	}
	if strings.Contains(path, "\x00") {
		return "", fmt.Errorf("%q holds a NUL byte", spelled)
	}
	if _, err := filepath.Match(path, ""); err != nil {
		return "", fmt.Errorf("%q is not a valid pattern", spelled)
	}
	return filepath.Clean(path), nil
}

// Decide answers for one real path: absolute and clean, links resolved.
func (p *Paths) Decide(real string, access Access) Decision {
	return p.View().Decide(real, access)
}

// View returns the rules as they stand on the disk now, or at most surveyAge
// ago. One walk or one read uses one view.
func (p *Paths) View() *View { return p.viewUnless((*View).old) }

// viewUnless returns the last view, or a new one if that is of no use any more.
func (p *Paths) viewUnless(useless func(*View) bool) *View {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.view == nil || useless(p.view) {
		p.view = p.survey()
	}
	return p.view
}

// old reports whether a view is too old to decide by.
func (v *View) old() bool { return time.Since(v.made) > surveyAge }

// inside reports whether path is dir or lies below it.
func inside(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}

// escapeGlob makes a pattern that matches exactly path.
func escapeGlob(path string) string {
	if !strings.ContainsAny(path, `*?[\`) {
		return path
	}
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}
