package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"deckhand/gateway"
	"deckhand/gateway/admin"
)

func (a *app) doctorCommand() *cobra.Command {
	var ledger bool
	cmd := &cobra.Command{
		Use:     "doctor",
		GroupID: groupLook,
		Short:   "Check what works here, and say what to do about the rest",
		Long: `Check what works here: Claude Code, the sandbox, the state directory, the
gateway and its address, and the way in for ChatGPT. Each line says what was
seen, and below it, where something is wrong, what cures it.

The exit code is 0 if nothing is wrong.`,
		Example: `  deckhand doctor
  deckhand doctor --ledger     also check every record
  deckhand doctor --json`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, broken := a.load(cmd)
			if broken != nil {
				// The other checks go by everything but the file.
				var err error
				if s, err = a.loadWithoutFile(cmd); err != nil {
					return broken
				}
			}
			d := &doctor{app: a, settings: s, broken: broken, ledger: ledger}
			return a.printChecks(d.checks(cmd.Context()))
		},
	}
	cmd.Flags().BoolVar(&ledger, "ledger", false, "also check every record of the ledger")
	return a.withJSON(cmd)
}

// verdict is how a check ended.
type verdict string

const (
	good verdict = "ok"
	// worry: it works, and somebody should look at it.
	worry verdict = "warning"
	// bad: something that is needed does not work.
	bad verdict = "failed"
	// off: it is not switched on, and nothing is wrong with that.
	off verdict = "off"
)

// check is one line of the doctor.
type check struct {
	Name    string  `json:"name"`
	Verdict verdict `json:"state"`
	// Evidence is what was seen, Remedy what cures it.
	Evidence string `json:"evidence"`
	Remedy   string `json:"remedy,omitempty"`
	// Rooms are the numbers behind the evidence about the disk.
	Rooms []gateway.Room `json:"rooms,omitempty"`
}

func ok(name, format string, args ...any) check {
	return check{Name: name, Verdict: good, Evidence: fmt.Sprintf(format, args...)}
}

func (c check) as(v verdict, remedy string, args ...any) check {
	c.Verdict, c.Remedy = v, fmt.Sprintf(remedy, args...)
	return c
}

// doctor looks at one installation. Every check can be made whatever the others
// found.
type doctor struct {
	*app
	settings Settings
	// broken is why the settings file could not be read, nil if it could.
	broken error
	ledger bool

	// Set by the check of the gateway: what it said of itself, or why it said
	// nothing.
	client *admin.Client
	status admin.Status
	down   error
}

func (d *doctor) checks(ctx context.Context) []check {
	checks := []check{d.version(), d.config(), d.claude(), d.sandbox(ctx), d.state(), d.room(ctx), d.gateway(ctx), d.endpoint(ctx), d.chatGPT()}
	if d.ledger {
		checks = append(checks, d.records(ctx))
	}
	return checks
}

func (a *app) printChecks(checks []check) error {
	healthy := true
	for _, c := range checks {
		healthy = healthy && c.Verdict != bad
	}
	if a.json {
		err := a.printJSON(struct {
			OK     bool    `json:"ok"`
			Checks []check `json:"checks"`
		}{healthy, checks})
		if err != nil {
			return err
		}
	} else {
		p := a.paint()
		for _, c := range checks {
			a.printf("%s %s  %s\n", p.verdict(c.Verdict), p.bold(pad(c.Name, len("state directory"))), printable(c.Evidence))
			if c.Remedy != "" {
				a.printf("  %s  %s\n", pad("", len("state directory")), p.yellow("→ "+printable(c.Remedy)))
			}
		}
	}
	if !healthy {
		return errUnhealthy
	}
	return nil
}

// verdict is the sign of a check: its shape tells, not its colour alone.
func (p paint) verdict(v verdict) string {
	switch v {
	case good:
		return p.green("✓")
	case worry:
		return p.yellow("!")
	case off:
		return p.dim("○")
	}
	return p.red("✗")
}
