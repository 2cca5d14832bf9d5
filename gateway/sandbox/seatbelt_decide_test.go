package sandbox

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deckhand/gateway/sandbox/sbpl"
)

// TestSeatbeltDecides asks the profiles for every row of a file.
func TestSeatbeltDecides(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "seatbelt", "decisions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	profiles := map[string]*sbpl.Profile{}
	for name, rules := range macRules {
		_, profiles[name] = compiled(t, rules)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 4 || fields[1] != "allow" && fields[1] != "deny" {
			t.Fatalf("row %q", line)
		}
		for _, name := range strings.Split(fields[0], ",") {
			for _, operation := range strings.Split(fields[2], ",") {
				for _, s := range subjects(t, fields[3]) {
					rows++
					if got := profiles[name].Allows(operation, s); got != (fields[1] == "allow") {
						t.Errorf("%s: %s of %+v: %t", name, operation, s, got)
					}
				}
			}
		}
	}
	if rows < 300 {
		t.Errorf("%d decisions, where there were more than 300", rows)
	}
}

// subjects reads the last field of a row.
func subjects(t *testing.T, field string) []sbpl.Subject {
	t.Helper()
	text, err := url.PathUnescape(field)
	if err != nil {
		t.Fatal(err)
	}
	kind, rest, _ := strings.Cut(text, ":")
	switch {
	case text == "-":
		return []sbpl.Subject{{}}
	case text[0] == '/':
		return []sbpl.Subject{{Path: text}}
	case text[0] == '+':
		return []sbpl.Subject{{Path: text[1:]}, {Path: dataVolume + text[1:]}}
	case kind == "char":
		return []sbpl.Subject{{Path: rest, Vnode: "CHARACTER-DEVICE"}}
	case kind == "name":
		return []sbpl.Subject{{Name: rest}}
	case kind == "target":
		return []sbpl.Subject{{Target: rest}}
	case kind == "tcp" || kind == "udp":
		host, port, _ := strings.Cut(rest, ":")
		return []sbpl.Subject{{Protocol: kind, Host: host, Port: port}}
	}
	t.Fatalf("subject %q", field)
	return nil
}

// FuzzSeatbelt: whatever the names are, a profile is refused or decides about
// reading and writing as the policy reads. Paths are given one a line.
func FuzzSeatbelt(f *testing.F) {
	f.Add("/Users/me/.ssh\n/Users/me", "/Users/me/ro", "/Users/me/.ssh/work", "/Users/me/.ssh/work/x", true)
	f.Add(`/a"))(allow default)`, "/private/tmp/w", "/w", "/private/tmp/w/.env", true)
	f.Add("/a", "/a/b", "/a/b/c", "/a/b/c/d", false)
	f.Add("/System/Volumes/Data/x", "/x/y", "/etc/z", "/private/etc/z/q", true)
	f.Add("/x", "/y", "/Applications", macSelf, true)
	f.Add("/caf\u00e9", "/cafe\u0301/a", "/(param \"RUN_MARK\")", "/caf\u00e9/x", false)
	f.Fuzz(func(t *testing.T, hidden, readOnly, writable, probe string, whole bool) {
		r := seatbeltRules{Whole: whole, Hidden: lines(hidden), ReadOnly: lines(readOnly), Writable: lines(writable),
			Self: macSelf, Mark: macMark}
		s, err := makeSeatbelt(r)
		if err != nil {
			if s.text != "" || s.params != nil {
				t.Error("an error with half a profile")
			}
			return
		}
		p, err := sbpl.Compile(s.text, s.values())
		if err != nil {
			t.Fatalf("%v in\n%s", err, s.text)
		}
		if err := r.clean(); err != nil {
			t.Fatal(err)
		}
		probes := []string{probe}
		for _, path := range slices.Concat(r.Hidden, r.ReadOnly, r.Writable) {
			probes = append(probes, path, path+"/x", path+"x", path+"/.env", filepath.Dir(path))
		}
		for _, path := range probes {
			path, err := seatbeltPath(path)
			if err != nil {
				continue
			}
			read, write := r.says(path)
			for _, name := range spellings(path) {
				if got := p.Allows("file-read-data", sbpl.Subject{Path: name}); got != read {
					t.Errorf("reading %q: %t in %+v", name, got, r)
				}
				if got := p.Allows("file-write-data", sbpl.Subject{Path: name}); got != write {
					t.Errorf("writing %q: %t in %+v", name, got, r)
				}
				if p.Allows("process-exec", sbpl.Subject{Path: name}) && (!read || slices.Contains(neverRun, name)) {
					t.Errorf("running %q is allowed in %+v", name, r)
				}
			}
		}
	})
}

func lines(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(s string) bool { return s == "" })
}

// says is the policy itself, without a profile: of all paths that hold this
// one the innermost counts, and what is hidden is no part of the base system.
func (r seatbeltRules) says(path string) (read, write bool) {
	type rule struct {
		at               string
		read, write, env bool // env: without .env files
	}
	rules := []rule{{at: "/", read: r.Whole || isBase(path), env: r.Whole}}
	if r.Whole {
		for _, at := range wholeHidden {
			rules = append(rules, rule{at: at})
		}
	}
	for _, at := range r.Hidden {
		rules = append(rules, rule{at: at})
	}
	for _, at := range r.ReadOnly {
		rules = append(rules, rule{at: at, read: true, env: r.Whole})
	}
	for _, at := range r.Writable {
		rules = append(rules, rule{at: at, read: true, write: true})
	}
	best := rules[0]
	for _, x := range append(rules[1:], rule{at: r.Self, read: true}) {
		if (path == x.at || inside(path, x.at)) && len(x.at) >= len(best.at) {
			best = x
		}
	}
	read, write = best.read && !(best.env && isEnvFile(filepath.Base(path))), best.write
	if under(path, "/dev/fd") {
		return true, true
	}
	return read || slices.Contains([]string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/stdin",
		"/dev/stdout", "/dev/stderr", "/dev/autofs_nowait", "/dev/dtracehelper"}, path), write
}

func under(path, dir string) bool { return path == dir || inside(path, dir) }

func isBase(path string) bool {
	switch {
	case under(path, "/System/Volumes/Preboot/Cryptexes"):
		return true
	case under(path, "/System/Volumes"), under(path, "/usr/local"):
		return false
	}
	return slices.ContainsFunc([]string{"/System", "/usr", "/bin", "/sbin", "/Library/Apple", "/Library/Preferences/Logging",
		"/private/var/db/dyld", "/private/var/db/timezone"}, func(dir string) bool { return under(path, dir) }) ||
		slices.Contains([]string{"/private/etc/localtime", "/private/etc/passwd", "/private/etc/protocols", "/private/etc/services"}, path)
}

func isEnvFile(name string) bool {
	name = strings.ToLower(name)
	if name == ".env" {
		return true
	}
	rest, ok := strings.CutPrefix(name, ".env.")
	return ok && rest != "" && !slices.Contains([]string{"example", "sample", "template"}, rest[strings.LastIndexByte(rest, '.')+1:])
}
