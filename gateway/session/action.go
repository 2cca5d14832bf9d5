package session

import (
	"context"
	"unicode/utf8"

	"deckhand/gateway/turn"
)

// maxArguments bounds the arguments of one action in a list, in bytes.
const maxArguments = 1 << 10

// Action is one call that a reply asked for, with what it asked. It is for the
// person at the machine, who asks to see it: arguments hold what the model
// wrote, and so anything.
type Action struct {
	ActionID turn.ActionID `json:"action_id"`
	RunID    turn.RunID    `json:"run_id"`
	Name     string        `json:"name"`
	// Arguments are canonical JSON of Bytes bytes, cut between characters if
	// Truncated.
	Arguments string `json:"arguments"`
	Bytes     int64  `json:"bytes"`
	Truncated bool   `json:"truncated,omitempty"`
}

// Actions lists the actions of a session's newest turns, oldest first: as many
// turns as its history shows.
func (r *Reader) Actions(_ context.Context, id turn.SessionID) ([]Action, error) {
	past, _, err := r.ledger.History(id, historyTurns)
	if err != nil {
		return nil, err
	}
	actions := []Action{}
	for _, p := range past {
		for _, a := range p.Actions {
			text, err := r.ledger.Text(a.Arguments)
			if err != nil {
				return nil, err
			}
			shown := Action{ActionID: a.ID, RunID: a.Run, Name: a.Name, Arguments: text, Bytes: a.Arguments.Bytes}
			if len(text) > maxArguments {
				cut := maxArguments
				for !utf8.RuneStart(text[cut]) {
					cut--
				}
				shown.Arguments, shown.Truncated = text[:cut], true
			}
			actions = append(actions, shown)
		}
	}
	return actions, nil
}
