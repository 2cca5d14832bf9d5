package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"deckhand/tray"
)

// twins names, for each command of the menu, the command line that does the
// same; ID stands for a session.
var twins = map[string]string{
	"Approve":            "approve ID",
	"Deny":               "deny ID",
	"StopSession":        "stop ID",
	"CopyRecoveryPrompt": "recover ID",
	"UndoLast":           "undo ID --last",
	"UndoSession":        "undo ID",
	"OpenFolder":         "show ID",
	"CopyID":             "sessions",
	"OpenLog":            "log",
	"CopyStarterPrompt":  "prompt",
	"ConnectChatGPT":     "doctor",
	"Pause":              "pause",
	"AskBeforeWrite":     "ask on",
	"KeepAwake":          "awake on",
	"StartAtLogin":       "login on",
	"StopAll":            "stop --all",
	"Quit":               "quit",
	"StopAllAndQuit":     "quit --stop-all",
}

func TestEverythingInTheMenuHasItsTwinOnTheCommandLine(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range tray.Commands() {
		name := reflect.TypeOf(c).Name()
		seen[name] = true
		line, ok := twins[name]
		if !ok {
			t.Errorf("%s has no twin", name)
			continue
		}
		args := strings.Fields(line)
		root := (&app{}).root()
		cmd, rest, err := root.Find(args)
		if err != nil || cmd == root {
			t.Errorf("%s: there is no deckhand %s: %v", name, line, err)
			continue
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("%s: deckhand %s: %v", name, line, err)
		}
		if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
			t.Errorf("%s: deckhand %s: %v", name, line, err)
		}
	}
	for name := range twins {
		if !seen[name] {
			t.Errorf("the menu has no %s", name)
		}
	}
}

func TestEveryCommandOfTheMenuIsCarriedOut(t *testing.T) {
	source, err := os.ReadFile("desk.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range tray.Commands() {
		if want := fmt.Sprintf("case %T:", c); !strings.Contains(string(source), want) {
			t.Errorf("nothing carries %T out", c)
		}
	}
}

func TestLoginEntriesForEachSystem(t *testing.T) {
	w := newWorld(t)
	none := func(string) string { return "" }
	for _, c := range []struct{ name, goos, program, want string }{
		{"login.desktop", "linux", "/usr/local/bin/deckhand", "/home/me/.config/autostart/deckhand.desktop"},
		{"login-odd.desktop", "linux", "/opt/my \"tools\" $1 100% `x` \\y/deckhand", "/home/me/.config/autostart/deckhand.desktop"},
		{"login.plist", "darwin", "/Applications/Deckhand.app/Contents/MacOS/deckhand", "/home/me/Library/LaunchAgents/app.deckhand.Deckhand.plist"},
		{"login-odd.plist", "darwin", "/Users/a & b/<x>/deckhand", "/home/me/Library/LaunchAgents/app.deckhand.Deckhand.plist"},
	} {
		path, content, err := loginEntry(c.goos, "/home/me", none, c.program)
		if err != nil || path != c.want {
			t.Errorf("%s: %s, %v", c.name, path, err)
		}
		w.golden(c.name, content)
	}
	if path, _, err := loginEntry("linux", "/home/me", func(string) string { return "/cfg" }, "/d"); err != nil || path != "/cfg/autostart/deckhand.desktop" {
		t.Errorf("with XDG_CONFIG_HOME: %s, %v", path, err)
	}
	if _, _, err := loginEntry("linux", "/home/me", none, "/a\nExec=evil"); err == nil {
		t.Error("a line break in the program's path was taken")
	}
}

func TestLoginIsSwitchedOnAndOff(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the file lies elsewhere on this system; its content is tested above")
	}
	w := newWorld(t)
	entry := filepath.Join(w.home, ".config", "autostart", "deckhand.desktop")
	for range 2 {
		if r := w.run("login", "on"); r.code != exitOK {
			t.Fatalf("login on: %+v", r)
		}
		if _, err := os.Stat(entry); err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		if r := w.run("login", "off"); r.code != exitOK {
			t.Fatalf("login off: %+v", r)
		}
		if _, err := os.Stat(entry); !os.IsNotExist(err) {
			t.Errorf("the entry is still there: %v", err)
		}
	}
}

// TestTheCopiedTextIsInNoArgumentList looks what the clipboard's program gets.
func TestTheCopiedTextIsInNoArgumentList(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$@\" >" + dir + "/args; cat >" + dir + "/text\n"
	if err := os.WriteFile(filepath.Join(dir, "xclip"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	a := &app{env: environment(append(w.env, "PATH="+dir+":/usr/bin:/bin", "DISPLAY=:7", "WAYLAND_DISPLAY="))}
	if err := a.copy(t.Context(), "secret"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "text"))
	if err != nil || string(text) != "secret" {
		t.Errorf("copied %q, %v", text, err)
	}
	args, err := os.ReadFile(filepath.Join(dir, "args"))
	if err != nil || strings.Contains(string(args), "secret") {
		t.Errorf("arguments %q, %v", args, err)
	}
	a.env["DISPLAY"] = ""
	if err := a.copy(t.Context(), "x"); err == nil || hintOf(err) == "" {
		t.Errorf("without a desktop: %v", err)
	}
}
