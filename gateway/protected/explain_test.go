package protected

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExplainSaysWhatTheToolsWouldDo(t *testing.T) {
	home, _ := machine(t, "linux")
	base := filepath.Dir(filepath.Dir(home))
	write(t, home+"/.ssh/id", "")
	write(t, home+"/.bashrc", "")
	write(t, home+"/p/.env", "")
	write(t, home+"/p/a", "")
	symlink(t, home+"/.ssh", home+"/keys")
	symlink(t, "../.ssh/new", home+"/p/new")
	symlink(t, "loop", home+"/p/loop")
	symlink(t, "deeper/../../.netrc", home+"/p/netrc")
	if err := os.Link(home+"/.ssh/id", home+"/p/notes"); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(home+"/.bashrc", home+"/p/rc"); err != nil {
		t.Fatal(err)
	}
	p := newPaths(t, "linux", Config{Home: home, State: base + "/state"})
	for path, want := range map[string]struct {
		real        string
		kind        Kind
		read, write bool
		commands    Sight
	}{
		"/.ssh/id":               {"/.ssh/id", Hidden, false, false, Unseen},
		"/keys/id":               {"/.ssh/id", Hidden, false, false, Unseen},
		"/keys/../p/a":           {"/p/a", Open, true, true, Seen},
		"/p/new":                 {"/.ssh/new", Hidden, false, false, Unseen},
		"/p/new/x/..":            {"/.ssh/new", Hidden, false, false, Unseen},
		"/p/netrc":               {"/.netrc", Hidden, false, false, Unseen},
		"/p/loop":                {"/p/loop", Open, true, true, Seen},
		"/p/./a/":                {"/p/a", Open, true, true, Seen},
		"/p/none/of/this":        {"/p/none/of/this", Open, true, true, Seen},
		"/p/notes":               {"/p/notes", Hidden, false, false, Seen}, // R09: commands do see a hard link
		"/p/rc":                  {"/p/rc", ReadOnly, true, false, Seen},
		"/.bashrc":               {"/.bashrc", ReadOnly, true, false, Seen},
		"/p/.env":                {"/p/.env", Hidden, false, false, UnseenNear},
		"/p/.env.local":          {"/p/.env.local", Hidden, false, false, UnseenNear},
		"/p/.env.example":        {"/p/.env.example", Open, true, true, Seen},
		"/p/.git":                {"/p/.git", Hidden, false, false, Seen},
		"/p/git~1/x":             {"/p/git~1/x", Hidden, true, false, Seen}, // git by another name: only writing is refused
		"/.ssh/.git":             {"/.ssh/.git", Hidden, false, false, Unseen},
		"/p/with\nbreak \xff":    {"/p/with\nbreak \xff", Open, true, true, Seen},
		strings.Repeat("/x", 50): {strings.Repeat("/x", 50), Open, true, true, Seen},
	} {
		e, err := p.Explain(home + path)
		if err != nil || e.Real != home+want.real || e.Kind != want.kind || e.Read != want.read || e.Write != want.write || e.Commands != want.commands {
			t.Errorf("%q: %+v, %v", path, e, err)
		}
		if (e.Why == "") != (e.Kind == Open) || (e.Rule == "") != (e.Kind == Open) {
			t.Errorf("%q: rule %q, reason %q", path, e.Rule, e.Why)
		}
	}
	for _, path := range []string{"", "p/a", "~/.ssh", "/a\x00b"} {
		if e, err := p.Explain(path); err == nil {
			t.Errorf("%q: %+v", path, e)
		}
	}
	for path, want := range map[string]Sight{"/proc/1": OwnSight, "/dev/null": OwnSight, "/": Seen, "/etc/passwd": Seen} {
		if e, err := p.Explain(path); err != nil || e.Commands != want {
			t.Errorf("%s: %+v, %v", path, e, err)
		}
	}
}
