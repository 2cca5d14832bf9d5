package control

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mark3labs/mcp-go/mcp"

	"deckhand/gateway/turn"
)

// message is a checked JSON-RPC request or notification.
type message struct {
	// id is a string or an integer as it came, nil for a notification.
	id     jsontext.Value
	method string
	// params is nil or an object; strict JSON but for the arguments of a call.
	params jsontext.Value
	meta   meta
	// tool and arguments are those of tools/call. The arguments are any value
	// or nil, syntactically JSON and no more.
	tool      string
	arguments jsontext.Value
}

// modern reports whether the message belongs to protocol version 2026-07-28.
func (m *message) modern() bool { return mcp.IsModernProtocol(m.meta.protocolVersion) }

// rpcFault is a refusal of a whole message.
type rpcFault struct {
	status, code int
	text         string
}

func fault(status, code int, format string, args ...any) *rpcFault {
	return &rpcFault{status, code, fmt.Sprintf(format, args...)}
}

// parseMessage checks the envelope. The message is returned with a fault too,
// as far as its id is known.
func parseMessage(body []byte) (*message, *rpcFault) {
	m := &message{}
	if len(bytes.TrimSpace(body)) == 0 {
		return m, fault(400, codeParse, "the body is empty; a JSON-RPC request was expected")
	}
	switch jsontext.Value(body).Kind() {
	case '{':
	case '[':
		return m, fault(400, codeInvalidRequest, "batches are not supported; each request is sent by itself")
	default:
		return m, fault(400, codeParse, "the body is not a JSON object")
	}
	top, err := members(body)
	if err != nil {
		return m, fault(400, codeParse, "the body is not JSON: %s", explain(err))
	}
	if f := m.readID(top["id"]); f != nil {
		return m, f
	}
	if text(top["jsonrpc"]) != "2.0" {
		return m, fault(400, codeInvalidRequest, `"jsonrpc" must be "2.0"`)
	}
	if m.method = text(top["method"]); m.method == "" {
		return m, fault(400, codeInvalidRequest, `"method" is missing; this server sends no requests and so takes no responses`)
	}
	if m.params = top["params"]; m.params != nil && m.params.Kind() == 'n' {
		m.params = nil
	}
	if m.params == nil {
		return m, nil
	}
	if m.params.Kind() != '{' {
		return m, fault(400, codeInvalidRequest, `"params" must be an object`)
	}
	return m, m.readParams()
}

// readID accepts what MCP allows: a string or an integer, or no id at all.
func (m *message) readID(v jsontext.Value) *rpcFault {
	if v == nil {
		return nil
	}
	switch v.Kind() {
	case '"':
		if strictly(v) == nil {
			m.id = v
			return nil
		}
	case '0':
		var n int64
		if json.Unmarshal(v, &n) == nil && n >= -turn.MaxInteger && n <= turn.MaxInteger {
			m.id = v
			return nil
		}
	}
	return fault(400, codeInvalidRequest, `"id" must be a string or an integer below 2^53`)
}

func (m *message) readParams() *rpcFault {
	params, err := members(m.params)
	if err != nil {
		return fault(400, codeInvalidRequest, `"params": %s`, explain(err))
	}
	for name, value := range params {
		if m.method == methodCall && name == "arguments" {
			m.arguments = value
			continue
		}
		if err := strictly(value); err != nil {
			return fault(400, codeInvalidRequest, `a member of "params": %s`, explain(err))
		}
	}
	if m.method == methodCall {
		m.tool = text(params["name"])
	}
	return m.meta.read(params["_meta"])
}

// errTwice says that a key occurs twice in the object itself.
var errTwice = errors.New("a key occurs twice")

// members splits an object into its members, which alias raw. It checks the
// syntax of everything below, but keys and UTF-8 only of its own names.
func members(raw []byte) (map[string]jsontext.Value, error) {
	d := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	out := map[string]jsontext.Value{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		if _, twice := out[key]; twice {
			return nil, errTwice
		}
		v, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		end := d.InputOffset()
		out[key] = raw[end-int64(len(v)) : end : end]
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, errors.New("something follows the object")
	}
	return out, nil
}

// strictly checks one value for what JSON alone does not: keys that occur
// twice, invalid UTF-8 and half surrogate pairs, at any depth.
func strictly(raw jsontext.Value) error {
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	_, err := d.ReadValue()
	return err
}

// text returns a JSON string, or "" for anything else, invalid UTF-8 included.
func text(v jsontext.Value) string {
	if v == nil || v.Kind() != '"' {
		return ""
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// explain shortens an error of the JSON reader to what a caller can use.
func explain(err error) string {
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(s.Err, jsontext.ErrDuplicateName) {
			return errTwice.Error()
		}
		return fmt.Sprintf("%s at byte %d", strings.TrimPrefix(s.Err.Error(), "jsontext: "), s.ByteOffset)
	}
	return strings.TrimPrefix(err.Error(), "jsontext: ")
}
