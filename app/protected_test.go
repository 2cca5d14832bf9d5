package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deckhand/gateway/protected"
)

// household is a world whose home holds what people have there.
func household(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	real, err := filepath.EvalSymlinks(w.home)
	if err != nil {
		t.Fatal(err)
	}
	w.home, w.state = real, filepath.Join(real, "state")
	w.env = []string{"HOME=" + real, "XDG_CONFIG_HOME=" + real + "/.config", "DECKHAND_STATE_DIR=" + w.state, "DECKHAND_CLAUDE=" + real + "/apps/claude", "PATH=" + real + "/tools/bin:/usr/bin"}
	for _, file := range []string{".ssh/id", ".bashrc", ".bash_history", "src/shop/.env", "src/shop/.git/config", "src/shop/main.go", "vault/key", "plans/secret.txt"} {
		path := filepath.Join(real, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"src/shop/id": "../../.ssh/id", ".aws": "vault", "src/shop/later": real + "/.netrc", "home": real} {
		if err := os.Symlink(target, filepath.Join(real, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(real, "src/shop/main.go"), filepath.Join(real, "src/shop/twin.go")); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestProtectedExplainsAPath(t *testing.T) {
	w := household(t)
	for name, c := range map[string]struct {
		path string
		code int
	}{
		"secret":      {"/.ssh/id", exitHidden},
		"link":        {"/src/shop/id", exitHidden},
		"later":       {"/src/shop/later", exitHidden}, // a link to what is not there yet
		"elsewhere":   {"/vault/key", exitHidden},      // what ~/.aws is
		"missing":     {"/.gnupg/new/key", exitHidden},
		"environment": {"/src/shop/.env", exitHidden},
		"git":         {"/src/shop/.git/config", exitHidden},
		"dots":        {"/home/src/../.ssh", exitHidden}, // the dots count after the link
		"shell":       {"/.bashrc", exitReadOnly},
		"path":        {"/tools/bin/new", exitReadOnly},
		"claude":      {"/apps/claude", exitReadOnly},
		"settings":    {"/.config/deckhand/config.toml", exitReadOnly}, // although there are none
		"twin":        {"/src/shop/twin.go", exitReadOnly},
		"open":        {"/src/shop/new.go", exitOK},
		"hostile":     {"/src/\x1b[31m\n\u202e\xff", exitOK},
	} {
		r := w.run("protected", w.home+c.path)
		if r.code != c.code || r.err != "" {
			t.Errorf("%s: exit code %d, want %d; %s", c.path, r.code, c.code, r.err)
		}
		noEscapes(t, name, r.out)
		w.golden("protected-"+name+".txt", r.out)

		r = w.run("protected", "--json", w.home+c.path)
		var all []protected.Explanation
		if err := json.Unmarshal([]byte(r.out), &all); err != nil || len(all) != 1 || r.code != c.code {
			t.Fatalf("%s: %v, %s", c.path, err, r.out)
		}
		if e := all[0]; e.Read != (c.code != exitHidden) || e.Write != (c.code == exitOK) || e.Real == "" {
			t.Errorf("%s: %+v", c.path, e)
		}
	}
}

func TestProtectedTakesTheWorstOfSeveralPaths(t *testing.T) {
	w := household(t)
	t.Chdir(w.home + "/src/shop")
	for _, c := range []struct {
		paths []string
		code  int
	}{
		{[]string{"main2.go", "new"}, exitOK},
		{[]string{"main2.go", "../../.bashrc"}, exitReadOnly},
		{[]string{"../../.bashrc", ".env", "new"}, exitHidden},
		{[]string{".env", "../../.bashrc"}, exitHidden},
		{[]string{"new", ""}, exitUsage},
		{[]string{"a\x00b"}, exitFailed},
	} {
		if r := w.run(append([]string{"protected"}, c.paths...)...); r.code != c.code {
			t.Errorf("%q: exit code %d, want %d; %s%s", c.paths, r.code, c.code, r.out, r.err)
		}
	}
}

func TestProtectedListsEveryRuleAndMarksWhatIsHere(t *testing.T) {
	w := household(t)
	w.env = append(w.env, "DECKHAND_HIDDEN=~/plans:~/nothing*", "DECKHAND_READ_ONLY=~/notes")
	r := w.run("protected")
	if r.code != exitOK || r.err != "" {
		t.Fatal(r.code, r.err)
	}
	noEscapes(t, "protected", r.out)
	lines := strings.Split(r.out, "\n")
	for _, want := range []string{"  * ~/.ssh", "  * ~/.aws", "  * ~/.*_history", "    ~/.gnupg", "  * ~/.bashrc", "    ~/.zshrc", "  * ~/plans", "    ~/nothing*", "    ~/notes",
		"    **/.git  (commands see it, so that git works)", "  * " + w.state, "    " + w.home + "/tools/bin"} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q", want)
		}
	}
	for _, title := range listTitles {
		if n := strings.Count(r.out, title); n != 1 {
			t.Errorf("%q stands there %d times", title, n)
		}
	}
	var groups []ruleGroup
	if err := json.Unmarshal([]byte(w.run("protected", "--json").out), &groups); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, g := range groups {
		if key := string(g.Kind) + g.Reason; seen[key] || g.Reason == "" || len(g.Rules) == 0 {
			t.Errorf("group %q", key)
		} else {
			seen[key] = true
		}
		for _, rule := range g.Rules {
			if !strings.Contains(r.out, " "+rule.Path) {
				t.Errorf("%s stands in the JSON only", rule.Path)
			}
			if rule.Path == "~/.ssh" && !slices.Equal(rule.Found, []string{w.home + "/.ssh"}) {
				t.Errorf("%+v", rule)
			}
		}
	}
}

func TestProtectedNeedsNoGatewayAndLeavesNothing(t *testing.T) {
	w := household(t)
	if err := os.RemoveAll(w.state); err != nil {
		t.Fatal(err)
	}
	if r := w.run("protected", w.home+"/x"); r.code != exitOK {
		t.Errorf("%d: %s", r.code, r.err)
	}
	if _, err := os.Lstat(w.state); err == nil {
		t.Error("it made the state directory")
	}
	w.env = append(w.env, "DECKHAND_HIDDEN=secrets")
	if r := w.run("protected"); r.code != exitUsage || !strings.Contains(r.err, `DECKHAND_HIDDEN: "secrets" is neither absolute nor below ~/`) {
		t.Errorf("%d: %s", r.code, r.err)
	}
}
