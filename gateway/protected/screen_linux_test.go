package protected

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// confined starts a shell in bubblewrap that sees this computer but for what
// Screen names, and returns how to ask it.
func confined(t *testing.T, hidden []string) (ask func(script string, args ...string) string) {
	t.Helper()
	args := []string{"--ro-bind", "/", "/", "--dev", "/dev", "--unshare-all", "--die-with-parent"}
	for _, path := range hidden {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			args = append(args, "--perms", "0000", "--tmpfs", path)
		} else {
			args = append(args, "--ro-bind", "/dev/null", path)
		}
	}
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(strings.Join(args, "\x00") + "\x00"); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	// One script a line, by the name of its file.
	cmd := exec.Command("bwrap", "--args", "3", "--", "sh", "-c", `while IFS= read -r script; do sh "$script" 2>&1; echo; echo .; done`)
	cmd.ExtraFiles = []*os.File{file}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("bwrap: %v", err)
		}
	})
	lines := bufio.NewReader(out)
	scripts := t.TempDir()
	n := 0
	return func(script string, args ...string) string {
		t.Helper()
		var quoted strings.Builder
		for _, arg := range args {
			fmt.Fprintf(&quoted, " '%s'", strings.ReplaceAll(arg, "'", `'\''`))
		}
		n++
		name := fmt.Sprintf("%s/%d", scripts, n)
		write(t, name, "set --"+quoted.String()+"\n"+script+"\n")
		if _, err := io.WriteString(in, name+"\n"); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatalf("the shell ended: %v", err)
			}
			if line == ".\n" {
				return strings.TrimSuffix(text.String(), "\n")
			}
			text.WriteString(line)
		}
	}
}

// TestWhatScreenNamesCanBeHidden gives bubblewrap every kind of name that a file
// system takes.
func TestWhatScreenNamesCanBeHidden(t *testing.T) {
	home, _ := machine(t, "linux")
	names := []string{"plain", "two words", "new\nline", "tab\there", `back\slash`, `octal\012`, "quote'\"", "-dash", "--tmpfs", "\xff\xfe", "\u202e", "é", "*?[a]", "#", "%s", "$HOME", strings.Repeat("n", 255), " ", "..."}
	project := home + "/work"
	for _, name := range names {
		write(t, home+"/vault/"+name+"/key", "hunter2")
		write(t, home+"/files/"+name, "hunter2")
		if len(name) < 200 {
			write(t, project+"/.env."+name, "hunter2")
		}
	}
	write(t, project+"/.env", "hunter2")
	write(t, project+"/open", "open")
	p := newPaths(t, "linux", Config{Home: home, State: home + "/state", Hidden: []string{"~/vault/*", "~/files/*"}})
	p.maxScreen = 200
	list, err := p.Screen(project)
	if err != nil {
		t.Fatal(err)
	}
	ask := confined(t, list)
	if got := ask(`cat "$1"`, project+"/open"); got != "open" {
		t.Fatalf("an ordinary file reads %q", got)
	}
	for _, name := range names {
		for _, path := range []string{home + "/vault/" + name + "/key", home + "/files/" + name, project + "/.env." + name} {
			if got := ask(`cat -- "$1"`, path); strings.Contains(got, "hunter2") {
				t.Errorf("%q is read", path)
			}
		}
	}
	if got := ask(`cat "$1"`, project+"/.env"); strings.Contains(got, "hunter2") {
		t.Errorf(".env reads %q", got)
	}
}

// TestWhatComesLaterIsSeenByARunningCommand holds what Screen says of the time
// after it: a mount goes with the file that it is on.
func TestWhatComesLaterIsSeenByARunningCommand(t *testing.T) {
	home, _ := machine(t, "linux")
	write(t, home+"/.netrc", "first")
	write(t, home+"/.ssh/id", "first")
	p := newPaths(t, "linux", Config{Home: home, State: home + "/state"})
	list, err := p.Screen()
	if err != nil {
		t.Fatal(err)
	}
	ask := confined(t, list)
	read := func(name string) string { return ask(`cat "$1" || true`, home+name) }
	for _, name := range []string{"/.netrc", "/.ssh/id"} {
		if got := read(name); strings.Contains(got, "first") {
			t.Fatalf("%s reads %q", name, got)
		}
	}
	// Written in place, and in a folder that is hidden: not seen.
	write(t, home+"/.netrc", "second")
	write(t, home+"/.ssh/new", "second")
	for _, name := range []string{"/.netrc", "/.ssh/new"} {
		if got := read(name); strings.Contains(got, "second") {
			t.Errorf("%s reads %q", name, got)
		}
	}
	// Replaced, and new: seen.
	write(t, home+"/other", "third")
	if err := os.Rename(home+"/other", home+"/.netrc"); err != nil {
		t.Fatal(err)
	}
	write(t, home+"/.pgpass", "third")
	for _, name := range []string{"/.netrc", "/.pgpass"} {
		if got := read(name); got != "third" {
			t.Errorf("%s reads %q: Screen's description promises less than it holds", name, got)
		}
	}
	// And hidden from the next command.
	if list, err = p.Screen(); err != nil {
		t.Fatal(err)
	}
	ask = confined(t, list)
	for _, name := range []string{"/.netrc", "/.pgpass", "/.ssh/id"} {
		if got := read(name); strings.Contains(got, "third") || strings.Contains(got, "first") {
			t.Errorf("%s reads %q", name, got)
		}
	}
}

func TestAliasesOfMountsAreWorkedOut(t *testing.T) {
	mounts := readMounts(bufio.NewScanner(strings.NewReader(strings.Join([]string{
		`22 1 8:1 / / rw - ext4 /dev/sda1 rw`,
		`23 22 0:5 / /proc rw - proc proc rw`,
		`24 22 8:1 /data/me /home/me rw - ext4 /dev/sda1 rw`,
		`25 22 8:1 /data/me/.ssh/keys /mnt/two\040words rw - ext4 /dev/sda1 rw`,
		`26 22 8:2 / /disk rw - ext4 /dev/sdb1 rw`,
		`27 22 8:2 /sub /disk2 rw - ext4 /dev/sdb1 rw`,
		`broken line`,
	}, "\n"))))
	for place, want := range map[string]string{
		"/home/me/.ssh":       "map[/data/me/.ssh:/home/me/.ssh /mnt/two words:/home/me/.ssh/keys]",
		"/home/me/.ssh/keys":  "map[/data/me/.ssh/keys:/home/me/.ssh/keys /mnt/two words:/home/me/.ssh/keys]",
		"/mnt/two words/x":    "map[/data/me/.ssh/keys/x:/mnt/two words/x /home/me/.ssh/keys/x:/mnt/two words/x]",
		"/disk/sub/x":         "map[/disk2/x:/disk/sub/x]",
		"/disk/other":         "map[]",
		"/disk2":              "map[/disk/sub:/disk2]",
		"/etc/shadow":         "map[]",
		"/home/me":            "map[/data/me:/home/me /mnt/two words:/home/me/.ssh/keys]",
		"/home/menot/.ssh/id": "map[]",
	} {
		if got := fmt.Sprint(aliasesOf(place, mounts)); got != want {
			t.Errorf("%s: %s, want %s", place, got, want)
		}
	}
	if got := aliasesOf("/x", nil); got != nil {
		t.Errorf("%v", got)
	}
}

// TestABindMountIsNoWayAround mounts a home a second time, in a mount namespace
// of its own, and asks there. (bubblewrap is the mount tool that needs no root.)
func TestABindMountIsNoWayAround(t *testing.T) {
	if base := os.Getenv("DECKHAND_TEST_BIND"); base != "" {
		home := base + "/me"
		p := newPaths(t, "linux", Config{Home: home, State: base + "/state"})
		list, err := p.Screen()
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{home + "/.ssh", base + "/second/.ssh", base + "/third"} {
			found := false
			for _, path := range list {
				found = found || path == want
			}
			if d := p.Decide(want+"/id", Read); !found || d.Allowed {
				t.Errorf("%s is not hidden: %q", want, list)
			}
		}
		if d := p.Decide(base+"/second/plain", Read); !d.Allowed {
			t.Errorf("an ordinary file is covered by %q", d.Rule)
		}
		return
	}
	base := realPrefix(t.TempDir())
	write(t, base+"/me/.ssh/id", "")
	write(t, base+"/me/.gnupg/deep/id", "")
	write(t, base+"/me/plain", "")
	mkdir(t, base+"/second")
	mkdir(t, base+"/third")
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bwrap", "--bind", "/", "/", "--dev", "/dev", "--bind", base+"/me", base+"/second", "--bind", base+"/me/.gnupg/deep", base+"/third",
		"--setenv", "DECKHAND_TEST_BIND", base, "--", self, "-test.run", "^TestABindMountIsNoWayAround$")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
