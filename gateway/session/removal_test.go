package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deckhand/gateway/turn"
)

// awaitRun is longer than any run of a test takes to fail.
const awaitRun = 2 * time.Minute

// TestAfterARemovalTheSessionSaysSoAndWhatToDo asks a session without its
// worktree for everything that would need it.
func TestAfterARemovalTheSessionSaysSoAndWhatToDo(t *testing.T) {
	w := newWorld(t)
	s := w.worktreeSession()
	w.must(w.RemoveWorktree(t.Context(), s.SessionID, false))
	if _, err := os.Lstat(s.Workspace.Root); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the worktree is there: %v", err)
	}
	for name, call := range map[string]func() error{
		"continue": func() error { _, err := w.goOn(s); return err },
		"recover": func() error {
			_, err := w.Recover(t.Context(), RecoverRequest{Session: s.SessionID, Token: s.RecoveryToken, RecoveryID: w.key()})
			return err
		},
		"diff":   func() error { _, err := w.WorktreeDiff(t.Context(), s.SessionID, 0); return err },
		"apply":  func() error { _, err := w.ApplyWorktree(t.Context(), s.SessionID, false); return err },
		"commit": func() error { _, err := w.CommitWorktree(t.Context(), s.SessionID, "m"); return err },
		"remove": func() error { return w.RemoveWorktree(t.Context(), s.SessionID, true) },
	} {
		if detail := refused(t, call(), turn.WorktreeRemoved).Detail; !strings.Contains(detail, "was removed; what was committed is on its branch "+s.Workspace.Branch) {
			t.Errorf("%s: %s", name, detail)
		}
	}
	now, err := w.Status(t.Context(), StatusRequest{Session: s.SessionID, Lease: *s.LeaseID})
	w.must(err)
	if now.Workspace.Retained || !strings.Contains(now.Next, "worktree of this session was removed") || now.Status != turn.Failed {
		t.Errorf("the state: %s, %+v, %s", now.Status, now.Workspace, now.Next)
	}
	if list, err := w.Worktrees(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("listed: %+v, %v", list, err)
	}
	w.kinds(s.SessionID, "worktree.made", "worktree.removing user", "worktree.removed user")
}

// kinds checks which events of worktrees a session has, and by whom the last
// ones are.
func (w *world) kinds(id turn.SessionID, want ...string) {
	w.t.Helper()
	var got []string
	for _, e := range w.events(id) {
		if strings.HasPrefix(e.Kind, "worktree.") {
			got = append(got, e.Kind+" "+e.By)
		}
	}
	for i := range got {
		if len(got) != len(want) || !strings.HasPrefix(got[i], want[i]) {
			w.t.Fatalf("events %q, want %q", got, want)
		}
	}
	if len(got) != len(want) {
		w.t.Errorf("events %q, want %q", got, want)
	}
}

func TestARemovalThatIsRefusedLeavesTheSessionAsItWas(t *testing.T) {
	w := newWorld(t)
	s := w.worktreeSession()
	w.must(os.WriteFile(filepath.Join(s.Workspace.Root, "new.txt"), []byte("work\n"), 0o644))
	refused(t, w.RemoveWorktree(t.Context(), s.SessionID, false), turn.WorktreeNotClean)
	w.kinds(s.SessionID, "worktree.made", "worktree.removing", "worktree.kept gateway")
	if got, err := w.goOn(s); err != nil || got.LaunchError.Code != turn.LaunchFailed {
		t.Errorf("it cannot go on: %+v, %v", got.LaunchError, err)
	}
}

// crashes ends a removal at one of the steps that the owner records.
type crashes struct {
	removal
	atRetire, atRemoved bool
}

var errCrash = errors.New("as by a crash")

func (c crashes) Retire() error {
	if err := c.removal.Retire(); err != nil || !c.atRetire {
		return err
	}
	return errCrash
}

func (c crashes) Removed() error {
	if c.atRemoved {
		return errCrash
	}
	return c.removal.Removed()
}

// TestARemovalThatACrashInterruptedIsSeenAndCompleted ends it before anything
// is removed, and after everything is.
func TestARemovalThatACrashInterruptedIsSeenAndCompleted(t *testing.T) {
	for name, c := range map[string]crashes{"before": {atRetire: true}, "after": {atRemoved: true}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := w.worktreeSession()
			v, err := w.ledger.View(s.SessionID)
			w.must(err)
			tree, err := w.treeFor(v.Session)
			w.must(err)
			c.removal = removal{w.ledger, s.SessionID}
			if err := w.cfg.Worktrees.Remove(t.Context(), tree, false, c); !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
			w.again()
			_, err = w.goOn(s)
			if detail := refused(t, err, turn.WorktreeRemoved).Detail; !strings.Contains(detail, "deckhand worktrees remove "+string(s.SessionID)) {
				t.Errorf("continue: %s", detail)
			}
			list, err := w.Worktrees(t.Context())
			w.must(err)
			if len(list) != 1 || !list[0].Removing || !strings.Contains(list[0].Problem, "removal was begun") {
				t.Errorf("listed: %+v", list)
			}
			w.must(w.RemoveWorktree(t.Context(), s.SessionID, false))
			w.kinds(s.SessionID, "worktree.made", "worktree.removing", "worktree.removed")
			if list, err = w.Worktrees(t.Context()); err != nil || len(list) != 0 {
				t.Errorf("listed: %+v, %v", list, err)
			}
		})
	}
}

// TestARunAndARemovalNeverMeet lets a continue race a removal, with head starts
// that differ, and a recover join in. Whoever is first refuses the other: no run
// begins once the removal has, and none finds its worktree gone.
func TestARunAndARemovalNeverMeet(t *testing.T) {
	w := newWorld(t)
	const rounds = 36
	ran, removed := 0, 0
	s := w.worktreeSession()
	for round := range rounds {
		var going Snapshot
		var goErr, removeErr, recoverErr error
		var calls sync.WaitGroup
		// From the continue being ahead to its being late.
		late := time.Duration(round%9-4) * time.Millisecond
		calls.Go(func() {
			time.Sleep(late)
			going, goErr = w.goOn(s)
		})
		calls.Go(func() {
			time.Sleep(-late)
			removeErr = w.RemoveWorktree(t.Context(), s.SessionID, true)
		})
		recovers := round%5 == 0
		if recovers {
			calls.Go(func() {
				_, recoverErr = w.Recover(t.Context(), RecoverRequest{Session: s.SessionID, Token: s.RecoveryToken, RecoveryID: "recover-me"})
			})
		}
		calls.Wait()
		switch r, _ := errors.AsType[*turn.Refusal](goErr); {
		case goErr == nil && going.LaunchError.Code == turn.LaunchFailed:
			ran++
		case r != nil && (r.Code == turn.WorktreeRemoved || r.Code == turn.LeaseMismatch && recovers):
		default:
			t.Errorf("continue: %v, %+v", goErr, going.LaunchError)
		}
		if removeErr == nil {
			removed++
		} else {
			refused(t, removeErr, turn.RunActive)
		}
		if recoverErr != nil {
			refused(t, recoverErr, turn.WorktreeRemoved)
		}
		w.neverMet(s.SessionID)
		if removeErr == nil || recovers {
			s = w.worktreeSession()
		}
	}
	t.Logf("of %d, %d runs began and %d removals were done", rounds, ran, removed)
	if ran == 0 || removed == 0 {
		t.Error("one of them always won")
	}
}

// neverMet checks in the events of a session that no run was open during a
// removal, and that every run found its worktree.
func (w *world) neverMet(id turn.SessionID) {
	w.t.Helper()
	running, removing := false, false
	for _, e := range w.events(id) {
		switch e.Kind {
		case "session.started", "session.continued":
			running = true
		case "run.ended":
			running = false
			if e.Code != turn.LaunchFailed {
				w.t.Errorf("a run ended with %s", e.Code)
			}
		case "worktree.removing":
			removing = true
		case "worktree.kept":
			removing = false
		}
		if running && removing {
			w.t.Errorf("at %s a run and a removal met", e.Kind)
		}
	}
}
