package control

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// everything is what each of the three texts has to say.
var everything = []string{
	"native_session_recover", "native_session_reply_and_wait", "native_session_status", "native_session_continue", "native_session_stop",
	"tool_calls", "pending_turn", "turn_id", "wait_seconds", "waiting_for_gpt", "starting, running or executing", "reply_id", "16",
}

func TestPromptsExplainTheWholeLoop(t *testing.T) {
	recovery := RecoveryPrompt("ses_x", "tok_y", "fix\n the  build")
	for name, s := range map[string]string{"starter": StarterPrompt(), "recovery": recovery, "instructions": Instructions()} {
		for _, want := range everything {
			if !strings.Contains(s, want) {
				t.Errorf("%s does not mention %s", name, want)
			}
		}
		if strings.Contains(s, "%!") || strings.Contains(s, "%s") {
			t.Errorf("%s is not filled in:\n%s", name, s)
		}
		if len(s) > 4500 {
			t.Errorf("%s has %d bytes", name, len(s))
		}
	}
	for _, want := range []string{"native_session_start", "working_directory", "read_only", "direct_write", "worktree_write"} {
		if !strings.Contains(StarterPrompt(), want) {
			t.Errorf("the starter prompt does not mention %s", want)
		}
	}
	if !strings.HasSuffix(StarterPrompt(), "Project directory:\nTask:\n") {
		t.Error("the starter prompt does not end where the user goes on")
	}
	for _, want := range []string{"ses_x", "tok_y", `("fix the build")`} {
		if !strings.Contains(recovery, want) {
			t.Errorf("the recovery prompt does not hold %s", want)
		}
	}
	if strings.Contains(RecoveryPrompt("ses_x", "tok_y", " "), `("")`) {
		t.Error("an empty label leaves a trace")
	}
}

// The example in the prompts is one that the server accepts, and every tool
// and argument that they name exists.
func TestPromptsNameOnlyWhatExists(t *testing.T) {
	r := newRig(t)
	known := map[string]bool{}
	for _, tool := range allTools() {
		known[tool.name] = true
	}
	for _, s := range []string{StarterPrompt(), RecoveryPrompt("s", "t", ""), Instructions()} {
		for _, name := range regexp.MustCompile(`native_session_[a-z_]+[a-z]`).FindAllString(s, -1) {
			if !known[name] && name != "native_session_id" {
				t.Errorf("%s does not exist", name)
			}
		}
	}
	example := regexp.MustCompile(`\[\{"name": .*\}\]`).FindString(StarterPrompt())
	if !json.Valid([]byte(example)) {
		t.Fatalf("example: %s", example)
	}
	if got := r.call("native_session_reply_and_wait", with(t, "reply_and_wait", "tool_calls", example)); got.Result.IsError {
		t.Errorf("%s is refused: %+v", example, got)
	}
}
