package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"deckhand/gateway/protected"
)

// The ends of a command that was asked about a path and has answered.
var (
	errReadOnly = errors.New("a path is never written")
	errHidden   = errors.New("a path is neither read nor written")
)

func (a *app) protectedCommand() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use:     "protected [PATH...]",
		GroupID: groupLook,
		Short:   "Show what no session may read or write, or why not a path",
		Long: `Show the files and folders that no session may read, and those that none may
write, as a gateway started here and now would decide; what is on this machine is
marked with a star. The settings protected.hidden and protected.read_only add to
both lists.

With a PATH, which need not be there, say what a session may do with it, what its
commands see of it, and which rule decides. The exit status is 0 if every PATH may
be read and written, ` + `4 if one may only be read, and 5 if one may not be read.`,
		Example: `  deckhand protected
  deckhand protected ~/.ssh/id_ed25519
  deckhand protected .env && echo "not a secret"
  deckhand protected --json | jq -r '.[].rules[].found[]'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := a.protectedPaths(cmd)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return a.printRules(paths.Rules())
			}
			return a.explainPaths(paths, args)
		},
	})
}

// protectedPaths makes the rules as a gateway would that is started now.
func (a *app) protectedPaths(cmd *cobra.Command) (*protected.Paths, error) {
	s, err := a.load(cmd)
	if err != nil {
		return nil, err
	}
	cfg, err := a.gatewayConfig(s)
	if err != nil {
		return nil, err
	}
	return cfg.Protected()
}

// ruleGroup are the rules that have one reason.
type ruleGroup struct {
	Kind   protected.Kind   `json:"kind"`
	Reason string           `json:"reason"`
	Rules  []protected.Rule `json:"rules"`
}

func groupRules(rules []protected.Rule) []ruleGroup {
	groups := []ruleGroup{}
	for _, r := range rules {
		if n := len(groups); n == 0 || groups[n-1].Kind != r.Kind || groups[n-1].Reason != r.Reason {
			groups = append(groups, ruleGroup{Kind: r.Kind, Reason: r.Reason})
		}
		last := &groups[len(groups)-1]
		last.Rules = append(last.Rules, r)
	}
	return groups
}

// listTitles stand over the lists.
var listTitles = map[protected.Kind]string{
	protected.Hidden:   "HIDDEN: sessions neither read, list, search nor write it, and their commands do not see it",
	protected.ReadOnly: "READ-ONLY: sessions read it and never write it",
	protected.Pseudo:   "NO FILES: sessions do not touch it",
}

// sightNotes say what commands see where the title does not.
var sightNotes = map[protected.Sight]string{
	protected.Seen:       "commands see it, so that git works",
	protected.UnseenNear: "commands that run in its folder do not see it",
}

func (a *app) printRules(rules []protected.Rule) error {
	groups := groupRules(rules)
	if a.json {
		return a.printJSON(groups)
	}
	p := a.paint()
	var kind protected.Kind
	for _, g := range groups {
		if g.Kind != kind {
			kind = g.Kind
			a.printf("%s\n\n", p.bold(listTitles[kind]))
		}
		a.printf("%s\n", g.Reason)
		for _, r := range g.Rules {
			mark, path := " ", onOneLine(r.Path)
			if len(r.Found) > 0 {
				mark, path = "*", p.bold(path)
			}
			if note := sightNotes[r.Commands]; note != "" && kind == protected.Hidden {
				path += p.dim("  (" + note + ")")
			}
			a.printf("  %s %s\n", mark, path)
		}
		a.printf("\n")
	}
	return nil
}

// explainPaths answers about paths as they were typed.
func (a *app) explainPaths(paths *protected.Paths, args []string) error {
	var all []protected.Explanation
	end := error(nil)
	for _, arg := range args {
		path, err := absolute(arg)
		if err != nil {
			return err
		}
		e, err := paths.Explain(path)
		if err != nil {
			return err
		}
		all = append(all, e)
		switch {
		case !e.Read:
			end = errHidden
		case !e.Write && end == nil:
			end = errReadOnly
		}
	}
	if a.json {
		if err := a.printJSON(all); err != nil {
			return err
		}
		return end
	}
	for i, e := range all {
		if i > 0 {
			a.printf("\n")
		}
		a.printExplanation(e)
	}
	return end
}

// absolute puts a path under the folder where one is, and leaves dots in it:
// what they mean depends on the links before them.
func absolute(path string) (string, error) {
	switch {
	case path == "":
		return "", usagef("a PATH is empty")
	case filepath.IsAbs(path):
		return path, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return dir + "/" + path, nil
}

func (a *app) printExplanation(e protected.Explanation) {
	p := a.paint()
	line := func(key, value string) { a.printf("  %s %s\n", p.dim(pad(key, 9)), value) }
	a.printf("%s\n", p.bold(onOneLine(filepath.Clean(e.Path))))
	if e.Real != filepath.Clean(e.Path) {
		line("really", onOneLine(e.Real))
	}
	line("read", verdictOf(p, e.Read, "may be read"))
	switch {
	case e.Write:
		line("write", p.green("may be written")+" by a session whose folder holds it")
	default:
		line("write", p.red("refused"))
	}
	line("commands", a.sightOf(p, e))
	if e.Kind != protected.Open {
		why := e.Why
		if rule := onOneLine(e.Rule); rule != "" {
			why += p.dim(" (rule " + rule + ")")
		}
		line("why", why)
	}
	for _, note := range notesOn(e) {
		line("note", note)
	}
}

// onOneLine makes a path printable in which line breaks are shown too.
func onOneLine(path string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(printable(path))
}

func verdictOf(p paint, ok bool, yes string) string {
	if ok {
		return p.green(yes)
	}
	return p.red("refused")
}

func (a *app) sightOf(p paint, e protected.Explanation) string {
	switch e.Commands {
	case protected.Seen:
		return p.green("see it") + " and cannot change it"
	case protected.UnseenNear:
		return p.red("do not see it") + " if they run in its folder, or below it in the same session"
	case protected.Denied:
		return p.red("do not see it") + ": the system keeps it from you"
	case protected.OwnSight:
		return p.red("do not see it") + ": they have one of their own"
	}
	if e.Cover != "" && e.Cover != e.Real {
		return p.red("do not see it") + ", nor anything of " + onOneLine(e.Cover)
	}
	return p.red("do not see it")
}

// notesOn are what else a person may want to know.
func notesOn(e protected.Explanation) []string {
	var notes []string
	if !e.Exists {
		notes = append(notes, "nothing is there, or the system does not let you look")
	}
	if e.Link && e.Read {
		notes = append(notes, "it is a link; the tools of a session take the path it leads to")
	}
	if e.Names > 1 {
		notes = append(notes, "the file has several names (hard links), so no session writes it")
	}
	if !e.Exists && strings.Contains(e.Path, "/~/") {
		notes = append(notes, "\"~\" is a name here: a shell replaces it only at the beginning and without quotes")
	}
	return notes
}
