package main

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
	"time"
)

// probeVersion is the protocol version of the probe.
const probeVersion = "2026-07-28"

// probeTimeout bounds one request of the probe.
const probeTimeout = 10 * time.Second

// sessionTools are the tools that a gateway offers, no more and no less.
var sessionTools = []string{"native_session_continue", "native_session_recover", "native_session_reply_and_wait",
	"native_session_start", "native_session_status", "native_session_stop"}

// probe asks an MCP endpoint what it speaks and which tools it has, and returns
// their names, sorted. It is an error if they are not the six.
func probe(ctx context.Context, url, token string) ([]string, error) {
	var discovered struct {
		SupportedVersions []string `json:"supportedVersions"`
	}
	if err := probeCall(ctx, url, token, "server/discover", &discovered); err != nil {
		return nil, err
	}
	if !slices.Contains(discovered.SupportedVersions, probeVersion) {
		return nil, fmt.Errorf("it speaks %s, not %s", strings.Join(discovered.SupportedVersions, ", "), probeVersion)
	}
	var listed struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := probeCall(ctx, url, token, "tools/list", &listed); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(listed.Tools))
	for _, t := range listed.Tools {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	if !slices.Equal(names, sessionTools) {
		return names, fmt.Errorf("it offers %s, not the six tools", strings.Join(names, ", "))
	}
	return names, nil
}

func probeCall(ctx context.Context, url, token, method string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": map[string]any{
		"_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion":    probeVersion,
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "deckhand-doctor", "version": version()},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		},
	}})
	if err != nil {
		return fmt.Errorf("write %s: %w", method, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make %s: %w", method, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("MCP-Protocol-Version", probeVersion)
	req.Header.Set("Mcp-Method", method)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("send %s: %w", method, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 4<<20))
	if err != nil {
		return fmt.Errorf("read the answer to %s: %w", method, err)
	}
	switch {
	case res.StatusCode == http.StatusUnauthorized:
		return errors.New("it refuses the token")
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("it answers %s with %s", method, res.Status)
	}
	var rpc struct {
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(answer, &rpc); err != nil {
		return fmt.Errorf("read the answer to %s: %w", method, err)
	}
	if rpc.Error != nil {
		return fmt.Errorf("it refuses %s: %s", method, rpc.Error.Message)
	}
	if err := json.Unmarshal(rpc.Result, into); err != nil {
		return fmt.Errorf("read the answer to %s: %w", method, err)
	}
	return nil
}
