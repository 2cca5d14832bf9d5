package protected

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// machine is a home and a state directory in a temporary folder whose own path
// holds no rule.
func machine(t *testing.T, goos string) (home string, p *Paths) {
	t.Helper()
	base := realPrefix(t.TempDir())
	home = filepath.Join(base, "people", "me")
	mkdir(t, home)
	return home, newPaths(t, goos, Config{Home: home, State: filepath.Join(base, "state")})
}

func newPaths(t *testing.T, goos string, cfg Config) *Paths {
	t.Helper()
	p, err := newFor(goos, filepath.Join(t.TempDir(), "passwd"), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestEveryRuleOfTheTableHolds asks for each path of the table, for something
// below it, and for its neighbour.
func TestEveryRuleOfTheTableHolds(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		home, p := machine(t, goos)
		v := p.View()
		rules := 0
		for _, g := range table {
			paths := append(g.both[:len(g.both):len(g.both)], g.linux...)
			if goos == "darwin" {
				paths = append(g.both[:len(g.both):len(g.both)], g.mac...)
			}
			for _, spelled := range paths {
				rules++
				path := strings.ReplaceAll(strings.Replace(spelled, "~", home, 1), "*", "x")
				if rest, ok := strings.CutPrefix(spelled, "**/"); ok {
					path = home + "/deep/down/" + strings.NewReplacer("[0-9]+", "4711", "*", "x").Replace(rest)
				}
				for _, path := range []string{path, path + "/below/it"} {
					read, write := v.Decide(path, Read), v.Decide(path, Write)
					if write.Allowed {
						t.Errorf("%s: %s may be written", goos, path)
					}
					if read.Allowed && g.kind != ReadOnly {
						t.Errorf("%s: %s may be read", goos, path)
					}
					if g.kind != ReadOnly && read.Reason == "" {
						t.Errorf("%s: no reason for %s", goos, path)
					}
				}
				if d := v.Decide(path+"-no", Write); d.Rule == spelled && !strings.HasSuffix(spelled, "*") && !strings.HasPrefix(spelled, "**/") {
					t.Errorf("%s: the neighbour of %s is covered by %q", goos, path, d.Rule)
				}
			}
		}
		if rules < 300 {
			t.Errorf("%s: only %d rules", goos, rules)
		}
	}
}

func TestTheTableIsWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range table {
		if g.reason == "" || strings.HasSuffix(g.reason, ".") {
			t.Errorf("reason %q is not a sentence without a full stop", g.reason)
		}
		for _, list := range [][]string{g.both, g.linux, g.mac} {
			for _, path := range list {
				if !strings.HasPrefix(path, "~/") && !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "**/") {
					t.Errorf("%q is not anchored", path)
				}
				if strings.HasPrefix(path, "/") && filepath.Clean(path) != path {
					t.Errorf("%q is not clean", path)
				}
				if key := string(g.kind) + path; seen[key] {
					t.Errorf("%q stands twice in the table", path)
				} else {
					seen[key] = true
				}
			}
		}
	}
}

func TestNamesAtAnyDepthInAnyCase(t *testing.T) {
	home, p := machine(t, "linux")
	for name, open := range map[string]bool{
		".git": false, ".GIT": false, ".Git": false, ".github": true, ".gitignore": true, "git": true, "x.git": true,
		".env": false, ".ENV": false, ".env.local": false, ".Env.Production": false, ".env.example": true, ".ENV.SAMPLE": true,
		".env.template": true, ".env.prod.example": true, ".envrc": true, "env": true, ".environment": true, ".env.example.bak": false,
		"core.123": false, "core.c": true, "core.": true, "core": true, "CORE.9": false, "passwords.kdbx": false, "P.KDBX": false, "kdbx": true,
	} {
		for _, dir := range []string{"/", "/srv/", home + "/a/b/c/", home + "/"} {
			if d := p.Decide(dir+name, Read); d.Allowed != open {
				t.Errorf("%s%s: allowed is %v by %q", dir, name, d.Allowed, d.Rule)
			}
			if d := p.Decide(dir+name+"/config", Write); d.Allowed != open {
				t.Errorf("%s%s/config: allowed is %v by %q", dir, name, d.Allowed, d.Rule)
			}
		}
	}
}

func TestOrdinaryPathsAreOpen(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		home, p := machine(t, goos)
		for _, path := range []string{home, home + "/project/main.go", home + "/Documents/a", home + "/.config/app/settings", "/tmp/x", "/srv/www", "/home", "/Users", "/run/lock", home + "/.sshfoo", home + "/project/.ssh/config"} {
			for _, access := range []Access{Read, Write} {
				if d := p.Decide(path, access); !d.Allowed || d.Kind != Open {
					t.Errorf("%s: %s of %s refused by %q", goos, access, path, d.Rule)
				}
			}
		}
		if d := p.Decide("/etc/hostname", Read); goos == "linux" && (!d.Allowed || d.Kind != ReadOnly) {
			t.Errorf("/etc/hostname: %+v", d)
		}
	}
}

func TestOtherUsersHomesAreHidden(t *testing.T) {
	passwd := filepath.Join(t.TempDir(), "passwd")
	write(t, passwd, "root:x:0:0:root:/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\nann:x:1001:1001::/data/people/ann:/bin/sh\nsvc:x:998:998::/srv/svc:/bin/false\nodd:x:1002:1002::/:/bin/sh\nnobody:x:65534:65534::/nonexistent/x:/bin/false\n")
	for _, c := range []struct {
		goos, home   string
		hidden, open []string
	}{
		{"linux", "/home/me", []string{"/home/you", "/home/you/a", "/root", "/root/x", "/data/people/ann/x", "/var/home/you"}, []string{"/home", "/home/me", "/home/me/x", "/home/linuxbrew/x", "/srv/svc", "/data/people", "/nonexistent/x"}},
		{"linux", "/root", []string{"/home/you", "/home/me"}, []string{"/root", "/root/x"}},
		{"linux", "/home/team/me", []string{"/home/you"}, []string{"/home/team/me", "/home/team"}},
		{"darwin", "/Users/me", []string{"/Users/you", "/USERS/You/x", "/private/var/root/x"}, []string{"/Users", "/Users/me/x", "/users/ME/x", "/Users/Shared/x", "/users/shared/x"}},
	} {
		p, err := newFor(c.goos, passwd, Config{Home: c.home, State: "/srv/state"})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range c.hidden {
			if d := p.Decide(path, Read); d.Allowed {
				t.Errorf("%s, home %s: %s may be read", c.goos, c.home, path)
			}
		}
		for _, path := range c.open {
			if d := p.Decide(path, Read); !d.Allowed {
				t.Errorf("%s, home %s: %s is covered by %q", c.goos, c.home, path, d.Rule)
			}
		}
	}
}

func TestStateIsHiddenAndItsPathIsNotTold(t *testing.T) {
	_, p := machine(t, "linux")
	state := filepath.Dir(filepath.Dir(p.home)) + "/state"
	for _, path := range []string{state, state + "/private/token", state + "/ledger.db"} {
		d := p.Decide(path, Read)
		if d.Allowed || strings.Contains(d.Rule+d.Reason, "/") {
			t.Errorf("%s: %+v", path, d)
		}
	}
}

func TestMacOSFoldsCaseAndNormalisation(t *testing.T) {
	home, _ := machine(t, "darwin")
	mkdir(t, home+"/Zo\u00eb")
	p := newPaths(t, "darwin", Config{Home: home, State: "/srv/state", Hidden: []string{"~/Zo\u00eb/Tagebuch"}})
	for _, path := range []string{home + "/.SSH/id", home + "/.\u017fsh/id", home + "/library/KEYCHAINS/x", home + "/zoe\u0308/tagebuch/1", home + "/ZO\u00cb/TAGEBUCH"} {
		if d := p.Decide(path, Read); d.Allowed {
			t.Errorf("%q may be read", path)
		}
	}
	linux := newPaths(t, "linux", Config{Home: home, State: "/srv/state"})
	if d := linux.Decide(home+"/.SSH/id", Read); !d.Allowed {
		t.Error("Linux folds case")
	}
}

func TestConfigIsChecked(t *testing.T) {
	good := Config{Home: "/home/me", State: "/srv/state"}
	for name, change := range map[string]func(*Config){
		"relative home":  func(c *Config) { c.Home = "me" },
		"root as home":   func(c *Config) { c.Home = "/" },
		"relative state": func(c *Config) { c.State = "" },
		"relative rule":  func(c *Config) { c.Hidden = []string{"secrets"} },
		"bad pattern":    func(c *Config) { c.ReadOnly = []string{"/a/[b"} },
		"everything":     func(c *Config) { c.Hidden = []string{"/x/.."} },
		"home":           func(c *Config) { c.Hidden = []string{"~/."} },
		"homes":          func(c *Config) { c.Hidden = []string{"/h*"} },
		"all homes":      func(c *Config) { c.Hidden = []string{"/home/?e"} },
		"state on home":  func(c *Config) { c.State = "/home" },
		"NUL":            func(c *Config) { c.Hidden = []string{"/x\x00"} },
	} {
		cfg := good
		change(&cfg)
		if p, err := newFor("linux", "/nonexistent", cfg); err == nil || p != nil {
			t.Errorf("%s: accepted", name)
		}
	}
	// Not to write at all may be meant.
	newPaths(t, "linux", Config{Home: good.Home, State: good.State, ReadOnly: []string{"~/.", "/home"}})
	cfg := good
	cfg.Own, cfg.Search = []string{"/opt/deckhand"}, []string{"/opt/tools/bin"}
	cfg.Hidden, cfg.ReadOnly = []string{"~/secret*", "/srv/keys"}, []string{"~/notes"}
	p := newPaths(t, "linux", cfg)
	for path, kind := range map[string]Kind{"/opt/deckhand": ReadOnly, "/opt/tools/bin/x": ReadOnly, "/home/me/secrets/x": Hidden, "/srv/keys": Hidden, "/home/me/notes/a": ReadOnly} {
		if d := p.Decide(path, Write); d.Kind != kind || d.Allowed {
			t.Errorf("%s: %+v", path, d)
		}
	}
}

func TestHomeWithGlobCharactersIsTakenLiterally(t *testing.T) {
	home := realPrefix(t.TempDir()) + "/we[i]rd*"
	mkdir(t, home)
	p := newPaths(t, "linux", Config{Home: home, State: "/srv/[s]"})
	for _, path := range []string{home + "/.ssh/id", home + "/.claude.json.backup", "/srv/[s]/x"} {
		if d := p.Decide(path, Read); d.Allowed {
			t.Errorf("%s may be read", path)
		}
	}
}

func TestChildDoesNotAllocateFarFromRules(t *testing.T) {
	home, p := machine(t, "linux")
	place := p.View().At(home + "/project/src")
	if n := testing.AllocsPerRun(100, func() {
		if !place.Child("main.go").Decide(Read).Allowed {
			t.Fatal("refused")
		}
	}); n != 0 {
		t.Errorf("%v allocations an entry", n)
	}
}
