package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"deckhand/gateway/session"
	"deckhand/gateway/turn"
	"deckhand/tray"
)

// idPrefix is what every session id begins with. It may be left out.
const idPrefix = "ses_"

// shortID is how many characters of an id are shown in lists, if that many
// tell all sessions apart.
const shortID = 8

// maxCandidates bounds how many sessions a message lists.
const maxCandidates = 5

// resolve finds the session that arg names: by its whole id, or by a beginning
// that no other session has, with or without the prefix.
func resolve(sessions []session.Summary, arg string) (session.Summary, error) {
	want := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(arg), idPrefix))
	var found []session.Summary
	for _, s := range sessions {
		id := strings.TrimPrefix(string(s.SessionID), idPrefix)
		if id == want {
			return s, nil
		}
		if want != "" && strings.HasPrefix(id, want) {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return session.Summary{}, withHint(turn.Refuse(turn.UnknownSession, "no session is called %q", arg), "deckhand sessions lists them")
	case 1:
		return found[0], nil
	}
	var names []string
	for _, s := range found[:min(len(found), maxCandidates)] {
		names = append(names, fmt.Sprintf("%s (%s)", s.SessionID, tray.Title(row(s))))
	}
	if more := len(found) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return session.Summary{}, withHint(usagef("%q begins the ids of %d sessions", arg, len(found)), "%s", strings.Join(names, "\n  "))
}

// resolve lists the sessions of v and finds the one that arg names.
func (v *view) resolve(ctx context.Context, arg string) (session.Summary, error) {
	sessions, err := v.List(ctx)
	if err != nil {
		return session.Summary{}, err
	}
	return resolve(sessions, arg)
}

// shorten returns a function that cuts the ids of sessions to what still tells
// all of them apart.
func shorten(sessions []session.Summary) func(turn.SessionID) string {
	ids := make([]string, len(sessions))
	for i, s := range sessions {
		ids[i] = string(s.SessionID)
	}
	short := shortIDs(idPrefix, ids)
	return func(id turn.SessionID) string { return short(string(id)) }
}

// shortIDs returns a function that cuts ids to what still tells all of them
// apart, at least shortID characters behind their prefix.
func shortIDs(prefix string, ids []string) func(string) string {
	n := len(prefix) + shortID
	seen := map[string]bool{}
	for i := 0; i < len(ids); i++ {
		short := ids[i][:min(n, len(ids[i]))]
		if seen[short] && n < len(ids[i]) {
			n++
			clear(seen)
			i = -1
			continue
		}
		seen[short] = true
	}
	return func(id string) string { return id[:min(n, len(id))] }
}

// completeID offers the ids of all sessions to a shell.
func (a *app) completeID(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	err := a.withView(cmd, func(ctx context.Context, v *view) error {
		sessions, err := v.List(ctx)
		for _, s := range sessions {
			ids = append(ids, fmt.Sprintf("%s\t%s", s.SessionID, tray.Title(row(s))))
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
