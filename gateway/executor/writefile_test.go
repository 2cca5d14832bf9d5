package executor

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"deckhand/gateway/turn"
)

func TestWriteCreates(t *testing.T) {
	f := newFixture(t).writing()
	r := f.wrote("Write", args{"file_path": "a/b/c.txt", "content": "one\r\ntwo"}, "work/a/b/c.txt")
	if got := f.read("work/a/b/c.txt"); got != "one\r\ntwo" || !strings.Contains(r.Text, "Created") || !strings.Contains(r.Text, "2 lines") || !strings.Contains(r.Text, "2 folders made") {
		t.Errorf("%q: %s", got, r.Text)
	}
	w := f.intents[0]
	if want := []string{f.path("work/a"), f.path("work/a/b")}; fmt.Sprint(w.MadeDirs) != fmt.Sprint(want) || w.Parent != (turn.FileIdentity{}) || w.Before.Exists {
		t.Errorf("%+v", w)
	}
	f.wrote("Write", args{"file_path": f.path("work/a/b/empty"), "content": ""}, "work/a/b/empty")
	if w := f.intents[1]; len(w.MadeDirs) != 0 || w.Parent == (turn.FileIdentity{}) {
		t.Errorf("%+v", w)
	}
	// New files and folders are as any program of this user would make them.
	for path, mode := range map[string]os.FileMode{"work/a/b/c.txt": 0o666, "work/a/b": 0o777 | os.ModeDir} {
		if info, err := os.Stat(f.path(path)); err != nil || info.Mode() != mode&^os.FileMode(umask) {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	for _, name := range []string{strings.Repeat("n", 255), "näme", "na\u0308me2", " spaces ", "quote\"", "new\nline", "-rf", "*", "\\", "a:b"} {
		f.wrote("Write", args{"file_path": "names/" + name, "content": "x"}, "work/names/"+name)
	}
	for _, folder := range []string{"folder/", ".", "..", "a/.", "a/..", "/"} {
		if _, err := f.e.Check(f.scope, "Write", fmt.Appendf(nil, `{"file_path":%q,"content":""}`, folder)); err == nil {
			t.Errorf("the folder %s was accepted", folder)
		}
	}
}

func TestWriteKeepsWhatTheFileHad(t *testing.T) {
	f := newFixture(t).writing()
	for name, c := range map[string]struct{ before, content, after, says string }{
		"E04 CRLF":                        {"a\r\nb\r\n", "x\ny\nz", "x\r\ny\r\nz", "line ends of the file were kept: CRLF"},
		"E04 mostly CRLF":                 {"a\r\nb\nc\r\n", "x\ny\n", "x\r\ny\r\n", "CRLF"},
		"E04 mostly LF":                   {"a\nb\r\nc\n", "x\r\ny\r\n", "x\ny\n", "LF"},
		"E04 as many of each, CRLF first": {"a\r\nb\n", "x\ny", "x\r\ny", "CRLF"},
		"E04 as many of each, LF first":   {"a\nb\r\n", "x\r\ny", "x\ny", "LF"},
		"E04 mixed content":               {"a\r\n", "x\ny\r\nz\n", "x\r\ny\r\nz\r\n", "CRLF"},
		"E04 old Mac":                     {"a\rb\r", "x\ny\n", "x\ry\r", "CR"},
		"E04 no line end before":          {"a", "x\r\ny\n", "x\r\ny\n", ""},
		"E04 an empty file before":        {"", "x\r\ny\n", "x\r\ny\n", ""},
		"E04 the same ends":               {"a\n", "x\ny\n", "x\ny\n", ""},
		"E06 BOM":                         {bom + "a\n", "b\n", bom + "b\n", "byte order mark of the file was kept"},
		"E06 BOM, given too":              {bom + "a\n", bom + "b\n", bom + "b\n", ""},
		"E06 BOM, emptied":                {bom + "a\n", "", bom, "byte order mark"},
		"E06 a BOM that is asked for":     {"a\n", bom + "b\n", bom + "b\n", ""},
		"E12 the final newline is given":  {"a", "b\n", "b\n", ""},
		"E12 and so is none":              {"a\n", "b", "b", ""},
		"E13 spaces at the end":           {"a\n", "b  \n \t\n", "b  \n \t\n", ""},
		"E14 dollars":                     {"a\n", "$& $1\n", "$& $1\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f.t = t
			f.write("work/e.txt", c.before)
			r := f.wrote("Write", args{"file_path": "e.txt", "content": c.content}, "work/e.txt")
			if got := f.read("work/e.txt"); got != c.after {
				t.Errorf("got %q, want %q", got, c.after)
			}
			if !strings.Contains(r.Text, c.says) || (c.says == "") != (len(r.Write.Notes) == 0) {
				t.Errorf("%q: %s", r.Write.Notes, r.Text)
			}
		})
	}
}

func TestWriteOfTheSameContentWritesNothing(t *testing.T) {
	f := newFixture(t).writing()
	f.write("work/e.txt", "a\r\n")
	before := tree(t, f.base)
	r := f.ok("Write", args{"file_path": "e.txt", "content": "a\n"})
	if r.Write != nil || len(f.intents) != 0 || !strings.Contains(r.Text, "nothing was written") {
		t.Errorf("%+v", r)
	}
	if d := differences(before, tree(t, f.base)); d != "" {
		t.Error(d)
	}
}

// all runs Edit, Write and NotebookEdit at one path, which all must refuse.
func (f *fixture) all(path string, code turn.Code, says ...string) {
	f.t.Helper()
	f.refused("Write", args{"file_path": path, "content": "new\n"}, code, says...)
	f.refused("Edit", args{"file_path": path, "old_string": "a", "new_string": "b"}, code, says...)
	if strings.HasSuffix(path, ".ipynb") {
		f.refused("NotebookEdit", args{"notebook_path": path, "cell_id": "a", "new_source": "b"}, code, says...)
	}
}

func TestModesAreKeptAndRespected(t *testing.T) {
	f := newFixture(t).writing()
	for _, mode := range []os.FileMode{0o755, 0o644, 0o600, 0o777, 0o664, 0o711, 0o200, 0o622} { // E26
		f.write("work/m", "a\n")
		if err := os.Chmod(f.path("work/m"), mode); err != nil {
			t.Fatal(err)
		}
		if mode&0o400 != 0 || os.Geteuid() == 0 {
			f.wrote("Edit", args{"file_path": "m", "old_string": "a", "new_string": "b"}, "work/m")
			f.wrote("Write", args{"file_path": "m", "content": "c"}, "work/m")
		}
		if info, err := os.Stat(f.path("work/m")); err != nil || info.Mode() != mode {
			t.Errorf("%o: %v, %v", mode, info.Mode(), err)
		}
		if err := os.Remove(f.path("work/m")); err != nil {
			t.Fatal(err)
		}
	}
	for mode, says := range map[uint32]string{ // E27 and its neighbours
		0o444: "read-only by its mode (0444)", 0o400: "read-only", 0o555: "read-only", 0o000: "read-only", 0o466: "read-only",
		0o4755: "special rights (mode 4755", 0o2755: "special rights", 0o1644: "special rights",
	} {
		f.write("work/m.ipynb", "a\n")
		if err := unix.Chmod(f.path("work/m.ipynb"), mode); err != nil {
			t.Fatal(err)
		}
		f.all("m.ipynb", turn.ReadOnlyFile, says)
		if err := os.Remove(f.path("work/m.ipynb")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatIsNoRegularFileOfOneNameIsRefused(t *testing.T) {
	f := newFixture(t).writing()
	f.write("work/real", "a\n")
	f.symlink("real", "work/link.ipynb")                  // E28
	f.symlink(f.path("work/real"), "work/absolute.ipynb") // its neighbours
	f.symlink("link.ipynb", "work/second.ipynb")
	f.symlink("nowhere", "work/dangling.ipynb")
	f.symlink("loop.ipynb", "work/loop.ipynb")
	f.symlink(f.path("people/me/.ssh/id"), "work/secret.ipynb")
	f.write("out/side", "a\n")
	f.symlink(f.path("out/side"), "work/out.ipynb")
	f.write("work/one.ipynb", "a\n")
	f.link("work/one.ipynb", "work/two.ipynb") // E31
	f.write("out/far", "a\n")
	f.link("out/far", "work/far.ipynb")
	f.link("people/me/.ssh/id", "work/id.ipynb")
	f.mkdir("work/folder.ipynb")
	if err := unix.Mkfifo(f.path("work/fifo.ipynb"), 0o644); err != nil { // E38
		t.Fatal(err)
	}
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(socket)
	t.Chdir(f.work) // the path of a socket is short
	if err := unix.Bind(socket, &unix.SockaddrUnix{Name: "socket.ipynb"}); err != nil {
		t.Fatal(err)
	}
	f.all("link.ipynb", turn.SymlinkRefused, f.path("work/real"))
	f.all("absolute.ipynb", turn.SymlinkRefused, f.path("work/real"))
	f.all("second.ipynb", turn.SymlinkRefused, f.path("work/real"))
	f.all("dangling.ipynb", turn.SymlinkRefused, f.path("work/nowhere"))
	f.all("loop.ipynb", turn.SymlinkRefused)
	f.all("out.ipynb", turn.SymlinkRefused, f.path("out/side"))
	f.all("secret.ipynb", turn.ProtectedPath)
	f.all("one.ipynb", turn.HardLinkRefused, "2 names")
	f.all("two.ipynb", turn.HardLinkRefused)
	f.all("far.ipynb", turn.HardLinkRefused)
	f.all("folder.ipynb", turn.NotARegularFile, "is a folder")
	f.all("fifo.ipynb", turn.NotARegularFile, "FIFO")
	f.all("socket.ipynb", turn.NotARegularFile)
	f.all(f.work, turn.NotARegularFile, "write root itself")
	f.all("real/below.ipynb", turn.NotADirectory, f.path("work/real")+" is not a folder")
	f.all("dangling.ipynb/below.ipynb", turn.SymlinkRefused)
	r := f.run("Write", args{"file_path": "id.ipynb", "content": "x"})
	if r.Code != turn.HardLinkRefused && r.Code != turn.ProtectedPath {
		t.Error(r)
	}
}

func TestNothingIsWrittenOutsideTheRoot(t *testing.T) {
	f := newFixture(t).writing()
	f.write("out/side.ipynb", "a\n")
	f.write("work2/side.ipynb", "a\n")
	f.symlink("../out", "work/up")
	f.symlink(f.path("out"), "work/deep/over")
	f.symlink("/", "work/slash")
	f.symlink(f.path("people/me"), "work/home")
	for _, path := range []string{
		"../out/side.ipynb", f.path("out/side.ipynb"), f.path("work/../out/side.ipynb"), f.path("work2/side.ipynb"),
		"up/side.ipynb", "up/new/er/side.ipynb", "deep/over/side.ipynb", "deep/over/new.ipynb", "slash" + f.path("out/side.ipynb"), // E29
		"../new.ipynb", "/tmp/deckhand-no.ipynb", f.path("new/folder/x.ipynb"), "slash/new.ipynb",
		f.path("people/me/x.ipynb"), "home/x.ipynb",
	} {
		f.all(path, turn.OutsideWriteRoot, f.work)
	}
	f.all("/etc/x.ipynb", turn.ProtectedPath)
	f.all("/proc/self/x.ipynb", turn.PseudoFileSystem)
	f.all("/proc/self/cwd/x.ipynb", turn.PseudoFileSystem)
	f.all("slash/proc/self/comm.ipynb", turn.PseudoFileSystem)
	f.all("/dev/null.ipynb", turn.PseudoFileSystem)
	f.all("home/.ssh/x.ipynb", turn.ProtectedPath)
	f.all("slash/dev/x.ipynb", turn.PseudoFileSystem)
	// Links that lead back in are resolved, as E32 wants it of the root.
	f.symlink(f.work, "alias")
	f.mkdir("work/deep/in")
	f.symlink("deep/in", "work/short")
	f.wrote("Write", args{"file_path": f.path("alias/a.txt"), "content": "x"}, "work/a.txt")
	f.wrote("Write", args{"file_path": "short/b.txt", "content": "x"}, "work/deep/in/b.txt")
	f.wrote("Write", args{"file_path": "deep/over/../in/c.txt", "content": "x"}, "work/deep/in/c.txt")
	f.wrote("Write", args{"file_path": "slash" + f.path("work/d/e.txt"), "content": "x"}, "work/d/e.txt")
}

func TestProtectedNamesAreNeverWritten(t *testing.T) {
	f := newFixture(t).writing()
	f.write("work/.git/config", "a\n")
	f.write("work/sub/.git", "gitdir: ../.git/worktrees/x\na\n") // E40: a file
	f.write("work/.env", "a\n")
	for _, path := range []string{
		".git/config", ".git/hooks/pre-commit", ".GIT/config", ".Git/new", "sub/.git", "sub/.GIT", "new/.git", "new/.gIt/x", "a/b/.git/c/d",
		".git ", ".git.", "git~1", "GIT~1/config", ".g\u200cit/config", ".git::$INDEX_ALLOCATION/config", "\uFEFF.git",
		".env", ".ENV", ".env.local", "deep/.Env.production", "core.123", "passwords.KDBX",
	} {
		f.all(path, turn.ProtectedPath)
	}
	for _, path := range []string{".gitignore", ".github/x", "git", "x.git/config", ".env.example", ".envrc", "core.c", "git~x", ".gitx"} {
		f.wrote("Write", args{"file_path": path, "content": "x"}, "work/"+path)
	}
	// The two lists, with a root around them.
	f.scope.Root, f.scope.WorkingDirectory = f.base, f.base
	f.write("people/me/.bashrc", "a\n")
	f.write("people/me/dot/zshrc", "a\n")
	f.symlink("dot/zshrc", "people/me/.zshrc")
	f.write("people/me/bin/tool", "a\n")
	f.refresh()
	for _, path := range []string{
		"people/me/.ssh/config", "people/me/.ssh/new", "state/x", "state/private/token", "people/me/.aws/credentials", // hidden
		"people/me/.bashrc", "people/me/bin/tool", "people/me/bin/new", "people/me/.config/autostart/x.desktop", "people/me/.gitconfig", // read-only
		"people/me/dot/zshrc", // what a link of the list leads to
	} {
		f.all(path, turn.ProtectedPath)
	}
	f.wrote("Write", args{"file_path": "people/me/project/x", "content": "x"}, "people/me/project/x")
}

// TestHiddenFoldersUnderAnotherName moves folders of the two lists into the root
// after they were seen: what they are counts, not what they are called.
func TestHiddenFoldersUnderAnotherName(t *testing.T) {
	f := newFixture(t).writing()
	f.write("people/me/.config/autostart/x", "a\n")
	f.refresh()
	for from, to := range map[string]string{"people/me/.ssh": "work/keys", "people/me/.config/autostart": "work/plain"} {
		if err := os.Rename(f.path(from), f.path(to)); err != nil {
			t.Fatal(err)
		}
	}
	f.all("keys/new.ipynb", turn.ProtectedPath)
	f.all("keys/id", turn.ProtectedPath)
	f.all("keys/new/folder/x", turn.ProtectedPath)
	f.all("plain/new.ipynb", turn.ProtectedPath)
	f.all("plain/x", turn.ProtectedPath)
}

// TestCaseFoldedTwins is E33 for a file system that ignores case, as far as a
// decision on names goes: every folder is told to be of such a one.
func TestCaseFoldedTwins(t *testing.T) {
	f := newFixture(t).writing()
	f.scope.Root, f.scope.WorkingDirectory = f.base, f.base
	view := f.e.protected.View()
	for path, open := range map[string]bool{
		"people/me/.SSH/x": false, "people/me/.Bashrc": false, "people/me/.CONFIG/Autostart/x": false, "PEOPLE/Me/.aws/x": false, "State/x": false,
		"people/me/.Git/x": false, "people/me/Project/x": true, "people/me/.sshx": true,
	} {
		if d := view.DecideWrite(f.path(path), true); d.Allowed != open {
			t.Errorf("%s: allowed is %v by %q", path, d.Allowed, d.Rule)
		}
	}
	if d := view.DecideWrite(f.path("people/me/.Bashrc"), false); !d.Allowed {
		t.Errorf("where case counts, .Bashrc is refused by %q", d.Rule)
	}
	// Where a name is one with another, the folder's own spelling is used.
	f.write("work/README.md", "a\n")
	p, err := enter(view, f.work, f.path("work/README.md"), "x")
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	p.folds = true
	for asked, want := range map[string]string{"README.md": "README.md", "readme.md": "readme.md"} {
		p.name = asked
		if err := p.spelling(); err != nil || p.name != want {
			t.Errorf("%s: %s, %v", asked, p.name, err)
		}
	}
	// Two spellings share a lock.
	var order []string
	var mu sync.Mutex
	unlock, err := f.e.locks.lock(t.Context(), "/a/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		unlock, err := f.e.locks.lock(t.Context(), "/a/readme.MD")
		if err != nil {
			t.Error(err)
			return
		}
		defer unlock()
		mu.Lock()
		order = append(order, "second")
		mu.Unlock()
	})
	mu.Lock()
	order = append(order, "first")
	mu.Unlock()
	unlock()
	wg.Wait()
	if fmt.Sprint(order) != "[first second]" || len(f.e.locks.held) != 0 {
		t.Errorf("%v, and %d locks are left", order, len(f.e.locks.held))
	}
}

func TestWhatIsNoWriteSessionDoesNotWrite(t *testing.T) {
	f := newFixture(t)
	f.write("work/e.txt", "a")
	call := turn.ToolCall{Name: "Write", Arguments: []byte(`{"file_path":"e.txt","content":"b"}`)}
	if r := f.e.Run(t.Context(), f.scope, call, f.sink()); r.Code != turn.ProfileViolation {
		t.Error(r)
	}
	f.writing()
	f.scope.Root = ""
	if r := f.e.Run(t.Context(), f.scope, call, f.sink()); r.Code != turn.OutsideWriteRoot {
		t.Error(r)
	}
	f.writing()
	for _, sink := range []Sink{{}, {Action: "act_x"}, {Prepare: f.sink().Prepare}, {Action: "../x", Prepare: f.sink().Prepare}} {
		if r := f.e.Run(t.Context(), f.scope, call, sink); r.Code != turn.InternalError {
			t.Error(r)
		}
	}
	// A root that was swapped for a link is none.
	if err := os.Rename(f.work, f.path("moved")); err != nil {
		t.Fatal(err)
	}
	f.symlink("moved", "work")
	if r := f.e.Run(t.Context(), f.scope, call, f.sink()); r.Code != turn.OutsideWriteRoot {
		t.Error(r)
	}
	// Nor is one on the way to which something was.
	f.write("outer/root/e.txt", "a")
	f.scope.Root, f.scope.WorkingDirectory = f.path("outer/root"), f.path("outer/root")
	p, err := enter(f.e.protected.View(), f.scope.Root, f.path("outer/root/e.txt"), "x")
	if err != nil {
		t.Fatal(err)
	}
	p.close()
	if err := os.Rename(f.path("outer"), f.path("elsewhere")); err != nil {
		t.Fatal(err)
	}
	f.symlink("elsewhere", "outer")
	if p, err := enter(f.e.protected.View(), f.scope.Root, f.path("outer/root/e.txt"), "x"); err == nil {
		p.close()
		t.Error("a root behind a link was entered")
	}
	if f.read("moved/e.txt") != "a" || f.read("elsewhere/root/e.txt") != "a" || len(f.intents) != 0 {
		t.Error("it wrote")
	}
}
