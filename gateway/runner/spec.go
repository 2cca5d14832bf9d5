package runner

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"deckhand/gateway/atomicfile"
	"deckhand/gateway/link"
	"deckhand/gateway/turn"
)

// Spec says what is to run.
type Spec struct {
	Run     turn.RunID     `json:"run"`
	Session turn.SessionID `json:"session"`
	// Token is the run's secret between shim and gateway. Claude Code never
	// sees it.
	Token string `json:"token"`
	// Claude is the real path of the native Claude Code binary.
	Claude string `json:"claude"`
	// ClaudeSession is Claude Code's session id, a UUID. It is continued if its
	// transcript exists, else made.
	ClaudeSession string `json:"claude_session"`
	Prompt        string `json:"prompt"`
	Tools         []Tool `json:"tools"`
	// LeaseExpiresAt is when the shim ends the run if it hears nothing newer.
	LeaseExpiresAt time.Time `json:"lease_expires_at"`
}

// Plan is everything a shim needs: what is to run, and how this gateway and
// this machine run it. It travels as plan.json.
type Plan struct {
	Spec
	// Protocol is link.Version of the gateway that made the plan.
	Protocol int `json:"protocol"`
	// Socket is the path that the gateway gave to link.Listen.
	Socket string `json:"socket"`
	// Home is the session's home.
	Home string `json:"home"`
	// Resume continues the Claude Code session.
	Resume bool `json:"resume"`
	// Bubblewrap is the path of bwrap; "" looks it up.
	Bubblewrap string `json:"bubblewrap,omitempty"`
	// ShortWaits and ExtraEnv are from Config.
	ShortWaits bool     `json:"short_waits,omitempty"`
	ExtraEnv   []string `json:"extra_env,omitempty"`
}

// Tool is a tool that Claude Code may call.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
	// ReadOnly lets Claude Code make several calls at the same time.
	ReadOnly bool `json:"read_only"`
}

// promptHeader is the fixed first line before a prompt. Without it a prompt
// that begins with "/" would run a command of Claude Code's own, ask nobody,
// and end as a success.
const promptHeader = "Request:\n"

// Stdin is what Claude Code gets on its standard input, and gives back as the
// last block of its first model request.
func (s Spec) Stdin() string { return promptHeader + s.Prompt }

// PortToken is what the shim's port demands. Claude Code knows it and cannot
// work out the run's token from it.
func (s Spec) PortToken() string {
	mac := hmac.New(sha256.New, []byte(s.Token))
	mac.Write([]byte("deckhand port token"))
	return hex.EncodeToString(mac.Sum(nil))
}

var (
	uuidForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	toolForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)
	runForm  = regexp.MustCompile(`^run_[a-z0-9]{1,60}$`)
)

// check refuses a spec that a shim could not follow.
func (s Spec) check() error {
	switch {
	case !runForm.MatchString(string(s.Run)):
		return fmt.Errorf("%q is not a run id", s.Run)
	case s.Session == "":
		return errors.New("no session")
	case s.Token == "":
		return errors.New("no token")
	case !uuidForm.MatchString(s.ClaudeSession):
		return fmt.Errorf("%q is not a Claude Code session id", s.ClaudeSession)
	case !filepath.IsAbs(s.Claude):
		return fmt.Errorf("%q is not an absolute path", s.Claude)
	case s.Prompt == "":
		return errors.New("no prompt")
	case s.LeaseExpiresAt.IsZero():
		return errors.New("no end of the lease")
	}
	for _, t := range s.Tools {
		if !toolForm.MatchString(t.Name) {
			return fmt.Errorf("%q is not a tool name", t.Name)
		}
		var schema map[string]any
		if err := json.Unmarshal(t.InputSchema, &schema); err != nil {
			return fmt.Errorf("input schema of %s: %w", t.Name, err)
		}
	}
	return nil
}

// check refuses a plan of another version of this program.
func (p Plan) check() error {
	if p.Protocol != link.Version {
		return fmt.Errorf("protocol %d is not %d", p.Protocol, link.Version)
	}
	if !filepath.IsAbs(p.Socket) || !filepath.IsAbs(p.Home) {
		return errors.New("socket or home is not an absolute path")
	}
	return p.Spec.check()
}

// write puts the plan into its file.
func (p Plan) write(dir Dir) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode plan: %w", err)
	}
	return atomicfile.WriteFile(dir.file(planName), raw, 0o600)
}

// TakePlan reads a run directory's plan and deletes it: a shim is started once,
// and whatever becomes of it, the token and the prompt are not left behind.
func TakePlan(dir Dir) (Plan, error) {
	path := dir.file(planName)
	raw, err := os.ReadFile(path)
	if err != nil {
		return Plan{}, fmt.Errorf("read plan: %w", err)
	}
	if err := os.Remove(path); err != nil {
		return Plan{}, fmt.Errorf("delete plan: %w", err)
	}
	var p Plan
	if err := jsonv2.Unmarshal(raw, &p); err != nil {
		return Plan{}, fmt.Errorf("decode plan: %w", err)
	}
	if err := p.check(); err != nil {
		return Plan{}, fmt.Errorf("check plan: %w", err)
	}
	return p, nil
}
