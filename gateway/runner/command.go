package runner

import (
	"path/filepath"
	"slices"
	"strings"
)

// Model is the model name that Claude Code asks for. It knows no such model,
// which is fine: thinking is then off and requests are small.
const Model = "chatgpt-main"

// ToolServer is the name of the shim's tool server: Claude Code offers a tool T
// as mcp__deckhand__T.
const ToolServer = "deckhand"

// toolServers is Claude Code's list of tool servers. It names the port and the
// token by the environment, so that the file holds no secret.
const toolServers = `{"mcpServers":{"` + ToolServer + `":{"type":"http","url":"${ANTHROPIC_BASE_URL}/mcp","headers":{"Authorization":"Bearer ${ANTHROPIC_API_KEY}"}}}}
`

// wait is how long each of the limits below allows, in milliseconds: a day.
const wait = "86400000"

// Command returns the arguments and the whole environment of Claude Code, for
// a shim whose port is addr ("127.0.0.1:PORT"). Both were measured; each
// setting stands here for what goes wrong without it.
func Command(p Plan, dir Dir, addr string) (args, env []string) {
	args = []string{
		"--bare", "-p", "--output-format", "stream-json", "--verbose",
		// No settings of the user's, no tools but ours, no commands.
		"--setting-sources", "", "--strict-mcp-config", "--mcp-config", dir.toolServers(),
		"--tools", "", "--disable-slash-commands",
	}
	if len(p.Tools) > 0 {
		var allowed []string
		for _, t := range p.Tools {
			allowed = append(allowed, "mcp__"+ToolServer+"__"+t.Name)
		}
		args = append(args, "--allowedTools", strings.Join(allowed, ","))
	}
	args = append(args, "--permission-mode", "dontAsk", "--model", Model)
	if p.Resume {
		args = append(args, "--resume", p.ClaudeSession)
	} else {
		args = append(args, "--session-id", p.ClaudeSession)
	}

	env = []string{
		"HOME=" + filepath.Join(p.Home, homeName),
		"CLAUDE_CONFIG_DIR=" + filepath.Join(p.Home, configName),
		"TMPDIR=" + filepath.Join(p.Home, tmpName),
		// With an empty PATH it starts no child at all.
		"PATH=" + dir.emptyPath(),
		"ANTHROPIC_BASE_URL=http://" + addr,
		"ANTHROPIC_API_KEY=" + p.PortToken(),
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_AUTOUPDATER=1",
		// The window: neither compaction nor "Prompt is too long".
		"CLAUDE_CODE_MAX_CONTEXT_TOKENS=100000000",
		"DISABLE_COMPACT=1",
		// Tool results over about 50 KB stay whole.
		"MAX_MCP_OUTPUT_TOKENS=400000",
	}
	if !p.ShortWaits {
		env = append(env, longWaits...)
	}
	return args, override(env, p.ExtraEnv)
}

// override puts the entries of extra in the place of those of the same name.
func override(env, extra []string) []string {
	for _, e := range extra {
		name, _, _ := strings.Cut(e, "=")
		env = slices.DeleteFunc(env, func(have string) bool { return strings.HasPrefix(have, name+"=") })
	}
	return slices.Concat(env, extra)
}

// longWaits let a model request and a tool call wait for hours.
//
// CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK is not among them: the watchdogs
// that are off are what drops a stream after 750 s, and with it a stream that
// ends early ends the run, where without it the question is asked again
// without "stream", which the bridge knows for the same.
var longWaits = []string{
	"API_TIMEOUT_MS=" + wait,
	"API_FORCE_IDLE_TIMEOUT=0",
	"CLAUDE_STREAM_IDLE_TIMEOUT_MS=" + wait,
	"CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS=" + wait,
	"CLAUDE_STREAM_FIRST_BYTE_TIMEOUT_MS=" + wait,
	"CLAUDE_ENABLE_STREAM_WATCHDOG=0",
	"CLAUDE_ENABLE_BYTE_WATCHDOG=0",
	"CLAUDE_CODE_MAX_RETRIES=15",
	"MCP_TOOL_TIMEOUT=" + wait,
	"CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT=0",
}
