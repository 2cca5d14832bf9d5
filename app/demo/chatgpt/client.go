package chatgpt

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Protocol versions that ChatGPT speaks, newest first.
const (
	Sessionless = "2026-07-28"
	Initialized = "2025-11-25"
)

// maxAnswer bounds the body of one answer, in bytes.
const maxAnswer = 8 << 20

// Options say whom to talk to and as whom.
type Options struct {
	// URL is the MCP endpoint, ending in /mcp.
	URL string
	// Token is the bearer token; "" sends none.
	Token string
	// Conversation is ChatGPT's name for the conversation; "" sends none.
	Conversation string
	// Old skips 2026-07-28 although the server offers it.
	Old bool
	// HTTP is the client to use; nil means one of its own.
	HTTP *http.Client
	// Record, if set, gets every exchange after it ended. It may be called by
	// several goroutines at once.
	Record func(Exchange)
}

// Exchange is one request and its answer, as they went over the wire. The
// token is not part of it.
type Exchange struct {
	// Method is the JSON-RPC method, Tool the tool of a tools/call.
	Method, Tool string
	Request      []byte
	// Status and Answer are zero if no answer came, and Err says why.
	Status int
	Answer []byte
	Err    error
	At     time.Time
	Took   time.Duration
}

// Client is one connection of ChatGPT's to an MCP server. It has no state but
// the protocol version that both sides agreed on.
type Client struct {
	opt          Options
	version      string
	instructions string
	server       string
	nextID       atomic.Int64
}

// Connect finds out what the server speaks. It returns an error if the server
// is not there, refuses the token or speaks none of the versions.
func Connect(ctx context.Context, opt Options) (*Client, error) {
	if opt.HTTP == nil {
		opt.HTTP = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}
	}
	c := &Client{opt: opt}
	spoken, err := c.discover(ctx)
	if err != nil {
		return nil, err
	}
	if !opt.Old && slices.Contains(spoken, Sessionless) {
		c.version = Sessionless
		return c, nil
	}
	c.version = Initialized
	// ChatGPT was seen to initialize twice; a server must not mind.
	for range 2 {
		if err := c.initialize(ctx); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Version is the protocol version in use.
func (c *Client) Version() string { return c.version }

// Instructions is what the server told about itself for the model to read.
func (c *Client) Instructions() string { return c.instructions }

// Server is the server's name and version.
func (c *Client) Server() string { return c.server }

// Close drops the idle connections. Sessions are not touched.
func (c *Client) Close() { c.opt.HTTP.CloseIdleConnections() }

type discovered struct {
	SupportedVersions []string `json:"supportedVersions"`
	Instructions      string   `json:"instructions"`
	ServerInfo        info     `json:"serverInfo"`
	Meta              struct {
		ServerInfo info `json:"io.modelcontextprotocol/serverInfo"`
	} `json:"_meta"`
}

type info struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

func (i info) String() string { return strings.TrimSpace(i.Name + " " + i.Version) }

// discover asks which versions the server speaks. A server that does not know
// the method speaks none of the sessionless ones.
func (c *Client) discover(ctx context.Context) ([]string, error) {
	raw, err := c.request(ctx, "openai-mcp-discover", Sessionless, "server/discover", map[string]any{})
	if rpc, ok := errors.AsType[*RPCError](err); ok && rpc.Code == codeMethodNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("discover the server: %w", err)
	}
	var d discovered
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, fmt.Errorf("read the answer to server/discover: %w", err)
	}
	c.instructions = d.Instructions
	c.server = d.ServerInfo.String()
	if c.server == "" {
		c.server = d.Meta.ServerInfo.String()
	}
	return d.SupportedVersions, nil
}

func (c *Client) initialize(ctx context.Context) error {
	raw, err := c.request(ctx, c.nextID.Add(1), "", "initialize", map[string]any{
		"protocolVersion": Initialized,
		"capabilities":    map[string]any{},
		"clientInfo":      clientInfo(),
	})
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	var got struct {
		ProtocolVersion string `json:"protocolVersion"`
		Instructions    string `json:"instructions"`
		ServerInfo      info   `json:"serverInfo"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return fmt.Errorf("read the answer to initialize: %w", err)
	}
	if got.ProtocolVersion != Initialized {
		return fmt.Errorf("the server answered initialize with version %q, not %s", got.ProtocolVersion, Initialized)
	}
	c.instructions, c.server = got.Instructions, got.ServerInfo.String()
	return c.notify(ctx, "notifications/initialized")
}

func clientInfo() map[string]any {
	return map[string]any{"name": "openai-mcp", "version": "1.0.0"}
}

// Do sends one request in the agreed version and returns its result. The error
// is an *RPCError if the server answered with one, an *HTTPError if it
// answered with something that is no JSON-RPC answer.
func (c *Client) Do(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	return c.request(ctx, c.nextID.Add(1), c.version, method, params)
}

func (c *Client) request(ctx context.Context, id any, version, method string, params map[string]any) (json.RawMessage, error) {
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "method": method, "params": c.withMeta(version, params),
	})
	if err != nil {
		return nil, fmt.Errorf("write a %s request: %w", method, err)
	}
	tool, _ := params["name"].(string)
	status, answer, err := c.Post(ctx, version, method, tool, body)
	if err != nil {
		return nil, err
	}
	return decode(status, answer)
}

func (c *Client) notify(ctx context.Context, method string) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": method})
	if err != nil {
		return fmt.Errorf("write %s: %w", method, err)
	}
	status, answer, err := c.Post(ctx, Initialized, method, "", body)
	if err != nil {
		return err
	}
	if status != http.StatusAccepted && status != http.StatusOK {
		return &HTTPError{Status: status, Body: string(answer)}
	}
	return nil
}

// withMeta adds what ChatGPT says of itself, and in the sessionless version
// also what the protocol wants in every request.
func (c *Client) withMeta(version string, params map[string]any) map[string]any {
	meta := map[string]any{
		"openai/locale":    "en-GB",
		"openai/userAgent": "ChatGPT/1.2026",
		"openai/subject":   "v1/demo-user",
	}
	if c.opt.Conversation != "" {
		meta["openai/session"] = c.opt.Conversation
	}
	if version == Sessionless {
		meta["io.modelcontextprotocol/protocolVersion"] = Sessionless
		meta["io.modelcontextprotocol/clientInfo"] = clientInfo()
		meta["io.modelcontextprotocol/clientCapabilities"] = map[string]any{}
	}
	all := map[string]any{"_meta": meta}
	for name, value := range params {
		all[name] = value
	}
	return all
}

// Post sends a body as it is, with the headers that ChatGPT would send for a
// request of that method. It returns whatever came back; the error is only
// about the way there.
func (c *Client) Post(ctx context.Context, version, method, tool string, body []byte) (int, []byte, error) {
	at := time.Now()
	status, answer, err := c.post(ctx, version, method, tool, body)
	if c.opt.Record != nil {
		c.opt.Record(Exchange{Method: method, Tool: tool, Request: body, Status: status, Answer: answer,
			Err: err, At: at, Took: time.Since(at)})
	}
	return status, answer, err
}

func (c *Client) post(ctx context.Context, version, method, tool string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.opt.URL, bytes.NewReader(body))
	if err != nil {
		return 0, nil, fmt.Errorf("make a request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("User-Agent", "openai-mcp/1.0.0")
	if c.opt.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.opt.Token)
	}
	if c.opt.Conversation != "" {
		req.Header.Set("X-Openai-Session", c.opt.Conversation)
	}
	if version != "" {
		req.Header.Set("MCP-Protocol-Version", version)
	}
	if version == Sessionless {
		req.Header.Set("Mcp-Method", method)
		if tool != "" {
			req.Header.Set("Mcp-Name", tool)
		}
	}
	resp, err := c.opt.HTTP.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("send %s: %w", method, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return 0, nil, fmt.Errorf("read the answer to %s: %w", method, err)
	}
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode == http.StatusOK && len(answer) > 0 &&
		!strings.HasPrefix(kind, "application/json") {
		// Seen to break ChatGPT's own connection, so it is a fault here too.
		return resp.StatusCode, answer, fmt.Errorf("the answer to %s came as %q, not as JSON", method, kind)
	}
	return resp.StatusCode, answer, nil
}
