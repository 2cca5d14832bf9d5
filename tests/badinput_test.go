package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"deckhand/app/demo/chatgpt"
	"deckhand/tests/fakechatgpt"
	"deckhand/tests/rig"
)

// TestAStartThatMakesNoSenseChangesNothing sends what a confused model could,
// byte for byte. Each gets a code and a sentence, and no session comes of it.
func TestAStartThatMakesNoSenseChangesNothing(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	chat := g.Chat()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// with returns the arguments of a good start, with some of them replaced;
	// a value of "" leaves the argument out.
	with := func(changes map[string]string) string {
		args := map[string]string{"prompt": `"Look around."`, "working_directory": fmt.Sprintf("%q", dir),
			"idempotency_key": `"0123456789abcdef"`, "wait_seconds": "0"}
		for name, value := range changes {
			args[name] = value
		}
		var parts []string
		for name, value := range args {
			if value != "" {
				parts = append(parts, fmt.Sprintf("%q:%s", name, value))
			}
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	const invalid, directory = "invalid_arguments", "working_directory_invalid"
	for name, c := range map[string]struct{ args, code string }{
		"relative directory":     {with(map[string]string{"working_directory": `"src"`}), directory},
		"missing directory":      {with(map[string]string{"working_directory": fmt.Sprintf("%q", dir+"/nowhere")}), directory},
		"file as directory":      {with(map[string]string{"working_directory": fmt.Sprintf("%q", file)}), directory},
		"tilde":                  {with(map[string]string{"working_directory": `"~"`}), directory},
		"no directory":           {with(map[string]string{"working_directory": ""}), invalid},
		"unknown profile":        {with(map[string]string{"capability_profile": `"root"`}), invalid},
		"unknown argument":       {with(map[string]string{"model": `"opus"`}), invalid},
		"number as prompt":       {with(map[string]string{"prompt": "7"}), invalid},
		"list as prompt":         {with(map[string]string{"prompt": `["a"]`}), invalid},
		"null as prompt":         {with(map[string]string{"prompt": "null"}), invalid},
		"text as wait":           {with(map[string]string{"wait_seconds": `"30"`}), invalid},
		"wait of 51":             {with(map[string]string{"wait_seconds": "51"}), invalid},
		"wait of -1":             {with(map[string]string{"wait_seconds": "-1"}), invalid},
		"half a second":          {with(map[string]string{"wait_seconds": "0.5"}), invalid},
		"2^53+1":                 {with(map[string]string{"wait_seconds": "9007199254740993"}), invalid},
		"duplicate keys":         {strings.Replace(with(nil), "{", `{"prompt":"other",`, 1), invalid},
		"empty prompt":           {with(map[string]string{"prompt": `""`}), invalid},
		"blank prompt":           {with(map[string]string{"prompt": `" \n\t"`}), invalid},
		"NUL":                    {with(map[string]string{"prompt": `"a\u0000b"`}), invalid},
		"half a surrogate pair":  {with(map[string]string{"prompt": `"\ud800"`}), invalid},
		"key of one character":   {with(map[string]string{"idempotency_key": `"k"`}), invalid},
		"key of 15 characters":   {with(map[string]string{"idempotency_key": `"0123456789abcde"`}), invalid},
		"prompt of 300 KiB":      {with(map[string]string{"prompt": `"` + strings.Repeat("x", 300<<10) + `"`}), ""},
		"nine skills":            {with(map[string]string{"skill_contexts": "[" + strings.Repeat(`{"skill_id":"a"},`, 8) + `{"skill_id":"a"}]`}), invalid},
		"too broad a root":       {with(map[string]string{"capability_profile": `"direct_write"`, "working_directory": `"/"`}), "write_root_too_broad"},
		"subagent not there yet": {with(map[string]string{"subagent_policy": `"deepseek_explicit"`}), ""},
		"skill not allowed":      {with(map[string]string{"skill_contexts": `[{"skill_id":"a"}]`}), "skill_not_allowed"},
		"array as arguments":     {`["a"]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := chat.Call(t.Context(), chatgpt.ToolStart, json.RawMessage(c.args))
			refused(t, err, c.code)
		})
	}
	for name, body := range map[string]string{
		"invalid UTF-8": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"native_session_start","arguments":` +
			with(map[string]string{"prompt": "\"a\xffb\""}) + `}}`,
		"half a body":   `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"native_session_start"`,
		"a batch":       `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
		"no JSON":       "hello",
		"an empty body": "",
	} {
		t.Run(name, func(t *testing.T) {
			status, answer, err := chat.Post(t.Context(), chat.Version(), "tools/call", chatgpt.ToolStart, []byte(body))
			if err != nil {
				t.Fatal(err)
			}
			if !isRefusal(answer) {
				t.Errorf("it was answered with %d: %.300s", status, answer)
			}
		})
	}
	sessions, err := g.Admin().List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(sessions) != 0 {
		t.Errorf("%d sessions came of it", len(sessions))
	}
	if events := g.Events(""); len(events) != 0 {
		t.Errorf("%d events came of it: %+v", len(events), events)
	}
}

// TestAReplyThatMakesNoSenseChangesNothing does the same with a turn that
// waits: after every refusal the turn still waits, at the same revision.
func TestAReplyThatMakesNoSenseChangesNothing(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	chat := g.Chat()
	s := chat.Start(chatgpt.Start{})
	turn := s.Turn()
	// The first use of a lease is a change of its own.
	if _, err := s.Status(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	before := s.Last.Revision
	// with is like the one above; values are JSON.
	with := func(changes map[string]any) map[string]any {
		args := map[string]any{"native_session_id": s.ID, "lease_id": s.Lease, "turn_id": turn.ID, "reply_id": "reply-1", "wait_seconds": 0}
		for name, value := range changes {
			args[name] = value
		}
		return args
	}
	calls := func(n int, name string, arguments any) []any {
		all := make([]any, n)
		for i := range all {
			all[i] = map[string]any{"name": name, "arguments": arguments}
		}
		return all
	}
	read := map[string]any{"file_path": "/etc/passwd"}
	for name, c := range map[string]struct {
		args map[string]any
		code string
	}{
		"another turn":          {with(map[string]any{"turn_id": "trn_other", "text": "done"}), "turn_not_pending"},
		"a stale lease":         {with(map[string]any{"lease_id": "lea_other", "text": "done"}), "lease_mismatch"},
		"a made-up session":     {with(map[string]any{"native_session_id": "ses_other", "text": "done"}), "unknown_session"},
		"neither text nor call": {with(nil), "reply_invalid"},
		"blank text":            {with(map[string]any{"text": " \n\u200b"}), "reply_invalid"},
		"17 calls":              {with(map[string]any{"tool_calls": calls(17, "Read", read)}), ""},
		"a tool it lacks":       {with(map[string]any{"tool_calls": calls(1, "Bash", map[string]any{"command": "ls"})}), "profile_violation"},
		"a write tool":          {with(map[string]any{"tool_calls": calls(1, "Write", map[string]any{"file_path": "/tmp/x", "content": "x"})}), "profile_violation"},
		"RunCommand":            {with(map[string]any{"tool_calls": calls(1, "RunCommand", map[string]any{"argv": []string{"sudo", "true"}})}), "command_refused"},
		"arguments off schema":  {with(map[string]any{"tool_calls": calls(1, "Read", map[string]any{"path": "/etc/passwd"})}), "invalid_arguments"},
		"one bad of two":        {with(map[string]any{"tool_calls": append(calls(1, "Read", read), calls(1, "Read", map[string]any{})...)}), "invalid_arguments"},
		"arguments as text":     {with(map[string]any{"tool_calls": calls(1, "Read", "/etc/passwd")}), "invalid_arguments"},
		"2^53+1 in a call":      {with(map[string]any{"tool_calls": calls(1, "Read", json.RawMessage(`{"file_path":"/etc/passwd","offset":9007199254740993}`))}), ""},
		"1.5 in a call":         {with(map[string]any{"tool_calls": calls(1, "Read", json.RawMessage(`{"file_path":"/etc/passwd","offset":1.5}`))}), ""},
		"duplicates in a call":  {with(map[string]any{"tool_calls": calls(1, "Read", json.RawMessage(`{"file_path":"/a","file_path":"/b"}`))}), ""},
		"a key too short":       {with(map[string]any{"reply_id": "r", "text": "done"}), "invalid_arguments"},
		"wait of 51":            {with(map[string]any{"wait_seconds": 51, "text": "done"}), "invalid_arguments"},
		"text of 800 KiB":       {with(map[string]any{"text": strings.Repeat("x", 800<<10)}), ""},
		"unknown argument":      {with(map[string]any{"text": "done", "model": "opus"}), "invalid_arguments"},
		"turn left out":         {with(map[string]any{"text": "done", "turn_id": nil}), "invalid_arguments"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := chat.Call(t.Context(), chatgpt.ToolReply, c.args)
			refused(t, err, c.code)
			after, err := s.Status(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			if after.Revision != before || after.Turn == nil || after.Turn.ID != turn.ID {
				t.Errorf("it changed the session: revision %d, was %d; %s", after.Revision, before, fakechatgpt.Describe(after))
			}
		})
	}
	t.Run("and the turn can still be answered under the same reply id", func(t *testing.T) {
		if _, err := s.ReplyTo(t.Context(), turn.ID, "reply-1", chatgpt.Reply{Text: "done"}); err != nil {
			t.Fatal(err)
		}
		if s.Ended("idle").LastResult.Text != "done" {
			t.Error("the run's result is another text")
		}
	})
}

// TestFilesThatAreNotForReadingAreRefused asks for them by every spelling.
func TestFilesThatAreNotForReadingAreRefused(t *testing.T) {
	t.Parallel()
	g := rig.Start(t)
	dir := t.TempDir()
	key := filepath.Join(g.Home, ".ssh", "id_ed25519")
	must(t, os.Mkdir(filepath.Dir(key), 0o700))
	must(t, os.WriteFile(key, []byte(protectedText), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "plain.txt"), []byte("plain\n"), 0o600))
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	must(t, os.Symlink("plain.txt", filepath.Join(dir, "link")))
	must(t, os.Symlink(key, filepath.Join(dir, "keylink")))
	must(t, os.Symlink(g.Home, filepath.Join(dir, "home")))
	must(t, os.Symlink("/proc", filepath.Join(dir, "processes")))

	chat := g.Chat()
	s := chat.Start(chatgpt.Start{WorkingDirectory: dir})
	relative, err := filepath.Rel(dir, key)
	must(t, err)
	type want struct{ path, code string }
	all := map[string]want{
		"the environment":     {"/proc/self/environ", "pseudo_file_system"},
		"the same by a link":  {filepath.Join(dir, "processes", "self", "environ"), "pseudo_file_system"},
		"a FIFO":              {"fifo", "not_a_regular_file"},
		"a device":            {"/dev/zero", ""},
		"a directory":         {dir, "not_a_regular_file"},
		"a symlink":           {"link", "symlink_refused"},
		"a symlink to a key":  {"keylink", ""},
		"nothing":             {"nowhere", "not_found"},
		"a key":               {key, "protected_path"},
		"a key, relative":     {relative, "protected_path"},
		"a key by dots":       {filepath.Dir(key) + "/../.ssh/./id_ed25519", "protected_path"},
		"a key by slashes":    {strings.ReplaceAll(key, "/", "//"), "protected_path"},
		"a key by a linked..": {filepath.Join(dir, "home", ".ssh", "id_ed25519"), "protected_path"},
		"a key by /proc":      {"/proc/self/root" + key, ""},
		"the gateway's state": {filepath.Join(g.State, "private", "key"), "protected_path"},
		"shadow":              {"/etc/shadow", "protected_path"},
	}
	var names []string
	var calls []chatgpt.ToolCall
	flush := func() {
		if len(calls) == 0 {
			return
		}
		for i, result := range s.Do(calls...).Results {
			w := all[names[i]]
			if result.Outcome != "error" || (w.code != "" && result.Receipt.Code != w.code) {
				t.Errorf("%s (%s): %s %s: %.200s; want an error %s", names[i], w.path, result.Outcome, result.Receipt.Code, result.Text, w.code)
			}
			if strings.Contains(result.Text, protectedText) {
				t.Errorf("%s: the key itself is in the answer", names[i])
			}
		}
		names, calls = nil, nil
	}
	for name, w := range all {
		names, calls = append(names, name), append(calls, fakechatgpt.Call("Read", map[string]any{"file_path": w.path}))
		if len(calls) == 16 {
			flush()
		}
	}
	flush()
	// A search of the whole home must pass the key over, and say so.
	found := s.One("SearchText", map[string]any{"directory": g.Home, "text": protectedText})
	if found.Outcome != "ok" || strings.Contains(found.Text, "id_ed25519:") || !strings.Contains(found.Text, "protected") {
		t.Errorf("a search of the home should skip the key and say so: %s", found.Text)
	}
	s.Say("done")
}
