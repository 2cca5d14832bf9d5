package session

import (
	"context"
	"time"

	"deckhand/gateway/turn"
)

// Waiting is a session that a person has to allow before it starts.
type Waiting struct {
	SessionID turn.SessionID `json:"native_session_id"`
	Label     string         `json:"session_label"`
	Profile   turn.Profile   `json:"capability_profile"`
	// Folder is where it wants to work: for a worktree, what that is made of.
	Folder     string    `json:"folder"`
	Generation int       `json:"generation"`
	AskedAt    time.Time `json:"asked_at"`
	ExpiresAt  time.Time `json:"expires_at"`
	// Prompt is what it would do first, and may be cut.
	Prompt string `json:"prompt"`
}

// Waiting lists the sessions that wait for a person, newest first.
func (r *Reader) Waiting(context.Context) ([]Waiting, error) {
	views, err := r.ledger.Views()
	if err != nil {
		return nil, err
	}
	list := []Waiting{}
	for _, v := range views {
		s := v.Session
		if s.Status != turn.AwaitingApproval {
			continue
		}
		prompt, err := r.ledger.Text(s.Approval.Prompt)
		if err != nil {
			return nil, err
		}
		prompt, _ = shorten(prompt, maxResultText, "of this prompt")
		list = append(list, Waiting{
			SessionID: s.ID, Label: s.Label, Profile: s.Profile, Folder: s.SourceDirectory(),
			Generation: s.Approval.Generation, AskedAt: s.CreatedAt, ExpiresAt: s.Approval.ExpiresAt, Prompt: prompt,
		})
	}
	return list, nil
}
