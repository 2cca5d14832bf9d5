package executor

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"deckhand/gateway/turn"
)

// spelling is a path and how Read refuses it.
type spelling struct {
	path string
	code turn.Code
	says string // in the text, "" for anything
}

// TestRefusalsBySpelling asks for each thing that is not read, by every way of
// writing its path.
func TestRefusalsBySpelling(t *testing.T) {
	f := newFixture(t)
	home := f.home
	f.write("work/file", "text\n")
	f.mkdir("work/sub/deep")
	f.symlink("file", "work/link")
	f.symlink(f.path("work/file"), "work/abs-link")
	f.symlink("nowhere", "work/dangling")
	f.symlink("loop", "work/loop")
	f.symlink(home+"/.ssh", "work/keys")
	f.symlink(home+"/.ssh/id", "work/key")
	f.symlink("key", "work/key2")
	f.symlink(home+"/.ssh/missing", "work/dangling-key")
	f.symlink(home, "work/home")
	f.symlink("/proc/self", "work/proc")
	f.symlink("/proc/self/environ", "work/environ")
	f.symlink("/dev/zero", "work/zero")
	f.link("people/me/.ssh/id", "work/hard")
	f.write("work/.env", secret)
	f.write("work/.ENV.local", secret)
	f.write("work/.git/config", secret)
	f.write("work/sub/.GIT", secret)
	f.write("work/.env.example", "fine\n")
	f.symlink(".git", "work/g")
	for name, kind := range map[string]uint32{"fifo": unix.S_IFIFO, "socket": unix.S_IFSOCK} {
		if err := unix.Mknod(f.path("work/"+name), kind|0o600, 0); err != nil {
			t.Fatal(err)
		}
	}
	f.refresh()

	for _, c := range append(pseudoSpellings, []spelling{
		{"fifo", turn.NotARegularFile, "a device, FIFO or socket"},
		{"socket", turn.NotARegularFile, "a device, FIFO or socket"},
		{"sub", turn.NotARegularFile, "is a folder; FindFiles"},
		{".", turn.NotARegularFile, "is a folder"},
		{"sub/", turn.NotARegularFile, "is a folder"},
		{"/", turn.NotARegularFile, "is a folder"},

		{"link", turn.SymlinkRefused, "to " + f.path("work/file")},
		{"abs-link", turn.SymlinkRefused, "to " + f.path("work/file")},
		{"sub/../link", turn.SymlinkRefused, "to " + f.path("work/file")},
		{"dangling", turn.SymlinkRefused, "to " + f.path("work/nowhere") + ", which cannot be opened"},
		{"loop", turn.SymlinkRefused, ""},
		{"loop/x", turn.SymlinkRefused, "in a circle"},
		{"home", turn.SymlinkRefused, "to " + home},

		{home + "/.ssh/id", turn.ProtectedPath, "it holds SSH keys"},
		{home + "/.ssh", turn.ProtectedPath, ""},
		{home + "/.ssh/no-such-key", turn.ProtectedPath, ""},
		{home + "//.ssh/./id", turn.ProtectedPath, ""},
		{home + "/x/../.ssh/id", turn.ProtectedPath, ""},
		{"../people/me/.ssh/id", turn.ProtectedPath, ""},
		{"sub/deep/../../../people/me/.ssh/id", turn.ProtectedPath, ""},
		{"home/.ssh/id", turn.ProtectedPath, ""},
		{"home/.ssh/no-such-key", turn.ProtectedPath, ""},
		{"keys/id", turn.ProtectedPath, ""},
		{"keys/no-such-key", turn.ProtectedPath, ""},
		{"keys", turn.ProtectedPath, ""},
		{"key", turn.ProtectedPath, ""},
		{"key2", turn.ProtectedPath, ""},
		{"dangling-key", turn.ProtectedPath, ""},
		{"hard", turn.ProtectedPath, ""},
		{f.base + "/state/private/token", turn.ProtectedPath, "Deckhand's private state"},
		{".env", turn.ProtectedPath, ".env.example"},
		{".ENV.local", turn.ProtectedPath, ""},
		{".env.not-there", turn.ProtectedPath, ""},
		{".git/config", turn.ProtectedPath, ""},
		{".git/HEAD", turn.ProtectedPath, ""},
		{"sub/.GIT", turn.ProtectedPath, ""},
		{"g/config", turn.ProtectedPath, ""},
		{"g/no-such", turn.ProtectedPath, ""},
		{"g", turn.ProtectedPath, ""},
		{"/etc/shadow", turn.ProtectedPath, ""},

		{"missing", turn.NotFound, "the nearest folder that does is " + f.work},
		{"sub/missing/deep", turn.NotFound, "the nearest folder that does is " + f.path("work/sub")},
		{"file/x", turn.NotADirectory, f.path("work/file") + " is not a folder"},
	}...) {
		r := f.run("Read", args{"file_path": c.path})
		if r.Outcome != turn.Error || r.Code != c.code || !strings.Contains(r.Text, c.says) {
			t.Errorf("%s: %s: %s; want %s with %q", c.path, r.Code, r.Text, c.code, c.says)
		}
		if c.code == turn.ProtectedPath && !strings.Contains(c.path, ".ssh") && strings.Contains(r.Text, home+"/.ssh") {
			t.Errorf("%s: tells where the link leads: %s", c.path, r.Text)
		}
	}

	for _, path := range []string{"file", "./file", "sub/../file", "//" + f.work + "/file", f.path("work/sub/deep/../../file"), "/" + f.path("home-of-nobody/../work/file"), ".env.example"} {
		f.ok("Read", args{"file_path": path})
	}
}

func TestProtectedFoldersAreNotSearchedFrom(t *testing.T) {
	f := newFixture(t)
	f.symlink(f.home+"/.ssh", "work/keys")
	f.symlink(f.work, "people/me/project")
	f.write("work/file", "needle\n")
	f.write("work/.git/config", "needle\n")
	for _, c := range []struct {
		dir  string
		code turn.Code
	}{
		{f.home + "/.ssh", turn.ProtectedPath}, {"keys", turn.ProtectedPath}, {".git", turn.ProtectedPath}, {f.base + "/state", turn.ProtectedPath},
		{"/dev", turn.PseudoFileSystem}, {"/dev/fd", turn.PseudoFileSystem},
		{"file", turn.NotADirectory}, {"nope", turn.NotFound},
	} {
		for tool, a := range map[string]args{"FindFiles": {}, "SearchText": {"text": "needle"}} {
			a["directory"] = c.dir
			if r := f.run(tool, a); r.Code != c.code {
				t.Errorf("%s in %s: %s %s; want %s", tool, c.dir, r.Code, r.Text, c.code)
			}
		}
	}
	// A folder behind a link is searched, and shown where it is.
	if r := f.ok("SearchText", args{"directory": f.home + "/project", "text": "needle"}); !strings.Contains(r.Text, "1 line with the text in 1 file below "+f.work) {
		t.Error(r.Text)
	}
}

// TestAHiddenFolderStaysHiddenUnderAnotherName moves a protected folder, which
// is as near to a bind mount as an ordinary user gets.
func TestAHiddenFolderStaysHiddenUnderAnotherName(t *testing.T) {
	f := newFixture(t)
	f.mkdir("people/me/.ssh/sub")
	f.write("people/me/.ssh/sub/id", secret)
	f.refresh()
	if err := os.Rename(f.home+"/.ssh", f.path("work/moved")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"moved/id", "moved/sub/id", "moved/sub", "moved"} {
		if r := f.run("Read", args{"file_path": path}); r.Code != turn.ProtectedPath {
			t.Errorf("Read %s: %s %s", path, r.Code, r.Text)
		}
	}
	for _, dir := range []string{"moved", "moved/sub"} {
		if r := f.run("FindFiles", args{"directory": dir}); r.Code != turn.ProtectedPath {
			t.Errorf("FindFiles in %s: %s %s", dir, r.Code, r.Text)
		}
	}
	if got, counts, _ := f.pages("FindFiles", args{}); len(got) != 0 || counts["protected"] != 1 {
		t.Errorf("FindFiles: %q, %v", got, counts)
	}
	if r := f.ok("SearchText", args{"text": "SECRET"}); !strings.Contains(r.Text, "0 lines") || !strings.Contains(r.Text, "skipped: 1 protected path") {
		t.Error(r.Text)
	}
}
