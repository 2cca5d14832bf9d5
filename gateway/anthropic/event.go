package anthropic

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// An answer is streamed as Start, any number of Pings, and Rest. Each returns
// whole server sent events.

// Start encodes the event that opens a stream. It can be sent before the
// answer is known.
func Start(id MessageID, model string) ([]byte, error) {
	return appendEvent(nil, "message_start", struct {
		Type    string      `json:"type"`
		Message wireMessage `json:"message"`
	}{"message_start", newMessage(id, model)})
}

// Ping encodes the event that keeps a stream alive.
func Ping() []byte { return []byte("event: ping\ndata: {\"type\":\"ping\"}\n\n") }

type blockStart struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
	Block any    `json:"content_block"`
}

type blockDelta struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
	Delta any    `json:"delta"`
}

type blockStop struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
}

type textDelta struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type inputDelta struct {
	Type string `json:"type"`
	JSON string `json:"partial_json"`
}

type messageDelta struct {
	Type  string `json:"type"`
	Delta struct {
		StopReason   StopReason `json:"stop_reason"`
		StopSequence *string    `json:"stop_sequence"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

type messageStop struct {
	Type string `json:"type"`
}

// Rest encodes everything that follows Start: the blocks and the end.
func (a Answer) Rest() ([]byte, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	s := stream{}
	if a.hasText() {
		s.block(wireText{Type: "text"}, textDelta{"text_delta", a.Text})
	}
	for _, c := range a.Calls {
		s.block(wireToolUse{"tool_use", c.ID, c.Name, jsontext.Value("{}")}, inputDelta{"input_json_delta", string(c.Input)})
	}
	end := messageDelta{Type: "message_delta", Usage: constantUsage}
	end.Delta.StopReason = a.StopReason()
	s.event("message_delta", end)
	s.event("message_stop", messageStop{"message_stop"})
	return s.bytes, s.err
}

// stream collects events and the first error.
type stream struct {
	bytes []byte
	index int
	err   error
}

func (s *stream) block(empty, delta any) {
	s.event("content_block_start", blockStart{"content_block_start", s.index, empty})
	s.event("content_block_delta", blockDelta{"content_block_delta", s.index, delta})
	s.event("content_block_stop", blockStop{"content_block_stop", s.index})
	s.index++
}

func (s *stream) event(name string, data any) {
	if s.err == nil {
		s.bytes, s.err = appendEvent(s.bytes, name, data)
	}
}

// appendEvent appends one event. JSON holds no line ends, so one data line is
// always enough.
func appendEvent(dst []byte, name string, data any) ([]byte, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", name, err)
	}
	return fmt.Appendf(dst, "event: %s\ndata: %s\n\n", name, raw), nil
}
