package tray

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s\nwant:\n%s", name, got, want)
	}
}

// draw shows a menu as text, with the command of each leaf.
func draw(items []Item) string {
	var b strings.Builder
	var level func([]Item, string)
	level = func(items []Item, indent string) {
		for _, i := range items {
			title := i.Title
			if title == "" {
				title = "───"
			}
			b.WriteString(indent + title)
			if i.Command != nil {
				fmt.Fprintf(&b, "   %s", strings.TrimPrefix(fmt.Sprintf("%T%+v", i.Command, i.Command), "tray."))
			}
			b.WriteByte('\n')
			level(i.Children, indent+"    ")
		}
	}
	level(items, "")
	return b.String()
}

func running() Gateway {
	return Gateway{Running: true, Version: "0.1.0", PID: 4711, Address: "127.0.0.1:7341",
		LastRequest: noon.Add(-7 * time.Minute)}
}

func TestMenuOfABusyGateway(t *testing.T) {
	g := running()
	g.Warnings = []string{"Claude Code 2.1.332 is not\na verified version"}
	golden(t, "busy.txt", draw(Items(Model{Now: noon, Gateway: g, Rows: []Row{
		{ID: "ses_a", Label: "docs", Folder: "/src/docs", Profile: "read_only", Status: Executing,
			Tools: []string{"SearchText", "Read"}, LeaseEnds: noon.Add(2*time.Hour - time.Second)},
		{ID: "ses_b", Label: "", Folder: "/src/my_shop", Profile: "direct_write", Status: AwaitingApproval,
			LeaseEnds: noon.Add(2 * time.Hour)},
		{ID: "ses_c", Label: "infra", Folder: "/src/infra", Profile: "worktree_write", Status: WaitingForGPT,
			TurnOpened: noon.Add(-3 * time.Minute), LeaseEnds: noon.Add(65 * time.Minute)},
		{ID: "ses_d", Label: "api", Folder: "/src/api", Profile: "read_only", Status: WaitingForGPT,
			TurnOpened: noon.Add(-119 * time.Minute), LeaseEnds: noon.Add(40 * time.Second)},
		{ID: "ses_e", Label: "lost \u202eone 👩‍💻", Folder: "/src/e", Profile: "read_only", Status: RecoveryRequired,
			LeaseEnds: noon.Add(time.Hour)},
		{ID: "ses_f", Label: "a very long label that no menu has the room to show", Folder: "/src/f",
			Profile: "read_only", Status: Stopping, LeaseEnds: noon.Add(time.Hour)},
		{ID: "ses_g", Label: "done", Folder: "/src/g", Profile: "read_only", Status: Idle, LeaseEnds: noon.Add(time.Hour)},
		{ID: "ses_h", Label: "old", Folder: "/src/h", Profile: "read_only", Status: Stopped},
		{ID: "ses_i", Label: "gone", Folder: "/src/i", Profile: "read_only", Status: Failed, Code: "shim_lost"},
	}})))
}

func TestMenuWithoutSessionsAndWithoutAGateway(t *testing.T) {
	golden(t, "empty.txt", draw(Items(Model{Now: noon, Gateway: running()})))
	golden(t, "down.txt", draw(Items(Model{Now: noon})))
}

func TestTheLimitCutsWhatNeedsAPersonLast(t *testing.T) {
	var rows []Row
	for i := range MaxRows {
		rows = append(rows, Row{ID: fmt.Sprintf("ses_%d", i), Label: "busy", Status: Running})
	}
	rows = append(rows, Row{ID: "ses_old", Label: "urgent", Status: RecoveryRequired})
	got := draw(Items(Model{Now: noon, Gateway: running(), Rows: rows}))
	if !strings.Contains(got, "▲ urgent") {
		t.Errorf("the session that needs a person was cut off:\n%s", got)
	}
	if n := strings.Count(got, "● busy"); n != MaxRows-1 {
		t.Errorf("%d busy sessions are shown, want %d:\n%s", n, MaxRows-1, got)
	}
	if !strings.Contains(got, "○ More: 1 session\n") {
		t.Errorf("nothing says that a session is not shown:\n%s", got)
	}
}
