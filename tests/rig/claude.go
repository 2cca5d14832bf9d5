package rig

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"deckhand/app/demo/process"
)

// ClaudeCode returns the one Claude Code process of the gateway's.
func (g *Ground) ClaudeCode() process.Process {
	g.t.Helper()
	return g.one("Claude Code", func(p process.Process) bool { return p.Name == "claude" })
}

// Shim returns the one shim of the gateway's.
func (g *Ground) Shim() process.Process {
	g.t.Helper()
	return g.one("shim", func(p process.Process) bool { return strings.Contains(p.Args, " shim --run ") })
}

// one returns the only process that is meant. One that is about to start
// another program is seen twice for a moment: its child does not count.
func (g *Ground) one(what string, meant func(process.Process) bool) process.Process {
	g.t.Helper()
	pids := map[int]bool{}
	var found []process.Process
	for _, p := range g.Processes() {
		if meant(p) {
			pids[p.PID] = true
			found = append(found, p)
		}
	}
	found = slices.DeleteFunc(found, func(p process.Process) bool { return pids[p.Parent] })
	if len(found) != 1 {
		g.t.Fatalf("there are %d processes of %s, not one: %v", len(found), what, found)
	}
	return found[0]
}

// Freeze stops a process without ending it, until Thaw or the end of the test.
func (g *Ground) Freeze(pid int) {
	g.t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		g.t.Fatal(err)
	}
	g.frozen = append(g.frozen, pid)
}

// Thaw lets all frozen processes go on.
func (g *Ground) Thaw() {
	for _, pid := range g.frozen {
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil && !errors.Is(err, syscall.ESRCH) {
			g.t.Error(err)
		}
	}
	g.frozen = nil
}

// AwaitOnlyItself waits until nothing of the gateway's runs but itself.
func (g *Gateway) AwaitOnlyItself() {
	g.t.Helper()
	Await(g.t, "the end of everything but the gateway", func() bool {
		all := g.Processes()
		return len(all) == 1 && all[0].PID == g.PID()
	})
}

// AwaitNothing waits until nothing of the gateway's runs any more.
func (g *Gateway) AwaitNothing() {
	g.t.Helper()
	Await(g.t, "the end of everything", func() bool { return len(g.Processes()) == 0 })
}

// AwaitRetries waits until Claude Code has said n times that it asks its model
// again.
func (g *Ground) AwaitRetries(n int) {
	g.t.Helper()
	Await(g.t, "Claude Code to ask again", func() bool {
		said, runs := 0, 0
		for _, log := range g.Logs() {
			if log.Name == "stdout.log" {
				runs++
				said += bytes.Count(log.Text, []byte("system api_retry\n"))
			}
		}
		if runs == 0 {
			g.t.Fatal("the run ended before Claude Code had asked again")
		}
		return said >= n
	})
}

// Log is one log file below the state directory, as it is now.
type Log struct {
	Name string
	Text []byte
}

// Logs reads every log there is now: the gateway's, and those of the runs that
// have not been settled.
func (g *Ground) Logs() []Log {
	g.t.Helper()
	var all []Log
	err := filepath.WalkDir(g.State, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".log" {
			return ignoreGone(err)
		}
		text, err := os.ReadFile(path)
		if err == nil {
			all = append(all, Log{filepath.Base(path), text})
		}
		return ignoreGone(err)
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return all
}

// ignoreGone passes over what went away while it was looked at.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ClaudeTranscript is what Claude Code wrote about the one session that a
// gateway had.
type ClaudeTranscript struct {
	// Results counts the results that each tool call got, ErrorResults those
	// that Claude Code took for errors.
	Results      map[string]int
	ErrorResults int
	// Text is the whole file.
	Text []byte
}

// ClaudeTranscript reads the transcript of the gateway's one session.
func (g *Ground) ClaudeTranscript() ClaudeTranscript {
	g.t.Helper()
	paths, err := filepath.Glob(filepath.Join(g.State, "private", "homes", "*", "config", "projects", "*", "*.jsonl"))
	if err != nil {
		g.t.Fatal(err)
	}
	if len(paths) != 1 {
		g.t.Fatalf("there are %d transcripts of Claude Code, not one", len(paths))
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		g.t.Fatal(err)
	}
	said := ClaudeTranscript{Results: map[string]int{}, Text: text}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for lines.Scan() {
		said.add(lines.Bytes())
	}
	return said
}

func (c *ClaudeTranscript) add(line []byte) {
	var record struct {
		Type    string `json:"type"`
		Message struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &record) != nil || record.Type != "user" {
		return
	}
	var blocks []struct {
		Type    string `json:"type"`
		ID      string `json:"tool_use_id"`
		IsError bool   `json:"is_error"`
	}
	if json.Unmarshal(record.Message.Content, &blocks) != nil {
		return // plain text
	}
	for _, b := range blocks {
		if b.Type == "tool_result" {
			c.Results[b.ID]++
			if b.IsError {
				c.ErrorResults++
			}
		}
	}
}
