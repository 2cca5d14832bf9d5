package admin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
)

// workTimeout bounds a call that reads or writes many files.
const workTimeout = 10 * time.Minute

var _ Worktrees = (*Client)(nil)

func (s *Server) worktrees(r *http.Request) (any, error) {
	list, err := s.backend.Worktrees(r.Context())
	return worktreesAnswer{Worktrees: append([]session.Worktree{}, list...)}, err
}

func (s *Server) diff(r *http.Request) (any, error) {
	limit, err := number(r, "max", 0, MaxDiff, MaxDiff)
	if err != nil {
		return nil, err
	}
	return s.backend.WorktreeDiff(r.Context(), id(r), int(limit))
}

// patch streams the patch. What fails before its first byte is an answer like
// any other; what fails later breaks the connection off, so that a part of a
// patch never looks like the whole.
func (s *Server) patch(w http.ResponseWriter, r *http.Request) {
	out := &patchWriter{w: w}
	err := s.backend.WorktreePatch(r.Context(), id(r), out)
	if err == nil {
		err = out.begin() // of an empty patch
	}
	switch {
	case err == nil:
	case !out.begun:
		s.answer(w, r, nil, err)
	default:
		if r.Context().Err() == nil {
			s.log.Error("admin call failed", "call", r.URL.Path, "error", err)
		}
		panic(http.ErrAbortHandler)
	}
}

// patchWriter sends the header of a patch before its first byte, so that what
// breaks off later is seen to have begun.
type patchWriter struct {
	w     http.ResponseWriter
	begun bool
}

func (p *patchWriter) begin() error {
	if p.begun {
		return nil
	}
	p.begun = true
	p.w.Header().Set("Content-Type", "text/x-patch")
	p.w.Header().Set("Cache-Control", "no-store")
	p.w.WriteHeader(http.StatusOK)
	return http.NewResponseController(p.w).Flush()
}

func (p *patchWriter) Write(data []byte) (int, error) {
	if err := p.begin(); err != nil {
		return 0, err
	}
	return p.w.Write(data)
}

func (s *Server) apply(r *http.Request) (any, error) {
	var req dryRunRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	s.log.Info("worktree applied by the user", "session", id(r), "dry_run", req.DryRun)
	return s.backend.ApplyWorktree(r.Context(), id(r), req.DryRun)
}

func (s *Server) commit(r *http.Request) (any, error) {
	var req commitRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	s.log.Info("worktree committed by the user", "session", id(r))
	return s.backend.CommitWorktree(r.Context(), id(r), req.Message)
}

func (s *Server) remove(r *http.Request) (any, error) {
	var req removeRequest
	if err := decode(r, &req); err != nil {
		return nil, err
	}
	s.log.Info("worktree removed by the user", "session", id(r), "force", req.Force)
	err := s.backend.RemoveWorktree(r.Context(), id(r), req.Force)
	return removedAnswer{Removed: err == nil}, err
}

// Worktrees lists the worktrees of all sessions, newest first.
func (c *Client) Worktrees(ctx context.Context) ([]session.Worktree, error) {
	answer, err := callWithin[worktreesAnswer](ctx, workTimeout, c, http.MethodGet, "/v1/worktrees", nil)
	return answer.Worktrees, err
}

// WorktreeDiff lists what a session's worktree changed, with a text of at most
// maxDiff bytes, which is at most MaxDiff.
func (c *Client) WorktreeDiff(ctx context.Context, id turn.SessionID, maxDiff int) (session.WorktreeDiff, error) {
	return callWithin[session.WorktreeDiff](ctx, workTimeout, c, http.MethodGet, worktreePath(id)+"/diff?max="+strconv.Itoa(maxDiff), nil)
}

// WorktreePatch writes what git apply takes. It reads as fast as w takes it,
// and other calls on the worktree wait meanwhile. After an error w may have got
// a part of it.
func (c *Client) WorktreePatch(ctx context.Context, id turn.SessionID, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, workTimeout)
	defer cancel()
	res, err := c.do(ctx, http.MethodGet, worktreePath(id)+"/patch", nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(w, res.Body); err != nil {
		return fmt.Errorf("read patch: %w", err)
	}
	return nil
}

// ApplyWorktree brings a worktree's changes into the checkout it was made of.
func (c *Client) ApplyWorktree(ctx context.Context, id turn.SessionID, dryRun bool) (session.WorktreeApply, error) {
	return callWithin[session.WorktreeApply](ctx, workTimeout, c, http.MethodPost, worktreePath(id)+"/apply", dryRunRequest{DryRun: dryRun})
}

// CommitWorktree records a worktree's state as a commit on its branch.
func (c *Client) CommitWorktree(ctx context.Context, id turn.SessionID, message string) (session.WorktreeCommit, error) {
	return callWithin[session.WorktreeCommit](ctx, workTimeout, c, http.MethodPost, worktreePath(id)+"/commit", commitRequest{Message: message})
}

// RemoveWorktree removes a worktree; its branch stays.
func (c *Client) RemoveWorktree(ctx context.Context, id turn.SessionID, force bool) error {
	_, err := callWithin[removedAnswer](ctx, workTimeout, c, http.MethodPost, worktreePath(id)+"/remove", removeRequest{Force: force})
	return err
}

func worktreePath(id turn.SessionID) string { return sessionPath(id) + "/worktree" }
