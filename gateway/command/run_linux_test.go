package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"deckhand/gateway/sandbox"
	"deckhand/gateway/turn"
)

func TestACommandGetsExactlyItsArguments(t *testing.T) {
	w := newWorld(t)
	w.write("show.sh", "#!/bin/sh\nfor a in \"$@\"; do printf '[%s]' \"$a\"; done\n", 0o755)
	text := w.ran("./show.sh", "$(id)", "a b", "", "`x`;|&", "é\n", "*")
	holds(t, text, "Exit status 0 after ", "stdout: 30 bytes, 2 lines. stderr: empty.", "[$(id)][a b][][`x`;|&][é\n][*]")
}

func TestAStatusIsNoFailureOfOurs(t *testing.T) {
	w := newWorld(t)
	text := w.sh("echo out; echo err >&2; exit 3")
	holds(t, text, "Exit status 3 after ", "stdout: 4 bytes, 1 line. stderr: 4 bytes, 1 line.", "--- stdout ---\nout\n--- stderr ---\nerr")
	holds(t, w.sh("kill -SEGV $$"), "Ended by SIGSEGV after ", "stdout: empty. stderr: empty.")
}

func TestStandardInputIsEmpty(t *testing.T) {
	w := newWorld(t)
	holds(t, w.ran("cat"), "Exit status 0", "stdout: empty")
	holds(t, w.ran("sh", "-c", "read x || echo nothing"), "nothing")
}

func TestWhatCannotRunIsRefusedWithAReason(t *testing.T) {
	w := newWorld(t)
	w.write("plain.sh", "echo hi\n", 0o644)
	w.write("odd", "\x7fno program", 0o755)
	w.write("lost.sh", "#!/no/such/interpreter\n", 0o755)
	w.write("dir/file", "", 0o644)
	outside := filepath.Join(filepath.Dir(w.project), "outside")
	must(t, os.Mkdir(outside, 0o755))
	must(t, os.Symlink(outside, filepath.Join(w.project, "link")))
	must(t, os.MkdirAll(w.home+"/.ssh", 0o700))
	must(t, os.Symlink("/bin/rm", filepath.Join(w.project, "tool")))
	must(t, os.Symlink("/bin/echo", filepath.Join(w.project, "rm")))
	if got := w.ran("./rm", "hi"); !strings.Contains(got, "hi") {
		t.Errorf("a link to what may run: %s", got)
	}
	for name, c := range map[string]struct {
		argv []string
		dir  string
		code turn.Code
		says string
	}{
		"no such program":     {argv: []string{"no-such-program"}, code: turn.CommandNotFound, says: "Looked in "},
		"a near name":         {argv: []string{"sedd"}, code: turn.CommandNotFound, says: "there is sed"},
		"a relative path":     {argv: []string{"./nothing"}, code: turn.CommandNotFound, says: "./nothing"},
		"not executable":      {argv: []string{"./plain.sh"}, code: turn.CommandNotFound, says: "['sh', ./plain.sh]"},
		"a directory":         {argv: []string{"./dir"}, code: turn.CommandNotFound, says: "is a directory"},
		"no program":          {argv: []string{"./odd"}, code: turn.CommandNotFound, says: "names no interpreter"},
		"no interpreter":      {argv: []string{"./lost.sh"}, code: turn.CommandNotFound, says: "interpreter in its first line"},
		"a refused program":   {argv: []string{"sudo", "ls"}, code: turn.CommandRefused, says: "sudo"},
		"a link to one":       {argv: []string{"./tool", "x"}, code: turn.CommandRefused, says: "rule A02"},
		"no cwd":              {argv: []string{"true"}, dir: "none", code: turn.WorkingDirectoryInvalid, says: "does not exist"},
		"a file as cwd":       {argv: []string{"true"}, dir: "dir/file", code: turn.WorkingDirectoryInvalid, says: "not a directory"},
		"a cwd outside":       {argv: []string{"true"}, dir: "..", code: turn.WorkingDirectoryInvalid, says: "lies outside"},
		"a cwd behind a link": {argv: []string{"true"}, dir: "link", code: turn.WorkingDirectoryInvalid, says: "lies outside"},
	} {
		call := w.call(c.argv...)
		call.Dir = filepath.Join(w.project, c.dir)
		r := w.do(t.Context(), call)
		if r.Outcome != turn.Error || r.Code != c.code || !strings.Contains(r.Text, c.says) {
			t.Errorf("%s: %s %s: %s", name, r.Outcome, r.Code, r.Text)
		}
	}
	call := w.call("true")
	call.Root, call.Dir = "/", w.home+"/.ssh"
	if r := w.do(t.Context(), call); r.Code != turn.ProtectedPath {
		t.Errorf("a protected cwd: %s %s", r.Code, r.Text)
	}
	if left, err := os.ReadDir(w.cache); err == nil && len(left) > 1 {
		t.Errorf("what was refused left %v", left)
	}
}

func TestNothingRunsWhereNothingConfines(t *testing.T) {
	w := newWorld(t)
	w.cfg.Launcher = func(context.Context) (*sandbox.Launcher, error) {
		return nil, turn.Refuse(turn.SandboxUnavailable, "bubblewrap is missing")
	}
	if r := w.do(t.Context(), w.call("touch", w.project+"/ran")); r.Code != turn.SandboxUnavailable || r.Text != "bubblewrap is missing" {
		t.Errorf("%s: %s", r.Code, r.Text)
	}
	if exists(w.project+"/ran") || exists(w.cache) {
		t.Error("something was done")
	}
}

func TestTheTimeLimitEndsTheWholeTree(t *testing.T) {
	w := newWorld(t)
	call := w.call("sh", "-c", `trap "" TERM; echo begun; setsid sh -c 'trap "" TERM; sleep 1000' & sleep 1000`)
	call.Timeout = time.Second
	r := w.do(t.Context(), call)
	if r.Outcome != turn.Error || r.Code != turn.ActionLimitExceeded {
		t.Errorf("%s %s", r.Outcome, r.Code)
	}
	holds(t, r.Text, "Timed out: it still ran after 1 second", "begun")
}

func TestAStopTellsWhatTheCommandCameTo(t *testing.T) {
	w := newWorld(t)
	for cause, says := range map[turn.Code]string{turn.CancelledCode: "its session was stopped", turn.ShuttingDown: "Deckhand was closed"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		call := w.call("sh", "-c", "echo begun; sleep 1000")
		call.Progress = func(int64, int64) { cancel(&turn.Refusal{Code: cause}) }
		r := w.do(ctx, call)
		if r.Outcome != turn.OutcomeCancelled || r.Code != turn.CancelledCode {
			t.Errorf("%s %s", r.Outcome, r.Code)
		}
		holds(t, r.Text, says, "not run again", "begun")
		r = w.do(ctx, call)
		if r.Outcome != turn.OutcomeCancelled {
			t.Errorf("a command after the stop: %s %s", r.Outcome, r.Text)
		}
	}
}

// A descendant that outlives the command ends with it, and so do the pipes that
// it held.
func TestWhatOutlivesTheCommandEndsWithIt(t *testing.T) {
	w := newWorld(t)
	text := w.sh(`(setsid sh -c 'trap "" TERM HUP; while :; do echo late >> "$TMPDIR/late"; sleep 0.05; done' &) ; sleep 0.5; echo done`)
	holds(t, text, "Exit status 0", "done")
	late := filepath.Join(w.cache, string(w.session), "tmp", "late")
	before, err := os.ReadFile(late)
	must(t, err)
	if len(before) == 0 {
		t.Fatal("the descendant never ran")
	}
	// The next command of the session shows that nothing writes any more.
	w.sh("sleep 0.5")
	after, err := os.ReadFile(late)
	must(t, err)
	if len(after) != len(before) {
		t.Error("the descendant wrote after the receipt")
	}
}

// When the receipt is there the tree is gone, whatever it did: its members hold
// a lock on a file, which only their end gives up.
func TestTheTreeIsGoneBeforeTheReceipt(t *testing.T) {
	w := newWorld(t)
	for name, script := range map[string]string{
		"forks twice":     `(setsid sleep 1000 &)`,
		"ignores signals": `(setsid sh -c 'trap "" TERM HUP INT; while :; do sleep 1000; done' &)`,
		"closes all":      `(setsid sh -c 'sleep 1000' >/dev/null 2>&1 &)`,
		"many children":   `(perl -e 'for (1..2000) { my $p = fork; last if !defined $p; if (!$p) { sleep 1000; exit } }')`,
	} {
		t.Run(name, func(t *testing.T) {
			lock := filepath.Join(w.cache, string(w.session), "tmp", "lock")
			ctx, stop := context.WithCancel(t.Context())
			// The lock is the open file's, which all of the tree inherit; the
			// command itself gives its copy up before it says so.
			call := w.call("sh", "-c", `exec 9>>"$TMPDIR/lock"; flock 9; `+script+`; exec 9>&-; echo ready; sleep 1000`)
			call.Progress = func(int64, int64) { stop() }
			if r := w.do(ctx, call); r.Outcome != turn.OutcomeCancelled || !strings.Contains(r.Text, "ready") {
				t.Errorf("%s: %s", r.Code, r.Text)
			}
			f, err := os.OpenFile(lock, os.O_RDWR, 0)
			must(t, err)
			defer f.Close()
			if err := tryLock(f); err != nil {
				t.Errorf("something of the tree is still there: %v", err)
			}
		})
	}
}

func TestLongOutputIsShownAsHeadAndTail(t *testing.T) {
	w := newWorld(t)
	text := w.sh(`seq 1 300000; echo last words >&2`)
	holds(t, text, "stdout: 1988895 bytes, 300000 lines. stderr: 11 bytes, 1 line.", "\n1\n2\n3\n", "\n299999\n300000\n--- stderr ---\nlast words", " of 1988895 bytes are left out here; ")
	gap := regexp.MustCompile(`(?s)--- stdout ---\n(.*)\n\[(\d+) of .*?\]\n(.*)\n--- stderr`).FindStringSubmatch(text)
	if gap == nil {
		t.Fatalf("no gap in %.300s", text)
	}
	// The line ends around the gap are its own, the last one is the output's.
	if shown := len(gap[1]) + len(gap[3]) + len("\n"); fmt.Sprint(1988895-shown) != gap[2] {
		t.Errorf("%d bytes are shown of 1988895, and %s are said to be missing", shown, gap[2])
	}
}

func TestOutputThatIsNotUTF8IsShownSafely(t *testing.T) {
	w := newWorld(t)
	holds(t, w.sh(`printf 'a\377b\303\251\342\202'`), `stdout: 7 bytes, 1 line, 3 bytes are not UTF-8 and shown as \xNN.`, `a\xffbé\xe2\x82`)
	text := w.sh(`head -c 3000000 /dev/urandom`)
	holds(t, text, "stdout: 3000000 bytes, ", "left out here")
}

func TestACommandThatClosesItsOutputIsWaitedFor(t *testing.T) {
	w := newWorld(t)
	holds(t, w.sh(`exec >&- 2>&-; sleep 0.3; exit 5`), "Exit status 5", "stdout: empty. stderr: empty.")
}

// A gigabyte without a line end passes through in memory that does not depend
// on it, and is counted to the byte.
func TestAGigabyteIsCountedAndNotKept(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	w := newWorld(t)
	var last int64
	call := w.call("head", "-c", "1073741824", "/dev/zero")
	call.Progress = func(bytes, _ int64) { last = bytes }
	before := allocated()
	r := w.do(t.Context(), call)
	if grown := allocated() - before; grown > 1<<30/200 {
		t.Errorf("a gigabyte of output allocated %d bytes", grown)
	}
	holds(t, r.Text, "stdout: 1073741824 bytes, 1 line.")
	if last != 1<<30 {
		t.Errorf("the progress ended at %d", last)
	}
}

// Commands of one session take turns in order; those of another do not wait.
func TestCommandsOfOneSessionTakeTurns(t *testing.T) {
	w := newWorld(t)
	hold, cancel := context.WithCancel(t.Context())
	begun, ended := make(chan struct{}), make(chan struct{})
	first := w.call("sh", "-c", "echo begun; sleep 1000")
	first.Progress = func(int64, int64) { close(begun) }
	go func() {
		w.Run(hold, first)
		close(ended)
	}()
	<-begun
	second := make(chan turn.Result)
	go func() { second <- w.Run(t.Context(), w.call("echo", "second")) }()
	other := w.call("echo", "other")
	other.Session = turn.NewSessionID()
	holds(t, w.do(t.Context(), other).Text, "other")
	select {
	case <-second:
		t.Error("the second command did not wait")
	default:
	}
	given, giveUp := context.WithCancel(t.Context())
	giveUp()
	if r := w.Run(given, w.call("echo", "third")); r.Outcome != turn.OutcomeCancelled {
		t.Errorf("a command that was stopped while it waited: %s", r.Text)
	}
	cancel()
	<-ended
	holds(t, (<-second).Text, "second")
	if len(w.queues) != 0 {
		t.Errorf("queues are left: %v", w.queues)
	}
}
