package demo

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"deckhand/app/demo/chatgpt"
)

// move is what the script does next, and what it says while doing so.
type move struct {
	thought string
	reply   chatgpt.Reply
}

// player decides each reply from what the turn says, as a model would. A player
// is for one session.
type player interface {
	// question is what the user asks.
	question() string
	// next returns an error if the turn does not hold what a sensible answer
	// could be made of.
	next(turn *chatgpt.Turn) (move, error)
}

// call is a move that calls one tool.
func call(thought, tool string, arguments map[string]any) move {
	return move{thought: thought, reply: chatgpt.Reply{Calls: []chatgpt.ToolCall{{Name: tool, Arguments: arguments}}}}
}

// in adds the directory to the arguments of a search, if there is one to name.
func in(where string, arguments map[string]any) map[string]any {
	if where != "" {
		arguments["directory"] = where
	}
	return arguments
}

// needs checks that the turn offers the tools that the script is about to use.
func needs(turn *chatgpt.Turn, names ...string) error {
	for _, name := range names {
		if !slices.ContainsFunc(turn.Tools, func(t chatgpt.SessionTool) bool { return t.Name == name }) {
			return fmt.Errorf("the first turn does not offer %s", name)
		}
	}
	return nil
}

// result is the one result of a turn, which must be of that tool.
func result(turn *chatgpt.Turn, tool string) (chatgpt.Result, error) {
	if len(turn.Results) != 1 || turn.Results[0].Name != tool {
		return chatgpt.Result{}, fmt.Errorf("the turn should bring one result of %s and brings %s", tool, count(len(turn.Results), "result"))
	}
	return turn.Results[0], nil
}

// arguments writes the arguments of a call for a person, in a fixed order.
func arguments(c chatgpt.ToolCall) string {
	var parts []string
	for name := range c.Arguments {
		parts = append(parts, name)
	}
	slices.Sort(parts)
	for i, name := range parts {
		value := c.Arguments[name]
		if text, ok := value.(string); ok {
			value = fmt.Sprintf("%q", text)
		}
		parts[i] = fmt.Sprintf("%s: %v", name, value)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// errNothing ends a script that found nothing to go on with.
var errNothing = errors.New("nothing was found that the script could go on with")
