package command

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCommandsWriteToTheirCacheAlone tries every way of changing something of
// the user's, and the ways in which caches are meant to be used.
func TestCommandsWriteToTheirCacheAlone(t *testing.T) {
	w := newWorld(t)
	w.write("a.txt", "a\n", 0o644)
	outside := filepath.Join(filepath.Dir(w.project), "outside")
	must(t, os.Mkdir(outside, 0o777))
	must(t, os.Chmod(outside, 0o777))
	must(t, os.Mkdir(w.cache, 0o700))
	before := listing(t, filepath.Dir(w.project), w.cache)
	text := w.sh(`
exec 2>&1
for d in . "` + outside + `" /usr/local/bin /etc /var/lib "` + w.home + `" "` + filepath.Dir(w.cache) + `" "` + w.cache + `"; do
	touch "$d/new" && echo "WROTE $d"
	ln -s /etc/passwd "$d/link" && echo "LINKED $d"
done
echo x >> a.txt && echo WROTE
chmod 600 a.txt && echo CHANGED
mv a.txt b.txt && echo MOVED
ln a.txt "$TMPDIR/hard" && echo x >> "$TMPDIR/hard" && echo "WROTE BY LINK"
for d in "$HOME" "$TMPDIR" "$XDG_CACHE_HOME" "$GOCACHE" "$CARGO_TARGET_DIR" "$npm_config_cache" "$PYTHONPYCACHEPREFIX"; do
	touch "$d/new" || echo "REFUSED $d"
done
exit 3`)
	for _, bad := range []string{"WROTE", "LINKED", "CHANGED", "MOVED", "REFUSED"} {
		if strings.Contains(text, bad) {
			t.Errorf("%s:\n%s", bad, text)
		}
	}
	holds(t, text, "Exit status 3", "a write was refused: "+w.project+"/new, "+w.project+"/link, "+outside+"/new.")
	if after := listing(t, filepath.Dir(w.project), w.cache); after != before {
		t.Errorf("it was\n%s\nand is\n%s", before, after)
	}
}

// listing says what is below a folder, one folder left out.
func listing(t *testing.T, root, without string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == without {
			return fs.SkipDir
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		b.WriteString(path + " " + info.Mode().String() + " " + info.ModTime().String() + "\n")
		return nil
	}))
	return b.String()
}

func TestProtectedPathsAreNotThereForCommands(t *testing.T) {
	w := newWorld(t)
	const secret = "SECRET-do-not-show"
	must(t, os.MkdirAll(w.home+"/.ssh", 0o700))
	must(t, os.WriteFile(w.home+"/.ssh/id_rsa", []byte(secret), 0o600))
	w.write(".env", secret, 0o644)
	w.write(".env.example", "example\n", 0o644)
	must(t, os.Symlink(w.home+"/.ssh/id_rsa", w.project+"/link"))
	claude := w.home + "/.local/bin/claude"
	must(t, os.MkdirAll(filepath.Dir(claude), 0o755))
	must(t, os.WriteFile(claude, []byte("#!/bin/sh\necho "+secret+"\n"), 0o755))
	w.Runner = w.runner(map[string]string{"HOME": w.home})
	text := w.sh(`cat "` + w.home + `/.ssh/id_rsa" .env link ; sh "` + claude + `"; "` + claude + `"; cat .env.example; exit 1`)
	if strings.Contains(text, secret) {
		t.Errorf("the secret was read:\n%s", text)
	}
	holds(t, text, "\nexample", "protected paths are not shown to commands")
}

// A listener of this computer, a socket in the project and the way out are all
// as good as absent; a server of the command's own can be reached.
func TestCommandsReachNothing(t *testing.T) {
	w := newWorld(t)
	if len(w.env0(t).find("python3")) == 0 {
		t.Fatal("python3 is missing; make setup-test installs it")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	unix, err := net.Listen("unix", w.project+"/socket")
	must(t, err)
	defer unix.Close()
	port := l.Addr().String()[strings.LastIndex(l.Addr().String(), ":")+1:]
	text := w.ran("python3", "-c", `
import socket, sys
def attempt(name, family, address):
    try:
        s = socket.socket(family, socket.SOCK_STREAM); s.settimeout(2); s.connect(address); print(name, "REACHED")
    except OSError as e:
        print(name, "refused", e)
attempt("listener", socket.AF_INET, ("127.0.0.1", `+port+`))
attempt("outside", socket.AF_INET, ("192.0.2.1", 80))
attempt("unix", socket.AF_UNIX, "socket")
own = socket.socket(); own.bind(("127.0.0.1", 0)); own.listen()
s = socket.create_connection(own.getsockname()); print("own server reached")
sys.exit(1)
`)
	if strings.Contains(text, "REACHED") {
		t.Errorf("something was reached:\n%s", text)
	}
	holds(t, text, "listener refused", "outside refused", "unix refused", "own server reached")
}

// What a command does to its cache folder does not lead the gateway out of it,
// and does not end the session's commands.
func TestAHostileCacheIsMadeGoodAgain(t *testing.T) {
	w := newWorld(t)
	for name, script := range map[string]string{
		"links":  `rm -rf "$XDG_CACHE_HOME" "$TMPDIR" && ln -s "` + w.home + `" "$XDG_CACHE_HOME" && ln -s "` + w.home + `" "$TMPDIR"`,
		"files":  `rm -rf "$XDG_CACHE_HOME" "$TMPDIR"; echo x > "$XDG_CACHE_HOME"; echo x > "$TMPDIR"`,
		"rights": `chmod 000 "$HOME/.."`,
	} {
		w.sh(script)
		holds(t, w.sh(`touch "$TMPDIR/x" "$GOCACHE/x" && echo fine`), "fine")
		if left, err := os.ReadDir(w.home); err != nil || len(left) != 0 {
			t.Errorf("%s: in the home there is %v, %v", name, left, err)
		}
	}
}

func TestTheCacheFolderIsPrivateAndTouched(t *testing.T) {
	w := newWorld(t)
	holds(t, w.sh(`echo kept > "$TMPDIR/kept"`), "Exit status 0")
	dir := filepath.Join(w.cache, string(w.session))
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(dir, old, old))
	holds(t, w.sh(`cat "$TMPDIR/kept"`), "\nkept")
	info, err := os.Stat(dir)
	must(t, err)
	if info.Mode().Perm() != 0o700 || info.ModTime().Before(old.Add(time.Minute)) {
		t.Errorf("its mode is %v and its time %v", info.Mode(), info.ModTime())
	}
}
