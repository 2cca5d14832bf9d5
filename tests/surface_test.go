package tests

import (
	"errors"
	"slices"
	"testing"

	"deckhand/app/demo/chatgpt"
	"deckhand/tests/fakechatgpt"
	"deckhand/tests/rig"
)

// TestOnlyTheSixToolsExist looks from outside, in both protocol eras.
func TestOnlyTheSixToolsExist(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	for era, chat := range map[string]*fakechatgpt.Chat{"2026-07-28": g.Chat(), "2025-11-25": g.OldChat()} {
		t.Run(era, func(t *testing.T) {
			if chat.Version() != era {
				t.Fatalf("both sides agreed on %s", chat.Version())
			}
			tools, err := chat.Tools(t.Context())
			must(t, err)
			var names []string
			for _, tool := range tools {
				names = append(names, tool.Name)
				if len(tool.InputSchema) == 0 || len(tool.OutputSchema) == 0 || len(tool.Annotations) == 0 {
					t.Errorf("%s lacks a schema or its annotations", tool.Name)
				}
			}
			want := chatgpt.ToolNames()
			slices.Sort(names)
			slices.Sort(want)
			if !slices.Equal(names, want) {
				t.Errorf("the tools are %v, want %v", names, want)
			}
			for _, tool := range []string{"Read", "Bash", "agent_session_start", "deepseek_start"} {
				_, err := chat.Call(t.Context(), tool, map[string]any{})
				answersWith(t, tool, err, -32602)
			}
			for _, method := range []string{"prompts/list", "resources/list", "logging/setLevel", "sampling/createMessage"} {
				_, err := chat.Do(t.Context(), method, map[string]any{})
				answersWith(t, method, err, -32601)
			}
		})
	}
}

func answersWith(t *testing.T, what string, err error, code int) {
	t.Helper()
	rpc, ok := errors.AsType[*chatgpt.RPCError](err)
	if !ok || rpc.Code != code {
		t.Errorf("%s was answered with %v, not with %d", what, err, code)
	}
}

// TestNobodyGetsInWithoutTheToken tries the doors of both listeners.
func TestNobodyGetsInWithoutTheToken(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	status, err := g.Status(t.Context())
	must(t, err)
	for name, door := range map[string]struct{ url, token string }{
		"no token":                     {g.URL(), ""},
		"another token":                {g.URL(), "x" + g.Token()},
		"the connector's door":         {"http://" + status.ConnectorAddress + "/mcp", ""},
		"the local token at that door": {"http://" + status.ConnectorAddress + "/mcp", g.Token()},
	} {
		_, err := chatgpt.Connect(t.Context(), chatgpt.Options{URL: door.url, Token: door.token})
		if refused, ok := errors.AsType[*chatgpt.HTTPError](err); !ok || refused.Status != 401 {
			t.Errorf("%s: %v, want 401", name, err)
		}
	}
}
