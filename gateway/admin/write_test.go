package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

// same compares what came over the wire with what the engine gave.
func same[T any](t *testing.T, name string, direct, remote func() (T, error)) {
	t.Helper()
	want, wantErr := direct()
	got, err := remote()
	if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (wantErr == nil) {
		t.Errorf("%s: %v, want %v\n%s", name, err, wantErr, diff)
	}
}

func TestWhatAPersonDecidesReachesTheEngineWithItsArguments(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	for _, b := range []func() error{
		func() error { _, err := w.client.Approve(ctx, "ses_one", 3); return err },
		func() error { _, err := w.client.Deny(ctx, "ses_one", 4); return err },
		func() error { _, err := w.client.UndoAction(ctx, "act_one", true); return err },
		func() error { _, err := w.client.UndoSession(ctx, "ses_one", false); return err },
		func() error { _, err := w.client.RevokeTrust(ctx, "/srv/a b"); return err },
		func() error { _, err := w.client.RevokeAllTrust(ctx); return err },
		func() error { _, err := w.client.ApplyWorktree(ctx, "ses_one", true); return err },
		func() error { _, err := w.client.CommitWorktree(ctx, "ses_one", "a \"b\"\nc"); return err },
		func() error { return w.client.RemoveWorktree(ctx, "ses_one", true) },
	} {
		if err := b(); err != nil {
			t.Error(err)
		}
	}
	want := []string{"approve ses_one 3", "deny ses_one 4", "undo act_one true", "undo ses_one false",
		`revoke "/srv/a b"`, "revoke all", "apply ses_one true", `commit ses_one "a \"b\"\nc"`, "remove ses_one true"}
	if diff := cmp.Diff(want, w.engine.asked); diff != "" {
		t.Error(diff)
	}
	_, err := w.client.RevokeTrust(ctx, "/nowhere")
	if refusal, ok := errors.AsType[*turn.Refusal](err); !ok || refusal.Code != turn.NotTrusted {
		t.Errorf("a folder that is not trusted: %v", err)
	}
	err = w.client.RemoveWorktree(ctx, "ses_one", false)
	if refusal, ok := errors.AsType[*turn.Refusal](err); !ok || refusal.Code != turn.WorktreeNotClean {
		t.Errorf("a removal that is refused: %v", err)
	}
}

func TestAnswersAboutWritesAndWorktreesComeBackWhole(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	e, c := w.engine, w.client
	same(t, "Waiting", func() ([]session.Waiting, error) { return e.Waiting(ctx) },
		func() ([]session.Waiting, error) { return c.Waiting(ctx) })
	same(t, "Writes", func() ([]session.Write, error) { return e.Writes(ctx, "ses_one") },
		func() ([]session.Write, error) { return c.Writes(ctx, "ses_one") })
	same(t, "FindWrites", func() ([]session.Write, error) { return e.FindWrites(ctx, "act_&x=1", 7) },
		func() ([]session.Write, error) { return c.FindWrites(ctx, "act_&x=1", 7) })
	same(t, "UndoAction", func() (session.UndoReport, error) { return e.UndoAction(ctx, "act_one", true) },
		func() (session.UndoReport, error) { return c.UndoAction(ctx, "act_one", true) })
	same(t, "UndoSession", func() (session.UndoReport, error) { return e.UndoSession(ctx, "ses_one", false) },
		func() (session.UndoReport, error) { return c.UndoSession(ctx, "ses_one", false) })
	same(t, "Actions", func() ([]session.Action, error) { return e.Actions(ctx, "ses_one") },
		func() ([]session.Action, error) { return c.Actions(ctx, "ses_one") })
	same(t, "Trusts", func() ([]session.Trust, error) { return e.Trusts(ctx) },
		func() ([]session.Trust, error) { return c.Trusts(ctx) })
	same(t, "Worktrees", func() ([]session.Worktree, error) { return e.Worktrees(ctx) },
		func() ([]session.Worktree, error) { return c.Worktrees(ctx) })
	same(t, "WorktreeDiff", func() (session.WorktreeDiff, error) { return e.WorktreeDiff(ctx, "ses_one", 123) },
		func() (session.WorktreeDiff, error) { return c.WorktreeDiff(ctx, "ses_one", 123) })
	same(t, "ApplyWorktree", func() (session.WorktreeApply, error) { return e.ApplyWorktree(ctx, "ses_one", true) },
		func() (session.WorktreeApply, error) { return c.ApplyWorktree(ctx, "ses_one", true) })
	same(t, "CommitWorktree", func() (session.WorktreeCommit, error) { return e.CommitWorktree(ctx, "ses_one", "m") },
		func() (session.WorktreeCommit, error) { return c.CommitWorktree(ctx, "ses_one", "m") })
}

func TestAPatchComesWholeOrAsAnError(t *testing.T) {
	large := strings.Repeat("\x00binary\xff", 100_000)
	for _, c := range []struct {
		name   string
		pieces []string
		fault  error
		want   string
		code   turn.Code
		broken bool
	}{
		{name: "an empty one"},
		{name: "a long one", pieces: []string{"diff\n", large}, want: "diff\n" + large},
		{name: "a refusal before the first byte", fault: turn.Refuse(turn.WorktreeChanged, "moved"), code: turn.WorktreeChanged},
		{name: "a fault before the first byte", fault: errors.New("disk"), code: turn.InternalError},
		{name: "a fault after a few bytes", pieces: []string{"diff"}, fault: errors.New("disk"), broken: true},
		{name: "a fault in the middle", pieces: []string{large}, fault: errors.New("disk"), broken: true},
	} {
		w := newWorld(t)
		w.engine.patch, w.engine.patchFault = c.pieces, c.fault
		var got bytes.Buffer
		err := w.client.WorktreePatch(t.Context(), "ses_one", &got)
		switch refusal, refused := errors.AsType[*turn.Refusal](err); {
		case c.code != "":
			if !refused || refusal.Code != c.code || got.Len() > 0 {
				t.Errorf("%s: %v with %d bytes", c.name, err, got.Len())
			}
		case c.broken:
			if err == nil || refused || errors.Is(err, ErrNotRunning) {
				t.Errorf("%s: %v", c.name, err)
			}
		case err != nil || got.String() != c.want:
			t.Errorf("%s: %v with %d bytes, want %d", c.name, err, got.Len(), len(c.want))
		}
		w.stop()
		if logged := strings.Contains(w.log.String(), "disk"); logged != (c.fault != nil && c.code != turn.WorktreeChanged) {
			t.Errorf("%s: the log says what broke: %t\n%s", c.name, logged, w.log)
		}
	}
}

func TestBadInputToWhatChangesFilesChangesNothing(t *testing.T) {
	w := newWorld(t)
	good := "Bearer " + w.client.secret.Reveal()
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/v1/sessions/ses_one/approve", `{"generation":"1"}`},
		{"POST", "/v1/sessions/ses_one/deny", ``},
		{"POST", "/v1/sessions/ses_one/undo", `{"dryrun":true}`},
		{"POST", "/v1/actions/act_one/undo", `[]`},
		{"POST", "/v1/sessions/ses_one/worktree/apply", `{"dry_run":1}`},
		{"POST", "/v1/sessions/ses_one/worktree/commit", `{"message":"a"}{}`},
		{"POST", "/v1/sessions/ses_one/worktree/remove", `{"Force":"true"}`},
		{"POST", "/v1/trusts/revoke", `{}`},
		{"POST", "/v1/trusts/revoke", `{"folder":"/a","all":true}`},
		{"POST", "/v1/trusts/revoke", `{"folder":["/a"]}`},
		{"GET", "/v1/writes?limit=101", ``},
		{"GET", "/v1/sessions/ses_one/worktree/diff?max=-1", ``},
	} {
		code, body := raw(t, w, c.method, c.path, good, c.body)
		var answer errorAnswer
		if err := json.Unmarshal([]byte(body), &answer); err != nil || code != http.StatusBadRequest || answer.Error.Code != turn.InvalidArguments {
			t.Errorf("%s %s %s = %d %s", c.method, c.path, c.body, code, body)
		}
		if code, _ := raw(t, w, c.method, c.path, "", c.body); code != http.StatusUnauthorized {
			t.Errorf("%s %s without a token = %d", c.method, c.path, code)
		}
	}
	for _, path := range []string{"approve", "deny", "undo", "worktree/apply", "worktree/commit", "worktree/remove"} {
		if code, _ := raw(t, w, "GET", "/v1/sessions/ses_one/"+path, good, ""); code != http.StatusMethodNotAllowed {
			t.Errorf("a GET of %s = %d", path, code)
		}
	}
	if len(w.engine.asked) > 0 {
		t.Errorf("the engine was asked: %q", w.engine.asked)
	}
}
