package command

import (
	"os"
	"strings"
	"sync"
	"testing"

	"deckhand/gateway/protected"
)

// home is one that no computer has: what is protected in it is known by name.
const home = "/no/such/home"

var viewOfHome = sync.OnceValues(func() (*protected.View, error) {
	paths, err := protected.New(protected.Config{Home: home, State: home + "/state"})
	if err != nil {
		return nil, err
	}
	return paths.View(), nil
})

func explainFor(t *testing.T, change func(*explained), stdout, stderr string) string {
	t.Helper()
	view, err := viewOfHome()
	if err != nil {
		t.Fatal(err)
	}
	x := explained{argv: []string{"tool"}, dir: "/p", tmp: "/c/tmp", view: view, failed: true}
	if change != nil {
		change(&x)
	}
	o := &outputs{}
	o.out.add([]byte(strings.ReplaceAll(stdout, "HOME", home)))
	o.err.add([]byte(strings.ReplaceAll(stderr, "HOME", home)))
	return strings.ReplaceAll(strings.Join(x.explain(o), "\n"), home, "HOME")
}

// Messages as real tools print them.
func TestTheRefusedWriteIsNamed(t *testing.T) {
	for message, path := range map[string]string{
		"touch: cannot touch 'x.txt': Read-only file system":                                                                   "/p/x.txt",
		"sh: 1: cannot create out/x.txt: Read-only file system":                                                                "/p/out/x.txt",
		"bash: line 1: /p/x: Read-only file system":                                                                            "/p/x",
		"mkdir: cannot create directory ‘build’: Read-only file system":                                                        "/p/build",
		"go: open /p/go.sum: read-only file system":                                                                            "/p/go.sum",
		"OSError: [Errno 30] Read-only file system: '/p/.coverage'":                                                            "/p/.coverage",
		"Error: EROFS: read-only file system, open '/p/dist/a.js'":                                                             "/p/dist/a.js",
		"/usr/bin/ld: cannot open output file a.out: Read-only file system":                                                    "/p/a.out",
		"Fatal error: can't create main.o: Read-only file system":                                                              "/p/main.o",
		"fatal: Unable to create '/p/.git/index.lock': Read-only file system":                                                  "/p/.git/index.lock",
		"error: failed to create directory `/p/target`\n\nCaused by:\n  Read-only file system (os error 30)":                   "/p/target",
		"error: couldn't create `/p/target`\n  Read-only file system (os error 30)":                                            "/p/target",
		"cp: cannot create regular file './a b': Read-only file system":                                                        "",
		"rm: cannot remove '/p/x': Read-only file system\nrm: cannot remove '/p/y': Read-only file system\nrm: /p/z: whatever": "/p/x, /p/y",
	} {
		want := "a write was refused"
		if path != "" {
			want += ": " + path
		}
		if got := explainFor(t, nil, "", message); !strings.HasPrefix(got, want+". ") || !strings.Contains(got, "/c/tmp") {
			t.Errorf("%s\n\tis explained as %q", message, got)
		}
		if got := explainFor(t, nil, message, ""); !strings.HasPrefix(got, want) {
			t.Errorf("%s\n\ton standard output of a command that failed is explained as %q", message, got)
		}
		if got := explainFor(t, func(x *explained) { x.failed = false }, message, ""); got != "" {
			t.Errorf("%s\n\ton standard output of a command that succeeded is explained as %q", message, got)
		}
	}
}

func TestTheRefusedWriteIsNamedAsOnMacOS(t *testing.T) {
	mac := func(x *explained) { x.goos = "darwin" }
	for message, path := range map[string]string{
		"touch: x.txt: Operation not permitted":                              "/p/x.txt",
		"mkdir: build: Operation not permitted":                              "/p/build",
		"PermissionError: [Errno 1] Operation not permitted: '/p/.coverage'": "/p/.coverage",
		"open /p/go.sum: operation not permitted":                            "/p/go.sum",
	} {
		if got := explainFor(t, mac, "", message); !strings.HasPrefix(got, "a write was refused: "+path+". ") {
			t.Errorf("%s\n\tis explained as %q", message, got)
		}
		if got := explainFor(t, nil, "", message); got != "" {
			t.Errorf("%s\n\ton Linux is explained as %q", message, got)
		}
	}
}

func TestTheRemedyFitsTheToolAndTheSession(t *testing.T) {
	refused := "x: Read-only file system"
	for program, remedy := range map[string]string{
		"go": "-o /c/tmp/NAME", "/usr/bin/gcc": "-o /c/tmp/NAME", "git": "not changed", "make": `cp -R . "$TMPDIR/copy"`,
	} {
		got := explainFor(t, func(x *explained) { x.argv = []string{program} }, "", refused)
		if !strings.Contains(got, remedy) || strings.Contains(got, "Edit and Write") {
			t.Errorf("%s: %s", program, got)
		}
	}
	if got := explainFor(t, func(x *explained) { x.edits = true }, "", refused); !strings.Contains(got, "Edit and Write") {
		t.Errorf("a session that writes: %s", got)
	}
}

func TestOtherRefusalsAreExplained(t *testing.T) {
	for message, part := range map[string]string{
		"curl: (6) Could not resolve host: example.org":                                          "no network",
		"urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>": "no network",
		"Error: connect ECONNREFUSED 127.0.0.1:5432":                                             "no network",
		"go: example.org/m@v1.0.0: module lookup disabled by GOPROXY=off":                        "nothing is fetched",
		"npm error code ENOTCACHED":                                                              "nothing is fetched",
		"listen tcp 127.0.0.1:0: bind: operation not permitted":                                  "a socket was refused",
		"PermissionError: [Errno 1] Operation not permitted: socket":                             "a socket was refused",
		"cat: HOME/.ssh/id_rsa: Permission denied":                                               "protected paths are not shown",
		"dd: error writing '/tmp/big': No space left on device":                                  "no space left",
	} {
		if got := explainFor(t, nil, "", message); !strings.Contains(got, part) {
			t.Errorf("%s\n\tis explained as %q", message, got)
		}
	}
	for _, message := range []string{"", "FAIL\n", "cat: /p/none: No such file or directory", "make: *** [all] Error 1"} {
		if got := explainFor(t, nil, "", message); got != "" {
			t.Errorf("%q is explained as %q", message, got)
		}
	}
}

// Whatever a command prints, explaining it does not fail and stays short.
func FuzzExplain(f *testing.F) {
	f.Add("touch: cannot touch 'x': Read-only file system\n", "EROFS")
	f.Add("\xff\x00: Read-only file system", "'")
	f.Fuzz(func(t *testing.T, stdout, stderr string) {
		if got := explainFor(t, nil, stdout, stderr); len(got) > 8<<10 {
			t.Errorf("an explanation of %d bytes", len(got))
		}
	})
}

// A file of the host's /tmp is there, and not for commands.
func TestPrivatePlacesAreExplained(t *testing.T) {
	f, err := os.CreateTemp("/tmp", "deckhand-command-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	message := "cat: " + f.Name() + ": No such file or directory"
	if got := explainFor(t, nil, "", message); !strings.Contains(got, "of their own: "+f.Name()+" is not in there") {
		t.Errorf("it is explained as %q", got)
	}
	if got := explainFor(t, func(x *explained) { x.shown = []string{"/tmp"} }, "", message); got != "" {
		t.Errorf("what is shown is explained as %q", got)
	}
}
