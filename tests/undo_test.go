package tests

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deckhand/app/demo/chatgpt"
	"deckhand/gateway/crash"
	"deckhand/tests/fakechatgpt"
	"deckhand/tests/rig"
)

const notebook = `{
 "cells": [
  {"cell_type": "code", "execution_count": 3, "id": "aa", "metadata": {}, "outputs": [], "source": ["x = 1\n"]},
  {"cell_type": "markdown", "id": "bb", "metadata": {}, "source": "text"}
 ],
 "metadata": {}, "nbformat": 4, "nbformat_minor": 5
}`

// treeOf is every file and folder below dir, with mode and content.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	tree := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, text := strings.TrimPrefix(path, dir), info.Mode().String()
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(content)
		}
		tree[name] = text
		return nil
	}))
	return tree
}

// TestTenMixedWritesAreTakenBackAlthoughTheUndoIsKilled lets the real Claude
// Code make ten writes, has the undo of them killed at every point of a write,
// one after the other, and runs it again. Every byte, mode and folder is as it
// was, but for a file that somebody changed since, which is reported and left;
// each write is taken back once, and ChatGPT hears of each.
func TestTenMixedWritesAreTakenBackAlthoughTheUndoIsKilled(t *testing.T) {
	t.Parallel()
	g := rig.Start(t, rig.With("DECKHAND_APPROVAL_DIRECT_WRITE=notify"))
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o750))
	for name, file := range map[string]struct {
		text string
		mode fs.FileMode
	}{
		"a.txt":    {"one\r\ntwo\nno end", 0o640},
		"sub/b.sh": {"\ufeff#!/bin/sh\r\n", 0o755},
		"n.ipynb":  {notebook, 0o600},
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(file.text), file.mode))
		must(t, os.Chmod(filepath.Join(dir, name), file.mode))
	}
	before := treeOf(t, dir)

	s := g.Chat().Start(chatgpt.Start{WorkingDirectory: dir, Profile: "direct_write"})
	writes := []chatgpt.ToolCall{
		fakechatgpt.Call("Edit", map[string]any{"file_path": "a.txt", "old_string": "two", "new_string": "2"}),
		fakechatgpt.Call("Write", map[string]any{"file_path": "top.txt", "content": "top\n"}),
		fakechatgpt.Call("Write", map[string]any{"file_path": "new/folder/c.txt", "content": "c"}),
		fakechatgpt.Call("Edit", map[string]any{"file_path": "new/folder/c.txt", "old_string": "c", "new_string": "d\n"}),
		fakechatgpt.Call("NotebookEdit", map[string]any{"notebook_path": "n.ipynb", "cell_id": "aa", "new_source": "y = 2\n"}),
		fakechatgpt.Call("NotebookEdit", map[string]any{"notebook_path": "n.ipynb", "cell_id": "bb", "edit_mode": "delete"}),
		fakechatgpt.Call("Write", map[string]any{"file_path": "a.txt", "content": ""}),
		fakechatgpt.Call("Edit", map[string]any{"file_path": "sub/b.sh", "old_string": "/bin/sh", "new_string": "/bin/bash"}),
		fakechatgpt.Call("Write", map[string]any{"file_path": "sub/b.sh", "content": "echo\n"}),
		fakechatgpt.Call("Write", map[string]any{"file_path": "new/other/deep/d.txt", "content": "d"}),
	}
	for _, call := range writes { // one after the other, so that their order is known
		if r := s.Do(call).Results[0]; r.Outcome != "ok" {
			t.Fatalf("%s: %s", r.Name, r.Text)
		}
	}
	s.Say("done")
	after := treeOf(t, dir)
	top := filepath.Join(dir, "top.txt")
	must(t, os.WriteFile(top, []byte("somebody else's\n"), 0o644))

	must(t, g.Stop())
	for i, point := range crash.WritePoints() {
		if err := g.RunCrashingAt(point, 1+i%2, "undo", s.ID); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("at %s the undo ended with: %v", point, err)
		}
		wholeFiles(t, dir, string(point), before, after)
	}
	out, err := g.Run(t.Context(), "undo", s.ID)
	if err == nil || !strings.Contains(out, "1 left as it is") || !strings.Contains(out, "top.txt has changed since") {
		t.Errorf("the undo that was run again: %v\n%s", err, out)
	}
	restored := treeOf(t, dir)
	if restored["/top.txt"] != "-rw-r--r-- somebody else's\n" {
		t.Errorf("the file that somebody changed is %q", restored["/top.txt"])
	}
	delete(restored, "/top.txt")
	if !maps.Equal(restored, before) {
		t.Errorf("after the undo there is %q, before the session there was %q", restored, before)
	}

	g.Again()
	s = g.Chat().Join(s.ID, s.Lease, s.Token)
	_, err = s.Continue(t.Context(), "Go on.")
	must(t, err)
	var told []string
	for _, call := range slices.Backward(writes) {
		path, ok := call.Arguments["file_path"]
		if !ok {
			path = call.Arguments["notebook_path"]
		}
		if path != "top.txt" {
			told = append(told, fmt.Sprintf("The user undid %s of %s.", call.Name, filepath.Join(dir, path.(string))))
		}
	}
	if notices := s.Turn().Notices; !slices.Equal(notices, told) {
		t.Errorf("ChatGPT is told %q, want %q", notices, told)
	}
	s.Say("done")
}

// wholeFiles checks that a killed undo left no half of a file: each is as it was
// before the session or as one of its writes left it. Temporary files are no
// part of that; they go with the next undo.
func wholeFiles(t *testing.T, dir, point string, before, after map[string]string) {
	t.Helper()
	between := map[string][]string{
		"/a.txt":            {"-rw-r----- one\r\n2\nno end"},
		"/new/folder/c.txt": {"-rw-r--r-- c"},
		"/sub/b.sh":         {"-rwxr-xr-x \ufeff#!/bin/bash\r\n"},
		"/top.txt":          {"-rw-r--r-- somebody else's\n"},
		"/n.ipynb":          {"-rw------- " + strings.Replace(notebook, `"source": ["x = 1\n"]`, `"source": ["y = 2\n"]`, 1)},
	}
	for name, text := range treeOf(t, dir) {
		_, was := before[name]
		_, made := after[name]
		switch {
		case !was && !made: // a temporary file
		case text == before[name], text == after[name], slices.Contains(between[name], text):
		default:
			t.Errorf("killed at %s, %s is %q", point, name, text)
		}
	}
}
