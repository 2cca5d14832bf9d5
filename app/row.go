package main

import (
	"context"
	"slices"
	"strings"

	"deckhand/gateway/admin"
	"deckhand/gateway/session"
	"deckhand/gateway/turn"
	"deckhand/tray"
)

// row turns a session of the gateway into one of the menu, whose words the
// command line uses.
func row(s session.Summary) tray.Row {
	source := ""
	if s.Profile == turn.WorktreeWrite {
		source = s.SourceDirectory
	}
	return tray.Row{
		ID: string(s.SessionID), Label: s.Label, Folder: s.WorkingDirectory, Source: source, Profile: string(s.Profile),
		Status: tray.Status(s.Status), Code: string(s.Code), Tools: s.Running, Lines: s.Printed.Lines,
		LeaseEnds: s.LeaseExpiresAt, TurnOpened: s.TurnOpenedAt, Updated: s.UpdatedAt,
		Undoable: s.Undoable,
	}
}

// waitingAmong returns what a person is asked, if any of the sessions asks.
func waitingAmong(ctx context.Context, from source, sessions []session.Summary) ([]session.Waiting, error) {
	if !slices.ContainsFunc(sessions, func(s session.Summary) bool { return s.Status == turn.AwaitingApproval }) {
		return nil, nil
	}
	return from.Waiting(ctx)
}

// answerBy adds to a row until when a person can answer, if one is asked.
func answerBy(r tray.Row, waiting []session.Waiting) tray.Row {
	for _, w := range waiting {
		if string(w.SessionID) == r.ID {
			r.AnswerBy, r.Generation = w.ExpiresAt, w.Generation
		}
	}
	return r
}

// gatewayRow turns what a gateway says of itself into the menu's line.
func gatewayRow(s admin.Status) tray.Gateway {
	g := tray.Gateway{Running: true, Version: s.Version, PID: s.PID, Address: s.LocalAddress,
		LastRequest: s.LastRequestAt, Warnings: s.Warnings,
		Paused: s.Switches.Paused, AskBeforeWrite: s.Switches.AskBeforeWrite}
	if s.Connector != "none" {
		g.Connector = s.ConnectorAddress
	}
	return g
}

// home shortens the user's home directory to "~" and makes a path one clean
// line.
func (a *app) home(path string) string {
	home := a.env["HOME"]
	if home != "" && home != "/" {
		if path == home {
			return "~"
		}
		if rest, ok := strings.CutPrefix(path, home+"/"); ok {
			path = "~/" + rest
		}
	}
	return tray.Clean(path)
}

// status colours a session's words by what they ask of a person.
func (p paint) status(status turn.Status, s string) string {
	switch status {
	case turn.AwaitingApproval, turn.RecoveryRequired, turn.Failed:
		return p.red(s)
	case turn.WaitingForGPT, turn.LeaseExpired:
		return p.yellow(s)
	case turn.Starting, turn.Running, turn.Executing:
		return p.green(s)
	case turn.Stopped, turn.Stopping:
		return p.dim(s)
	}
	return s
}
