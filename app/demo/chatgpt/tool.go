package chatgpt

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// Tool is one entry of the server's list.
type Tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  json.RawMessage `json:"annotations"`
}

// Tools asks for the server's tools, in its order.
func (c *Client) Tools(ctx context.Context) ([]Tool, error) {
	raw, err := c.Do(ctx, "tools/list", map[string]any{})
	if err != nil {
		return nil, fmt.Errorf("list the tools: %w", err)
	}
	var list struct {
		Tools []Tool `json:"tools"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("read the list of tools: %w", err)
	}
	return list.Tools, nil
}

// Call calls a tool. Arguments are anything that encodes to a JSON object. The
// error is a *ToolError if the tool refused.
func (c *Client) Call(ctx context.Context, tool string, arguments any) (*Answer, error) {
	raw, err := c.Do(ctx, "tools/call", map[string]any{"name": tool, "arguments": arguments})
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", tool, err)
	}
	return answerOf(tool, raw)
}

// answerOf reads a tool's result as ChatGPT does: text for the model, and the
// structured content that the output schema describes.
func answerOf(tool string, raw json.RawMessage) (*Answer, error) {
	var result struct {
		IsError bool `json:"isError"`
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, fmt.Errorf("read the result of %s: %w", tool, err)
	}
	var text strings.Builder
	for _, block := range result.Content {
		if block.Type != "text" {
			return nil, fmt.Errorf("%s answered with a %q block, which ChatGPT cannot take", tool, block.Type)
		}
		text.WriteString(block.Text)
	}
	if result.IsError {
		return nil, refusal(tool, text.String())
	}
	if len(result.Structured) == 0 {
		return nil, fmt.Errorf("%s answered without structured content", tool)
	}
	answer := &Answer{Text: text.String(), Raw: result.Structured}
	if err := json.Unmarshal(result.Structured, answer); err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", tool, err)
	}
	return answer, nil
}
