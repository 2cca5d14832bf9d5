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

// Spec is everything a shim needs. It travels as spec.json.
type Spec struct {
	// Protocol is link.Version of the gateway that wrote the spec.
	Protocol int        `json:"protocol"`
	Run      turn.RunID `json:"run"`
	// Socket is the path that the gateway gave to link.Listen.
	Socket string `json:"socket"`
	// Token is the run's secret between shim and gateway. Claude Code never
	// sees it.
	Token string `json:"token"`
	// Claude is the real path of the native Claude Code binary.
	Claude string `json:"claude"`
	// ClaudeSession is Claude Code's session id, a UUID.
	ClaudeSession string `json:"claude_session"`
	// Resume continues that session; else it is made.
	Resume bool   `json:"resume"`
	Prompt string `json:"prompt"`
	// Home is the session's home, from Runner.Home.
	Home  string `json:"home"`
	Tools []Tool `json:"tools"`
	// LeaseExpiresAt is when the shim ends the run if it hears nothing newer.
	LeaseExpiresAt time.Time `json:"lease_expires_at"`
	// Bubblewrap is the path of bwrap; "" looks it up.
	Bubblewrap string `json:"bubblewrap,omitempty"`

	// ShortWaits leaves out the settings that let Claude Code wait for hours,
	// and ExtraEnv adds to its environment: tests make it lose patience.
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
	case s.Protocol != link.Version:
		return fmt.Errorf("protocol %d is not %d", s.Protocol, link.Version)
	case !runForm.MatchString(string(s.Run)):
		return fmt.Errorf("%q is not a run id", s.Run)
	case s.Token == "":
		return errors.New("no token")
	case !uuidForm.MatchString(s.ClaudeSession):
		return fmt.Errorf("%q is not a Claude Code session id", s.ClaudeSession)
	case s.Prompt == "":
		return errors.New("no prompt")
	case s.LeaseExpiresAt.IsZero():
		return errors.New("no end of the lease")
	}
	for _, path := range []string{s.Socket, s.Claude, s.Home} {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("%q is not an absolute path", path)
		}
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

// write puts the spec into its file.
func (s Spec) write(path string) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode spec: %w", err)
	}
	return atomicfile.WriteFile(path, raw, 0o600)
}

// TakeSpec reads a run directory's spec and deletes it: a shim is started once,
// and whatever becomes of it, the token and the prompt are not left behind.
func TakeSpec(dir Dir) (Spec, error) {
	path := dir.file(specName)
	raw, err := os.ReadFile(path)
	if err != nil {
		return Spec{}, fmt.Errorf("read spec: %w", err)
	}
	if err := os.Remove(path); err != nil {
		return Spec{}, fmt.Errorf("delete spec: %w", err)
	}
	var s Spec
	if err := jsonv2.Unmarshal(raw, &s); err != nil {
		return Spec{}, fmt.Errorf("decode spec: %w", err)
	}
	if err := s.check(); err != nil {
		return Spec{}, fmt.Errorf("check spec: %w", err)
	}
	return s, nil
}
