package executor

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"deckhand/gateway/turn"
)

// Tool is one tool of a session as a model sees it.
type Tool struct {
	Name        string
	Description string
	// InputSchema is a flat JSON Schema object.
	InputSchema json.RawMessage
	// ReadOnly is the annotation for Claude Code: calls may run at once.
	ReadOnly bool
	// Available says that the tool can be called now.
	Available bool
}

// Names of the tools.
const (
	ReadTool          = "Read"
	FindFilesTool     = "FindFiles"
	SearchTextTool    = "SearchText"
	RunCommandTool    = "RunCommand"
	EditTool          = "Edit"
	WriteTool         = "Write"
	NotebookEditTool  = "NotebookEdit"
	SubagentStartTool = "deepseek_subagent_start"
	SubagentGetTool   = "deepseek_subagent_get"
	SubagentStopTool  = "deepseek_subagent_stop"
)

//go:embed tool/*.json tool/*.md
var toolFiles embed.FS

// offer says who gets a tool.
type offer struct {
	name      string
	readOnly  bool
	available bool
	writes    bool // only profiles that write
	subagent  bool // only sessions that may ask a subagent
}

// offers is every tool in the fixed order of the catalog.
var offers = []offer{
	{name: ReadTool, readOnly: true, available: true},
	{name: FindFilesTool, readOnly: true, available: true},
	{name: SearchTextTool, readOnly: true, available: true},
	{name: RunCommandTool, available: true},
	{name: EditTool, available: true, writes: true},
	{name: WriteTool, available: true, writes: true},
	{name: NotebookEditTool, available: true, writes: true},
	{name: SubagentStartTool, subagent: true},
	{name: SubagentGetTool, readOnly: true, subagent: true},
	{name: SubagentStopTool, subagent: true},
}

var catalog = func() []Tool {
	var tools []Tool
	for _, o := range offers {
		schema, err := toolFiles.ReadFile("tool/" + o.name + ".json")
		if err != nil {
			panic(fmt.Sprintf("read embedded schema: %v", err))
		}
		text, err := toolFiles.ReadFile("tool/" + o.name + ".md")
		if err != nil {
			panic(fmt.Sprintf("read embedded description: %v", err))
		}
		tools = append(tools, Tool{
			Name: o.name, Description: strings.TrimSpace(string(text)), InputSchema: schema,
			ReadOnly: o.readOnly, Available: o.available,
		})
	}
	return tools
}()

// Catalog returns every tool, in a fixed order.
func Catalog() []Tool { return append([]Tool(nil), catalog...) }

// Tools returns the tools of a profile in the order of the catalog.
func (e *Executor) Tools(profile turn.Profile, policy turn.SubagentPolicy) []Tool {
	var tools []Tool
	for i, o := range offers {
		if o.writes && !profile.Writes() {
			continue
		}
		if o.subagent && (profile != turn.WorktreeWrite || policy != turn.DeepSeekExplicit) {
			continue
		}
		tools = append(tools, catalog[i])
	}
	return tools
}

// Repeatable reports whether an action of this tool may run again after an
// interruption: it changes nothing.
func Repeatable(name string) bool {
	return name == ReadTool || name == FindFilesTool || name == SearchTextTool
}

// Writes reports whether a tool changes files: its actions are prepared, and
// Settle can tell what became of one after a crash.
func Writes(name string) bool {
	return name == EditTool || name == WriteTool || name == NotebookEditTool
}
